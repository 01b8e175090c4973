"""Tallies: what a measure's number is made of in one run, so that runs and writers can be pooled.

A share keeps its numerator and denominator, a latency every value: the mean of ratios is not the
ratio of sums, and percentiles cannot be averaged.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple, replace

from whitecap.reports.arrays import FloatArray


class Count(Struct, frozen=True):
    """A number that a run has: of transactions, jobs, attempts or rows."""

    count: float

    @property
    def value(self) -> float:
        """The measure's value."""
        return self.count

    def with_others(self, others: Sequence[Self]) -> Self:
        """What several writer groups of one run have, these and this one."""
        return replace(self, count=sum(each.count for each in (self, *others)))


class CountedShare(Struct, frozen=True):
    """`part` of `whole`, both counts."""

    part: float
    whole: float

    @property
    def value(self) -> float:
        """The measure's value; not a number where there was nothing to have a part of."""
        return self.part / self.whole if self.whole else math.nan

    def with_others(self, others: Sequence[Self]) -> Self:
        """What several writer groups of one run have, these and this one."""
        return type(self)(*_sums([self, *others]))


class WeightedShare(Struct, frozen=True):
    """`part` of `whole`, sums of milliseconds over `events` of `units` transactions."""

    part: float
    whole: float
    events: float
    units: float

    @property
    def value(self) -> float:
        """The measure's value; not a number where there was nothing to have a part of."""
        return self.part / self.whole if self.whole else math.nan

    def with_others(self, others: Sequence[Self]) -> Self:
        """What several writer groups of one run have, these and this one."""
        return type(self)(*_sums([self, *others]))


class PerMinute(Struct, frozen=True):
    """A count over `minutes` of simulated time."""

    count: float
    minutes: float

    @property
    def value(self) -> float:
        """The measure's value; not a number where a run ended in its warm-up."""
        return self.count / self.minutes if self.minutes else math.nan

    def with_others(self, others: Sequence[Self]) -> Self:
        """What several writer groups of one run have, these and this one."""
        # Those before a job's last statement count no jobs.
        counted = [each for each in (self, *others) if not math.isnan(each.count)]
        if not counted:
            return self
        return replace(counted[0], count=sum(each.count for each in counted))


class PerMonth(Struct, frozen=True):
    """An amount that `months` of simulated time take; not a number without a price."""

    amount: float
    months: float

    @property
    def value(self) -> float:
        """The measure's value; not a number where a run ended in its warm-up."""
        return self.amount / self.months if self.months else math.nan

    def with_others(self, others: Sequence[Self]) -> Self:
        """What several writer groups of one run have, these and this one."""
        return replace(self, amount=sum(each.amount for each in (self, *others)))


class PerJob(Struct, frozen=True):
    """An amount that all jobs take, over those that committed."""

    amount: float
    jobs: float

    @property
    def value(self) -> float:
        """The measure's value; not a number where no job committed."""
        return self.amount / self.jobs if self.jobs else math.nan

    def with_others(self, others: Sequence[Self]) -> Self:
        """What several writer groups of one run have, these and this one."""
        return type(self)(*_sums([self, *others]))


class Latencies(Struct, frozen=True):
    """Every latency, sorted, of which the measure is a percentile (linear between values)."""

    sorted_ms: FloatArray
    percent: float

    @property
    def value(self) -> float:
        """The measure's value; not a number where there is no latency."""
        return float(np.percentile(self.sorted_ms, self.percent)) if len(self.sorted_ms) else (
            math.nan
        )  # fmt: skip

    def with_others(self, others: Sequence[Self]) -> Self:
        """What several writer groups of one run have, these and this one."""
        every = [each.sorted_ms for each in (self, *others)]
        return replace(self, sorted_ms=np.sort(np.concatenate(every)))


MeasureTally = Count | CountedShare | WeightedShare | PerMinute | PerMonth | PerJob | Latencies


def _sums(tallies: Sequence[CountedShare | WeightedShare | PerJob]) -> Iterator[float]:
    """Each of their numbers summed."""
    return map(sum, zip(*map(astuple, tallies), strict=True))


def together(tallies: Sequence[MeasureTally]) -> MeasureTally:
    """Of several writer groups in one run, at least one, what all of them have of one measure."""
    others: Sequence[Any] = tallies[1:]  # of the same kind, as they are of the same measure
    return tallies[0].with_others(others)


def narrowed(tally: MeasureTally, count: int) -> MeasureTally:
    """The same of `count` of its aborts, those by one exception.

    Raises `ValueError` for what does not count aborts.
    """
    match tally:
        case Count():
            return Count(count)
        case CountedShare():
            return CountedShare(count, tally.whole)
        case _:
            raise ValueError("only counts and shares of aborts can be narrowed to an exception")
