"""One side of a comparison: what is known of each measure, by writer group and replication."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple

from whitecap.engine.recorded import OF_THE_TABLE, Direction, Measure
from whitecap.reports.estimates import estimated
from whitecap.reports.measures.groups import WriterCommand
from whitecap.reports.measures.measured_run import Runs
from whitecap.reports.measures.stored import WHOLE
from whitecap.reports.measures.tally import Latencies, MeasureTally
from whitecap.reports.statistics import Estimate, mean

COMPARED = (
    Measure.JOB_SUCCESS_RATE, Measure.GOODPUT_PER_MINUTE, Measure.WASTED_COMPUTE_SHARE,
    Measure.LATENCY_P95_MS, Measure.CONFLICT_RATE, Measure.LOST_COMMITS, Measure.DOUBLED_COMMITS,
)  # fmt: skip
"""By which runs are compared: by what one decides, and by what must never be.

Each one more would widen the intervals of all others, and most measures say what these say.
"""


DIGITS_THAT_COUNT = 6
"""Decimals that count: nanoseconds of milliseconds. Less is noise: a latency is the difference of
two instants, and is rounded otherwise where the same happens at another hour."""


class PerRun(Struct, frozen=True):
    """A value of one run of which no more is kept: the percentile of its latencies."""

    value: float


Kept = MeasureTally | PerRun

Series = Mapping[int, Kept]
"""One measure of one writer group, by replication."""


class Side(Struct, frozen=True):
    """One cell: `WHOLE`, and each writer group where there are several, with their series.

    `digest` names what was simulated.
    """

    groups: Mapping[WriterCommand, Mapping[Measure, Series]]
    digest: str = ""

    @property
    def replications(self) -> set[int]:
        """Those that anything is known of."""
        return {
            replication
            for series in self.groups.values()
            for by_replication in series.values()
            for replication in by_replication
        }


Sides = Mapping[str, Side]
"""Every cell by its title, empty for a scenario without a sweep."""


def side_of(runs: Runs, digest: str = "", measures: Sequence[Measure] = COMPARED) -> Side:
    """What measured runs of a cell say."""
    groups = dict.fromkeys(group for number in sorted(runs) for group in runs[number].groups)
    # One writer group alone is all of them.
    reported = [WHOLE, *(groups if len(groups) > 1 else ())]
    return Side({group: dict(_series(runs, group, measures)) for group in reported}, digest)


def _series(
    runs: Runs, group: WriterCommand, measures: Sequence[Measure]
) -> Iterable[tuple[Measure, Series]]:
    """Of a group those replications in which it was there."""
    parts = {
        n: each.whole if group == WHOLE else each.groups.get(group)
        for n, each in sorted(runs.items())
    }
    for measure in measures:
        if group == WHOLE or measure not in OF_THE_TABLE:
            yield (
                measure,
                {n: part.tallies[measure] for n, part in parts.items() if part is not None},
            )


def is_same(first: Kept, second: Kept) -> bool:
    """Whether two runs gave the same but for rounding; nothing twice is the same too."""
    left, right = (
        each.sorted_ms if isinstance(each, Latencies) else astuple(each) for each in (first, second)
    )
    return np.shape(left) == np.shape(right) and np.allclose(
        left, right, rtol=0, atol=10.0**-DIGITS_THAT_COUNT, equal_nan=True
    )


def estimate_of(measure: Measure, series: Sequence[Kept]) -> Estimate:
    """What replications say of a measure; where a percentile of each is kept, of their mean."""
    tallies = [each for each in series if not isinstance(each, PerRun)]
    if len(tallies) == len(series):
        return estimated(measure, tallies)
    good = measure.better is Direction.AT_LEAST
    return mean([each.value for each in series], good=good)


def per_run(series: Sequence[Kept]) -> list[Kept]:
    """The same, of latencies the percentile of each run alone."""
    return [PerRun(each.value) if isinstance(each, Latencies) else each for each in series]
