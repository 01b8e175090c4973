"""Micro-batches of a streaming query, in append mode.

Source: DeltaSink.scala: addBatchWithStatusImpl. The application id is the query's, kept in its
checkpoint; two runs on one checkpoint share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whitecap.engine.commands.maintenance.running import as_statement
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.dialects import MICRO_BATCH
from whitecap.engine.log.actions import SetTransaction
from whitecap.engine.log.schema import Schema
from whitecap.engine.outcomes import NothingToCommit, Outcome
from whitecap.engine.refusals import command_errors
from whitecap.engine.session.table import Table
from whitecap.engine.storage.requests import ReadClock, Row, Steps
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.writing.execution import begin, job
from whitecap.engine.writing.files import FileWriter


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
    batch = Batch(query_id, batch_id, rows, schema, reads_table)
    return (yield from _run(table, batch))


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch of a query: rows in the columns of `schema`, as `append_batch` has them."""

    query_id: str
    batch_id: int
    rows: Sequence[Row]
    schema: Schema | None = None
    reads_table: bool = False

    def arranged(self, schema: Schema) -> list[Row]:
        """The rows in the order and types of the table's columns."""
        given = self.schema
        if given is None or given.names == schema.names[: len(given)]:
            return [row + (None,) * (len(schema) - len(row)) for row in self.rows]
        places = {name.lower(): at for at, name in enumerate(given.names)}
        if places.keys() - {name.lower() for name in schema.names}:
            raise command_errors.schema_mismatch()
        order = [places.get(name.lower()) for name in schema.names]
        return [tuple(None if at is None else row[at] for at in order) for row in self.rows]

    def progress(self, now_ms: int) -> SetTransaction:
        """How far the query has come with it."""
        return SetTransaction(app_id=self.query_id, version=self.batch_id, last_updated=now_ms)

    def operation(self) -> Operation:
        """Source: DeltaOperations.StreamingUpdate."""
        parameters = {
            "outputMode": "Append",
            "queryId": self.query_id,
            "epochId": str(self.batch_id),
        }
        return Operation("STREAMING UPDATE", parameters)


def _run(table: Table, batch: Batch) -> Steps[Outcome]:
    table.dialect.require([MICRO_BATCH])
    return (yield from as_statement(table, _written(table, batch)))


def _written(table: Table, batch: Batch) -> Steps[Outcome]:
    txn = yield from begin(table)
    return (yield from written_in(table, txn, batch))


def written_in(table: Table, txn: Transaction, batch: Batch) -> Steps[Outcome]:
    """Write a batch in a transaction that has begun."""
    yield from txn.read_state()
    if batch.reads_table:
        txn.read_whole_table()
    if txn.txn_version(batch.query_id) >= batch.batch_id:
        return NothingToCommit(txn.read_version)
    writer = FileWriter(table, txn.metadata)
    adds = yield from writer.write([batch.arranged(writer.layout.schema)])
    yield from job("STREAMING", (), writer)
    progress = batch.progress((yield ReadClock()))
    return (yield from txn.commit([progress, *adds], batch.operation()))
