"""Where sweeps lie and how they are read there: in a directory or behind a URI.

Here the simulator, which writes recordings, meets the reports, which know nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.recorded import RunName
from whitecap.reports.runs import RunSet, require_run_directory, run_at, runs_of
from whitecap.sim.machine.places import require_directory, require_name
from whitecap.sim.recording.dataset.local import LocalPlace
from whitecap.sim.recording.dataset.place import (
    DEFINITION_FILE,
    DatasetPlace,
    finished_runs,
    is_uri,
    local_path,
)
from whitecap.sim.recording.dataset.reading import ColumnsByTable, R, Reading
from whitecap.sim.replay.choice import ChosenRun, choose_run, named_run
from whitecap.sim.sweeps.engines import SweepEngine
from whitecap.sim.sweeps.opening import NO_SWEEP_THERE
from whitecap.sweep_engine import sweep_engine

if TYPE_CHECKING:
    from whitecap.sim.scenario.cells import CellChoice


def sweep_place(where: str | Path, engine: Callable[[], SweepEngine]) -> DatasetPlace:
    """Where a sweep lies; `engine` is called only for what is not on this machine.

    Raises `InvalidInput`: it cannot be reached, or not by this engine.
    """
    return engine().place(str(where)) if is_uri(where) else LocalPlace(local_path(where))


def require_sweep_place(where: str | Path | None) -> None:
    """Before a sweep is asked to go there: can it? What is behind a URI is not looked at.

    Raises `InvalidInput`: something else is there, or nothing can be written.
    """
    if where is None or is_uri(where):
        return
    path = local_path(where)
    require_name(path)
    if is_sweep(where):
        return
    if LocalPlace(path).exists():
        raise InvalidInput([Problem(str(path), NO_SWEEP_THERE)])
    require_directory(path)


def is_sweep(where: str | Path) -> bool:
    """Whether a sweep lies there, or may: what is behind a URI is not looked at."""
    return is_uri(where) or (local_path(where) / DEFINITION_FILE).is_file()


def made_in(where: str | Path) -> Path:
    """The directory of this machine for what is made of the recordings there: of a directory
    itself, of a URI one by its last name under `out`."""
    return (
        Path("out", str(where).rstrip("/").rpartition("/")[2])
        if is_uri(where)
        else local_path(where)
    )


class SweepAt(Struct, frozen=True):
    """A sweep as reports read it (`RecordedSweep`)."""

    where: DatasetPlace
    root: Path
    engine: Callable[[], SweepEngine]

    @property
    def place(self) -> str:
        """What its users call it."""
        return str(self.where)

    def definition(self) -> str | None:
        """The text of its `sweep.json`."""
        return self.where.read(DEFINITION_FILE)

    def manifests(self) -> Mapping[RunName, Mapping[str, Any]]:
        """The manifest of every finished run."""
        return {name: run.manifest for name, run in finished_runs(self.where).items()}

    def read(self, reading: Reading[R], columns: ColumnsByTable) -> list[tuple[RunName, R]]:
        """What `reading` finds in every finished run, on the engine."""
        return self.engine().read(self.where, reading, columns)


def recorded_runs(where: str | Path, engine: Callable[[], SweepEngine]) -> RunSet:
    """The runs of a sweep, or the run whose directory this is.

    Raises `InvalidInput`: neither lies there; says everything that is wrong.
    """
    if is_sweep(where):
        place = sweep_place(where, engine)
        return runs_of(SweepAt(place, made_in(where), engine))
    return run_at(local_path(where))


def require_recorded(where: str | Path) -> None:
    """Before an engine is asked for: is a sweep there, or a run? Raises `InvalidInput`."""
    if not is_sweep(where):
        run_at(local_path(where))


def chosen_run(where: str | Path, cell: CellChoice | None) -> ChosenRun:
    """The run to be replayed of a sweep, or the run whose directory this is.

    Raises as `choose_run`, and `InvalidInput` where neither lies.
    """
    directory = local_path(where)
    if not is_sweep(where):
        require_run_directory(directory)
        return named_run(directory, cell)
    return choose_run(sweep_place(where, sweep_engine("spark")), made_in(where), cell)
