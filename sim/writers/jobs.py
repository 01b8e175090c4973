"""The kinds of jobs: a SQL statement with its values, and the next batch of a stream.

A query's batch is appended by Spark itself, or given to statements (foreachBatch).
"""

from __future__ import annotations

import dataclasses
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec
import msgspec.structs
from msgspec import Struct, structs

from whitecap.engine.commands.rows.streaming import Batch
from whitecap.engine.commands.run import run_batch, run_statement
from whitecap.engine.dialects import Dialect
from whitecap.engine.log.clients.table_log import TableLog
from whitecap.engine.log.schema import Schema, ddl
from whitecap.engine.outcomes import Outcome
from whitecap.engine.plans.batches import BatchPlans
from whitecap.engine.plans.inserts import InsertPlans
from whitecap.engine.session.table import SharedTable, Table
from whitecap.engine.settings import Settings
from whitecap.engine.sql.parsing.statements import Statement
from whitecap.engine.storage.requests import Row, Steps
from whitecap.engine.transaction.lost_reply import LostReply
from whitecap.sim.recording.records import TransactionRecord
from whitecap.sim.table.slices import KeysInUse
from whitecap.sim.writers.bind import bound
from whitecap.sim.writers.checkpoints import Checkpoint, MakeWork, QueryProcess
from whitecap.sim.writers.workload import ROWS, Work


class Job(Protocol):
    """What a writer has to do: makes transactions until one of them succeeds."""

    @property
    def is_seen_by_others(self) -> bool:
        """Whether what others do next depends on its success."""

    def describe(self, record: TransactionRecord, now_ms: float) -> None:
        """Note in the record what its transaction is about to do."""

    def transaction(self, table_log: TableLog) -> Steps[Outcome]:
        """One transaction."""

    def is_committed(self) -> None:
        """Its last transaction succeeded."""


class TableClients(Struct, frozen=True):
    """Makes the engine's handle on the table for each transaction.

    `keys_matter`: some writer chooses among the keys that the table has.
    """

    name: str
    shared: SharedTable
    settings: Settings
    dialect: Dialect
    lost_reply: LostReply
    keys_matter: bool = True

    def client(self, table_log: TableLog) -> Table:
        """A handle that sees the log as `table_log` does."""
        table = Table(self.name, self.shared, self.settings, self.dialect, self.lost_reply)
        table.log = table_log
        return table

    def idempotent(self, app_id: str, version: int) -> TableClients:
        """A handle whose session names the application and the number of its write."""
        settings = dataclasses.replace(self.settings, txn_app_id=app_id, txn_version=version)
        return structs.replace(self, settings=settings)


@dataclass(slots=True)
class SqlJob(ABC):
    """Runs a statement with the same values in every rerun."""

    clients: TableClients
    work: Work
    keys: KeysInUse

    @property
    def is_seen_by_others(self) -> bool:
        return self.clients.keys_matter and bool(self.work.new_keys)

    def describe(self, record: TransactionRecord, now_ms: float) -> None:
        del now_ms
        record.make_statement = self.sql
        record.rows_inserted = len(self.work.new_keys)

    @abstractmethod
    def sql(self) -> str:
        """The statement with its values."""

    def is_committed(self) -> None:
        if self.clients.keys_matter:
            self.work.is_done(self.keys)


@dataclass(slots=True)
class StatementJob(SqlJob):
    """Runs any statement, the general way."""

    statement: Statement

    def sql(self) -> str:
        return self.statement.sql()

    def transaction(self, table_log: TableLog) -> Steps[Outcome]:
        table = self.clients.client(table_log)
        return run_statement(self.statement, {table.name: table})


@dataclass(slots=True)
class InsertJob(SqlJob):
    """Appends the rows of a job, for statements that do nothing else."""

    plans: InsertPlans
    table: Table
    """The writer's handle on the table, to look at its settings."""

    def sql(self) -> str:
        return self.plans.statement.template.render(self.work.values)

    @property
    def rows(self) -> Sequence[Row]:
        """What it appends."""
        rows: Sequence[Row] = self.work.values[self.plans.parameter]
        return rows

    def transaction(self, table_log: TableLog) -> Steps[Outcome]:
        return self.plans.run(self.clients.client(table_log), self.rows)


class BatchJob(Struct):
    """Appends the batch that the checkpoint says is next; a rerun may find another one next.

    Without `plans` it goes the general way.
    """

    clients: TableClients
    checkpoint: Checkpoint
    keys: KeysInUse
    reads_table: bool = False
    plans: BatchPlans | None = None
    _batch_id: int = 0
    _work: Work = msgspec.field(default_factory=Work)

    @property
    def is_seen_by_others(self) -> bool:
        return True

    def describe(self, record: TransactionRecord, now_ms: float) -> None:
        self._batch_id, self._work = self.checkpoint.batch(now_ms)
        record.app_id = self.checkpoint.app_id
        record.batch_id = self._batch_id
        record.rows_inserted = len(self._work.new_keys)
        batch_id, rows = self._batch_id, self._rows
        app_id, schema = self.checkpoint.app_id, self.checkpoint.schema
        reads_table = self.reads_table
        record.make_statement = lambda: batch_text(app_id, batch_id, schema, rows, reads_table)

    @property
    def _rows(self) -> Sequence[Row]:
        rows: Sequence[Row] = self._work.values[ROWS]
        return rows

    def transaction(self, table_log: TableLog) -> Steps[Outcome]:
        table = self.clients.client(table_log)
        app_id, schema = self.checkpoint.app_id, self.checkpoint.schema
        batch = Batch(app_id, self._batch_id, self._rows, schema, self.reads_table)
        return run_batch(table, batch) if self.plans is None else self.plans.run(table, batch)

    def is_committed(self) -> None:
        if self.checkpoint.complete(self._batch_id) and self.clients.keys_matter:
            self._work.is_done(self.keys)


class BatchStatement(Struct, frozen=True):
    """A statement of a query's function: its `place` among them, and whether it is the last.

    `types` are those of its table's columns.
    """

    template: Statement
    types: Mapping[str, str]
    make_work: MakeWork
    place: int
    is_last: bool
    idempotent: bool


class FunctionJob(Struct):
    """Runs a statement on the batch that the `number`-th job of a query's process has taken.

    The first statement of a job takes the batch whenever it runs. Started anew before the batch is
    done, the query takes the same batch again.
    """

    clients: TableClients
    keys: KeysInUse
    process: QueryProcess
    statement: BatchStatement
    number: int
    _batch_id: int = -1
    _work: Work = msgspec.field(default_factory=Work)
    _bound: Statement | None = None

    @property
    def is_seen_by_others(self) -> bool:
        return True

    def describe(self, record: TransactionRecord, now_ms: float) -> None:
        if self.statement.place == 0:
            self.process.take(self.number)
        self._takes(self.process.batch_of(self.number), now_ms)
        assert self._bound is not None
        record.make_statement = self._bound.sql
        record.rows_inserted = len(self._work.new_keys)
        record.batch_id = self._batch_id
        if self.statement.idempotent:
            record.app_id = self.process.progress.app_id

    def _takes(self, batch_id: int, now_ms: float) -> None:
        if batch_id == self._batch_id:
            return
        made, place = self.statement, self.statement.place
        self._batch_id = batch_id
        self._work = self.process.progress.work(batch_id, place, made.make_work, now_ms)
        self._bound = bound(made.template, self._work, made.types)

    def transaction(self, table_log: TableLog) -> Steps[Outcome]:
        assert self._bound is not None
        clients = self.clients
        if self.statement.idempotent:
            clients = clients.idempotent(self.process.progress.app_id, self._batch_id)
        table = clients.client(table_log)
        return run_statement(self._bound, {table.name: table})

    def is_committed(self) -> None:
        is_first = self.process.progress.is_written(self._batch_id, self.statement.place)
        if is_first and self.clients.keys_matter:
            self._work.is_done(self.keys)
        if self.statement.is_last:
            self.process.complete(self.number)


def batch_text(
    app_id: str, batch_id: int, schema: Schema, rows: Sequence[Row], reads_table: bool
) -> str:
    """A streaming batch as JSON: its application and number, its columns as DDL, and its rows.

    `reads_table` is there only where the query also reads the table.
    """
    content = {
        "app_id": app_id,
        "batch_id": batch_id,
        "schema": ddl(schema),
        "rows": [dict(zip(schema.names, row, strict=True)) for row in rows],
    }
    if reads_table:
        content["reads_table"] = True
    return json.dumps(content, default=str, ensure_ascii=False)
