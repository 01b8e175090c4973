"""The public Python API: run a scenario, load a recording, look at it with pandas.

import whitecap
run = whitecap.run("scenarios/events.yaml", seed=7)
run.transactions.groupby("exception").size()
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from whitecap.arguments.kinds import of_its_kinds
from whitecap.engine.errors import Problem, gathered, noted
from whitecap.runs import Run, recorded
from whitecap.sim import loading
from whitecap.sim.loading import parse_scenario, scenario_of
from whitecap.sim.machine.places import refused_places
from whitecap.sim.quantities.bounds import MAX_REPLICATIONS
from whitecap.sim.quantities.whole_numbers import seed_or_none, whole
from whitecap.sim.scenario.cells import CellChoice
from whitecap.sim.scenario.model import Scenario

if TYPE_CHECKING:
    from whitecap.sweeps import Sweep

__all__ = ["Run", "Scenario", "load", "load_scenario", "run", "scenario_from"]

ScenarioLike = Scenario | str | Path | Mapping[str, Any]
"""A scenario, the path of its file, its YAML text, or its content as a dictionary."""


@overload
def run(
    scenario: ScenarioLike,
    *,
    seed: int | None = None,
    replication: int = 0,
    changes: Mapping[str, Any] | None = None,
    cell: CellChoice | None = None,
    out: str | Path | None = None,
    requests: bool = False,
    overwrite: bool = False,
    until: None = None,
    max_replications: int | None = None,
) -> Run: ...


@overload
def run(
    scenario: ScenarioLike,
    *,
    seed: int | None = None,
    replication: int = 0,
    changes: Mapping[str, Any] | None = None,
    cell: CellChoice | None = None,
    out: str | Path | None = None,
    requests: bool = False,
    overwrite: bool = False,
    until: str | Sequence[str],
    max_replications: int | None = None,
) -> Sweep: ...


@of_its_kinds
def run(
    scenario: ScenarioLike,
    *,
    seed: int | None = None,
    replication: int = 0,
    changes: Mapping[str, Any] | None = None,
    cell: CellChoice | None = None,
    out: str | Path | None = None,
    requests: bool = False,
    overwrite: bool = False,
    until: str | Sequence[str] | None = None,
    max_replications: int | None = None,
) -> Run | Sweep:
    """Simulate a scenario, or a `cell` of its sweep (axis -> label, or its name).

    `changes` are dotted paths and their values; only what is run then is checked, and no other
    cell. `out` is a directory for the recording; interrupted, the run keeps there what it has.
    With `until` ("conflict_rate +- 1 point") it is a sweep of one cell, with replications up to
    `max_replications` (100) until that is known: nothing of one run (`replication`, `requests`,
    `overwrite`) can be asked for then.

    Raises `InvalidInput` with every problem of the scenario, or if `out` holds a run already
    (without `overwrite`) or something else.
    """
    from whitecap.sim.oracles.runs.expected import findings_by_name
    from whitecap.sim.run import run_scenario

    if until is not None or max_replications is not None:
        given = {"replication": replication, "requests": requests, "overwrite": overwrite}
        _require_none_of_one_run(name for name, value in given.items() if value)
        return _replicated(scenario, seed, changes, cell, out, until or (), max_replications)
    directory = None if out is None else Path(out)
    with gathered() as problems:
        problems += _refused_place(directory, overwrite)
        with noted(problems):
            seed = seed_or_none(seed)
        with noted(problems):
            replication = whole("replication", replication, 0, MAX_REPLICATIONS)
        loaded = scenario_from(scenario, changes, cell)
    finished = run_scenario(
        loaded,
        seed=seed,
        replication=replication,
        out=directory,
        requests=requests,
        overwrite=overwrite,
        findings=findings_by_name,
    )
    return Run(loaded, finished.recording, finished)


def _require_none_of_one_run(given: Iterable[str]) -> None:
    with gathered() as problems:
        problems += [Problem(name, "is of one run, and `until` makes several") for name in given]


def _refused_place(out: Path | None, overwrite: bool) -> list[Problem]:
    """That no run can be written there, or that none is written which could replace another."""
    from whitecap.sim.recording.recording import require_free_for_run

    if overwrite and out is None:
        return [Problem("overwrite", "goes with out: nothing is written without it")]
    return refused_places(partial(require_free_for_run, overwrite=overwrite), out)


def _replicated(
    scenario: ScenarioLike,
    seed: int | None,
    changes: Mapping[str, Any] | None,
    cell: CellChoice | None,
    out: str | Path | None,
    until: str | Sequence[str],
    most: int | None,
) -> Sweep:
    from whitecap.sweep_places import require_sweep_place
    from whitecap.sweeps import replicated
    from whitecap.until import until_of

    with gathered() as problems:
        with noted(problems):
            require_sweep_place(out)
        with noted(problems):
            seed = seed_or_none(seed)
        with noted(problems):
            asked = until_of(until, most)
        several = scenario_from(scenario, changes, cell)
    return replicated(several, asked, seed=seed, out=out)


@of_its_kinds
def load(directory: str | Path) -> Run:
    """A run that was recorded before. Raises `InvalidInput` if it is none or is damaged."""
    from whitecap.sim.recording.recording import read_recording

    return recorded(read_recording(Path(directory)), str(directory))


@of_its_kinds
def load_scenario(
    path: str | Path,
    changes: Mapping[str, Any] | None = None,
    *,
    cells: bool = True,
    cell: CellChoice | None = None,
) -> Scenario:
    """A scenario that is read, filled in and checked; `changes` are applied last (dotted paths).

    `path` is a file, or the name of a bundled scenario (`events`). With `cells`, every cell of its
    sweep is checked too. With `cell` (axis -> label, or its name) it is the scenario of that cell
    alone; an axis may be left out if it has a single label.

    Raises `InvalidInput` with everything that is wrong, each with its place and the nearest name.
    """
    _require_choices(changes, cell)
    return loading.load_scenario(path, changes, cells=cells, cell=cell)


def scenario_from(
    given: ScenarioLike,
    changes: Mapping[str, Any] | None = None,
    cell: CellChoice | None = None,
) -> Scenario:
    """A checked scenario, or a cell of it, with changes applied. Raises `InvalidInput`."""
    _require_choices(changes, cell)
    match given:
        case Scenario() if not changes and cell is None:
            return given
        case Scenario():
            return scenario_of(given.document, changes, cells=False, cell=cell)
        case Mapping():
            return scenario_of(dict(given), changes, cells=False, cell=cell)
        case str() if "\n" in given:
            return parse_scenario(given, "scenario", changes, cells=False, cell=cell)
        case _:
            return loading.load_scenario(Path(str(given)), changes, cells=False, cell=cell)


def _require_choices(changes: Any, cell: Any) -> None:
    """What stands where names with values should, told before it is taken apart."""
    with gathered() as problems:
        is_named = isinstance(changes, Mapping) and all(isinstance(path, str) for path in changes)
        if changes is not None and not is_named:
            said = f"needs dotted paths with values, not {changes!r}"
            problems.append(Problem("changes", said))
        if not isinstance(cell, Mapping | str | None):
            problems.append(
                Problem("cell", f"needs a label for each axis, or a name, not {cell!r}")
            )
