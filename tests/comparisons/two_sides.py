"""Made-up sides of a comparison: counts by hand instead of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from whitecap.engine.recorded import Measure
from whitecap.reports.comparisons.sides import Kept, Side
from whitecap.reports.measures.groups import WriterCommand
from whitecap.reports.measures.stored import WHOLE
from whitecap.reports.measures.tally import Count, CountedShare, Latencies, PerMinute

ETL = WriterCommand("etl", "MERGE")


def side(
    conflicts: Sequence[int],
    done: Sequence[int] = (),
    latencies: Sequence[Sequence[float]] = (),
    of: WriterCommand = WHOLE,
    digest: str = "a",
) -> Side:
    """Conflicts of 100 each, jobs done in 10 minutes, latencies; and a commit lost nowhere."""
    measures: dict[Measure, Mapping[int, Kept]] = {
        Measure.CONFLICT_RATE: {r: CountedShare(n, 100) for r, n in enumerate(conflicts)},
        Measure.LOST_COMMITS: {r: Count(0) for r in range(len(conflicts))},
    }
    if done:
        measures[Measure.GOODPUT_PER_MINUTE] = {r: PerMinute(n, 10) for r, n in enumerate(done)}
    if latencies:
        measures[Measure.LATENCY_P95_MS] = {
            r: Latencies(np.sort(np.asarray(each, float)), 95) for r, each in enumerate(latencies)
        }
    return Side({of: measures}, digest)
