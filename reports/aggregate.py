"""From the recordings of a sweep to its tables: every run is measured once.

Each is counted by itself, wherever there is room, with the function that counts a single run
(`measures/measured_run.py`); what comes back is small, and the intervals over replications are
then a matter of plain pandas (`tables.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import partial

from whitecap.engine.recorded import RunName
from whitecap.reports.measures.measured_run import (
    MeasuredRun,
    Runs,
    courses_of_run,
    measure_run,
)
from whitecap.reports.measures.warm_up import Courses, is_auto, warm_up_in_common
from whitecap.reports.runs import WHOLE_RUN, RunSet, read_each
from whitecap.reports.tables import LabelsByCell, Measurements, ReportTables, build_tables


def aggregate(runs: RunSet) -> ReportTables:
    """All tables of a sweep; of one run, with its writer groups in the place of cells.

    Raises `InvalidInput`: rows of a sweep are missing or damaged.
    """
    measured = _measure_each(runs)
    if runs.is_sweep:
        return build_tables({run.name: measured[run.name] for run in runs.runs}, runs.cells)
    (run,) = runs.runs
    return build_tables(*_writers_as_cells(measured[run.name], run.replication))


def measure_cells(runs: RunSet) -> dict[str, Runs]:
    """Every run, by cell and replication. Raises as `aggregate`."""
    cells: dict[str, dict[int, MeasuredRun]] = defaultdict(dict)
    for (cell, replication), run in _measure_each(runs).items():
        cells[cell][replication] = run
    return dict(cells)


def _measure_each(runs: RunSet) -> dict[RunName, MeasuredRun]:
    """Every run; those that leave their warm-up to be found with the one of all such cells."""
    durations_ms = {run.name: run.duration_ms for run in runs.runs if is_auto(run.manifest)}
    if not durations_ms:
        return read_each(runs, measure_run)
    courses: dict[str, list[Courses]] = defaultdict(list)
    for name, run_courses in sorted(read_each(runs, courses_of_run).items()):
        if name in durations_ms:
            courses[name[0]].append(run_courses)
    shortest_ms = min(durations_ms.values())
    used_ms = warm_up_in_common(courses.values(), shortest_ms)
    return read_each(runs, partial(measure_run, warm_up_ms=used_ms))


def _writers_as_cells(
    run: MeasuredRun, replication: int
) -> tuple[Measurements, Mapping[str, Mapping[str, str]]]:
    """A run by its writers: all of them together, then each group on its own."""
    cells = {WHOLE_RUN: run} | {str(group): run.only(group) for group in run.groups}
    labels: LabelsByCell = {name: {"writer": name} for name in cells}
    return {(name, replication): each for name, each in cells.items()}, labels
