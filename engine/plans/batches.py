"""Micro-batches of a streaming query that only appends."""

from __future__ import annotations

from whitecap.engine.commands.rows.streaming import Batch, written_in
from whitecap.engine.commands.statement_frame import as_statement
from whitecap.engine.conflicts.read_set import ReadSet
from whitecap.engine.log.actions import AnyAction
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.outcomes import NothingToCommit, Outcome
from whitecap.engine.plans.appends import Append, AppendPlans
from whitecap.engine.session.table import Table
from whitecap.engine.storage.requests import Compute, NewId, ReadClock, Steps
from whitecap.engine.writing.batches import check_batch
from whitecap.engine.writing.beginning import on_table
from whitecap.engine.writing.files import FileWriter


class BatchPlans(AppendPlans):
    """The plans of one query."""

    def __init__(self, query_id: str) -> None:
        super().__init__()
        self.reads = ReadSet(app_ids=frozenset((query_id,)))

    def run(self, table: Table, batch: Batch) -> Steps[Outcome]:
        """Append a batch, as `run_batch` does for a query that reads no rows."""
        return as_statement(table, self._run(table, batch))

    def _run(self, table: Table, batch: Batch) -> Steps[Outcome]:
        snapshot = yield from table.log.update()
        txn_id: str = yield NewId()
        plan, metadata = self.plan(table, snapshot), snapshot.metadata
        if plan is None or metadata is None or batch.complete:
            return (yield from self._in_general(table, snapshot, txn_id, batch))
        check_batch(batch.columns(metadata), snapshot.schema)
        yield from table.log.read_state(snapshot)
        if snapshot.transaction_version(batch.query_id) >= batch.batch_id:
            return NothingToCommit(snapshot.version)
        making = batch.plan(metadata, table.session)
        if not making.only_maps:
            return (yield from self._in_general(table, snapshot, txn_id, batch))
        writer = FileWriter(table, metadata, check=making.check)
        adds = yield from writer.write(making.rows(batch.rows, metadata).tasks)
        yield Compute("STREAMING", bytes_written=writer.bytes_written)
        actions: list[AnyAction] = [batch.progress((yield ReadClock())), *adds]
        operation = batch.operation(writer)
        append = Append(table, snapshot, txn_id, self.reads, actions, operation)
        return (yield from plan.commit(append))

    def _in_general(
        self, table: Table, snapshot: Snapshot, txn_id: str, batch: Batch
    ) -> Steps[Outcome]:
        txn = on_table(table, table.transaction(snapshot, txn_id))
        return (yield from written_in(table, txn, batch))
