"""Values of columns that mean nothing to the simulation: each follows from the key of its row."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from whitecap.engine.log.schema import Field
from whitecap.engine.values.types import decimal_shape, is_decimal

# Multiplier of Knuth's multiplicative hash: neighbouring keys get unlike values.
SCATTER = 2_654_435_761


def scattered(keys: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """What keys are scattered to, where rows have not been changed."""
    return keys * SCATTER % size


EPOCH = datetime(2026, 1, 1)
"""The day from which made-up dates and instants are counted. Ours."""


class Filler(Struct, frozen=True):
    """Values of a column that means nothing to the simulation: scattered, and fixed by the key.

    There are `size` of them; `in_order` if a larger number never gives a smaller value.
    """

    size: int
    value: Callable[[int], Any]
    in_order: bool = True


def filler_of(column: Field) -> Filler | None:
    """What fills a column; `None`: NULL does."""
    match column.type:
        case "int" | "bigint" | "smallint":
            return Filler(10_000, lambda n: n)
        case "tinyint":
            return Filler(100, lambda n: n)
        case "double" | "float":
            return Filler(100_000, lambda n: n / 4)
        case "boolean":
            return Filler(2, lambda n: n == 0, in_order=False)
        case "string":
            return Filler(1000, lambda n: f"{column.name}-{n}", in_order=False)
        case "date":
            return Filler(365, lambda n: EPOCH.date() + timedelta(days=n))
        case "timestamp" | "timestamp_ntz":
            epoch = EPOCH.replace(tzinfo=UTC) if column.type == "timestamp" else EPOCH
            return Filler(10_000_000, lambda n: epoch + timedelta(seconds=n))
        case kind if is_decimal(kind):
            return _decimals(kind)
        case _:
            return None


def _decimals(kind: str) -> Filler:
    """Whole numbers of two digits; fractions where there is no room for them before the point."""
    precision, scale = decimal_shape(kind)
    if precision - scale >= 2:
        return Filler(100, Decimal)
    return Filler(10 ** min(precision, 2), lambda n: Decimal(n).scaleb(-scale))
