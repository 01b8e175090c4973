"""How many units without a failure show a share: worked out apart from the product's statistics."""

from __future__ import annotations

import math


def units_to_show(share: float) -> int:
    """The fewest units, all of them successes, that show with 95 % a share of at least this.

    The rule of three: 299 for 99 %, 2,995 for 99.9 %.
    """
    return math.ceil(math.log(0.05) / math.log(share))
