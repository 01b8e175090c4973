"""What replications say of a measure: the estimate that fits what the measure is counted from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import TypeVar

from whitecap.engine.recorded import Direction, Measure, Unit
from whitecap.reports.measures.tally import (
    Count,
    CountedShare,
    Latencies,
    MeasureTally,
    PerJob,
    PerMinute,
    PerMonth,
    WeightedShare,
)
from whitecap.reports.statistics import Estimate, mean, percentile, share, weighted_share

T = TypeVar("T")


def estimated(measure: Measure, tallies: Sequence[MeasureTally]) -> Estimate:
    """A measure over replications, with one tally each: shares and percentiles are pooled."""
    good = measure.better is Direction.AT_LEAST
    match tallies:
        case [CountedShare(), *_]:
            shares = _all(CountedShare, tallies)
            return share([t.part for t in shares], [t.whole for t in shares], good=good)
        case [WeightedShare(), *_]:
            return _weighted(_all(WeightedShare, tallies), good)
        case [PerMinute(minutes=minutes), *_]:
            return mean([t.value for t in tallies], exposure=minutes or None, good=good)
        case [PerMonth(), *_]:
            return mean([t.value for t in tallies], good=good)
        case [PerJob(), *_]:
            return mean(_per_job(_all(PerJob, tallies)), good=good)
        case [Latencies(percent=percent), *_]:
            latencies = [t.sorted_ms for t in _all(Latencies, tallies)]
            return percentile(latencies, percent, good=good)
        case _:
            return _of_counts(measure, _all(Count, tallies), good)


def _per_job(tallies: Sequence[PerJob]) -> Sequence[float]:
    """The ratio of the sums, and what each replication adds to it: their mean is the ratio, and
    their scatter is its own (Cochran 1977, 6.4).

    A run whose jobs all fail costs something too; where no run commits any there is no ratio.
    """
    jobs = fmean(tally.jobs for tally in tallies)
    if not jobs:
        return [math.nan] * len(tallies)
    ratio = fmean(tally.amount for tally in tallies) / jobs
    apart = [tally.amount - ratio * tally.jobs for tally in tallies]
    return [
        ratio + (each / jobs if abs(each) > _ROUNDING * tally.amount else 0.0)
        for each, tally in zip(apart, tallies, strict=True)
    ]


_ROUNDING = 1e-12
"""What a replication adds below this share of its cost is the last bits of a sum. Ours."""


def _weighted(tallies: Sequence[WeightedShare], good: bool) -> Estimate:
    return weighted_share(
        [t.part for t in tallies],
        [t.whole for t in tallies],
        events=[t.events for t in tallies],
        units=[t.units for t in tallies],
        good=good,
    )


def _of_counts(measure: Measure, tallies: Sequence[Count], good: bool) -> Estimate:
    """Rows of the table are a state that the run leaves, not events that it counts."""
    exposure = None if measure.unit is Unit.ROWS else 1.0
    return mean([t.value for t in tallies], exposure=exposure, good=good)


def _all(kind: type[T], tallies: Sequence[MeasureTally]) -> list[T]:
    return [tally for tally in tallies if isinstance(tally, kind)]
