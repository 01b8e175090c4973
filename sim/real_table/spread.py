"""Values between a column's bounds in a file: what rows hold of which the log says no more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from math import isfinite
from typing import Any

from whitecap.engine.log.schema import Field
from whitecap.engine.log.statistics import FileStatistics
from whitecap.engine.values.types import INTEGRAL_BITS
from whitecap.sim.table.fillers import SCATTER, filler_of

_STEPS = 1 << 10
"""How finely the keys of files are shifted against each other."""


def column_values(
    column: Field, statistics: FileStatistics, nulls: int, count: int, first: int
) -> Sequence[Any]:
    """One column of the `count` rows of a file that begins with the table's row `first`.

    `nulls` of them are NULL, the others spread evenly between the bounds; without bounds they are
    as scattered as those of a described table.
    """
    bounds = statistics.range_of(column)
    if bounds is not None:
        return [None] * nulls + spread(column.type, *bounds, count - nulls)
    filler = filler_of(column)
    if filler is None:
        return [None] * count
    numbers = range(first + nulls, first + count)
    return [None] * nulls + [filler.value(n * SCATTER % filler.size) for n in numbers]


def spread(kind: str, least: Any, most: Any, count: int) -> list[Any]:
    """So many values from `least` to `most`, both among them; of some types these two alone."""
    last = max(count - 1, 1)
    if kind in INTEGRAL_BITS:
        return [least + (most - least) * at // last for at in range(count)]
    if kind == "date":
        days = (most - least).days
        return [least + timedelta(days=days * at // last) for at in range(count)]
    if kind in ("timestamp", "timestamp_ntz") or (kind == "double" and isfinite(most - least)):
        return [min(least + (most - least) * (at / last), most) for at in range(count)]
    return [most if at % 2 else least for at in range(count)]


def spread_keys(least: int, most: int, count: int, number: int) -> list[int]:
    """The keys of the `number`-th file, evenly between its bounds.

    They are shifted against those of other files of the same bounds, so that keys of one row are
    seldom those of another. Where every key between the bounds has its row, they are these.
    """
    shift = number * SCATTER % _STEPS
    width = most - least + 1
    return [least + width * (at * _STEPS + shift) // (count * _STEPS) for at in range(count)]
