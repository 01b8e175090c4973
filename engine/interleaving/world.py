"""The tables before a race, and fresh branches of them to race on."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.commands import run_statement
from engine.commands.table import SharedTable, Table, Tables
from engine.conformance.case import TableOf
from engine.conformance.statements import build, live_rows
from engine.dialects import DELTA_OSS_4_4, Dialect
from engine.interleaving.branch import Branch
from engine.log.table_log import TableLog
from engine.settings import Settings
from engine.sql.parsing import parse_statement
from engine.storage.memory import MemoryStore, Store, run


@dataclass(frozen=True, slots=True)
class World:
    """Tables in a store that no race changes; `roots` are their directories in it by name."""

    store: Store
    roots: Mapping[str, str]
    dialect: Dialect = DELTA_OSS_4_4
    settings: Settings = field(default_factory=Settings)
    shared: Mapping[str, SharedTable] = field(default_factory=dict)

    @classmethod
    def of_tables(
        cls,
        tables: Mapping[str, TableOf],
        dialect: Dialect = DELTA_OSS_4_4,
        settings: Settings | None = None,
        absent: Sequence[str] = (),
    ) -> World:
        """Build tables of rows in memory, commit by commit; `absent` ones may still be created."""
        store, settings = MemoryStore(), settings or Settings()
        shared = {name: SharedTable() for name in (*tables, *absent)}
        roots = {name: f"{name}/" for name in shared}
        for name, wanted in tables.items():
            client = Table(name, shared[name], settings, dialect, root=roots[name])
            build(client, wanted, store)
        return cls(store, roots, dialect, settings, shared)

    def after(self, sql: str) -> World:
        """The world when a statement has run: a branch that others may branch from."""
        scene = self.branch()
        run(run_statement(parse_statement(sql), scene.client()), scene.store)
        return dataclasses.replace(self, store=scene.store, shared=scene.shared)

    def branch(self) -> Scene:
        """A fresh start: the tables as they are, with room for changes of its own."""
        shared = {name: _branched(self.shared.get(name)) for name in self.roots}
        return Scene(self, Branch(self.store), shared)


def _branched(shared: SharedTable | None) -> SharedTable:
    """Parsed commits are shared (they are known by their bytes), rows of files are not."""
    mine = SharedTable()
    if shared is not None:
        mine.commits = shared.commits
        mine.data_files = shared.data_files.branched()
    return mine


@dataclass(frozen=True, slots=True)
class Scene:
    """One branch of a world: its store, and clients of its tables."""

    world: World
    store: Branch
    shared: Mapping[str, SharedTable]

    def client(self) -> Tables:
        """A client that knows nothing yet of any table."""
        return {name: self._table(name, root) for name, root in self.world.roots.items()}

    def _table(self, name: str, root: str) -> Table:
        """A client that writes no checkpoints: they decide nothing, and cost more than a race."""
        world, shared = self.world, self.shared[name]
        table = Table(name, shared, world.settings, world.dialect, root=root)
        table.log = TableLog(shared.commits, encode=None)
        return table

    def rows(self, name: str) -> Iterable[dict[str, Any]]:
        """The rows of a table as a reader sees them now."""
        return live_rows(self.client()[name], self.store)
