"""What is known of a column's values in some rows, from which that of rows made of them follows.

A rewritten file has nearly all rows of those that it takes the place of: what is known of it costs
in proportion to the rows that changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import copysign, isfinite, nan
from operator import ge, le
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST = 64
"""Values that are kept of each end: so many may go before all rows are looked at again."""

_FEW = 32
"""Up to so many values are looked at sooner one by one than in an array."""

Numbers = NDArray[Any]


class Extent(NamedTuple):
    """How many values are NULL, and the smallest and largest of the others (`None`: no others).

    Both are NaN where some fraction is not finite.
    """

    nulls: int
    least: Any
    most: Any


def bounded(nulls: int, present: Collection[Any]) -> Extent:
    """The extent of some NULLs and of values that are none."""
    return Extent(nulls, min(present), max(present)) if present else Extent(nulls, None, None)


def extent_of(values: Sequence[Any]) -> Extent:
    """NULLs and bounds of values that have an order."""
    present = [value for value in values if value is not None] if None in values else values
    nulls = len(values) - len(present)
    if present and isinstance(present[0], float) and not all(map(isfinite, present)):
        return Extent(nulls, nan, nan)
    return bounded(nulls, present)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many rows have each value, by the values' codes; code 0 is that of NULL.

    `values` are those of all codes; more may come behind them.
    """

    by_code: list[int]
    values: Sequence[Any]

    def present(self) -> tuple[int, list[Any]]:
        """How many rows have NULL, and which values the others have."""
        found = [self.values[code] for code, count in enumerate(self.by_code) if count and code]
        return self.by_code[0], found

    @property
    def extent(self) -> Extent:
        """NULLs and bounds."""
        return bounded(*self.present())


def counted(codes: Numbers, values: Sequence[Any]) -> Counts:
    """The counts of some rows."""
    return Counts(np.bincount(codes, minlength=len(values)).tolist(), values)


def counts_after(parents: Sequence[Counts], gone: Numbers, new: Numbers) -> Counts:
    """The counts of all rows of `parents` but for those that are gone, and of new ones, by code."""
    values = parents[0].values
    by_code = [0] * len(values)
    for part in parents:
        for code, count in enumerate(part.by_code):
            by_code[code] += count
    for code in gone.tolist():
        by_code[code] -= 1
    for code in new.tolist():
        by_code[code] += 1
    return Counts(by_code, values)


class _Side(NamedTuple):
    """One of the two ends: which values are as far out as another, and which of some is inmost."""

    as_far_out: Callable[[Any, Any], Any]
    outmost: Callable[..., Any]
    is_descending: bool

    def of(self, values: Numbers) -> list[Any]:
        """The outmost values, from the outmost on."""
        if len(values) > MOST:
            place = len(values) - MOST if self.is_descending else MOST - 1
            parted = np.partition(values, place)
            values = parted[place:] if self.is_descending else parted[: place + 1]
        return sorted(values.tolist(), reverse=self.is_descending)

    def after(self, parents: Sequence[list[Any]], gone: Numbers, new: Numbers) -> list[Any]:
        """The outmost values of all of several parts, but for those that are gone, and new ones.

        Up to the least far of the parts' inmost values each part is known whole. Empty where all
        that is known is gone.
        """
        limit = parents[0][-1] if len(parents) == 1 else self.outmost(p[-1] for p in parents)
        lost, come = self._up_to(limit, gone), self._up_to(limit, new)
        if len(parents) == 1 and not lost and not come:
            return parents[0]
        known = [value for part in parents for value in part if self.as_far_out(value, limit)]
        for value in lost:
            if value in known:  # of several that equal the limit not all are known
                known.remove(value) if value else _remove_zero(known, value)
        return sorted(known + come, reverse=self.is_descending)[:MOST]

    def _up_to(self, limit: Any, values: Numbers) -> list[Any]:
        """Those of some values that are as far out as a limit."""
        if len(values) > _FEW:
            values = values[self.as_far_out(values, limit)]
        return [value for value in values.tolist() if self.as_far_out(value, limit)]


_LOW = _Side(le, min, is_descending=False)
_HIGH = _Side(ge, max, is_descending=True)


@dataclass(frozen=True, slots=True)
class Ends:
    """How many numbers are NULL, and the smallest and the largest of the others, outmost first.

    No other number is smaller than the last of `low`, or larger than the last of `high`.
    """

    nulls: int
    low: list[Any]
    high: list[Any]

    @property
    def extent(self) -> Extent | None:
        """NULLs and bounds; `None` where one is a zero whose sign only the rows tell."""
        if not (_is_certain(self.low) and _is_certain(self.high)):
            return None
        return Extent(self.nulls, self.low[0], self.high[0])


def _is_certain(outmost: list[Any]) -> bool:
    """Whether the first is the bound; of zeros of both signs, the first one in the file is it."""
    if outmost[0] != 0 or isinstance(outmost[0], int):
        return True
    signs = {copysign(1, value) for value in outmost if value == 0}
    return outmost[-1] != 0 and len(signs) == 1


def _remove_zero(known: list[Any], zero: Any) -> None:
    """Take out one of the very same sign, if there is one."""
    signed = [at for at, each in enumerate(known) if str(each) == str(zero)]
    if signed:
        del known[signed[0]]


def ends_of(present: Numbers, nulls: int) -> Ends | None:
    """The ends of numbers that are no NULLs; `None` of no numbers, or if not all are finite."""
    if not len(present) or not np.isfinite(present).all():
        return None
    return Ends(nulls, _LOW.of(present), _HIGH.of(present))


def ends_after(
    parents: Sequence[Ends], gone: Numbers, new: Numbers, more_nulls: int
) -> Ends | None:
    """The ends of all numbers of `parents` but for those that are gone, and of new ones.

    `None` where only a look at all of them would tell.
    """
    low = _LOW.after([each.low for each in parents], gone, new)
    high = _HIGH.after([each.high for each in parents], gone, new)
    if not (low and high and np.isfinite(new).all()):
        return None
    return Ends(sum(each.nulls for each in parents) + more_nulls, low, high)


Summary = Counts | Ends
