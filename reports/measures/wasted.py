"""Which refusals waste most: how often, times what an aborted transaction of the loser computes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection

from whitecap.engine.recorded import Measure
from whitecap.reports.measures.groups import Group
from whitecap.reports.measures.measured_run import Runs
from whitecap.reports.measures.refusals import Refusal
from whitecap.reports.measures.tally import WeightedShare


def wasteful_refusals(runs: Runs, besides: Collection[Group] = ()) -> list[tuple[Refusal, float]]:
    """Refusals by a writer group, over replications, those first that waste most; each with its
    part of the compute time of all aborted transactions, not counting `besides` as winners."""
    counts: Counter[tuple[Group, Group, str]] = Counter()
    aborts: Counter[Group] = Counter()
    wasted_ms: defaultdict[Group, float] = defaultdict(float)
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
        (Refusal(loser, winner, exception, count, aborts[loser]),
         count / aborts[loser] * wasted_ms[loser] / total_ms)
        for (loser, winner, exception), count in counts.items()
        if winner not in besides
    ]  # fmt: skip
    return sorted(refusals, key=lambda each: -each[1])
