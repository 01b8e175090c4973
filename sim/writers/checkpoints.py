"""Checkpoints of streaming queries: which batch comes next, and what is in each batch.

A checkpoint belongs to a query, not to a process: two processes started on the same checkpoint
have the same application id, take the same next batch, and read the same rows for it. What becomes
of that is decided by the table's log, not here.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from whitecap.engine.log.schema import Schema
from whitecap.sim.writers.workload import Work

MakeWork = Callable[[int, float], Work]
"""Makes what is in a batch, by its number and the instant."""


class Checkpoint(Struct):
    """One query's progress. `make_work` makes the rows of the next new batch."""

    app_id: str
    schema: Schema
    make_work: MakeWork
    next_batch_id: int = 0
    _open: dict[int, Work] = field(default_factory=dict)

    def batch(self, now_ms: float) -> tuple[int, Work]:
        """The batch that a process takes now; its rows are fixed when it is first taken."""
        batch_id = self.next_batch_id
        if batch_id not in self._open:
            self._open[batch_id] = self.make_work(batch_id, now_ms)
        return batch_id, self._open[batch_id]

    def complete(self, batch_id: int) -> bool:
        """A process saw the batch in the table. Returns whether it is the first to say so."""
        is_first = batch_id >= self.next_batch_id
        if is_first:
            self.next_batch_id = batch_id + 1
            self._open.pop(batch_id, None)
        return is_first


class FunctionProgress(Struct):
    """The checkpoint of a query whose function (foreachBatch) runs statements on its batches.

    A batch is done when the last of its statements was. What each of them does is fixed when it
    is first taken, by the batch and the statement's place among them.
    """

    app_id: str
    next_batch_id: int = 0
    _open: dict[tuple[int, int], Work] = field(default_factory=dict)
    _written: dict[int, int] = field(default_factory=dict)

    def work(self, batch_id: int, place: int, make_work: MakeWork, now_ms: float) -> Work:
        """What a statement does with a batch."""
        key = batch_id, place
        if key not in self._open:
            self._open[key] = make_work(batch_id, now_ms)
        return self._open[key]

    def is_written(self, batch_id: int, place: int) -> bool:
        """A statement has ended well on a batch. Returns whether for the first time."""
        is_first = batch_id > self._written.get(place, -1)
        if is_first:
            self._written[place] = batch_id
        return is_first

    def complete(self, batch_id: int) -> None:
        """A process came to the end of a batch's function."""
        if batch_id >= self.next_batch_id:
            self.next_batch_id = batch_id + 1
            self._open = {key: work for key, work in self._open.items() if key[0] >= batch_id}


class QueryProcess(Struct):
    """One process of a query: on which batch each of its jobs works, by the job's number."""

    progress: FunctionProgress
    _taken: dict[int, int] = field(default_factory=dict)

    def take(self, job: int) -> None:
        """The job begins, or begins again, with the batch that is next."""
        self._taken[job] = self.progress.next_batch_id

    def batch_of(self, job: int) -> int:
        """The batch that a job has taken."""
        return self._taken[job]

    def complete(self, job: int) -> None:
        """The job's function has come to its end."""
        self.progress.complete(self._taken.pop(job))
