"""The tables before a race, and fresh branches of them to race on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from whitecap.engine.commands import run_statement
from whitecap.engine.dialects import DEFAULT_DIALECT, Dialect
from whitecap.engine.log.clients.stored_log import StoredLog
from whitecap.engine.log.snapshot import EMPTY_SNAPSHOT, Snapshot
from whitecap.engine.races.interleaving.branch import Branch
from whitecap.engine.races.row_tables import TableOf, build, live_rows
from whitecap.engine.session.table import SharedTable, Table, Tables
from whitecap.engine.settings import Settings
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.storage.memory import (
    FIRST_INSTANT_MS,
    MemoryStore,
    Store,
    counting_clock,
    run,
)


class World(Struct, frozen=True):
    """Tables in a store that no race changes; `roots` are their directories in it by name.

    `snapshots` are those that every client begins with, of tables that it has seen before.
    `begins_ms` is what races take for the time, in epoch milliseconds.
    """

    store: Store
    roots: Mapping[str, str]
    dialect: Dialect = DEFAULT_DIALECT
    settings: Settings = field(default_factory=Settings)
    shared: Mapping[str, SharedTable] = field(default_factory=dict)
    snapshots: Mapping[str, Snapshot] = field(default_factory=dict)
    begins_ms: int = FIRST_INSTANT_MS

    @classmethod
    def of_tables(
        cls,
        tables: Mapping[str, TableOf],
        dialect: Dialect = DEFAULT_DIALECT,
        settings: Settings | None = None,
        absent: Sequence[str] = (),
        begins_ms: int = FIRST_INSTANT_MS,
    ) -> World:
        """Build tables of rows in memory, commit by commit; `absent` ones may still be created."""
        store, settings = MemoryStore(counting_clock(begins_ms)), settings or Settings()
        shared = {name: SharedTable() for name in (*tables, *absent)}
        roots = {name: f"{name}/" for name in shared}
        for name, wanted in tables.items():
            client = Table(name, shared[name], settings, dialect, root=roots[name])
            build(client, wanted, store)
        return cls(store, roots, dialect, settings, shared, begins_ms=begins_ms)

    def by(self, dialect: Dialect) -> World:
        """The same world to clients of another dialect."""
        settings = dialect.adjusted(self.settings)
        return replace(self, dialect=dialect, settings=settings)

    def after(self, sql: str) -> World:
        """The world when a statement has run: a branch that others may branch from."""
        scene, tables = self.branch(), self.client()
        run(run_statement(parse_statement(sql), tables), scene.store)
        return replace(self, store=scene.store, shared=_shared(tables), snapshots={})

    def warmed(self) -> World:
        """The same with clients that have read every table already, once for all races."""
        scene, tables = self.branch(), self.client()
        for table in tables.values():
            list(live_rows(table, scene.store))
        snapshots = {name: table.log.snapshot for name, table in tables.items()}
        return replace(self, shared=_shared(tables), snapshots=snapshots)

    def branch(self) -> Scene:
        """A fresh start: the tables as they are, with room for changes of its own."""
        return Scene(self, Branch(self.store, self.begins_ms))

    def client(self) -> Tables:
        """A client of the tables that has seen nothing of any branch."""
        return {name: self._table(name, root) for name, root in self.roots.items()}

    def _table(self, name: str, root: str) -> Table:
        """A client that writes no checkpoints: they decide nothing, and cost more than a race."""
        shared = _branched(self.shared.get(name))
        table = Table(name, shared, self.settings, self.dialect, root=root)
        snapshot = self.snapshots.get(name, EMPTY_SNAPSHOT)
        table.log = StoredLog(shared.commits, None, snapshot, shared.file_counts)
        return table


def _shared(tables: Tables) -> dict[str, SharedTable]:
    return {name: table.shared for name, table in tables.items()}


def _branched(shared: SharedTable | None) -> SharedTable:
    """Parsed commits are shared (they are known by their bytes), rows of files are not.

    Each client is a process of its own: what it does follows from what it is answered alone.
    """
    return SharedTable() if shared is None else shared.branched(shared.commits)


class Scene(Struct, frozen=True):
    """One branch of a world, and readers of its tables."""

    world: World
    store: Branch

    def copy(self) -> Scene:
        """The same moment, for a history of its own."""
        return Scene(self.world, self.store.copy())

    def client(self) -> Tables:
        """A client that knows nothing yet of any table."""
        return self.world.client()

    def rows(self, name: str) -> Iterable[dict[str, Any]]:
        """The rows of a table as a reader sees them now."""
        return live_rows(self.client()[name], self.store)
