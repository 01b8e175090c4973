"""Checkpoints of streaming queries: which batch comes next, and what is in each batch.

A checkpoint belongs to a query, not to a process: two processes started on the same checkpoint
have the same application id, take the same next batch, and read the same rows for it. What becomes
of that is decided by the table's log, not here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from whitecap.engine.log.schema import Schema
from whitecap.sim.writers.workload import Work


@dataclass(slots=True)
class Checkpoint:
    """One query's progress. `make_work` makes the rows of the next new batch."""

    app_id: str
    schema: Schema
    make_work: Callable[[int, float], Work]
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
