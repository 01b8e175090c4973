"""The writers of a scenario, each with its jobs, its draws and its cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whitecap.engine.dialects import dialect_named
from whitecap.engine.session.table import SharedTable
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.sim.quantities.distributions import Exponential
from whitecap.sim.recording.recorder import Recorder
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.parameters import Parameter
from whitecap.sim.scenario.writers import WriterGroup
from whitecap.sim.store.cluster import Cluster
from whitecap.sim.store.coordinator import LogRequests
from whitecap.sim.store.faults import crashes_of, faults_of
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
from whitecap.sim.writers.jobs import BatchJob, Job, StatementJob, TableClients
from whitecap.sim.writers.transactions import Transactions
from whitecap.sim.writers.workload import NewKeys, Workload, draws_for
from whitecap.sim.writers.writer import Writer

STREAMING = "STREAMING"
"""The command name of streaming appends in recordings."""

ROWS = "rows"


@dataclass
class Assembly:
    """Makes the writers of one run, and what several of them share."""

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
    clients: TableClients = field(init=False)
    _checkpoints: dict[str, Checkpoint] = field(default_factory=dict)
    _clusters: dict[str, Cluster] = field(default_factory=dict)

    def __post_init__(self) -> None:
        scenario, dialect = self.scenario, dialect_named(self.scenario.dialect)
        settings = dialect.settings_of(scenario.settings)
        lost_reply = scenario.store.client.on_lost_reply
        self.clients = TableClients(
            scenario.table.name, self.shared, settings, dialect, lost_reply, self._keys_matter()
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

    def _keys_matter(self) -> bool:
        """Whether anyone chooses among the keys that there are."""
        parameters = [p for g in self.scenario.writers.values() for p in g.parameters.values()]
        return any(p.keys or (p.rows and p.rows.existing) for p in parameters)

    def writers(self) -> Iterator[Writer]:
        """All of them, in the order of the scenario."""
        number = 0
        for group_name, group in self.scenario.writers.items():
            for instance in range(1, group.count + 1):
                yield self._writer(f"{group_name}-{instance}", group_name, group, number)
                number += 1

    def _writer(self, name: str, group_name: str, group: WriterGroup, number: int) -> Writer:
        command, new_job = self._jobs(name, group, number)
        reruns = self.streams.source("rerun", name)
        pauses = DrawTable(self.streams.source("arrival", name), [Columns([0], _pause(group))])
        return Writer(
            name=name,
            number=number,
            group_name=group_name,
            group=group,
            command=command,
            new_job=new_job,
            transactions=self._transactions(name, group_name, group),
            pause_ms=lambda job: pauses.row(job)[0],
            rerun=lambda job, rerun: reruns.uniform(row_of(job, rerun), 0),
        )

    def _transactions(self, name: str, group_name: str, group: WriterGroup) -> Transactions:
        tapes = Tapes(self.streams.source("store", name), self._latencies, group.compute.time)
        return Transactions(
            cluster=self._cluster(name, group_name, group),
            throttle=self.throttle,
            requests=self._requests,
            faults=faults_of(self.scenario.faults, group_name, name, self.streams),
            tapes=tapes,
            ids=self.streams.source("ids", name),
            compute=group.compute,
            data_requests=self._data_requests,
        )

    def _cluster(self, name: str, group_name: str, group: WriterGroup) -> Cluster:
        """The writer's own, or the one that its group names."""
        if group.cluster is None:
            return self._new_cluster(name, {group_name: group}, 1)
        if group.cluster not in self._clusters:
            groups = {
                name: other
                for name, other in self.scenario.writers.items()
                if other.cluster == group.cluster
            }
            writers = sum(other.count for other in groups.values())
            self._clusters[group.cluster] = self._new_cluster(group.cluster, groups, writers)
        return self._clusters[group.cluster]

    def _new_cluster(self, name: str, groups: dict[str, WriterGroup], writers: int) -> Cluster:
        opens = (group.arrival.open for group in groups.values())
        skew = next((g.clock_skew for g in groups.values() if g.clock_skew is not None), None)
        clock = self.streams.source("clock", name)
        return Cluster(
            kernel=self.kernel,
            store=self.store,
            history=self.history,
            profile=self.scenario.store,
            recorder=self.recorder,
            crashes=crashes_of(self.scenario.faults, groups.keys(), name, self.streams),
            clock_skew_ms=0.0
            if skew is None
            else skew.ms(clock.uniform(0, 0), clock.uniform(0, 1)),
            is_shared=writers > 1 or any(o is not None and o.concurrency != 1 for o in opens),
        )

    def _jobs(
        self, name: str, group: WriterGroup, number: int
    ) -> tuple[str, Callable[[int, float], Job]]:
        """The writer's command, and what makes its jobs."""
        if group.streaming is not None:
            checkpoint = self._checkpoint(group.streaming.checkpoint, group, number)
            reads_table = group.streaming.reads_table
            return STREAMING, lambda _job, _now_ms: BatchJob(
                self.clients, checkpoint, self.keys, reads_table
            )
        assert group.statement is not None
        template, types = parse_statement(group.statement), self.rows.types
        workload = self._workload(name, group.parameters, number)

        def statement_job(job: int, now_ms: float) -> Job:
            work = workload.work(job, now_ms)
            return StatementJob(self.clients, bound(template, work, types), work, self.keys)

        return template.command, statement_job

    def _checkpoint(self, name: str, group: WriterGroup, number: int) -> Checkpoint:
        """One per name: the first writer that names it decides what its batches hold."""
        if name not in self._checkpoints:
            assert group.streaming is not None
            parameters = {**group.parameters, ROWS: Parameter(rows=group.streaming.rows)}
            workload = self._workload(f"checkpoint {name}", parameters, number)
            app_id = Ids(self.streams.source("ids", f"checkpoint {name}"))()
            self._checkpoints[name] = Checkpoint(app_id, self.rows.schema, workload.work)
        return self._checkpoints[name]

    def _workload(self, entity: str, parameters: dict[str, Parameter], number: int) -> Workload:
        return Workload(
            self.rows,
            parameters,
            draws_for(self.rows, parameters, self.streams.source("workload", entity)),
            self.keys,
            NewKeys(number, self.scenario.table.initial.rows),
            self.scenario.start_ms,
        )


def _pause(group: WriterGroup) -> Callable[[Uniforms], NDArray[Any]]:
    """What a writer waits before its next job: think time, or the gap to the next arrival."""
    if group.arrival.closed is not None:
        return group.arrival.closed.think.quantile
    if group.arrival.open is not None:
        return Exponential.model_construct(mean=1 / group.arrival.open.rate).quantile
    return np.zeros_like
