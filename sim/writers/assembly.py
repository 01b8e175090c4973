"""The writers of a scenario, each with its jobs, its draws and its cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whitecap.engine.plans.batches import BatchPlans
from whitecap.engine.plans.inserts import InsertPlans, inserts_rows
from whitecap.engine.session.table import SharedTable
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.sql.parsing.statements import Insert, Statement
from whitecap.sim.quantities.distributions import Distribution, Exponential
from whitecap.sim.recording.recorder import Recorder
from whitecap.sim.scenario.arrivals import Closed, Open, Schedule, Trace
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.parameters import Parameter
from whitecap.sim.scenario.writers import WriterGroup
from whitecap.sim.spark.spark_jobs import SparkJobs
from whitecap.sim.store.coordinator import LogRequests
from whitecap.sim.store.faults import faults_of
from whitecap.sim.store.history import History
from whitecap.sim.store.kinds import KIND_NAMED
from whitecap.sim.store.latency import latencies_of
from whitecap.sim.store.limits import DataRequests, Throttle
from whitecap.sim.store.objects import FakeStore
from whitecap.sim.store.tape import Tapes
from whitecap.sim.table.rows import KeysInUse, TableRows
from whitecap.sim.time.draws import Columns, DrawTable
from whitecap.sim.time.identifiers import Ids
from whitecap.sim.time.kernel import Kernel
from whitecap.sim.time.random_streams import RandomStreams, Uniforms, row_of
from whitecap.sim.writers.bind import bound
from whitecap.sim.writers.checkpoints import Checkpoint
from whitecap.sim.writers.choices import ALONE, Member
from whitecap.sim.writers.clusters import Clusters
from whitecap.sim.writers.instants import (
    Calendar,
    Instants,
    OpenInstants,
    ScheduledInstants,
    TracedJobs,
)
from whitecap.sim.writers.jobs import BatchJob, InsertJob, Job, StatementJob, TableClients
from whitecap.sim.writers.transactions import Transactions
from whitecap.sim.writers.workload import NewKeys, Workload, draws_for
from whitecap.sim.writers.writer import Writer

STREAMING = "STREAMING"
"""The command name of streaming appends in recordings."""

ROWS = "rows"


@dataclass
class Assembly:
    """Makes the writers of one run, and what several of them share.

    `with_plans`: statements of simple shape go the short way (`engine/plans/`).
    """

    scenario: Scenario
    streams: RandomStreams
    kernel: Kernel
    recorder: Recorder
    store: FakeStore
    throttle: Throttle
    history: History
    shared: SharedTable
    rows: TableRows
    keys: KeysInUse
    with_plans: bool = True
    _clients: dict[str | None, TableClients] = field(default_factory=dict)
    _checkpoints: dict[str, Checkpoint] = field(default_factory=dict)
    _clusters: Clusters = field(init=False)

    def __post_init__(self) -> None:
        scenario = self.scenario
        self._clusters = Clusters(
            scenario, self.streams, self.kernel, self.recorder, self.store, self.history
        )
        self._latencies = latencies_of(scenario.store)
        self._requests = LogRequests.of(scenario.store.log_store)
        self._data_requests = self._of_data_files()

    def _of_data_files(self) -> DataRequests | None:
        """The requests of jobs for data files, where any limit could refuse one."""
        data_files = self.scenario.store.data_files
        if data_files is None or not self.throttle.is_limited:
            return None
        kinds = (data_files.read, data_files.write)
        read, write = (tuple(KIND_NAMED[name] for name in names) for names in kinds)
        return DataRequests(self.throttle, read, write)

    def _clients_of(self, group: WriterGroup) -> TableClients:
        """What makes handles on the table for writers of a group's dialect."""
        if group.dialect not in self._clients:
            scenario = self.scenario
            self._clients[group.dialect] = TableClients(
                scenario.table.name,
                self.shared,
                scenario.settings_of(group),
                scenario.dialect_of(group),
                scenario.store.client.on_lost_reply,
                self._keys_matter(),
            )
        return self._clients[group.dialect]

    def _keys_matter(self) -> bool:
        """Whether anyone chooses among the keys that there are."""
        parameters = [p for g in self.scenario.writers.values() for p in g.parameters.values()]
        return any(p.keys or (p.rows and p.rows.existing) for p in parameters)

    def writers(self) -> Iterator[Writer]:
        """All of them, in the order of the scenario."""
        number = 0
        for group_name, group in self.scenario.writers.items():
            for instance in range(1, group.count + 1):
                member = Member(instance, group.count)
                yield self._writer(f"{group_name}-{instance}", group_name, group, number, member)
                number += 1

    def _writer(
        self, name: str, group_name: str, group: WriterGroup, number: int, member: Member
    ) -> Writer:
        command, new_job = self._jobs(name, group, number, member)
        reruns, restarts = (self.streams.source(what, name) for what in ("rerun", "restart"))
        pauses = DrawTable(self.streams.source("arrival", name), [Columns([0], _pause(group))])

        def pause_ms(job: int) -> float:
            pause: float = pauses.row(job)[0]
            return pause

        instants = self._instants(group_name, group, pause_ms, member)
        return Writer(
            name=name,
            number=number,
            group_name=group_name,
            group=group,
            command=command,
            new_job=new_job,
            transactions=self._transactions(name, group_name, group, instants),
            think_ms=pause_ms,
            instants=instants,
            rerun=lambda job, rerun: reruns.uniform(row_of(job, rerun), 0),
            restart=lambda job, rerun: restarts.uniform(row_of(job, rerun), 0),
        )

    def _instants(
        self,
        group_name: str,
        group: WriterGroup,
        pause_ms: Callable[[int], float],
        member: Member,
    ) -> Instants:
        """When the writer's jobs fall due, unless each waits for the end of the one before."""
        calendar = Calendar(self.scenario.start_ms, self.scenario.duration)
        match group.arrival.chosen:
            case Open() as options:
                bursts = self.streams.source("bursts", group_name)
                return OpenInstants(options, group.starts, pause_ms, calendar, bursts)
            case Schedule() as options:
                return ScheduledInstants(options, group.starts, pause_ms, calendar)
            case Trace() as trace:
                return TracedJobs.of(trace, group.starts, calendar, member)
        return lambda _: iter(())

    def _transactions(
        self, name: str, group_name: str, group: WriterGroup, instants: Instants
    ) -> Transactions:
        takes_ms = instants.takes_ms if isinstance(instants, TracedJobs) else None
        cluster = self._clusters.of(name, group_name, group)
        tapes = Tapes(self.streams.source("store", name), self._latencies, group.compute.time)
        return Transactions(
            cluster=cluster,
            throttle=self.throttle,
            requests=self._requests,
            faults=faults_of(self.scenario.faults, group_name, name, self.streams),
            tapes=tapes,
            ids=self.streams.source("ids", name),
            spark_jobs=SparkJobs(group.compute, cluster.loads, takes_ms),
            data_requests=self._data_requests,
        )

    def _jobs(
        self, name: str, group: WriterGroup, number: int, member: Member
    ) -> tuple[str, Callable[[int, float], Job]]:
        """The writer's command, and what makes its jobs."""
        clients = self._clients_of(group)
        if group.streaming is not None:
            checkpoint = self._checkpoint(group.streaming.checkpoint, group, number)
            reads_table = group.streaming.reads_table
            plans = BatchPlans(checkpoint.app_id) if self.with_plans and not reads_table else None
            return STREAMING, lambda _job, _now_ms: BatchJob(
                clients, checkpoint, self.keys, reads_table, plans
            )
        assert group.statement is not None
        template, types = parse_statement(group.statement), self.rows.types
        workload = self._workload(name, group.parameters, number, member)
        inserts = self._inserts(template, group.parameters)
        if inserts is not None:
            return template.command, lambda job, now_ms: InsertJob(
                clients, workload.work(job, now_ms), self.keys, inserts
            )

        def statement_job(job: int, now_ms: float) -> Job:
            work = workload.work(job, now_ms)
            return StatementJob(clients, work, self.keys, bound(template, work, types))

        return template.command, statement_job

    def _inserts(self, template: Statement, parameters: dict[str, Parameter]) -> InsertPlans | None:
        """The plans of a statement that only appends rows, which a parameter makes."""
        if not (self.with_plans and isinstance(template, Insert) and inserts_rows(template)):
            return None
        plans = InsertPlans(template)
        return None if parameters[plans.parameter].rows is None else plans

    def _checkpoint(self, name: str, group: WriterGroup, number: int) -> Checkpoint:
        """One per name: the first writer that names it decides what its batches hold."""
        if name not in self._checkpoints:
            assert group.streaming is not None
            parameters = {**group.parameters, ROWS: Parameter(rows=group.streaming.rows)}
            workload = self._workload(f"checkpoint {name}", parameters, number)
            app_id = Ids(self.streams.source("ids", f"checkpoint {name}"))()
            self._checkpoints[name] = Checkpoint(app_id, self.rows.schema, workload.work)
        return self._checkpoints[name]

    def _workload(
        self,
        entity: str,
        parameters: dict[str, Parameter],
        number: int,
        member: Member = ALONE,
    ) -> Workload:
        return Workload(
            self.rows,
            parameters,
            draws_for(self.rows, parameters, self.streams.source("workload", entity)),
            self.keys,
            NewKeys(number, self.scenario.table.initial.rows),
            self.scenario.start_ms,
            member,
        )


def _pause(group: WriterGroup) -> Callable[[Uniforms], NDArray[Any]]:
    """What is drawn before a job: think time, the gap to the next arrival, or jitter."""
    match group.arrival.chosen:
        case Closed(think=think):
            return think.quantile
        case Open(rate=rate, batch=batch):
            return Exponential.model_construct(mean=batch / rate).quantile
        case Schedule(jitter=Distribution() as jitter):
            return jitter.quantile
    return np.zeros_like
