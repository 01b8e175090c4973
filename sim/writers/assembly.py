"""The writers of a scenario, each with its jobs, its draws and its cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.sim.quantities.distributions import Distribution, Exponential
from whitecap.sim.recording.recorder import Recorder
from whitecap.sim.scenario.arrivals import Closed, Open, Schedule, Trace
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.writers import ComputeSection, WriterGroup
from whitecap.sim.spark.spark_jobs import SparkJobs
from whitecap.sim.store.cluster import Cluster
from whitecap.sim.store.coordinator import LogRequests
from whitecap.sim.store.requests.faults import WriterFaults, faults_of
from whitecap.sim.store.requests.kinds import KIND_NAMED
from whitecap.sim.store.requests.latency import Latency, latencies_of
from whitecap.sim.store.requests.limits import DataRequests, Throttle
from whitecap.sim.store.requests.tape import Tapes
from whitecap.sim.time.draws import DrawnColumns, DrawTable
from whitecap.sim.time.identifiers import DrawnIds, IdsOfJobs
from whitecap.sim.time.kernel import Kernel
from whitecap.sim.time.random_streams import RandomStreams, Uniforms, row_of
from whitecap.sim.writers.checkpoints import FunctionProgress, QueryProcess
from whitecap.sim.writers.choices import Member
from whitecap.sim.writers.clusters import Clusters
from whitecap.sim.writers.instants import (
    Calendar,
    Instants,
    OpenInstants,
    ScheduledInstants,
    TracedJobs,
)
from whitecap.sim.writers.jobs import TableClients
from whitecap.sim.writers.table_in_store import TableInStore
from whitecap.sim.writers.table_jobs import TableJobs, entity_of
from whitecap.sim.writers.transactions import Transactions
from whitecap.sim.writers.writer import Writer, WriterPart

_Place = tuple[int, Member]
"""A writer's number in the run, and which of its group it is."""


@dataclass(slots=True)
class Assembly:
    """Makes the writers of one run, and what several of them share.

    `with_plans`: statements of simple shape go the short way (`engine/plans/`).
    """

    scenario: Scenario
    streams: RandomStreams
    kernel: Kernel
    recorder: Recorder
    tables: Sequence[TableInStore]
    with_plans: bool = True
    _jobs: dict[str, TableJobs] = field(init=False)
    _functions: dict[str, FunctionProgress] = field(default_factory=dict)
    _clusters: Clusters = field(init=False)
    _latencies: list[Latency] = field(init=False)

    def __post_init__(self) -> None:
        scenario = self.scenario
        self._jobs = {table.name.lower(): self._jobs_of(table) for table in self.tables}
        self._clusters = Clusters(scenario, self.streams, self.kernel, self.recorder)
        self._latencies = latencies_of(scenario.store)

    def _jobs_of(self, table: TableInStore) -> TableJobs:
        """What makes the jobs of one table."""
        requests = self._data_requests(table.throttle)
        clients_of = partial(self._new_clients, table)
        streams, start_ms = self.streams, self.scenario.start_ms
        return TableJobs(table, clients_of, requests, streams, start_ms, self.with_plans)

    def _new_clients(self, table: TableInStore, group: WriterGroup) -> TableClients:
        """What makes handles on a table for writers of a group's dialect."""
        return TableClients(
            table.name,
            table.shared,
            self.scenario.settings_of(group),
            self.scenario.dialect_of(group),
            self.scenario.store.client.on_lost_reply,
            self._keys_matter(),
        )

    def _data_requests(self, throttle: Throttle) -> DataRequests | None:
        """The requests of jobs for data files, where any limit could refuse one."""
        data_files = self.scenario.store.data_files
        if data_files is None or not throttle.is_limited:
            return None
        kinds = (data_files.read, data_files.write)
        read, write = (tuple(KIND_NAMED[name] for name in names) for names in kinds)
        return DataRequests(throttle, read, write)

    def _keys_matter(self) -> bool:
        """Whether any writer chooses among the keys that the table has."""
        parameters = (p for g in self.scenario.writers.values() for p in g.all_parameters)
        return any(p.keys or (p.rows and p.rows.existing) for p in parameters)

    def writers(self) -> Iterator[Writer]:
        """All of them, in the order of the scenario."""
        number = 0
        for group_name, group in self.scenario.writers.items():
            for instance, name in enumerate(group.members(group_name), start=1):
                member = Member(instance, group.count)
                yield self._writer(name, group_name, group, number, member)
                number += 1

    def _writer(
        self, name: str, group_name: str, group: WriterGroup, number: int, member: Member
    ) -> Writer:
        reruns, restarts = (self.streams.source(what, name) for what in ("rerun", "restart"))
        pauses = DrawTable(self.streams.source("arrival", name), [DrawnColumns([0], _pause(group))])

        def pause_ms(job: int) -> float:
            pause: float = pauses.row(job)[0]
            return pause

        instants = self._instants(group_name, group, pause_ms, member)
        return Writer(
            name=name,
            number=number,
            group_name=group_name,
            group=group,
            parts=tuple(self._parts(name, group_name, group, instants, (number, member))),
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

    def _parts(
        self, name: str, group_name: str, group: WriterGroup, instants: Instants, place: _Place
    ) -> Iterator[WriterPart]:
        """The statements of the writer's jobs, or its query's batches."""
        number, member = place
        faults = faults_of(self.scenario.faults, group_name, name, self.streams)
        if group.streaming is not None:
            jobs = self._jobs_on(group.streaming.table)
            cluster = self._clusters.of(name, group_name, group, jobs.table)
            transactions = self._transactions(name, cluster, group.compute, instants, jobs, faults)
            yield WriterPart(*jobs.batches(group, number), jobs.table.name, transactions)
        process = self._query_process(group)
        for position, part in enumerate(group.parts):
            entity = entity_of(name, position)
            jobs = self._jobs_on(parse_statement(part.statement).table.name)
            cluster = self._clusters.of(name, group_name, group, jobs.table)
            transactions = self._transactions(
                entity, cluster, group.compute_of(part), instants, jobs, faults.drawn_for(entity)
            )
            if process is None:
                made = jobs.statements(entity, part, group, number, member)
            else:
                made = jobs.of_function(position, part, group, number, process)
            yield WriterPart(*made, jobs.table.name, transactions)

    def _query_process(self, group: WriterGroup) -> QueryProcess | None:
        """The process of a query whose function runs the statements of a group, if there is one."""
        if group.foreach_batch is None:
            return None
        name = group.foreach_batch.checkpoint
        if name not in self._functions:
            app_id = DrawnIds(self.streams.source("ids", f"checkpoint {name}"))()
            self._functions[name] = FunctionProgress(app_id)
        return QueryProcess(self._functions[name])

    def _jobs_on(self, name: str | None) -> TableJobs:
        """The jobs of a table, which need not be named if there is one table."""
        first = next(iter(self._jobs.values()))
        return first if name is None else self._jobs.get(name.lower(), first)

    def _transactions(
        self,
        entity: str,
        cluster: Cluster,
        compute: ComputeSection,
        instants: Instants,
        jobs: TableJobs,
        faults: WriterFaults,
    ) -> Transactions:
        """What runs the transactions of a writer; it draws numbers for `entity`."""
        takes_ms = instants.takes_ms if isinstance(instants, TracedJobs) else None
        tapes = Tapes(self.streams.source("store", entity), self._latencies, compute.time)
        return Transactions(
            cluster=cluster,
            throttle=jobs.table.throttle,
            requests=LogRequests.of(cluster.profile),
            faults=faults,
            tapes=tapes,
            ids=IdsOfJobs(self.streams.source("ids", entity)),
            spark_jobs=SparkJobs(compute, cluster.loads, takes_ms),
            data_requests=jobs.data_requests,
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
