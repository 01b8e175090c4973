"""A statement under way: the whole of it, or its commit loop alone.

What depends on nobody else (ids, the time of a job) is answered here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self
from uuid import UUID

from msgspec import Struct

from whitecap.engine.commands.maintenance.auto_compaction import may_follow
from whitecap.engine.errors import DeltaError
from whitecap.engine.outcomes import Aborted, Committed, Outcome
from whitecap.engine.session.table import Table, Tables
from whitecap.engine.storage.requests import Compute, NewId, Request, Steps
from whitecap.engine.transaction.commit_loop import ReadyCommit, commit_loop


class Unfinished(Struct, frozen=True):
    """A statement that is still under way when its race is settled: nobody can abort it."""


Ending = Outcome | DeltaError | Unfinished
"""How a statement ended; a `DeltaError` is Delta's refusal for another reason than a conflict."""

Reached = tuple[Request | None, Ending | None]
"""What is asked next, or how it ended."""


class Walk:
    """A running statement and its clients; `next_id` is the number of the next id it makes up."""

    __slots__ = ("_next_id", "_steps", "_tables")

    def __init__(self, tables: Tables, steps: Steps[Outcome], next_id: int) -> None:
        self._tables = tables
        self._steps = steps
        self._next_id = next_id

    def led_by(self, answers: Iterable[Any]) -> Self:
        """The same walk, some answers further."""
        for answer in answers:
            self.on(answer)
        return self

    def on(self, answer: Any) -> Reached:
        """Go on with an answer."""
        try:
            request = self._steps.send(answer)
            while isinstance(request, NewId | Compute):
                request = self._steps.send(self._id() if isinstance(request, NewId) else None)
            return request, None
        except StopIteration as end:
            return None, end.value
        except DeltaError as error:
            return None, error

    def _id(self) -> str:
        made = str(UUID(int=self._next_id))
        self._next_id += 1
        return made

    @property
    def is_idle(self) -> bool:
        """Whether no client has a transaction under way, or one that ended in a conflict."""
        return not any(table.under_way or _was_aborted(table) for table in self._tables.values())

    def commit_loop(self) -> CommitLoop | None:
        """The commit that it is about to try first, if who is aborted there ends.

        `None` where a compaction may follow: whether one does hangs on what is committed at last.
        """
        for table in self._tables.values():
            ready = table.last_commit
            if ready is not None and not _may_be_followed(ready, table):
                return CommitLoop(table, ready.branched(), self._next_id)
        return None


def _may_be_followed(ready: ReadyCommit, table: Table) -> bool:
    return may_follow(ready.current.operation.name, ready.current.metadata, table)


def _was_aborted(table: Table) -> bool:
    return any(isinstance(outcome, Aborted) for outcome in table.outcomes)


class CommitLoop(Struct):
    """What is left of a statement before its first attempt; it can be begun any number of times.

    `ends_if_won`: it is known that the statement ends as soon as its first attempt is won.
    """

    _table: Table
    _ready: ReadyCommit
    _next_id: int
    ends_if_won: bool = False

    def walk(self) -> LoopWalk:
        """The loop from its beginning."""
        steps = self._table.at_root(commit_loop(self._ready.branched()))
        return LoopWalk(self, steps, self._next_id)

    def stands_for_statement(self, ending: Ending | None) -> bool:
        """Whether the statement, too, goes on or ends as its loop does.

        Once the loop has ended, who is aborted ends (`Table.last_commit`), and who commits does so
        if the statement would have ended had it won its first attempt.
        """
        is_committed = isinstance(ending, Committed)
        return ending is None or isinstance(ending, Aborted) or (is_committed and self.ends_if_won)


class LoopWalk(Walk):
    """A commit loop alone: what its statement does from the first attempt until the loop ends."""

    __slots__ = ("loop",)

    def __init__(self, loop: CommitLoop, steps: Steps[Outcome], next_id: int) -> None:
        super().__init__({}, steps, next_id)
        self.loop = loop

    @property
    def is_idle(self) -> bool:
        return False
