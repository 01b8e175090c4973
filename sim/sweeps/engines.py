"""Where the runs of a sweep are made and measured: on Spark, or in processes of this machine.

Both call the same functions for the same runs. So recordings and numbers are the same, and a sweep
that was begun on one engine can be finished on the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from whitecap.engine.errors import InvalidInput, Problem, unknown_name
from whitecap.engine.recorded import RunName
from whitecap.sim.recording.dataset.place import DatasetPlace
from whitecap.sim.recording.dataset.reading import ColumnsByTable, R, Reading
from whitecap.sim.replay.real.environment import EnvironmentMissing, require_spark
from whitecap.sim.sweeps.planned import PlannedRun


class SweepEngineName(StrEnum):
    """The engines as users name them."""

    SPARK = "spark"
    PROCESSES = "processes"


class SweepEngine(Protocol):
    """Makes, writes and reads runs, several at a time."""

    what: str
    """What has failed, in messages, when the engine fails."""
    remedy: str
    """What to do about that."""

    @property
    def slots(self) -> int:
        """How many runs are made at a time."""

    def place(self, uri: str) -> DatasetPlace:
        """What lies behind a URI. Raises `InvalidInput`: out of this engine's reach."""

    def record(
        self, tasks: Sequence[Sequence[PlannedRun]], place: DatasetPlace, batch: str
    ) -> None:
        """Make all runs, those of a task one after the other; the batch is whole then."""

    def done(self) -> int:
        """How many runs of the batch under way are made, from another thread."""

    def read(
        self, place: DatasetPlace, reading: Reading[R], columns: ColumnsByTable
    ) -> list[tuple[RunName, R]]:
        """What `reading` finds in every finished run, with its cell and replication."""

    def cancel(self) -> None:
        """Stop `record`, from another thread."""

    def release(self) -> None:
        """No more runs are to be made."""


def engine_asked_for(name: str | None, master: str | None) -> SweepEngineName | None:
    """The engine of this name; a Spark `master` means Spark.

    Raises `InvalidInput`: there is no such engine, or it has no master.
    """
    if name is None:
        return None if master is None else SweepEngineName.SPARK
    if name not in list(SweepEngineName):
        names = [each.value for each in SweepEngineName]
        raise InvalidInput([Problem("engine", *unknown_name("engine", name, names))])
    if name == SweepEngineName.PROCESSES and master is not None:
        reason = f"{master!r} is of Spark; the engine {name!r} has none"
        raise InvalidInput([Problem("master", reason)])
    return SweepEngineName(name)


def engine_found() -> tuple[SweepEngineName, str]:
    """Spark where it is installed; else processes, and a line that says why."""
    try:
        require_spark()
    except EnvironmentMissing as error:
        missing = "; ".join(each.what for each in error.missing)
        return SweepEngineName.PROCESSES, f"in processes of this machine, without Spark: {missing}"
    return SweepEngineName.SPARK, ""
