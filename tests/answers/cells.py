"""Measured cells made of a few numbers, as the tests of answers need them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from whitecap.engine.recorded import AxisRole, Objective
from whitecap.reports.answers.answer import WordedAnswer, answer_of
from whitecap.reports.answers.grid import DesignGrid, grid_of
from whitecap.reports.answers.objectives import objectives_of
from whitecap.reports.layout import SweepLayout, layout_of
from whitecap.reports.measures import MEASURES, Measure
from whitecap.reports.measures.counting import PERCENTILES
from whitecap.reports.measures.groups import WriterCommand
from whitecap.reports.measures.left_out import Due, JobsLeftOpen, added
from whitecap.reports.measures.measured_run import MeasuredPart, MeasuredRun
from whitecap.reports.measures.refusals import RefusalCount, ranked
from whitecap.reports.measures.tally import (
    Count,
    CountedShare,
    Latencies,
    MeasureTally,
    PerMinute,
    WeightedShare,
    together,
)

MINUTES = 100.0


@dataclass(frozen=True)
class Did:
    """What a writer group did in one run of 100 minutes: jobs, and how much of its compute was
    wasted. `aborted` transactions were stopped by `by` (itself if nobody is named). Each of the
    `statements` of a job that committed did."""

    committed: int = 1000
    given_up: int = 0
    aborted: int = 0
    by: str = ""
    wasted: float = 0.0
    latency_ms: float = 10_000.0
    unfinished: int = 0
    due: int = 0
    not_begun: int = 0
    statements: int = 1


def measured_run(**groups: Did) -> MeasuredRun:
    """A run in which these writer groups did so much."""
    parts = {WriterCommand(name, "MERGE"): _part(did) for name, did in groups.items()}
    names = {name: WriterCommand(name, "MERGE") for name in groups}
    refusals = ranked(
        RefusalCount(
            names[n], names[did.by or n], "ConcurrentAppendException", did.aborted, did.aborted
        )
        for n, did in groups.items()
        if did.aborted
    )
    every = [part.tallies for part in parts.values()]
    whole = MeasuredPart(
        {measure: together([tallies[measure] for tallies in every]) for measure in Measure},
        added([part.left_out for part in parts.values()]),
    )
    return MeasuredRun(whole, parts, refusals)


def _part(did: Did) -> MeasuredPart:
    ended = did.committed + did.given_up
    units = float(ended)
    counts = {
        Measure.COMMITTED: did.committed * did.statements, Measure.GIVEN_UP: did.given_up,
        Measure.ABORTED: did.aborted, Measure.SUBMITTED: ended + did.unfinished,
        Measure.ATTEMPTS: ended, Measure.IN_FLIGHT: did.unfinished,
    }  # fmt: skip
    latencies = np.sort(did.latency_ms * np.linspace(0.5, 1.5, max(did.committed, 1)))
    tallies: dict[Measure, MeasureTally] = {}
    for definition in MEASURES.values():
        measure = definition.measure
        name = measure.value
        if name.startswith("latency"):
            tallies[measure] = Latencies(latencies, PERCENTILES[measure])
        elif measure is Measure.GOODPUT_PER_MINUTE:
            tallies[measure] = PerMinute(did.committed, MINUTES)
        elif measure is Measure.JOB_SUCCESS_RATE:
            tallies[measure] = CountedShare(did.committed, ended)
        elif measure is Measure.WASTED_COMPUTE_SHARE:
            events = round(did.wasted * units)
            tallies[measure] = WeightedShare(did.wasted * units, units, events, units)
        elif name.endswith("_rate"):
            tallies[measure] = CountedShare(did.aborted, ended + did.aborted)
        else:
            tallies[measure] = Count(counts.get(measure, 0))
    due = Due(1, 1, did.due, did.not_begun)
    jobs = ended + did.unfinished
    return MeasuredPart(
        tallies, JobsLeftOpen(jobs, did.unfinished, did.given_up, did.unfinished, due)
    )


Cells = Mapping[str, Mapping[int, MeasuredRun]]


def replicated(replications: int, /, **groups: Did) -> dict[int, MeasuredRun]:
    """Runs that differ a little in how much is committed."""
    runs = {}
    for number in range(replications):
        shifted = {
            name: replace(did, committed=did.committed + 3 * ((number * 7) % 5 - 2))
            for name, did in groups.items()
        }
        runs[number] = measured_run(**shifted)
    return runs


def sweep_layout(**axes: Sequence[str]) -> SweepLayout:
    """Cells for all combinations of labels, named by them."""
    layout = layout_of({}, axes)
    cells = {"__".join(labels.values()): labels for labels in layout.combinations(list(axes))}
    return layout_of(cells, axes)


def load_of(layout: SweepLayout, *load: str) -> DesignGrid:
    """The grid of a layout in which these axes are load."""
    roles = {axis: AxisRole.LOAD if axis in load else AxisRole.DESIGN for axis in layout.axes}
    return grid_of(layout, roles, {})


def answered(
    layout: SweepLayout,
    cells: Cells,
    *objectives: Objective,
    load: Sequence[str] = (),
    damaged: Collection[str] = (),
) -> WordedAnswer:
    """The answer of these cells."""
    grid = load_of(layout, *load)
    return answer_of(cells, grid, objectives_of(objectives), damaged=damaged)
