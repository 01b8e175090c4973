"""What is known of a column's values in some rows, and how it changes with them.

A rewritten file has nearly all rows of the file whose place it takes. So what is known of it is
worked out in proportion to the rows that changed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import zip_longest
from math import isfinite, isnan, nan
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Codes = NDArray[np.int32]


class Extent(Struct, frozen=True):
    """How many values are NULL, and the smallest and largest of the others (`None`: no others).

    NaN is above all numbers, as in Spark: the largest where there is one, and the smallest where
    there is nothing else.
    """

    nulls: int
    least: Any
    most: Any


def bounded(nulls: int, present: Collection[Any]) -> Extent:
    """The extent of some NULLs and these other values."""
    return Extent(nulls, min(present), max(present)) if present else Extent(nulls, None, None)


def extent_after(
    parents: Sequence[Extent], gone: Extent, new: Extent, zeros_are_alike: bool
) -> Extent | None:
    """The extent of the rows of `parents` without those that are gone, and with new ones.

    `None` if that takes a look at all of them: where a bound has gone and nothing new reaches as
    far, where one is not finite, or is one of two zeros.
    """
    there = (*parents, new)
    least = [each.least for each in there if each.least is not None]
    most = [each.most for each in there if each.most is not None]
    if not all(isfinite(bound) and (bound or zeros_are_alike) for bound in (*least, *most)):
        return None
    nulls = sum(each.nulls for each in parents) - gone.nulls + new.nulls
    if not least:
        return Extent(nulls, None, None)
    after = Extent(nulls, min(least), max(most))
    return after if _is_reached(after, gone, new) else None


def _is_reached(extent: Extent, gone: Extent, new: Extent) -> bool:
    """Whether some row is left at both ends: one that is not gone, or a new one."""
    return gone.least is None or (
        (extent.least < gone.least or extent.least == new.least)
        and (gone.most < extent.most or extent.most == new.most)
    )


def extent_of(values: Sequence[Any]) -> Extent:
    """NULLs and bounds of values that have an order."""
    present = [value for value in values if value is not None] if None in values else values
    nulls = len(values) - len(present)
    if present and isinstance(present[0], float) and any(map(isnan, present)):
        return Extent(nulls, min((v for v in present if not isnan(v)), default=nan), nan)
    return bounded(nulls, present)


class Counts(Struct, frozen=True):
    """How many rows have each value, by the values' codes; code 0 is that of NULL.

    `values` are those of all codes; more may come behind them.
    """

    by_code: list[int]
    values: Sequence[Any]

    def present(self) -> tuple[int, list[Any]]:
        """How many rows have NULL, and which values the others have."""
        values = [self.values[code] for code, count in enumerate(self.by_code) if count and code]
        return self.by_code[0], values

    @property
    def extent(self) -> Extent:
        """NULLs and bounds."""
        return bounded(*self.present())


def counted(codes: Codes, values: Sequence[Any]) -> Counts:
    """The counts of some rows."""
    return Counts(np.bincount(codes, minlength=len(values)).tolist(), values)


def counts_after(parents: Sequence[Counts], gone: Codes, new: Codes) -> Counts:
    """By code, the counts of all rows of `parents` but for those that are gone, and of new ones."""
    values = parents[0].values
    all_counts = zip_longest([0] * len(values), *(part.by_code for part in parents), fillvalue=0)
    by_code = list(map(sum, all_counts))
    for code in gone.tolist():
        by_code[code] -= 1
    for code in new.tolist():
        by_code[code] += 1
    return Counts(by_code, values)
