"""Scenarios with what is expected of them: run, or as they were recorded, and judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.reports.aggregate import measure_cells
from whitecap.reports.comparisons.changes import MeasureChanges
from whitecap.reports.comparisons.wording import changes_document
from whitecap.reports.expectations.checked import CheckResult, checked_cell
from whitecap.reports.expectations.expected import MeasureThresholds, of_cell
from whitecap.reports.expectations.judging import judged_document
from whitecap.reports.measures.in_common import (
    Unmeasured,
    measured_in_common,
    measured_or_kept,
)
from whitecap.reports.measures.measured_run import MeasuredRun, Runs
from whitecap.reports.precision.reached import (
    ReachedPrecision,
    next_replications,
    reached_by,
    reached_document,
)
from whitecap.sim.loading import scenario_of
from whitecap.sim.recording.dataset.place import is_uri
from whitecap.sim.scenario.cells import show_cell
from whitecap.sim.sweeps.read_runs import Watch
from whitecap.sim.sweeps.regression import (
    DEFAULT_EFFORT,
    CellRuns,
    RanScenario,
    Rounds,
    RunEffort,
    run_expecting,
)
from whitecap.sim.sweeps.regression_files import Accept
from whitecap.sweep_engine import sweep_engine
from whitecap.sweep_places import recorded_runs
from whitecap.until import NOTHING_ASKED, Until

NOTHING_EXPECTED = (
    "expects nothing: the scenario had no `expect:` when it was swept; write one and sweep it anew"
)


class MeasuredCell(Struct, frozen=True):
    """One cell with its runs; the `digest` names what was simulated."""

    labels: Mapping[str, str]
    digest: str
    runs: Runs


class MeasuredScenario(Struct, frozen=True):
    """All runs of one scenario, from one seed."""

    name: str
    seed: int
    cells: tuple[MeasuredCell, ...]


_Compare = Callable[[MeasuredScenario, str], MeasureChanges]
"""What changed in a scenario, called so in messages, since it was measured before."""


class CheckedScenario(Struct, frozen=True):
    """One scenario with all its expectations; `seconds` of computing for so many `runs`."""

    path: Path | str
    """Its file, or the place of its sweep."""
    name: str
    checked: CheckResult
    runs: int
    seconds: float
    reached: tuple[ReachedPrecision, ...] = ()
    """How exactly measures are known that were asked for with `until`."""
    measured: MeasuredScenario | None = None


def check_scenarios(
    paths: Sequence[Path],
    effort: RunEffort = DEFAULT_EFFORT,
    until: Until = NOTHING_ASKED,
    watch: Watch | None = None,
    *,
    accept: Accept | None = None,
) -> Iterator[CheckedScenario]:
    """Run the scenarios with an `expect:` at these paths and hold them to it, in order.

    `watch` is told how many of how many runs are done. Replications are added until what `until`
    asks for is known in all cells of a scenario. With `accept` all cells are run, of named files
    also where they expect nothing (`run_expecting`). Scenarios that are not run to their end when
    time is up are not judged.
    Raises `InvalidInput` before anything is run, with every problem.
    """
    rounds = _rounds_of(until) if until.asked else None
    for ran in run_expecting(paths, measured_or_kept, effort, watch, rounds, accept=accept):
        if ran.is_unfinished:
            unjudged = CheckResult((), unjudged="the time was up before its runs were made")
            yield CheckedScenario(ran.path, ran.name, unjudged, 0, ran.seconds)
        else:
            yield _checked(ran, until)


def _rounds_of(until: Until) -> Rounds[MeasuredRun | Unmeasured]:
    """Rounds until it is known, or there are most replications."""

    def enough(ran: RanScenario[MeasuredRun | Unmeasured], seen: int) -> int:
        if seen >= until.most or ran.error is not None:
            return seen
        return next_replications(_reached(_measured(ran), until), seen, until.most)

    return Rounds(enough, until.first)


def _checked(ran: RanScenario[MeasuredRun | Unmeasured], until: Until) -> CheckedScenario:
    cells = _measured(ran)
    return CheckedScenario(
        ran.path,
        ran.name,
        _judged(cells, ran.error),
        sum(len(cell.runs) for cell in cells),
        ran.seconds,
        _reached(cells, until),
        _as_measured(ran.name, cells),
    )


def _reached(cells: Sequence[CellRuns[MeasuredRun]], until: Until) -> tuple[ReachedPrecision, ...]:
    return until.reached([(show_cell(cell.labels), cell) for cell in cells])


def _as_measured(name: str, cells: Sequence[CellRuns[MeasuredRun]]) -> MeasuredScenario | None:
    """What is to be compared; nothing where no run came to its end."""
    measured = (MeasuredCell(c.labels, c.scenario.hash, c.runs) for c in cells)
    return MeasuredScenario(name, cells[0].scenario.seed, tuple(measured)) if cells else None


def check_sweep(where: Path | str, until: Until, *, needs_expectations: bool) -> CheckedScenario:
    """Hold a sweep that was made before to what its scenario expects; nothing is run.

    Raises `InvalidInput`: there is no sweep, its scenario expects nothing (which it may without
    `needs_expectations`), or rows are damaged.
    """
    runs = recorded_runs(where, sweep_engine("spark" if is_uri(where) else "processes"))
    expected = expected_by(runs.definition)
    if not expected and needs_expectations:
        raise InvalidInput([Problem(str(where), NOTHING_EXPECTED)])
    measured = measure_cells(runs)
    cells = tuple(
        checked_cell(show_cell(labels), of_cell(expected, labels), measured[cell])
        for cell, labels in runs.cells.items()
    )
    name = str(runs.definition["scenario_name"])
    titles = {show_cell(labels): measured[cell] for cell, labels in runs.cells.items()}
    reached = reached_by(until.asked, titles)
    digests = {cell["name"]: str(cell["scenario_hash"]) for cell in runs.definition["cells"]}
    every = (
        MeasuredCell(labels, digests[cell], measured[cell]) for cell, labels in runs.cells.items()
    )
    kept = MeasuredScenario(name, int(runs.definition["seed"]), tuple(every))
    return CheckedScenario(where, name, CheckResult(cells), len(runs.runs), 0.0, reached, kept)


def compared_with(result: CheckedScenario, compare: _Compare) -> CheckedScenario:
    """The same, with what changed since it was measured before; as it is where nothing was."""
    if result.measured is None or result.checked.error is not None:
        return result
    changes = compare(result.measured, str(result.path))
    return replace(result, checked=replace(result.checked, changes=changes))


def expected_by(definition: Mapping[str, Any]) -> Sequence[MeasureThresholds]:
    """What the scenario of a sweep's definition expects."""
    if not definition["axes"]:
        plain = [each for each in definition["scenario"].get("expect", ()) if "when" not in each]
        return scenario_of({**definition["scenario"], "expect": plain}, cells=False).expect
    axes = {"sweep": {"axes": definition["axes"]}}
    return scenario_of({**definition["scenario"], **axes}, cells=False).expect


def _measured(ran: RanScenario[MeasuredRun | Unmeasured]) -> list[CellRuns[MeasuredRun]]:
    """The cells of a scenario, measured with the same warm-up where it is to be found."""
    runs = measured_in_common({number: cell.runs for number, cell in enumerate(ran.cells)})
    return [
        CellRuns(cell.scenario, cell.labels, runs[number]) for number, cell in enumerate(ran.cells)
    ]


def _judged(cells: Sequence[CellRuns[MeasuredRun]], error: str | None) -> CheckResult:
    judged = (checked_cell(show_cell(c.labels), c.scenario.expect, c.runs) for c in cells)
    return CheckResult(tuple(judged), error)


def checked_document(result: CheckedScenario) -> dict[str, Any]:
    """One scenario as `check --json` prints it."""
    changes = result.checked.changes
    return {
        "path": result.path,
        "name": result.name,
        "verdict": result.checked.verdict,
        "error": result.checked.error,
        "unjudged": result.checked.unjudged or None,
        "runs": result.runs,
        "until": list(map(reached_document, result.reached)),
        "expectations": [
            {"cell": cell.where, **judged_document(judged)}
            for cell in result.checked.cells
            for judged in cell.judged
        ],
        "baseline": changes and changes_document(changes),
    }
