"""Two statements and the tables they run on: what is explained, and what a change changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs

from whitecap.engine.dialects import DEFAULT_DIALECT, Dialect
from whitecap.engine.errors import DeltaError, UnsupportedFeature
from whitecap.engine.log.clustering import clustering_columns
from whitecap.engine.outcomes import Aborted
from whitecap.engine.races.explain.tables import snapshot_of
from whitecap.engine.races.interleaving.contender import start_of
from whitecap.engine.races.interleaving.race import Played
from whitecap.engine.races.interleaving.schedules import schedules
from whitecap.engine.races.interleaving.world import World
from whitecap.engine.races.row_tables import TableOf
from whitecap.engine.settings import Settings
from whitecap.engine.storage.memory import FIRST_INSTANT_MS


@dataclass(frozen=True, slots=True)
class RaceCase:
    """Tables of rows, built in memory; `target` is the one that both statements write.

    `cluster_by` are the columns that the target is clustered by, no column for none. `base` holds
    tables that are too large to be built anew: then `tables` only describes the target.
    `begins_ms` is what the statements take for the time, in epoch milliseconds.
    """

    tables: Mapping[str, TableOf]
    target: str
    statements: tuple[str, str]
    dialect: Dialect = DEFAULT_DIALECT
    settings: Settings = field(default_factory=Settings)
    cluster_by: tuple[str, ...] = ()
    base: World | None = None
    begins_ms: int = FIRST_INSTANT_MS
    worlds: dict[Any, tuple[RaceCase, World]] = field(
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
        key = (id(self.tables), self.dialect.name, id(self.settings), self.cluster_by)
        if key not in self.worlds:
            self.worlds[key] = (self, self._made())  # the case, so that the ids stay its own
        return self.worlds[key][1]

    def _made(self) -> World:
        if self.base is not None:
            return self._changed(self.base)
        world = World.of_tables(self.tables, self.dialect, self.settings, begins_ms=self.begins_ms)
        if not self.cluster_by:
            return world
        return world.after(f"ALTER TABLE {self.target} CLUSTER BY ({', '.join(self.cluster_by)})")

    def _changed(self, base: World) -> World:
        """The table as it is, but for dialect, settings and properties."""
        world = structs.replace(base, dialect=self.dialect, settings=self.settings)
        now = snapshot_of(base, self.target)
        layout = (*self.table.partition_columns,), self.cluster_by
        if layout != ((*now.partition_columns,), clustering_columns(now)):
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
        changed = structs.replace(self.table, properties=properties, **changes)
        return dataclasses.replace(self, tables={**self.tables, self.target: changed})

    def played(self) -> list[Played]:
        """Every schedule of the two statements."""
        return play(self.world(), self.statements)


def play(world: World, statements: tuple[str, str]) -> list[Played]:
    """Every schedule of two statements. Raises `InvalidInput` for one that cannot be run."""
    return list(schedules(world, [start_of(sql) for sql in statements]))


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
