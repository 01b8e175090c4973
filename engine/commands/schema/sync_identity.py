"""ALTER TABLE ALTER COLUMN SYNC IDENTITY: the mark moves to what the rows hold.

Source: alterDeltaTableCommands.scala (syncIdentity), IdentityColumn.scala: syncIdentity.
"""

from __future__ import annotations

from whitecap.engine.commands.schema.column_lists import commit_columns, shown_column
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.log.columns.identity import Identity, identity_of, with_mark
from whitecap.engine.log.schema import Field
from whitecap.engine.outcomes import Outcome
from whitecap.engine.refusals import column_errors
from whitecap.engine.session.table import Table
from whitecap.engine.sql.parsing.table_statements import SyncIdentity
from whitecap.engine.storage.requests import Steps
from whitecap.engine.writing.beginning import begin
from whitecap.engine.writing.spark_job import job


def sync_identity(table: Table, statement: SyncIdentity) -> Steps[Outcome]:
    """Read the whole table, and move the column's high-water mark."""
    txn = yield from begin(table)
    schema = txn.snapshot.schema
    column = schema.get(statement.column)
    if column is None:
        raise column_errors.no_such_column(statement.column, schema.names)
    identity = identity_of(column)
    if identity is None:
        raise column_errors.no_identity_to_sync()
    yield from txn.read_state()
    scanned = yield from table.data_files.read(list(txn.filter_all_files()), schema)
    yield from job("SYNC IDENTITY", scanned)
    at = schema.index(column.name)
    values = [row[at] for file_rows in scanned for _, row in file_rows if row[at] is not None]
    synced = _synced(column, identity, values)
    txn.read_whole_table()
    operation = Operation("CHANGE COLUMN", {"column": shown_column(column)})
    columns = [synced if field.name == column.name else field for field in schema]
    txn.mark_identity_only()
    return (yield from commit_columns(txn, columns, operation))


def _synced(column: Field, identity: Identity, values: list[int]) -> Field:
    if not values:
        return column
    farthest = identity.farthest(values)
    if identity.is_before_start(farthest):
        return column
    mark = identity.at_or_after(farthest)
    old = identity.high_water_mark
    return with_mark(column, mark if old is None else identity.farthest([old, mark]))
