"""Which refusals waste most: how often, times what an aborted transaction of the loser computes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection

from whitecap.engine.recorded import Measure
from whitecap.reports.measures.groups import WriterCommand
from whitecap.reports.measures.measured_run import Runs
from whitecap.reports.measures.refusals import RefusalCount
from whitecap.reports.measures.tally import WeightedShare


def wasteful_refusals(
    runs: Runs, besides: Collection[WriterCommand]
) -> list[tuple[RefusalCount, float]]:
    """Refusals by a writer group, over replications, those first that waste most; each with its
    part of the compute time of all aborted transactions, not counting `besides` as winners."""
    counts: Counter[tuple[WriterCommand, WriterCommand, str]] = Counter()
    aborts: Counter[WriterCommand] = Counter()
    wasted_ms: defaultdict[WriterCommand, float] = defaultdict(float)
    for run in runs.values():
        for each in run.refusals:
            counts[each.loser, each.winner, each.exception] += each.count
            aborts[each.loser] += each.count
        for group, part in run.groups.items():
            tally = part.tallies[Measure.WASTED_COMPUTE_SHARE]
            assert isinstance(tally, WeightedShare)
            wasted_ms[group] += tally.part
    total_ms = sum(wasted_ms.values())
    if not total_ms:
        return []
    refusals = [
        (RefusalCount(loser, winner, exception, count, aborts[loser]),
         count / aborts[loser] * wasted_ms[loser] / total_ms)
        for (loser, winner, exception), count in counts.items()
        if winner not in besides
    ]  # fmt: skip
    return sorted(refusals, key=lambda each: -each[1])
