"""Names in the order in which people count: `merger-2` before `merger-10`."""

from __future__ import annotations

import re


def natural(name: str) -> tuple[str | int, ...]:
    """The sort key of a name: its runs of digits as numbers."""
    parts = re.split(r"(\d+)", name)
    return tuple(int(part) if at % 2 else part for at, part in enumerate(parts))
