"""Puts a scenario together: the store with its table, the writers with their clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whitecap.engine.dialects import dialect_named
from whitecap.engine.log.commit_file import log_key
from whitecap.engine.log.table_log import TableLog
from whitecap.engine.session.table import SharedTable
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.storage.memory import run
from whitecap.sim.quantities.distributions import Exponential
from whitecap.sim.recording.recorder import Recorder
from whitecap.sim.rehearsal.dry_run import AtOnce
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.parameters import Parameter
from whitecap.sim.scenario.table import Table
from whitecap.sim.scenario.writers import STREAMING, WriterGroup
from whitecap.sim.store.cluster import Cluster
from whitecap.sim.store.faults import faults_of
from whitecap.sim.store.latency import Latency, latencies_of
from whitecap.sim.store.objects import FakeStore
from whitecap.sim.store.tape import Tapes
from whitecap.sim.table.initial_files import InitialTable, KeyPlaces
from whitecap.sim.table.initial_table import create_table
from whitecap.sim.table.rows import KeysInUse, TableRows
from whitecap.sim.time.draws import Columns, DrawTable
from whitecap.sim.time.identifiers import Ids
from whitecap.sim.time.kernel import Kernel
from whitecap.sim.time.random_streams import RandomStreams, Uniforms, row_of
from whitecap.sim.writers.bind import bound
from whitecap.sim.writers.checkpoints import Checkpoint
from whitecap.sim.writers.jobs import BatchJob, StatementJob, TableClients
from whitecap.sim.writers.workload import NewKeys, Workload, draws_for
from whitecap.sim.writers.writer import Job, Writer, WriterDraws

ROWS = "rows"

READ_AT_THE_START = 100_000
"""So many initial rows are indexed at once, in a fraction of a second; more are described."""


@dataclass
class World:
    """Everything that exists in one run."""

    scenario: Scenario
    streams: RandomStreams
    kernel: Kernel
    recorder: Recorder
    store: FakeStore
    table: TableRows
    shared: SharedTable
    keys: KeysInUse
    clients: TableClients
    writers: list[Writer]
    checkpoints: dict[str, Checkpoint]
    latencies: list[Latency]
    initial_version: int

    @classmethod
    def of(cls, scenario: Scenario, streams: RandomStreams, with_requests: bool) -> World:
        """The world at simulated instant 0."""
        table = TableRows.of(scenario.table, scenario.start_ms)
        store = FakeStore(
            scenario.start_ms,
            scenario.store.limits,
            scenario.table.bytes_per_row,
            scenario.store.put_if_absent.exclusive,
        )
        dialect = dialect_named(scenario.dialect)
        initial = create_table(scenario.table, table, store, _ids(streams, "table"), dialect)
        shared = known_table(scenario.table, table, store, initial)
        clients = TableClients(
            scenario.table.name,
            shared,
            dialect.settings_of(scenario.settings),
            dialect,
            scenario.store.client.on_lost_reply,
        )
        world = cls(
            scenario=scenario,
            streams=streams,
            kernel=Kernel(),
            recorder=Recorder(with_requests),
            store=store,
            table=table,
            shared=shared,
            keys=KeysInUse(table.initial),
            clients=clients,
            writers=[],
            checkpoints={},
            latencies=latencies_of(scenario.store),
            initial_version=initial.version,
        )
        world.writers.extend(world._writers())
        return world

    def start(self) -> None:
        """Let every writer begin."""
        for writer in self.writers:
            self.kernel.start(writer.process())

    def _writers(self) -> Iterator[Writer]:
        number = 0
        for group_name, group in self.scenario.writers.items():
            for instance in range(1, group.count + 1):
                yield self._writer(f"{group_name}-{instance}", group_name, group, number)
                number += 1

    def _writer(self, name: str, group_name: str, group: WriterGroup, number: int) -> Writer:
        command, new_job = self._jobs(name, group, number)
        return Writer(
            name=name,
            number=number,
            group_name=group_name,
            group=group,
            command=command,
            cluster=self._cluster(name, group_name, group),
            table_log=TableLog(self.shared.commits),
            new_job=new_job,
            draws=self._draws(name, group),
        )

    def _draws(self, name: str, group: WriterGroup) -> WriterDraws:
        pauses = DrawTable(self.streams.source("arrival", name), [Columns([0], _pause(group))])
        reruns = self.streams.source("rerun", name)
        tapes = Tapes(self.streams.source("store", name), self.latencies, group.compute.time)
        return WriterDraws(
            pause_ms=lambda job: pauses.row(job)[0],
            rerun=lambda job, rerun: reruns.uniform(row_of(job, rerun), 0),
            ids=self.streams.source("ids", name),
            tapes=tapes,
        )

    def _cluster(self, name: str, group_name: str, group: WriterGroup) -> Cluster:
        return Cluster(
            kernel=self.kernel,
            store=self.store,
            profile=self.scenario.store,
            recorder=self.recorder,
            compute=group.compute,
            faults=faults_of(self.scenario.faults, group_name, name, self.streams),
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
        template = parse_statement(group.statement)
        workload = self._workload(name, group.parameters, number)

        types = self.table.types

        def statement_job(job: int, now_ms: float) -> Job:
            work = workload.work(job, now_ms)
            return StatementJob(self.clients, bound(template, work, types), work, self.keys)

        return template.command, statement_job

    def _checkpoint(self, name: str, group: WriterGroup, number: int) -> Checkpoint:
        """One per name: the first writer that names it decides what its batches hold."""
        if name not in self.checkpoints:
            assert group.streaming is not None
            parameters = {**group.parameters, ROWS: Parameter(rows=group.streaming.rows)}
            workload = self._workload(f"checkpoint {name}", parameters, number)
            app_id = _ids(self.streams, f"checkpoint {name}")()
            self.checkpoints[name] = Checkpoint(app_id, self.table.schema, workload.work)
        return self.checkpoints[name]

    def _workload(self, entity: str, parameters: dict[str, Parameter], number: int) -> Workload:
        return Workload(
            self.table,
            parameters,
            draws_for(self.table, parameters, self.streams.source("workload", entity)),
            self.keys,
            NewKeys(number, self.scenario.table.initial.rows),
            self.scenario.start_ms,
        )


def _ids(streams: RandomStreams, entity: str) -> Ids:
    return Ids(streams.source("ids", entity))


def _pause(group: WriterGroup) -> Callable[[Uniforms], NDArray[Any]]:
    """What a writer waits before its next job: think time, or the gap to the next arrival."""
    if group.arrival.closed is not None:
        return group.arrival.closed.think.quantile
    if group.arrival.open is not None:
        return Exponential.model_construct(mean=1 / group.arrival.open.rate).quantile
    return np.zeros_like


def known_table(
    table: Table, rows: TableRows, store: FakeStore, initial: InitialTable
) -> SharedTable:
    """What the writers may share, with the initial table parsed and its keys indexed.

    That is no part of the run: every writer still asks the store for the log as it would alone. Of
    a large table no file is read before somebody asks for one.
    """
    shared = SharedTable(index_rows=True)
    index = shared.row_index
    assert index is not None
    for commit in initial.commits:
        shared.commits.keep_commit(store.objects[log_key(commit.version)].body, commit)
    snapshot = run(TableLog(shared.commits).update(), AtOnce(store, iter(())))
    if table.initial.rows > READ_AT_THE_START:
        index.describe(snapshot.version, KeyPlaces(rows, table.partition_by, initial))
    else:
        key = () if table.key is None else (table.key,)
        run(index.prepare(snapshot, key), AtOnce(store, iter(())))
    return shared
