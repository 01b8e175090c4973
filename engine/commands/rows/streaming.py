"""Micro-batches of a streaming query, in append and in complete mode.

Source: DeltaSink.scala: addBatchWithStatusImpl. The application id is the query's, kept in its
checkpoint; two runs on one checkpoint share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whitecap.engine.commands.maintenance.compaction import auto_compact
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.log.actions import RemoveFile, SetTransaction
from whitecap.engine.log.schema import Schema
from whitecap.engine.outcomes import NothingToCommit, Outcome
from whitecap.engine.refusals import command_errors
from whitecap.engine.session.table import Table
from whitecap.engine.storage.requests import ReadClock, Row, Steps
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.writing.execution import begin, check_removable, job
from whitecap.engine.writing.files import FileWriter, remove


def append_batch(
    table: Table,
    query_id: str,
    batch_id: int,
    rows: Sequence[Row],
    reads_table: bool = False,
    schema: Schema | None = None,
) -> Steps[Outcome]:
    """Append a batch unless the table has it; commits even an empty one.

    `rows` have the columns of `schema`, without one those of the table in its order; columns that
    they lack are NULL. `reads_table`: the query also reads the table that it writes. Raises
    `DeltaError` for columns that the table lacks.
    """
    batch = _Batch(table, query_id, batch_id, rows, reads_table, schema)
    return (yield from _run(batch))


def complete_batch(
    table: Table, query_id: str, batch_id: int, rows: Sequence[Row], reads_table: bool = False
) -> Steps[Outcome]:
    """The same in complete mode: the rows take the place of all that the table holds."""
    return (yield from _run(_Batch(table, query_id, batch_id, rows, reads_table, complete=True)))


@dataclass(frozen=True, slots=True)
class _Batch:
    """One batch, and the handle on the table that it is written to."""

    table: Table
    query_id: str
    batch_id: int
    rows: Sequence[Row]
    reads_table: bool
    schema: Schema | None = None
    complete: bool = False


def _run(batch: _Batch) -> Steps[Outcome]:
    table = batch.table
    table.outcomes.clear()
    table.after_commit = auto_compact
    return (yield from table.at_root(_written(batch)))


def _written(batch: _Batch) -> Steps[Outcome]:
    table, query_id, batch_id = batch.table, batch.query_id, batch.batch_id
    txn = yield from begin(table)
    yield from txn.read_state()
    if batch.reads_table:
        txn.read_whole_table()
    if txn.txn_version(query_id) >= batch_id:
        return NothingToCommit(txn.read_version)
    removes = (yield from _all_removed(txn)) if batch.complete else []
    writer = FileWriter(table, txn.metadata)
    adds = yield from writer.write([_arranged(batch, writer.layout.schema)])
    yield from job("STREAMING", (), writer)
    now_ms = yield ReadClock()
    progress = SetTransaction(app_id=query_id, version=batch_id, last_updated=now_ms)
    mode = "Complete" if batch.complete else "Append"
    parameters = {"outputMode": mode, "queryId": query_id, "epochId": str(batch_id)}
    operation = Operation("STREAMING UPDATE", parameters)
    return (yield from txn.commit([progress, *adds, *removes], operation))


def _arranged(batch: _Batch, schema: Schema) -> list[Row]:
    """The rows in the order and types of the table's columns."""
    given = batch.schema
    if given is None or given.names == schema.names[: len(given)]:
        return [row + (None,) * (len(schema) - len(row)) for row in batch.rows]
    places = {name.lower(): at for at, name in enumerate(given.names)}
    if places.keys() - {name.lower() for name in schema.names}:
        raise command_errors.schema_mismatch()
    order = [places.get(name.lower()) for name in schema.names]
    return [tuple(None if at is None else row[at] for at in order) for row in batch.rows]


def _all_removed(txn: Transaction) -> Steps[list[RemoveFile]]:
    check_removable(txn)
    files = list(txn.filter_all_files())
    now_ms = yield ReadClock()
    return [remove(file, now_ms) for file in files]
