"""What commands have in common: how they begin, say what they did, and choose their files.

Source: DeltaCommand.scala (hasBeenExecuted), DMLWithDeletionVectorsHelper.scala.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.commands.data_files import FileRows
from engine.commands.table import Table
from engine.commands.writing import FileWriter
from engine.errors import DeltaError, UnsupportedFeature
from engine.log import properties
from engine.log.actions import Metadata
from engine.outcomes import NothingToCommit
from engine.sql.predicates import Predicate
from engine.storage.requests import Compute, ReadClock, Steps
from engine.transaction.transaction import Transaction

# The tag of commands that rewrite rows. Source: RowTracking.scala: addPreservedRowTrackingTag.
_ROW_TRACKING_PRESERVED = {"delta.rowTracking.preserved": "true"}


def begin(table: Table) -> Steps[Transaction]:
    """A transaction on a table that exists. Raises `DeltaError` if there is none."""
    txn = yield from table.start()
    if txn.read_version < 0:
        error_class = "DELTA_TABLE_NOT_FOUND"
        text = f"[{error_class}] Delta table {table.name} does not exist."
        raise DeltaError("DeltaAnalysisException", error_class, text)
    return txn


def already_executed(table: Table, txn: Transaction) -> Steps[NothingToCommit | None]:
    """The end of a write that an idempotent writer has done before; else `None`.

    With an application id and version in the session, the version becomes part of the commit.
    Source: DeltaCommand.scala: hasBeenExecuted.
    """
    app_id, version = table.settings.txn_app_id, table.settings.txn_version
    if app_id is None or version is None:
        return None
    if txn.txn_version(app_id) >= version:
        return NothingToCommit(txn.read_version)
    txn.update_set_transaction(app_id, version, (yield ReadClock()))
    return None


def job(name: str, read: Iterable[FileRows] = (), writer: FileWriter | None = None) -> Steps[None]:
    """Spend the time of the command's Spark job, told what it read and wrote."""
    files = list(read)
    yield Compute(
        name,
        rows_read=sum(len(one.rows) for one in files),
        bytes_read=sum(one.file.size for one in files),
        bytes_written=0 if writer is None else writer.bytes_written,
    )


def preserved_row_tracking(metadata: Metadata) -> dict[str, str]:
    """The tags of a command that rewrites rows."""
    enabled = properties.ROW_TRACKING.of(metadata.configuration)
    return dict(_ROW_TRACKING_PRESERVED) if enabled else {}


def refuse_change_feed(txn: Transaction) -> None:
    """Raises `UnsupportedFeature`: files of changed rows, which a change data feed needs.

    Source: UpdateCommand, DeleteCommand, MergeIntoCommand write AddCDCFile actions then.
    """
    if properties.CHANGE_DATA_FEED.of(txn.metadata.configuration):
        raise UnsupportedFeature(
            "commands that change rows of a table with delta.enableChangeDataFeed"
        )


def logged(predicates: Sequence[Predicate]) -> list[str]:
    """Predicates as an operation's parameters show them."""
    return [f"({predicate.sql})" for predicate in predicates]


def uses_vectors(metadata: Metadata, enabled_for_command: bool) -> bool:
    """Whether rows are deleted by deletion vectors rather than by rewriting files."""
    return enabled_for_command and properties.DELETION_VECTORS.of(metadata.configuration)
