"""Micro-batches of a streaming query, in append mode or in complete mode.

Source: DeltaSink.scala: addBatchWithStatusImpl. A batch in complete mode is the query's whole
result, which takes the place of all rows. The application id is the query's, kept in its
checkpoint; two runs on one checkpoint share it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from whitecap.engine.commands.schema.schema_evolution import evolve
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.dialects import MICRO_BATCH
from whitecap.engine.log.actions import Metadata, RemoveFile, SetTransaction
from whitecap.engine.log.schema import Schema, schema_of_metadata
from whitecap.engine.outcomes import NothingToCommit, Outcome
from whitecap.engine.session.table import Table
from whitecap.engine.storage.requests import ReadClock, Row, Steps
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.values.types import Session
from whitecap.engine.writing.batches import BatchPlan, batch_plan, check_batch
from whitecap.engine.writing.beginning import begin, check_removable
from whitecap.engine.writing.files import FileWriter, removals
from whitecap.engine.writing.spark_job import job


class Batch(Struct, frozen=True):
    """One batch of a query.

    `rows` have the columns of `schema`, without one those of the table in its order. What they lack
    the table makes up, or is NULL. `reads_table`: the query also reads the table that it writes.
    `complete`: it is the query's whole result.
    """

    query_id: str
    batch_id: int
    rows: Sequence[Row]
    schema: Schema | None = None
    reads_table: bool = False
    complete: bool = False

    def columns(self, metadata: Metadata) -> Schema:
        """The columns of its rows."""
        return self.schema or schema_of_metadata(metadata)

    def plan(self, metadata: Metadata, session: Session) -> BatchPlan:
        """How its rows become those of the table. Raises `DeltaError` for what it lacks."""
        return batch_plan(self.columns(metadata), metadata, session)

    def progress(self, now_ms: int) -> SetTransaction:
        """How far the query has come with it."""
        return SetTransaction(app_id=self.query_id, version=self.batch_id, last_updated=now_ms)

    def operation(self, writer: FileWriter, removed: int = 0) -> Operation:
        """Source: DeltaOperations.StreamingUpdate; DeltaOperationMetrics: STREAMING_UPDATE.

        Its rows were written by the writer, and so many files are removed.
        """
        files = {"numAddedFiles": str(writer.files_written), "numRemovedFiles": str(removed)}
        parameters = {
            "outputMode": "Complete" if self.complete else "Append",
            "queryId": self.query_id,
            "epochId": str(self.batch_id),
        }
        return Operation("STREAMING UPDATE", parameters, files | writer.amounts())


def write_batch(table: Table, batch: Batch) -> Steps[Outcome]:
    """Write a batch unless the table has it; commits even an empty one.

    Raises `DeltaError` for columns that do not fit the table's, and for rows that it may not hold.
    """
    table.dialect.require([MICRO_BATCH])
    txn = yield from begin(table)
    return (yield from written_in(table, txn, batch))


def written_in(table: Table, txn: Transaction, batch: Batch) -> Steps[Outcome]:
    """Write a batch in a transaction that has begun."""
    yield from txn.read_state()
    if batch.reads_table:
        txn.read_whole_table()
    _fit_columns(txn, batch, table.session)
    if txn.txn_version(batch.query_id) >= batch.batch_id:
        return NothingToCommit(txn.read_version)
    gone = (yield from _replaced(txn)) if batch.complete else []
    plan = batch.plan(txn.metadata, table.session)
    rows = plan.rows(batch.rows, txn.metadata)
    writer = FileWriter(table, txn.metadata, check=plan.check)
    adds = yield from writer.write(rows.tasks)
    txn.move_identity_marks(rows.marks)
    yield from job("STREAMING", (), writer)
    progress = batch.progress((yield ReadClock()))
    operation = batch.operation(writer, removed=len(gone))
    return (yield from txn.commit([progress, *adds, *gone], operation))


def _fit_columns(txn: Transaction, batch: Batch, session: Session) -> None:
    """Make the table's columns fit the batch's, where the session allows it."""
    given, may_add = batch.columns(txn.metadata), txn.settings.schema_auto_merge
    check_batch(given, schema_of_metadata(txn.metadata), may_add)
    if may_add:
        evolve(txn, given.fields, session)


def _replaced(txn: Transaction) -> Steps[list[RemoveFile]]:
    """All files, which a whole result takes the place of."""
    check_removable(txn)
    return (yield from removals(txn.filter_all_files()))
