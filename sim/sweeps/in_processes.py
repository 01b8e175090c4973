"""The runs of a sweep in processes of this machine: no Java."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.recorded import RunName
from whitecap.sim.machine.processes import Processes, at_a_time
from whitecap.sim.recording.dataset.local import LocalPlace
from whitecap.sim.recording.dataset.place import DatasetPlace, whole_batches
from whitecap.sim.recording.dataset.reading import ColumnsByTable, R, Reading, read_batch, values_of
from whitecap.sim.sweeps.planned import PlannedRun, make_runs

_Part = tuple[int, Sequence[PlannedRun]]


class InProcesses:
    """One process per core, for as long as runs are made."""

    what = "A process that made runs of the sweep ended before its time"
    remedy = "Finished batches are kept. There may be too little memory for one run per core."

    def __init__(self) -> None:
        self._processes: Processes | None = None
        self._done = 0

    @property
    def slots(self) -> int:
        """How many runs are made at a time."""
        return at_a_time()

    def place(self, uri: str) -> DatasetPlace:
        """Raises `InvalidInput`: only Hadoop, and so Spark, could reach it."""
        reason = "is reached through Spark only: it takes --engine spark, with Java and pyspark"
        raise InvalidInput([Problem(uri, reason)])

    def record(
        self, tasks: Sequence[Sequence[PlannedRun]], place: DatasetPlace, batch: str
    ) -> None:
        """Make all runs; the batch is whole then."""
        assert isinstance(place, LocalPlace)
        self._done = 0
        self._processes = self._processes or Processes(self.slots)
        for runs in self._processes.map(
            partial(_record_part, place, batch), list(enumerate(tasks))
        ):
            self._done += runs
        place.close(batch)

    def done(self) -> int:
        """How many runs of the batch under way are made."""
        return self._done

    def read(
        self, place: DatasetPlace, reading: Reading[R], columns: ColumnsByTable
    ) -> list[tuple[RunName, R]]:
        """What `reading` finds in every finished run, with its cell and replication."""
        work = partial(read_batch, place, reading, columns)
        with Processes(self.slots) as processes:
            several = processes.map(work, whole_batches(place))
            return values_of([each for read in several for each in read])

    def cancel(self) -> None:
        """End what `record` is at, from another thread."""
        if self._processes is not None:
            self._processes.stop()

    def release(self) -> None:
        """No more runs are to be made."""
        if self._processes is not None:
            self._processes.__exit__(None, None, None)
            self._processes = None


def _record_part(place: LocalPlace, batch: str, part: _Part) -> int:
    number, runs = part
    place.add(batch, number, make_runs(runs))
    return len(runs)
