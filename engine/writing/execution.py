"""What commands have in common: how they begin, what keeps them from it, what they say.

Source: DeltaCommand.scala (hasBeenExecuted), DMLWithDeletionVectorsHelper.scala.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from whitecap.engine.conflicts.row_ids import PRESERVED_TAG
from whitecap.engine.log import properties
from whitecap.engine.log.actions import AddFile, Metadata, SetTransaction
from whitecap.engine.refusals import commit_errors, table_errors
from whitecap.engine.row_level.data_files import FileRows
from whitecap.engine.session.table import Table
from whitecap.engine.sql.predicates.predicate import Predicate
from whitecap.engine.storage.requests import Compute, ReadClock, Steps
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.writing.files import FileWriter


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


def job(
    name: str,
    read: Iterable[FileRows] = (),
    writer: FileWriter | None = None,
    scan: Iterable[AddFile] | None = None,
) -> Steps[None]:
    """Spend the time of the command's Spark job, told what it read and wrote.

    `scan`: all files that it looked through, where that is more than what it read.
    """
    files = list(read)
    yield Compute(
        name,
        rows_read=sum(len(loaded.rows) for loaded in files),
        bytes_read=sum(loaded.file.size for loaded in files),
        bytes_written=0 if writer is None else writer.bytes_written,
        scanned=files if scan is None else scan,
        paths_read=tuple([loaded.file.path for loaded in files]),
    )


def preserved_row_tracking(metadata: Metadata) -> dict[str, str]:
    """The tags of a command that rewrites rows."""
    enabled = properties.ROW_TRACKING.of(metadata.configuration)
    return dict(PRESERVED_TAG) if enabled else {}


def logged(predicates: Sequence[Predicate]) -> list[str]:
    """Predicates as an operation's parameters show them."""
    return [f"({predicate.sql})" for predicate in predicates]


def uses_vectors(metadata: Metadata, enabled_for_command: bool) -> bool:
    """Whether rows are deleted by deletion vectors rather than by rewriting files."""
    return enabled_for_command and properties.DELETION_VECTORS.of(metadata.configuration)
