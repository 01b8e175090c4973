"""Runs that are read by the process that makes them: only what was read of them comes back."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Generic, TypeVar

from msgspec import Struct

from whitecap.engine.errors import InvariantViolated
from whitecap.engine.recorded import columns_read
from whitecap.sim.machine.interruption import reraise_interruption
from whitecap.sim.machine.processes import Processes
from whitecap.sim.recording.dataset.reading import Reading
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.sweeps.kept_runs import Keeping, KeptRuns

T = TypeVar("T")

Watch = Callable[[int, int], None]
"""Is called with how many runs are done, and of how many."""


class RunToRead(Struct, frozen=True):
    """One run to be made, of a scenario or of the cell of a sweep with these labels."""

    scenario: Scenario
    labels: Mapping[str, str]
    replication: int
    seed: int | None = None
    """The seed, if it is not the scenario's."""

    @property
    def seed_taken(self) -> int:
        """The seed that it is run by."""
        return self.scenario.seed if self.seed is None else self.seed


class ReadRun(Struct, Generic[T], frozen=True):
    """One run that was made: what was read of it, or what broke it; `seconds` of computing."""

    run: RunToRead
    read: T | None
    error: str | None
    seconds: float


class Making(Generic[T]):
    """Makes runs in `processes`, and reports how many are done.

    With `kept` it keeps them, and makes none that is kept already.
    """

    def __init__(
        self,
        reading: Reading[T],
        processes: Processes,
        watch: Watch | None = None,
        kept: KeptRuns | None = None,
    ) -> None:
        self._reading, self._kept = reading, kept
        self._made = partial(_made, reading if kept is None else Keeping(kept.place, reading))
        self._processes, self._watch = processes, watch
        self._total = self._done = 0

    def make(self, runs: Sequence[RunToRead]) -> Iterator[ReadRun[T]]:
        """What was read of the runs, in their order; runs of another call may be made in between.

        Raises as `KeptRuns.read`.
        """
        self._total += len(runs)
        read = [self._read(run) for run in runs]
        lacking = [run for run, kept in zip(runs, read, strict=True) if kept is None]
        made = iter(self._processes.map(self._made, lacking))
        for kept in read:
            each = next(made) if kept is None else kept
            self._done += 1
            if self._watch is not None:
                self._watch(self._done, self._total)
            yield each

    def _read(self, run: RunToRead) -> ReadRun[T] | None:
        """What is read of a run that is kept, `None` if it must be made."""
        if self._kept is None:
            return None
        read = self._kept.read(self._reading, run.scenario, run.seed_taken, run.replication)
        return None if read is None else ReadRun(run, read, None, 0.0)


def _made(reading: Reading[T], run: RunToRead) -> ReadRun[T]:
    from whitecap.sim.oracles.runs.expected import findings_by_name
    from whitecap.sim.run import run_scenario

    began = time.perf_counter()
    read, error = None, None
    try:
        finished = run_scenario(
            run.scenario,
            seed=run.seed,
            replication=run.replication,
            labels=run.labels,
            findings=findings_by_name,
        )
        recording = finished.recording
        read = reading(recording.manifest, recording.columns(columns_read(recording.manifest)))
    except InvariantViolated as broken:
        error = str(broken)
    except OSError:  # of the place where runs are kept: no defect of the run
        raise
    except Exception as broken:
        reraise_interruption(broken)
        again = run.scenario.command_of(run.seed_taken, run.replication)
        trace = traceback.format_exc()
        error = f"{type(broken).__name__}: {broken}\nto reproduce: {again}\n{trace}"
    return ReadRun(run, read, error, time.perf_counter() - began)
