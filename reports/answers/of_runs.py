"""From recordings to their answer: of a sweep's cells, or of one run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from whitecap.engine.recorded import SINGLE_CELL
from whitecap.reports.answers.answer import WordedAnswer, answer_of
from whitecap.reports.answers.grid import grid_of
from whitecap.reports.answers.objectives import objectives_of
from whitecap.reports.damage import damage_of_runs
from whitecap.reports.layout import layout_of
from whitecap.reports.measures.measured_run import MeasuredRun
from whitecap.reports.precision.asked import asked_for
from whitecap.reports.runs import WHOLE_RUN, objectives_in

if TYPE_CHECKING:
    from whitecap.reports.subject import Subject


def answer_of_subject(subject: Subject) -> WordedAnswer:
    """The answer of a sweep's finished cells, or of the one run that a report is about."""
    measured, runs = subject.tables.measured, subject.runs
    if not runs.is_sweep:
        (run,) = measured[WHOLE_RUN].values()
        return answer_of_run(runs.runs[0].manifest, run)
    grid = grid_of(subject.layout, runs.axis_roles, runs.lightest_first)
    asked = asked_for(runs.definition.get("until", ()))
    damaged = [cell for cell in runs.cells if damage_of_runs(runs.manifests_of(cell))]
    objectives = objectives_of(objectives_in(runs.definition))
    return answer_of(measured, grid, objectives, asked, damaged)


def answer_of_run(manifest: Mapping[str, Any], run: MeasuredRun) -> WordedAnswer:
    """The answer of one run, by the objectives that it was recorded with."""
    grid = grid_of(layout_of({SINGLE_CELL: {}}, {}), {}, {})
    replication = int(manifest["replication"])
    objectives = objectives_of(objectives_in(manifest))
    return answer_of({SINGLE_CELL: {replication: run}}, grid, objectives)
