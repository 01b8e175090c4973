"""Two statements and the tables they run on: what is explained, and what a change changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whitecap.engine.commands import run_statement
from whitecap.engine.dialects import DELTA_OSS_4_4, Dialect
from whitecap.engine.errors import DeltaError, UnsupportedFeature
from whitecap.engine.isolation import ISOLATION_PROPERTY
from whitecap.engine.log.actions import CommitInfo
from whitecap.engine.log.properties import (
    APPEND_ONLY,
    CHANGE_DATA_FEED,
    DELETION_VECTORS,
    ROW_TRACKING,
)
from whitecap.engine.log.schema import Schema, ddl
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.log.statistics import record_count
from whitecap.engine.outcomes import Aborted
from whitecap.engine.races.interleaving.contender import Start
from whitecap.engine.races.interleaving.race import Played
from whitecap.engine.races.interleaving.schedules import schedules
from whitecap.engine.races.interleaving.world import World
from whitecap.engine.races.row_tables import DataFile, TableOf
from whitecap.engine.settings import Settings
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.storage.memory import run
from whitecap.engine.storage.requests import Row

MOST_ROWS, MOST_FILES = 10_000, 500
"""Tables with more rows or files are not built anew to try changes of their layout."""


@dataclass(frozen=True, slots=True)
class RaceCase:
    """Tables of rows, built in memory; `target` is the one that both statements write.

    `cluster_by` are the columns that the target is clustered by, no column for none. `base` holds
    tables that are too large to be built anew: then `tables` only describes the target.
    """

    tables: Mapping[str, TableOf]
    target: str
    statements: tuple[str, str]
    dialect: Dialect = DELTA_OSS_4_4
    settings: Settings = field(default_factory=Settings)
    cluster_by: tuple[str, ...] = ()
    base: World | None = None
    worlds: dict[Any, tuple[Mapping[str, TableOf], World]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """What was made before: cases that differ in their statements alone share their tables."""

    @property
    def table(self) -> TableOf:
        return self.tables[self.target]

    def world(self) -> World:
        """The tables, ready for races; made once, since no race changes them.

        Raises `DeltaError` if Delta refuses to make them so, `UnsupportedFeature` for another
        layout of a table that is too large.
        """
        key = (id(self.tables), self.dialect.name, self.cluster_by)
        if key not in self.worlds:
            self.worlds[key] = (self.tables, self._made())
        return self.worlds[key][1]

    def _made(self) -> World:
        if self.base is not None:
            return self._changed(self.base)
        world = World.of_tables(self.tables, self.dialect, self.settings)
        if not self.cluster_by:
            return world
        return world.after(f"ALTER TABLE {self.target} CLUSTER BY ({', '.join(self.cluster_by)})")

    def _changed(self, base: World) -> World:
        """The table as it is, but for dialect, settings and properties."""
        world = dataclasses.replace(base, dialect=self.dialect, settings=self.settings)
        now = snapshot_of(base, self.target)
        if (*self.table.partition_columns,) != (*now.partition_columns,):
            raise UnsupportedFeature("another layout of so many rows")
        wanted = self.table.properties.items()
        new = {key: value for key, value in wanted if now.configuration.get(key) != value}
        if not new:
            return world
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in new.items())
        return world.after(f"ALTER TABLE {self.target} SET TBLPROPERTIES ({pairs})")

    def with_table(self, **changes: Any) -> RaceCase:
        """The same with the target changed; `properties` are added to those it has."""
        properties = {**self.table.properties, **changes.pop("properties", {})}
        changed = _replaced(self.table, properties=properties, **changes)
        return dataclasses.replace(self, tables={**self.tables, self.target: changed})

    def played(self) -> list[Played]:
        """Every schedule of the two statements."""
        return play(self.world(), self.statements)


def _replaced(table: TableOf, **changes: Any) -> TableOf:
    fields = {name: getattr(table, name) for name in table.__struct_fields__}
    return TableOf(**{**fields, **changes})


def play(world: World, statements: tuple[str, str]) -> list[Played]:
    """Every schedule of two statements. Raises `InvalidInput` for one that cannot be run."""
    return list(schedules(world, [start_of(sql) for sql in statements]))


def start_of(sql: str) -> Start:
    """What runs a statement."""
    statement = parse_statement(sql)
    return lambda tables: run_statement(statement, tables)


def conflicts_in(played: list[Played]) -> bool:
    """Whether any schedule ends in a conflict."""
    return any(isinstance(ending, Aborted) for schedule in played for ending in schedule.endings)


def ends_alike(first: list[Played], second: list[Played]) -> bool:
    """Whether two worlds let the same statements end the same way, order by order."""
    return [_kinds(played) for played in first] == [_kinds(played) for played in second]


def _kinds(played: Played) -> list[str]:
    return [_kind(ending) for ending in played.endings]


def _kind(ending: object) -> str:
    match ending:
        case Aborted(verdict):
            return verdict.exception
        case DeltaError():
            return f"{ending.exception} {ending.error_class}"
    return type(ending).__name__


def snapshot_of(world: World, name: str) -> Snapshot:
    """A table of a world as it is. Raises `InvalidInput` if there is none."""
    scene = world.branch()
    client = scene.client()[name]
    return run(client.at_root(client.latest()), scene.store)


def last_writer(world: World, name: str) -> str:
    """The engine that wrote a table's newest version, as its log says; empty if it does not."""
    scene = world.branch()
    client = scene.client()[name]
    newest = run(client.at_root(client.latest()), scene.store).version
    commits = run(client.at_root(client.log.commits_after(newest - 1)), scene.store)
    commit_infos = [
        action for commit in commits for action in commit.actions if isinstance(action, CommitInfo)
    ]
    return (commit_infos[-1].engine_info or "") if commit_infos else ""


def rebuilt(world: World, name: str) -> TableOf:
    """A table of a world as rows, to be built anew in memory.

    Properties that only make sense together with the files are left behind. Raises
    `UnsupportedFeature` for a table that has too many rows for that.
    """
    snapshot = snapshot_of(world, name)
    if snapshot.num_files > MOST_FILES:
        raise UnsupportedFeature(f"it has more than {MOST_FILES:,} files")
    row_counts = (record_count(file.stats) or 0 for file in snapshot.all_files())
    if sum(row_counts) > MOST_ROWS:
        raise UnsupportedFeature(f"it has more than {MOST_ROWS:,} rows")
    scene = world.branch()
    client = scene.client()[name]
    steps = client.data_files.read(snapshot.all_files(), snapshot.schema)
    files = run(client.at_root(steps), scene.store)
    if sum(file.live_count for file in files) > MOST_ROWS:
        raise UnsupportedFeature(f"it has more than {MOST_ROWS:,} rows")
    live = [_file(file.live_rows(), snapshot.schema) for file in files]
    return _replaced(described(world, name), files=live)


_KEPT = (
    APPEND_ONLY.key,
    CHANGE_DATA_FEED.key,
    DELETION_VECTORS.key,
    ROW_TRACKING.key,
    ISOLATION_PROPERTY,
)


def _portable(configuration: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in configuration.items() if key in _KEPT}


def described(world: World, name: str) -> TableOf:
    """A table of a world without its rows."""
    snapshot = snapshot_of(world, name)
    return TableOf(
        schema=ddl(snapshot.schema),
        partition_columns=list(snapshot.partition_columns),
        properties=_portable(snapshot.configuration),
        files=[],
        versions=0,
    )


def _file(rows: Sequence[Row], schema: Schema) -> DataFile:
    return DataFile({}, [dict(zip(schema.names, row, strict=True)) for row in rows])
