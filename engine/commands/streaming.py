"""Micro-batches of a streaming query, in append and in complete mode.

Source: DeltaSink.scala: addBatchWithStatusImpl. The application id is the query's, kept in its
checkpoint; two runs on one checkpoint share it.
"""

from __future__ import annotations

from collections.abc import Sequence

from whitecap.engine.commands.compaction import auto_compact
from whitecap.engine.commands.execution import begin, check_removable, job
from whitecap.engine.commands.table import Table
from whitecap.engine.commands.writing import FileWriter, remove
from whitecap.engine.log.actions import RemoveFile, SetTransaction
from whitecap.engine.outcomes import NothingToCommit, Outcome
from whitecap.engine.storage.requests import ReadClock, Row, Steps
from whitecap.engine.transaction.operation import Operation
from whitecap.engine.transaction.transaction import Transaction


def append_batch(
    table: Table, query_id: str, batch_id: int, rows: Sequence[Row], reads_table: bool = False
) -> Steps[Outcome]:
    """Append a batch unless the table has it; commits even an empty one.

    `rows` are in schema order; columns that the table got since the query started are NULL.
    `reads_table`: the query also reads the table that it writes.
    """
    return (yield from _batch(table, query_id, batch_id, rows, reads_table, complete=False))


def complete_batch(
    table: Table, query_id: str, batch_id: int, rows: Sequence[Row], reads_table: bool = False
) -> Steps[Outcome]:
    """The same in complete mode: the rows take the place of all that the table holds."""
    return (yield from _batch(table, query_id, batch_id, rows, reads_table, complete=True))


def _batch(
    table: Table,
    query_id: str,
    batch_id: int,
    rows: Sequence[Row],
    reads_table: bool,
    complete: bool,
) -> Steps[Outcome]:
    table.outcomes.clear()
    table.after_commit = auto_compact
    steps = _written(table, query_id, batch_id, rows, reads_table, complete)
    return (yield from table.at_root(steps))


def _written(
    table: Table,
    query_id: str,
    batch_id: int,
    rows: Sequence[Row],
    reads_table: bool,
    complete: bool,
) -> Steps[Outcome]:
    txn = yield from begin(table)
    if reads_table:
        txn.read_whole_table()
    if txn.txn_version(query_id) >= batch_id:
        return NothingToCommit(txn.read_version)
    removes = (yield from _all_removed(txn)) if complete else []
    writer = FileWriter(table, txn.metadata)
    width = len(writer.schema)
    adds = yield from writer.write([[row + (None,) * (width - len(row)) for row in rows]])
    yield from job("STREAMING", (), writer)
    now_ms = yield ReadClock()
    progress = SetTransaction(app_id=query_id, version=batch_id, last_updated=now_ms)
    mode = "Complete" if complete else "Append"
    parameters = {"outputMode": mode, "queryId": query_id, "epochId": str(batch_id)}
    operation = Operation("STREAMING UPDATE", parameters)
    return (yield from txn.commit([progress, *adds, *removes], operation))


def _all_removed(txn: Transaction) -> Steps[list[RemoveFile]]:
    check_removable(txn)
    files = list(txn.filter_all_files())
    now_ms = yield ReadClock()
    return [remove(file, now_ms) for file in files]
