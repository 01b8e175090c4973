"""The tables before a race, and fresh branches of them to race on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.commands.table import SharedTable, Table, Tables
from engine.conformance.case import TableOf
from engine.conformance.statements import build, live_rows
from engine.dialects import DELTA_OSS_4_4, Dialect
from engine.interleaving.branch import Branch
from engine.settings import Settings
from engine.storage.memory import MemoryStore, Store


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
    ) -> World:
        """Build tables of rows in memory, commit by commit."""
        store, settings = MemoryStore(), settings or Settings()
        shared = {name: SharedTable() for name in tables}
        roots = {name: f"{name}/" for name in tables}
        for name, wanted in tables.items():
            client = Table(name, shared[name], settings, dialect, root=roots[name])
            build(client, wanted, store)
        return cls(store, roots, dialect, settings, shared)

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
        world = self.world
        return {
            name: Table(name, self.shared[name], world.settings, world.dialect, root=root)
            for name, root in world.roots.items()
        }

    def rows(self, name: str) -> Iterable[dict[str, Any]]:
        """The rows of a table as a reader sees them now."""
        return live_rows(self.client()[name], self.store)
