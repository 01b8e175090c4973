"""What is around every statement that a client runs: what is forgotten before it, and what follows
its commits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from whitecap.engine.commands.maintenance.auto_compaction import auto_compact
from whitecap.engine.outcomes import Outcome
from whitecap.engine.session.table import Table
from whitecap.engine.storage.requests import Steps


def as_statement(table: Table, steps: Steps[Outcome]) -> Steps[Outcome]:
    """Steps of one statement on one table, with storage keys below the table's root."""
    with statement_on(table):
        return (yield from table.at_root(steps))


@contextmanager
def statement_on(table: Table) -> Iterator[None]:
    """While a statement runs, the table's `outcomes` are its own; auto compaction may follow it."""
    table.outcomes.clear()
    table.after_commit = auto_compact
    try:
        yield
    finally:
        table.reading = None
