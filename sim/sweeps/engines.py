"""Where the runs of a sweep are made and measured: on Spark, or in processes of this machine.

Both do the same functions with the same runs, so that recordings and numbers are the same, and a
sweep that was begun on one can be finished on the other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeVar

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.machine.processes import Processes
from whitecap.sim.replay.real.environment import EnvironmentMissing, require_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")
R = TypeVar("R")

TASKS_PER_CORE = 4
"""Runs differ in size; a few tasks per core even that out, each paying its start once."""

_JOB_GROUP = "whitecap-sweep"


class SweepEngineName(StrEnum):
    """The engines as users name them."""

    SPARK = "spark"
    PROCESSES = "processes"


class SweepEngine(Protocol):
    """Does one thing with each of many runs, several at a time."""

    what: str
    """What it is that fails when the engine does."""
    remedy: str
    """What to do about it."""

    def each(self, function: Callable[[T], None], items: Sequence[T]) -> None:
        """Do what takes long, so that no item waits for a slow one as long as there is room."""

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """Do what is soon done; the results in the order of the items."""

    def cancel(self) -> None:
        """End what `each` is at, from another thread."""


class OnSpark:
    """As one job of this session."""

    what = "The Spark job failed"
    remedy = (
        "Finished runs are kept. Every worker needs Whitecap installed (PYSPARK_PYTHON names its "
        "Python) and must see the sweep's directory under the same path."
    )

    def __init__(self, session: SparkSession) -> None:
        self._context = session.sparkContext

    def each(self, function: Callable[[T], None], items: Sequence[T]) -> None:
        """One task per item."""
        self._context.setJobGroup(_JOB_GROUP, "runs of a sweep", interruptOnCancel=True)
        self._context.parallelize(items, len(items)).foreach(function)

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """A few tasks per core."""
        tasks = min(len(items), TASKS_PER_CORE * self._context.defaultParallelism)
        results: list[R] = self._context.parallelize(items, tasks).map(function).collect()
        return results

    def cancel(self) -> None:
        """End the job of `each`."""
        self._context.cancelJobGroup(_JOB_GROUP)


class InProcesses:
    """One process per core; short work is done in this one."""

    what = "A process that made runs of the sweep ended before its time"
    remedy = "Finished runs are kept. There may be too little memory for one run per core."

    def __init__(self) -> None:
        self._under_way: Processes | None = None

    def each(self, function: Callable[[T], None], items: Sequence[T]) -> None:
        """One item after the other in every process."""
        self._under_way = _one_per_core()
        with self._under_way as processes:
            for _ in processes.map(function, items):
                pass

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """One item after the other in every process."""
        with _one_per_core() as processes:
            return list(processes.map(function, items))

    def cancel(self) -> None:
        """End the processes of `each`."""
        if self._under_way is not None:
            self._under_way.stop()


def _one_per_core() -> Processes:
    return Processes(os.cpu_count() or 1)


def engine_asked_for(name: str | None, master: str | None) -> SweepEngineName | None:
    """The engine of this name; who names a Spark master asks for Spark.

    Raises `InvalidInput`: there is no such engine, or it has no master.
    """
    if name is None:
        return None if master is None else SweepEngineName.SPARK
    if name not in list(SweepEngineName):
        from whitecap.engine.errors import nearest

        names = [each.value for each in SweepEngineName]
        reason = f"there is no {name!r}, there are {' and '.join(names)}"
        raise InvalidInput([Problem("engine", reason, nearest(name, names))])
    if name == SweepEngineName.PROCESSES and master is not None:
        reason = f"{master!r} is of Spark; the engine {name!r} has none"
        raise InvalidInput([Problem("master", reason)])
    return SweepEngineName(name)


def engine_found() -> tuple[SweepEngineName, str]:
    """Spark where it is there; else processes, and a line that says why."""
    try:
        require_spark()
    except EnvironmentMissing as error:
        missing = "; ".join(each.what for each in error.missing)
        return SweepEngineName.PROCESSES, f"in processes of this machine, without Spark: {missing}"
    return SweepEngineName.SPARK, ""
