"""The tables of a run as it begins: each in its directory of the store, its past counted.

What takes no simulated time is done here, such as parsing initial commits and indexing keys.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from whitecap.engine.dialects import dialect_named
from whitecap.engine.log import properties
from whitecap.engine.log.commit_file import log_key
from whitecap.engine.session.row_index import DescribedFiles
from whitecap.engine.session.table import SharedTable
from whitecap.engine.storage.memory import run
from whitecap.sim.machine.spool import Spool
from whitecap.sim.quantities.units import DAY_MS
from whitecap.sim.real_table.starting import RealFiles
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.table import TableSection
from whitecap.sim.store.at_once import AtOnce
from whitecap.sim.store.contents.history import CommitHistory
from whitecap.sim.store.contents.log_directory import LogDirectory, PastDays
from whitecap.sim.store.contents.objects import FakeStore
from whitecap.sim.store.requests.limits import Throttle
from whitecap.sim.table.initial_table import InitialTable, NewTable, create_table, describe_table
from whitecap.sim.table.key_places import KeyPlaces
from whitecap.sim.table.rows import ScenarioRows
from whitecap.sim.table.slices import KeysInUse, KeysOfSlices
from whitecap.sim.time.identifiers import DrawnIds
from whitecap.sim.time.kernel import Kernel
from whitecap.sim.time.random_streams import RandomStreams
from whitecap.sim.writers.table_in_store import TableInStore

READ_AT_THE_START = 100_000
"""Initial rows that are read and indexed at once, which takes a fraction of a second. The files of
a larger table are described instead."""


def tables_at_start(
    scenario: Scenario, streams: RandomStreams, kernel: Kernel
) -> Iterator[TableInStore]:
    """The tables of a scenario, each in a directory of its own.

    Each directory has limits of its own on requests, unless the store limits the whole account.
    """

    def throttle() -> Throttle:
        return Throttle(scenario.store.limits, kernel.patient, lambda: kernel.now_ms)

    of_account = throttle() if scenario.store.limits.of_each == "account" else None
    for number, table in enumerate(scenario.all_tables):
        entity = "table" if number == 0 else f"table {table.name}"
        ids = DrawnIds(streams.source("ids", entity))
        yield _placed(table, scenario, ids, of_account or throttle())


def _placed(
    table: TableSection, scenario: Scenario, ids: DrawnIds, throttle: Throttle
) -> TableInStore:
    rows = ScenarioRows.of(table, scenario.start_ms, scenario.session)
    exclusive = scenario.is_exclusive
    store = FakeStore(scenario.start_ms, table.bytes_per_row, exclusive, Spool())
    begun = _begun(NewTable(table, rows, store, ids, dialect_named(scenario.dialect)))
    shared = _shared_by_clients(table, store, begun)
    history = CommitHistory(store, shared.commits)
    version = begun.table.version
    _fill_log(store.log, table, scenario.start_ms, history.snapshot(version).num_files)
    keys = KeysInUse(begun.keys)
    first = begun.first_new_key
    return TableInStore(table, rows, store, shared, history, throttle, keys, first, version)


class _Begun(Struct, frozen=True):
    """The table at the start: the keys of its rows, and which files hold them.

    `places` finds a key's files without reading any; where it is `None`, all files are read before
    the run.
    """

    table: InitialTable
    keys: KeysOfSlices
    first_new_key: int
    places: DescribedFiles | None


def _begun(new: NewTable) -> _Begun:
    table, rows = new.table, new.rows
    if table.real is not None:
        files = RealFiles.of(table, rows)
        return _Begun(files.put(new), files, files.first_new_key, files)
    if table.initial.rows <= READ_AT_THE_START:
        return _Begun(create_table(new), rows.initial, table.initial.rows, None)
    initial = describe_table(new)
    places = KeyPlaces(rows, table.partition_by, initial)
    return _Begun(initial, rows.initial, table.initial.rows, places)


def _fill_log(log: LogDirectory, table: TableSection, start_ms: int, files: int) -> None:
    """Put into the log what it holds at the start, and count what the scenario says of its past."""
    past = table.log
    log.starts(with_checkpoint=past is not None, actions=files + 2)
    if past is None:
        return
    log.retention_ms = past.retention
    configuration = table.configuration()
    interval = past.checkpoint_interval or properties.CHECKPOINT_INTERVAL.of(configuration)
    per_commit = 2 + 1 / interval
    if past.rate is None:
        log.has_a_past(round((past.commits or 0) * per_commit))
        return
    first_kept = int(start_ms - log.kept_ms(configuration)) // DAY_MS
    per_day = past.rate * DAY_MS * per_commit
    objects = round(per_day * (start_ms / DAY_MS - first_kept))
    log.has_a_past(objects, PastDays(round(per_day), first_kept))


def _shared_by_clients(table: TableSection, store: FakeStore, begun: _Begun) -> SharedTable:
    """What the clients of the table share: its initial commits parsed, its keys indexed.

    This takes no simulated time: every writer still asks the store for the log as it would alone.
    The files of a large table are not read before somebody asks for one.
    """
    shared = SharedTable(index_rows=True, shelf=store.shelf)
    index = shared.row_index
    assert index is not None
    for commit in begun.table.commits:
        content = store.objects[log_key(commit.version)].content
        if isinstance(content, bytes):
            shared.commits.keep_commit(content, commit)
    snapshot = CommitHistory(store, shared.commits).snapshot(begun.table.version)
    if begun.places is not None:
        index.describe(snapshot.version, begun.places)
    else:
        key = () if table.key is None else (table.key,)
        run(index.prepare(snapshot, key), AtOnce(store, iter(())))
    return shared
