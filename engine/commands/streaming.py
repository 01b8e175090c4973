"""A micro-batch of a streaming query that appends to a table.

Source: DeltaSink.scala: addBatchWithStatusImpl. The application id is the query's, kept in its
checkpoint; two runs on one checkpoint share it.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.commands.execution import begin, job
from engine.commands.table import Table
from engine.commands.writing import FileWriter
from engine.log.actions import SetTransaction
from engine.outcomes import NothingToCommit, Outcome
from engine.storage.requests import ReadClock, Row, Steps
from engine.transaction.operation import Operation


def append_batch(
    table: Table, query_id: str, batch_id: int, rows: Sequence[Row], reads_table: bool = False
) -> Steps[Outcome]:
    """Append a batch unless the table has it; commits even an empty one.

    `rows` are in schema order; columns that the table got since the query started are NULL.
    `reads_table`: the query also reads the table that it writes.
    """
    return (yield from table.at_root(_append(table, query_id, batch_id, rows, reads_table)))


def _append(
    table: Table, query_id: str, batch_id: int, rows: Sequence[Row], reads_table: bool
) -> Steps[Outcome]:
    txn = yield from begin(table)
    if reads_table:
        txn.read_whole_table()
    if txn.txn_version(query_id) >= batch_id:
        return NothingToCommit(txn.read_version)
    writer = FileWriter(table, txn.metadata)
    width = len(writer.schema)
    adds = yield from writer.write([[row + (None,) * (width - len(row)) for row in rows]])
    yield from job("STREAMING", (), writer)
    now_ms = yield ReadClock()
    progress = SetTransaction(app_id=query_id, version=batch_id, last_updated=now_ms)
    parameters = {"outputMode": "Append", "queryId": query_id, "epochId": str(batch_id)}
    operation = Operation("STREAMING UPDATE", parameters)
    return (yield from txn.commit([progress, *adds], operation))
