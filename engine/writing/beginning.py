"""How a command begins: on a table that is there, unless something keeps it from writing.

Source: DeltaCommand.scala (hasBeenExecuted), DeltaLog.scala (assertRemovable).
"""

from __future__ import annotations

from whitecap.engine.log import properties
from whitecap.engine.log.actions import SetTransaction
from whitecap.engine.refusals import commit_errors, table_errors
from whitecap.engine.session.table import Table
from whitecap.engine.storage.requests import ReadClock, Steps
from whitecap.engine.transaction.transaction import Transaction


def begin(table: Table) -> Steps[Transaction]:
    """A transaction on a table that exists. Raises `DeltaError` if there is none."""
    return on_table(table, (yield from table.start()))


def on_table(table: Table, txn: Transaction) -> Transaction:
    """The transaction, if there is a table. Raises `DeltaError` if there is none."""
    if txn.read_version < 0:
        raise table_errors.no_such_table(table.name)
    return txn


def check_removable(txn: Transaction) -> None:
    """Raises `DeltaError` for an append-only table. Source: DeltaLog.scala: assertRemovable."""
    if properties.APPEND_ONLY.of(txn.snapshot.configuration):
        raise commit_errors.append_only(txn.table_name)


def progress_of(
    table: Table, txn: Transaction, app_id: str | None = None, version: int | None = None
) -> Steps[list[SetTransaction] | None]:
    """What an idempotent writer records with its commit; `None` if it has done this write before.

    The application and its version are the writer's options, else the session's; nothing is
    recorded unless both are there. Source: DeltaCommand.scala: hasBeenExecuted.
    """
    if app_id is None or version is None:
        app_id, version = table.settings.txn_app_id, table.settings.txn_version
    if app_id is None or version is None:
        return []
    yield from txn.read_state()
    if txn.txn_version(app_id) >= version:
        return None
    return [SetTransaction(app_id=app_id, version=version, last_updated=(yield ReadClock()))]
