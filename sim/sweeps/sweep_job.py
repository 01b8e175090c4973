"""Running a sweep: all runs that are not finished yet, batch by batch, on one engine.

A batch is written whole or does not count, so an interruption costs the one that was under way. A
run that fails leaves the others alone: its error is written down beside them, and told together
with all others when the sweep ends.
"""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from errno import EDQUOT, ENOSPC
from functools import partial
from typing import Any

from msgspec import Struct

from whitecap.engine.errors import InvalidInput, InvariantViolated, Problem
from whitecap.engine.recorded import RunName
from whitecap.sim.machine.interruption import interrupted_by
from whitecap.sim.recording.dataset.layout import batch_folder, batch_number
from whitecap.sim.recording.dataset.place import (
    DatasetPlace,
    Summary,
    failed_runs,
    finished_runs,
    whole_batches,
)
from whitecap.sim.replay.real.environment import EnvironmentMissing, MissingPrerequisite
from whitecap.sim.scenario.cells import show_cell
from whitecap.sim.sweeps.batches import dealt, next_batch
from whitecap.sim.sweeps.engines import SweepEngine
from whitecap.sim.sweeps.experiment import Experiment
from whitecap.sim.sweeps.opening import open_place
from whitecap.sim.sweeps.planned import PlannedRun

WATCH_EVERY_S = 0.2
"""How often we look how far a batch is."""

DISK_FULL = MissingPrerequisite(
    "No space is left where the sweep is written", "Finished batches are kept."
)


class Progress(Struct, frozen=True):
    """How far a sweep is: `kept` of the finished runs were there before it was (re)started.

    `grown_to`: the replications that lie there, where these are more than are asked for now.
    """

    total: int
    finished: int
    failed: int
    kept: int
    grown_to: int | None = None


def run_sweep(
    experiment: Experiment,
    place: DatasetPlace,
    engine: Callable[[], SweepEngine],
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> None:
    """Run what is not finished; `engine` is called only if there is something to run.

    Where a sweep lies that has more replications by now, these stay, and none of them is run.

    Raises:
        InvalidInput: another sweep lies there, or is being made there by somebody else.
        EnvironmentMissing: the engine is not there or broke down; says why.
        InvariantViolated: runs failed; says which, and how to reproduce each.
    """
    there = open_place(experiment, place).replications
    planned = {run.name: run for run in experiment.runs(str(place))}
    grown_to = there if there > experiment.replications else None
    state = _State(place, planned, grown_to, on_progress)
    pending = [run for name, run in planned.items() if name not in state.finished]
    state.tell()
    if pending:
        _run_all(engine(), pending, state)
    _clear_leftovers(place)
    if state.failures:
        failures = [(planned[name], failure) for name, failure in state.failures.items()]
        raise _error_of(failures, len(planned))


class _State:
    """What is finished, what failed, and in which batches it lies."""

    def __init__(
        self,
        place: DatasetPlace,
        planned: Collection[RunName],
        grown_to: int | None,
        on_progress: Callable[[Progress], None],
    ) -> None:
        self.place = place
        whole = whole_batches(place)
        self.batches = set(whole)
        self.finished: set[RunName] = set()
        self.failures: dict[RunName, Mapping[str, Any]] = {}
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self._planned = planned
        self._grown_to = grown_to
        self._on_progress = on_progress
        self._count(finished_runs(place, whole))
        self._kept = len(self.finished)

    def add(self, batch: str) -> None:
        """A batch is whole; if another sweep has written here meanwhile, ours is taken back.

        Whoever looks last sees both, so no run is left in two batches.

        Raises `InvalidInput`: somebody else's batch has come.
        """
        if set(whole_batches(self.place)) - self.batches - {batch}:
            self.place.remove(batch)
            text = "is being filled by another sweep of the same definition; this one ends"
            raise InvalidInput([Problem(str(self.place), text)])
        self.batches.add(batch)
        self._count(finished_runs(self.place, [batch]))
        self.failures.update(failed_runs(self.place, [batch]))

    def tell(self, under_way: int = 0) -> None:
        """Report how far the sweep is."""
        finished, failed = len(self.finished) + under_way, len(self.failures)
        total = len(self._planned)
        self._on_progress(Progress(total, finished, failed, self._kept, self._grown_to))

    def _count(self, runs: Mapping[RunName, Summary]) -> None:
        self.finished.update(name for name in runs if name in self._planned)
        for (cell, _), run in runs.items():
            self.seconds[cell].append(run.seconds)


def _run_all(engine: SweepEngine, pending: Sequence[PlannedRun], state: _State) -> None:
    last = None
    number = max((batch_number(folder) or 0 for folder in state.place.batches()), default=-1)
    try:
        while pending:
            number += 1
            runs = next_batch(pending, state.seconds, engine.slots, last)
            folder = batch_folder(number, os.urandom(4).hex())
            _run_batch(engine, dealt(runs, state.seconds, engine.slots), folder, state)
            state.add(folder)
            state.tell()
            pending, last = pending[len(runs) :], len(runs)
    finally:
        engine.release()


def _run_batch(
    engine: SweepEngine, tasks: Sequence[Sequence[PlannedRun]], folder: str, state: _State
) -> None:
    """Start the batch in a thread of its own and watch the engine until it ends."""
    job = _Job(engine, tasks, state.place, folder)
    job.start()
    try:
        _watch(job, engine, state)
    except BaseException:
        engine.cancel()
        raise
    if job.error is not None:
        raise _environment_error(engine, job.error)


def _watch(job: _Job, engine: SweepEngine, state: _State) -> None:
    """Tell how far the engine is until the job ends. Raises `KeyboardInterrupt`, between looks.

    Within one Py4J would break its connection, and tell of that in tracebacks.
    """
    pressed = threading.Event()
    with interrupted_by(pressed.set):
        while job.is_alive() and not pressed.is_set():
            job.join(WATCH_EVERY_S)
            state.tell(engine.done() if job.is_alive() else 0)
    if pressed.is_set():
        raise KeyboardInterrupt


def _environment_error(engine: SweepEngine, error: BaseException) -> BaseException:
    """Runs write down their own errors, so what ends the job is the engine's or the disk's."""
    if isinstance(error, KeyboardInterrupt | SystemExit):
        return error
    if isinstance(error, OSError) and error.errno in (ENOSPC, EDQUOT):
        return EnvironmentMissing([DISK_FULL])
    lines = [line for line in str(error).splitlines() if line.strip()]
    what = f"{engine.what}: {lines[-1].strip() if lines else type(error).__name__}"
    return EnvironmentMissing([MissingPrerequisite(what, engine.remedy)])


class _Job(threading.Thread):
    """A batch on its engine; its error, if any, is kept for the thread that waits."""

    def __init__(
        self,
        engine: SweepEngine,
        tasks: Sequence[Sequence[PlannedRun]],
        place: DatasetPlace,
        folder: str,
    ) -> None:
        super().__init__(name="sweep", daemon=True)
        self._record = partial(engine.record, tasks, place, folder)
        self.error: BaseException | None = None

    def run(self) -> None:
        """Make every run."""
        try:
            self._record()
        except BaseException as error:  # handed to the waiting thread
            self.error = error


def _clear_leftovers(place: DatasetPlace) -> None:
    """Remove batches that were broken off, now that all they held lies in others."""
    for folder, whole in place.batches().items():
        if not whole:
            place.remove(folder)


def _error_of(failures: Sequence[tuple[PlannedRun, Mapping[str, Any]]], total: int) -> Exception:
    """Bad input if every failure is; otherwise a fault of ours."""
    failed_of_cause: dict[str, list[PlannedRun]] = {}
    for run, why in failures:
        failed_of_cause.setdefault(f"{why['error']}: {why['text']}", []).append(run)
    problems = [
        Problem("", f"{len(failures)} of {total} runs failed; the others are kept"),
        *(_problem(cause, runs) for cause, runs in failed_of_cause.items()),
    ]
    if all(why["is_bad_input"] for _, why in failures):
        return InvalidInput(problems)
    return InvariantViolated("\n".join(map(str, problems)))


def _problem(cause: str, runs: Sequence[PlannedRun]) -> Problem:
    """What some runs failed of, with the first of them."""
    first, others = runs[0], len(runs) - 1
    place = f"cell {show_cell(first.labels)}, replication {first.replication}, seed {first.seed}"
    more = f", and {others} more {'run' if others == 1 else 'runs'}" if others else ""
    return Problem(f"{place}{more}", f"{cause}\n  to reproduce: {first.command}")
