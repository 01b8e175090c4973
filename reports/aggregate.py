"""From the recordings of a sweep to its tables: every run is measured once.

Each is counted by itself, wherever there is room, with the function that counts a single run
(`measures/measured_run.py`); what comes back is small, and the intervals over replications are
then a matter of plain pandas (`tables.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from whitecap.reports.measures.measured_run import MeasuredRun, measure_run
from whitecap.reports.runs import RecordedRun, RunSet
from whitecap.reports.tables import Labels, Measurements, Tables, build_tables

WHOLE_RUN = "all writers"
"""The cell of a run on its own that stands for all of its writer groups."""

MeasureEach = Callable[
    [Callable[[RecordedRun], MeasuredRun], Sequence[RecordedRun]], Iterable[MeasuredRun]
]
"""Measures runs with the function given, several at a time; the results are in their order."""


def aggregate(measure_each: MeasureEach, runs: RunSet) -> Tables:
    """All tables of a sweep; of one run, with its writer groups in the place of cells.

    `measure_each` is called for sweeps only: a run on its own is measured here.
    """
    if runs.is_sweep:
        return build_tables(_measured(measure_each, runs), runs.cells)
    measured, labels = _writers_as_cells(measured_alone(runs.runs[0]), runs.runs[0].replication)
    return build_tables(measured, labels)


def measured_alone(run: RecordedRun) -> MeasuredRun:
    """One recorded run, measured in this process."""
    return measure_run(run.manifest, run.tables())


def _measured(measure_each: MeasureEach, runs: RunSet) -> Measurements:
    # Workers may have been started in another directory.
    placed = [replace(run, path=run.path.absolute()) for run in runs.runs]
    measured = measure_each(measured_alone, placed)
    return {
        (run.cell, run.replication): each for run, each in zip(runs.runs, measured, strict=True)
    }


def _writers_as_cells(
    run: MeasuredRun, replication: int
) -> tuple[Measurements, Mapping[str, Mapping[str, str]]]:
    """A run by its writers: all of them together, then each group on its own."""
    cells = {WHOLE_RUN: run} | {str(group): run.only(group) for group in run.groups}
    labels: Labels = {name: {"writer": name} for name in cells}
    return {(name, replication): each for name, each in cells.items()}, labels
