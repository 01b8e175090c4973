"""Checking scenarios: `sim` runs them, `reports` judges what they recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whitecap.reports.expectations.checked import Checked, checked_cell
from whitecap.reports.expectations.judging import judged_document
from whitecap.reports.measures.measured_run import MeasuredRun, measure_run
from whitecap.sim.sweeps.regression import RanScenario, Watch, at, run_expecting


@dataclass(frozen=True, slots=True)
class CheckedScenario:
    """One scenario with all its expectations; `seconds` of computing for so many `runs`."""

    path: Path
    name: str
    checked: Checked
    runs: int
    seconds: float


def check_scenarios(
    paths: Sequence[Path],
    jobs: int = 1,
    replications: int | None = None,
    watch: Watch | None = None,
) -> Iterator[CheckedScenario]:
    """Run the scenarios with an `expect:` at these paths and hold them to it, in order.

    `watch` is told how many of how many runs are done.
    Raises `InvalidInput` before anything is run, with every problem.
    """
    for ran in run_expecting(paths, measure_run, jobs, replications, watch):
        runs = sum(len(cell.runs) for cell in ran.cells)
        yield CheckedScenario(ran.path, ran.name, _judged(ran), runs, ran.seconds)


def _judged(ran: RanScenario[MeasuredRun]) -> Checked:
    cells = (checked_cell(at(c.labels, ""), c.scenario.expect, c.runs) for c in ran.cells)
    return Checked(tuple(cells), ran.error)


def checked_document(result: CheckedScenario) -> dict[str, Any]:
    """One scenario as `check --json` prints it."""
    return {
        "path": result.path,
        "name": result.name,
        "verdict": result.checked.verdict,
        "error": result.checked.error,
        "runs": result.runs,
        "expectations": [
            {"cell": cell.where, **judged_document(judged)}
            for cell in result.checked.cells
            for judged in cell.judged
        ],
    }
