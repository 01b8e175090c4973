"""Puts a scenario together: the store with its table, and the writers with their clusters."""

from __future__ import annotations

from dataclasses import dataclass, field

from whitecap.engine.dialects import dialect_named
from whitecap.engine.log import properties
from whitecap.engine.log.commit_file import log_key
from whitecap.engine.session.table import SharedTable
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.storage.memory import run
from whitecap.sim.machine.spool import Spool
from whitecap.sim.quantities.units import DAY_MS
from whitecap.sim.recording.recorder import Recorder
from whitecap.sim.rehearsal.dry_run import AtOnce
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.table import Table
from whitecap.sim.store.history import History
from whitecap.sim.store.limits import Throttle
from whitecap.sim.store.log_directory import LogDirectory, PastDays
from whitecap.sim.store.objects import FakeStore
from whitecap.sim.table.initial_files import InitialTable, KeyPlaces
from whitecap.sim.table.initial_table import create_table
from whitecap.sim.table.rows import KeysInUse, TableRows
from whitecap.sim.time.identifiers import Ids
from whitecap.sim.time.kernel import Kernel
from whitecap.sim.time.random_streams import RandomStreams
from whitecap.sim.writers.assembly import Assembly
from whitecap.sim.writers.writer import Writer

DELETES_DATA_FILES = "VACUUM"
"""A command after which a data file may be gone: who reads it has to look at that instant."""

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
    throttle: Throttle
    shared: SharedTable
    initial_version: int
    writers: list[Writer] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        streams: RandomStreams,
        with_requests: bool = False,
        patient: bool = False,
        with_plans: bool = True,
    ) -> World:
        """The world at simulated instant 0; in a `patient` one every process waits at every step.

        So it is where the order of what others do matters at every request. One without plans
        runs every statement the general way; it comes to the same.
        """
        rows = TableRows.of(scenario.table, scenario.start_ms)
        exclusive = scenario.is_exclusive
        store = FakeStore(scenario.start_ms, scenario.table.bytes_per_row, exclusive, Spool())
        dialect = dialect_named(scenario.dialect)
        ids = Ids(streams.source("ids", "table"))
        described = scenario.table.initial.rows > READ_AT_THE_START
        initial = create_table(scenario.table, rows, store, ids, dialect, described)
        shared = known_table(scenario.table, rows, store, initial)
        kernel = Kernel(patient or _needs_patience(scenario))
        world = cls(
            scenario=scenario,
            streams=streams,
            kernel=kernel,
            recorder=Recorder(with_requests, lambda: kernel.now_ms),
            store=store,
            throttle=Throttle(scenario.store.limits, kernel.patient, lambda: kernel.now_ms),
            shared=shared,
            initial_version=initial.version,
        )
        history = History(store, shared.commits)
        _fill_log(store.log, scenario, history.snapshot(initial.version).num_files)
        assembly = Assembly(
            scenario, streams, kernel, world.recorder, store, world.throttle, history, shared, rows,
            KeysInUse(rows.initial), with_plans,
        )  # fmt: skip
        world.writers.extend(assembly.writers())
        return world

    def start(self) -> None:
        """Let every writer begin."""
        for writer in self.writers:
            self.kernel.start(writer.process())


def _needs_patience(scenario: Scenario) -> bool:
    """Whether the order of what a writer does at the same time matters at every request."""
    statements = (group.statement for group in scenario.writers.values())
    commands = {parse_statement(statement).command for statement in statements if statement}
    return (
        DELETES_DATA_FILES in commands
        or not scenario.is_exclusive
        or any(fault.is_counted for fault in scenario.faults)
    )


def _fill_log(log: LogDirectory, scenario: Scenario, files: int) -> None:
    """What the log holds at the start, that of a past that the scenario describes included."""
    past = scenario.table.log
    log.starts(with_checkpoint=past is not None, actions=files + 2)
    if past is None:
        return
    configuration = scenario.table.configuration()
    interval = past.checkpoint_interval or properties.CHECKPOINT_INTERVAL.of(configuration)
    per_commit = 2 + 1 / interval
    if past.rate is None:
        log.past_objects = round((past.commits or 0) * per_commit)
        return
    kept_ms = past.retention or properties.LOG_RETENTION_MS.of(configuration)
    first_kept = int(scenario.start_ms - kept_ms) // DAY_MS
    per_day = past.rate * DAY_MS * per_commit
    log.past_objects = round(per_day * (scenario.start_ms / DAY_MS - first_kept))
    log.past_days = PastDays(round(per_day), first_kept)


def known_table(
    table: Table, rows: TableRows, store: FakeStore, initial: InitialTable
) -> SharedTable:
    """What the writers may share, with the initial table parsed and its keys indexed.

    That is no part of the run: every writer still asks the store for the log as it would alone. Of
    a large table no file is read before somebody asks for one.
    """
    shared = SharedTable(index_rows=True, shelf=store.shelf)
    index = shared.row_index
    assert index is not None
    for commit in initial.commits:
        content = store.objects[log_key(commit.version)].content
        if isinstance(content, bytes):
            shared.commits.keep_commit(content, commit)
    snapshot = History(store, shared.commits).snapshot(initial.version)
    if table.initial.rows > READ_AT_THE_START:
        index.describe(snapshot.version, KeyPlaces(rows, table.partition_by, initial))
    else:
        key = () if table.key is None else (table.key,)
        run(index.prepare(snapshot, key), AtOnce(store, iter(())))
    return shared
