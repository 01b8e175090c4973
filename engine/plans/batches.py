"""Micro-batches of a streaming query that only appends."""

from __future__ import annotations

from whitecap.engine.commands.maintenance.running import as_statement
from whitecap.engine.commands.rows.streaming import Batch, written_in
from whitecap.engine.conflicts.read_set import ReadSet
from whitecap.engine.log.actions import AnyAction
from whitecap.engine.outcomes import NothingToCommit, Outcome
from whitecap.engine.plans.appends import AppendPlans
from whitecap.engine.session.table import Table
from whitecap.engine.storage.requests import Compute, NewId, ReadClock, Steps
from whitecap.engine.writing.execution import on_table
from whitecap.engine.writing.files import FileWriter


class BatchPlans(AppendPlans):
    """The plans of one query."""

    def __init__(self, query_id: str) -> None:
        super().__init__()
        self.reads = ReadSet(app_ids=frozenset((query_id,)))

    def run(self, table: Table, batch: Batch) -> Steps[Outcome]:
        """Append a batch, as `append_batch` does for a query that reads no rows."""
        return as_statement(table, self._run(table, batch))

    def _run(self, table: Table, batch: Batch) -> Steps[Outcome]:
        snapshot = yield from table.log.update()
        txn_id: str = yield NewId()
        plan = self.plan(table, snapshot)
        if plan is None or snapshot.metadata is None:
            txn = on_table(table, table.transaction(snapshot, txn_id))
            return (yield from written_in(table, txn, batch))
        yield from table.log.read_state(snapshot)
        if snapshot.transaction_version(batch.query_id) >= batch.batch_id:
            return NothingToCommit(snapshot.version)
        writer = FileWriter(table, snapshot.metadata)
        adds = yield from writer.write([batch.arranged(writer.layout.schema)])
        yield Compute("STREAMING", bytes_written=writer.bytes_written)
        actions: list[AnyAction] = [batch.progress((yield ReadClock())), *adds]
        operation = batch.operation()
        return (yield from plan.commit(table, snapshot, txn_id, self.reads, actions, operation))
