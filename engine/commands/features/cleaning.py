"""How the traces of a table feature are taken away: step by step, until one is stopped."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.outcomes import Aborted, Outcome, Unknown
from whitecap.engine.session.table import Table
from whitecap.engine.storage.requests import Steps
from whitecap.engine.writing.beginning import begin


class Cleaned(Struct, frozen=True):
    """How the traces went.

    `stopped`: the outcome that kept the rest from being done. `made_changes`: there were traces.
    `version`: which version the drop itself reads, `None` for the newest.
    """

    stopped: Outcome | None = None
    made_changes: bool = False
    version: int | None = None


CLEAN = Cleaned()
"""There was nothing to take away."""


def stop(outcome: Outcome) -> Outcome | None:
    """The outcome, if it keeps what comes next from being done."""
    return outcome if isinstance(outcome, Aborted | Unknown) else None


def all_done(steps: Iterable[Steps[Outcome]], made_changes: bool = True) -> Steps[Cleaned]:
    """One after the other, as long as none is stopped."""
    for each in steps:
        stopped = stop((yield from each))
        if stopped is not None:
            return Cleaned(stopped)
    return Cleaned(made_changes=made_changes)


def empty_commit(table: Table) -> Steps[Outcome]:
    """A commit of nothing, on which a checkpoint is made."""
    txn = yield from begin(table)
    return (yield from txn.commit([], Operation("Empty Commit")))
