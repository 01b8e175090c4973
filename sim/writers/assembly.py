"""The writers of a scenario, each with its jobs, its draws and its cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.sim.quantities.distributions import Distribution, Exponential
from whitecap.sim.recording.recorder import Recorder
from whitecap.sim.scenario.arrivals import Closed, Open, Schedule, Trace
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.writers import ComputeSection, WriterGroup
from whitecap.sim.spark.spark_jobs import SparkJobs
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
from whitecap.sim.writers.clusters import Clusters
from whitecap.sim.writers.instants import (
    Calendar,
    Instants,
    OpenInstants,
    ScheduledInstants,
    TracedJobs,
)
from whitecap.sim.writers.jobs import TableClients
from whitecap.sim.writers.named_writer import NamedWriter, writers_of
from whitecap.sim.writers.table_in_store import TableInStore
from whitecap.sim.writers.table_jobs import TableJobs, entity_of
from whitecap.sim.writers.transactions import Transactions
from whitecap.sim.writers.writer import Writer, WriterPart


class _PartOfJobs(Struct, frozen=True):
    """One part of a writer's jobs: when it is due, how long it takes, what befalls it.

    Its numbers are drawn for `entity`.
    """

    entity: str
    compute: ComputeSection
    instants: Instants
    faults: WriterFaults


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
        return map(self._writer, writers_of(self.scenario))

    def _writer(self, named: NamedWriter) -> Writer:
        name, group = named.name, named.group
        reruns, restarts = (self.streams.source(what, name) for what in ("rerun", "restart"))
        pauses = DrawTable(self.streams.source("arrival", name), [DrawnColumns([0], _pause(group))])

        def pause_ms(job: int) -> float:
            pause: float = pauses.row(job)[0]
            return pause

        instants = self._instants(named, pause_ms)
        return Writer(
            name=name,
            number=named.number,
            group_name=named.group_name,
            group=group,
            parts=tuple(self._parts(named, instants)),
            think_ms=pause_ms,
            instants=instants,
            rerun=lambda job, rerun: reruns.uniform(row_of(job, rerun), 0),
            restart=lambda job, rerun: restarts.uniform(row_of(job, rerun), 0),
        )

    def _instants(self, named: NamedWriter, pause_ms: Callable[[int], float]) -> Instants:
        """When the writer's jobs fall due, unless each waits for the end of the one before."""
        calendar = Calendar(self.scenario.start_ms, self.scenario.duration)
        starts_ms = named.group.starts
        match named.group.arrival.chosen:
            case Open() as options:
                bursts = self.streams.source("bursts", named.group_name)
                return OpenInstants(options, starts_ms, pause_ms, calendar, bursts)
            case Schedule() as options:
                return ScheduledInstants(options, starts_ms, pause_ms, calendar)
            case Trace() as trace:
                return TracedJobs.of(trace, starts_ms, calendar, named.member)
        return lambda _: iter(())

    def _parts(self, named: NamedWriter, instants: Instants) -> Iterator[WriterPart]:
        """The statements of the writer's jobs, or its query's batches."""
        group, name = named.group, named.name
        faults = faults_of(self.scenario.faults, named.group_name, name, self.streams)
        if group.streaming is not None:
            jobs = self._jobs_on(group.streaming.table)
            batch = _PartOfJobs(name, group.compute, instants, faults)
            transactions = self._transactions(named, jobs, batch)
            yield WriterPart(*jobs.batches(named), jobs.table.name, transactions)
        process = self._query_process(group)
        for position, part in enumerate(group.parts):
            entity = entity_of(name, position)
            jobs = self._jobs_on(parse_statement(part.statement).table.name)
            compute, own = group.compute_of(part), faults.drawn_for(entity)
            statement = _PartOfJobs(entity, compute, instants, own)
            transactions = self._transactions(named, jobs, statement)
            made = (
                jobs.statements(named, position)
                if process is None
                else jobs.of_function(named, position, process)
            )
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

    def _transactions(self, named: NamedWriter, jobs: TableJobs, part: _PartOfJobs) -> Transactions:
        """What runs the transactions of one part of a writer's jobs."""
        cluster = self._clusters.of(named, jobs.table)
        takes_ms = part.instants.takes_ms if isinstance(part.instants, TracedJobs) else None
        store = self.streams.source("store", part.entity)
        return Transactions(
            cluster=cluster,
            throttle=jobs.table.throttle,
            requests=LogRequests.of(cluster.profile),
            faults=part.faults,
            tapes=Tapes(store, self._latencies, part.compute.time),
            ids=IdsOfJobs(self.streams.source("ids", part.entity)),
            spark_jobs=SparkJobs(part.compute, cluster.loads, takes_ms),
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
