"""What makes the jobs of writers on one table: statements with their values, batches of streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain

from msgspec import Struct, field

from whitecap.engine.log.clients.stored_log import StoredLog
from whitecap.engine.plans.batches import BatchPlans
from whitecap.engine.plans.inserts import InsertPlans, inserts_rows
from whitecap.engine.recorded import STREAMING
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.sql.parsing.statements import Insert, Statement
from whitecap.sim.scenario.parameters import Parameter
from whitecap.sim.scenario.writers import WriterGroup
from whitecap.sim.store.requests.limits import DataRequests
from whitecap.sim.time.identifiers import DrawnIds
from whitecap.sim.time.random_streams import WORD_BITS, RandomStreams
from whitecap.sim.writers.bind import NamedColumns, bound
from whitecap.sim.writers.checkpoints import Checkpoint, QueryProcess
from whitecap.sim.writers.choices import ALONE, Member
from whitecap.sim.writers.jobs import (
    BatchJob,
    BatchStatement,
    FunctionJob,
    InsertJob,
    Job,
    StatementJob,
    TableClients,
)
from whitecap.sim.writers.named_writer import NamedWriter
from whitecap.sim.writers.table_in_store import TableInStore
from whitecap.sim.writers.workload import CODE_BITS, ROWS, NewKeys, Work, Workload, draws_for

NewJob = Callable[[int, float], Job]
"""Makes a job, by its number among its writer's and the instant."""


def entity_of(name: str, place: int) -> str:
    """The entity that a statement draws numbers for, by its place among those of a job."""
    return name if place == 0 else f"{name} statement {place + 1}"


class TableJobs(Struct, frozen=True):
    """Makes jobs for one table, and what several writers share for that.

    `with_plans`: statements of simple shape go the short way (`engine/plans/`).
    """

    table: TableInStore
    new_clients: Callable[[WriterGroup], TableClients]
    data_requests: DataRequests | None
    streams: RandomStreams
    start_ms: int
    with_plans: bool = True
    _clients: dict[str | None, TableClients] = field(default_factory=dict)
    _checkpoints: dict[str, Checkpoint] = field(default_factory=dict)
    _of_functions: dict[str, Workload] = field(default_factory=dict)
    _codes: set[int] = field(default_factory=set)

    def batches(self, named: NamedWriter) -> tuple[str, NewJob]:
        """The command of a streaming query, and what makes its jobs."""
        group = named.group
        assert group.streaming is not None
        checkpoint = self._checkpoint(group.streaming.checkpoint, named)
        reads_table, keys = group.streaming.reads_table, self.table.keys
        plans = BatchPlans(checkpoint.app_id) if self.with_plans and not reads_table else None
        clients = self._clients_of(group)
        return STREAMING, lambda _job, _now_ms: BatchJob(
            clients, checkpoint, keys, reads_table, plans
        )

    def statements(self, named: NamedWriter, place: int) -> tuple[str, NewJob]:
        """The command of the statement at a place of a writer's jobs, and what makes these."""
        part = named.group.parts[place]
        template, keys = parse_statement(part.statement), self.table.keys
        types, clients = self.table.rows.types, self._clients_of(named.group)
        workload = self._workload(named.name, part.parameters, place, named.member)
        inserts = self._inserts(template, part.parameters)
        if inserts is not None:
            client, taken = clients.client(StoredLog()), NamedColumns.of(template, types)

            def insert_job(job: int, now_ms: float) -> Job:
                work = workload.work(job, now_ms)
                if taken is not None:
                    work = taken.of_work(work)
                return InsertJob(clients, work, keys, inserts, client)

            return template.command, insert_job

        def statement_job(job: int, now_ms: float) -> Job:
            work = workload.work(job, now_ms)
            return StatementJob(clients, work, keys, bound(template, work, types))

        return template.command, statement_job

    def of_function(
        self, named: NamedWriter, place: int, process: QueryProcess
    ) -> tuple[str, NewJob]:
        """The command of a statement that a query runs on its batches, and what makes its jobs.

        The first writer of a checkpoint decides what its batches hold.
        """
        group, part = named.group, named.group.parts[place]
        assert group.foreach_batch is not None
        name = f"checkpoint {group.foreach_batch.checkpoint}"
        entity = entity_of(name, place)
        if entity not in self._of_functions:
            self._of_functions[entity] = self._workload(name, part.parameters, place)
        statement = BatchStatement(
            template=parse_statement(part.statement),
            types=self.table.rows.types,
            make_work=self._of_functions[entity].work,
            place=place,
            is_last=place + 1 == len(group.parts),
            idempotent=group.foreach_batch.idempotent,
        )
        clients, keys = self._clients_of(group), self.table.keys
        return statement.template.command, lambda job, _now_ms: FunctionJob(
            clients, keys, process, statement, job
        )

    def _clients_of(self, group: WriterGroup) -> TableClients:
        """What makes handles on the table for writers of a group's dialect."""
        if group.dialect not in self._clients:
            self._clients[group.dialect] = self.new_clients(group)
        return self._clients[group.dialect]

    def _inserts(
        self, template: Statement, parameters: Mapping[str, Parameter]
    ) -> InsertPlans | None:
        """The plans of a statement that only appends rows which a parameter makes; else `None`."""
        if not (self.with_plans and isinstance(template, Insert) and inserts_rows(template)):
            return None
        plans = InsertPlans(template)
        return None if parameters[plans.parameter].rows is None else plans

    def _checkpoint(self, name: str, named: NamedWriter) -> Checkpoint:
        """One per name: the first writer that names it decides what its batches hold."""
        if name not in self._checkpoints:
            group = named.group
            assert group.streaming is not None
            parameters = {**group.parameters, ROWS: Parameter(rows=group.streaming.rows)}
            workload = self._workload(f"checkpoint {name}", parameters)
            app_id = DrawnIds(self.streams.source("ids", f"checkpoint {name}"))()
            rows = self.table.rows
            schema, brought = rows.schema, rows.brought

            def batch(number: int, now_ms: float) -> Work:
                return workload.work(number, now_ms).of_batch(schema, brought)

            self._checkpoints[name] = Checkpoint(app_id, brought, batch)
        return self._checkpoints[name]

    def _workload(
        self,
        name: str,
        parameters: Mapping[str, Parameter],
        place: int = 0,
        member: Member = ALONE,
    ) -> Workload:
        """The work of a writer's statement, or of a checkpoint's, at a place of its jobs."""
        rows, draws = self.table.rows, self.streams.source("workload", entity_of(name, place))
        return Workload(
            rows,
            parameters,
            draws_for(rows, parameters, draws),
            self.table.keys,
            self._new_keys(name),
            self.start_ms,
            member,
        )

    def _new_keys(self, name: str) -> NewKeys:
        """Keys that follow from a name, and from who else writes to the table only by accident.

        Of two that are drawn the same code, once in half a million pairs, the later has the next.
        So has a second statement of the same jobs on this table; on others it has the same keys.
        """
        draws = self.streams.source("new keys", name)
        drawn, codes = draws.key >> WORD_BITS - CODE_BITS, 1 << CODE_BITS
        from_drawn = chain(range(drawn, codes), range(drawn))
        code = next(code for code in from_drawn if code not in self._codes)
        self._codes.add(code)
        return NewKeys(code, self.table.first_new_key, draws)
