"""Tallies: what a measure's number is made of in one run, so that runs and writers can be pooled.

A share keeps its numerator and denominator, a latency every value: the mean of ratios is not the
ratio of sums, and percentiles cannot be averaged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

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


class CountedShare(Struct, frozen=True):
    """`part` of `whole`, both counts."""

    part: float
    whole: float

    @property
    def value(self) -> float:
        """The measure's value; not a number where there was nothing to have a part of."""
        return self.part / self.whole if self.whole else math.nan


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


class PerMinute(Struct, frozen=True):
    """A count over `minutes` of simulated time."""

    count: float
    minutes: float

    @property
    def value(self) -> float:
        """The measure's value; not a number where a run ended in its warm-up."""
        return self.count / self.minutes if self.minutes else math.nan


class PerMonth(Struct, frozen=True):
    """An amount that `months` of simulated time take; not a number without a price."""

    amount: float
    months: float

    @property
    def value(self) -> float:
        """The measure's value; not a number where a run ended in its warm-up."""
        return self.amount / self.months if self.months else math.nan


class PerJob(Struct, frozen=True):
    """An amount that all jobs take, over those that committed."""

    amount: float
    jobs: float

    @property
    def value(self) -> float:
        """The measure's value; not a number where no job committed."""
        return self.amount / self.jobs if self.jobs else math.nan


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


MeasureTally = Count | CountedShare | WeightedShare | PerMinute | PerMonth | PerJob | Latencies


def together(tallies: Sequence[MeasureTally]) -> MeasureTally:
    """Of several writer groups in one run, at least one, what all of them have."""
    first = tallies[0]
    match first:
        case Count():
            return Count(sum(t.count for t in tallies if isinstance(t, Count)))
        case CountedShare():
            shares = [t for t in tallies if isinstance(t, CountedShare)]
            return CountedShare(sum(t.part for t in shares), sum(t.whole for t in shares))
        case WeightedShare():
            sums = [astuple(t) for t in tallies if isinstance(t, WeightedShare)]
            return WeightedShare(*map(sum, zip(*sums, strict=True)))
        case PerMinute():
            # Those before a job's last statement count no jobs.
            rates = [t for t in tallies if isinstance(t, PerMinute) and not math.isnan(t.count)]
            return replace(rates[0], count=sum(t.count for t in rates)) if rates else first
        case PerMonth():
            return replace(first, amount=sum(t.amount for t in tallies if isinstance(t, PerMonth)))
        case PerJob():
            amounts = [astuple(t) for t in tallies if isinstance(t, PerJob)]
            return PerJob(*map(sum, zip(*amounts, strict=True)))
        case Latencies():
            every = [t.sorted_ms for t in tallies if isinstance(t, Latencies)]
            return replace(first, sorted_ms=np.sort(np.concatenate(every)))


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
