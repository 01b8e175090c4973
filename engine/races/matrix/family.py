"""The family of tables and situations over which pairs of commands are raced.

One table of eight rows in four files of two rows, two files for each of two days. It is varied in
layout (neither partitioned nor clustered, partitioned by day, clustered by day), deletion vectors
and isolation level; two commands meet on it at the same row, in one file, in one partition, or in
different partitions. Where there are deletion vectors, each file also holds a row that was deleted
before.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import Any

from msgspec import Struct

from whitecap.engine.dialects import Dialect
from whitecap.engine.isolation import ISOLATION_PROPERTY, IsolationLevel
from whitecap.engine.log.properties import DELETION_VECTORS
from whitecap.engine.races.interleaving.world import World
from whitecap.engine.races.row_tables import DataFile, TableOf
from whitecap.engine.settings import Settings

TABLE = "t"
NEW_TABLE = "new_table"
"""A table that is not there, for commands that create one."""
SCHEMA = "id INT, day DATE, v INT"
FIRST_DAY, SECOND_DAY = "2026-01-01", "2026-01-02"
FILES = ((1, 2), (3, 4), (5, 6), (7, 8))
"""The ids in each file."""


def day_of(row_id: int) -> str:
    """The day, and so the partition, of a row; of new rows too, whose ids are larger by 100."""
    return FIRST_DAY if row_id % 100 <= 4 else SECOND_DAY


class Layout(Enum):
    """How the table's files are laid out; the value is the clause that says so in SQL."""

    UNPARTITIONED = ""
    PARTITIONED = "PARTITIONED BY (day)"
    CLUSTERED = "CLUSTER BY (day)"

    @property
    def text(self) -> str:
        """The layout in words."""
        return self.adjective + (" by day" if self.value else "")

    @property
    def adjective(self) -> str:
        """What such a table is called."""
        return self.name.lower()


class Meeting(Enum):
    """Where two commands meet; the value is the id that the second one is about.

    The first one is always about id 1. A command that writes a new row gives it that id.
    """

    SAME_ROW = 1
    SAME_FILE = 2
    SAME_PARTITION = 3
    OTHER_PARTITION = 5

    @property
    def text(self) -> str:
        return {
            Meeting.SAME_ROW: "the same row",
            Meeting.SAME_FILE: "different rows of one file",
            Meeting.SAME_PARTITION: "different files of one day",
            Meeting.OTHER_PARTITION: "different days",
        }[self]


FIRST_ID = 1


def _row(row_id: int, ids: tuple[int, ...]) -> dict[str, Any]:
    return {"id": row_id, "day": day_of(ids[0]), "v": 10 * row_id}


class Situation(Struct, frozen=True):
    """Where two commands meet, and whether their conditions name the day."""

    relation: Meeting
    names_day: bool

    @property
    def text(self) -> str:
        named = ", the conditions name the day" if self.names_day else ""
        return self.relation.text + named


SITUATIONS = tuple(Situation(r, named) for named in (False, True) for r in Meeting)


class Variant(Struct, frozen=True):
    """One table of the family."""

    layout: Layout
    deletion_vectors: bool
    isolation: IsolationLevel
    rows_reconciled: bool = False
    """Whether row-level concurrency applies to it."""

    @property
    def text(self) -> str:
        """The table in words."""
        vectors = "deletion vectors" if self.deletion_vectors else "no deletion vectors"
        rows = ", row-level concurrency" if self.rows_reconciled else ""
        return f"{self.layout.text}, {vectors}{rows}, {self.isolation.value}"

    def world(self, dialect: Dialect, settings: Settings, states_level: bool = False) -> World:
        """The table, ready for races; `states_level`: it names its level, whatever the default."""
        tables = {TABLE: self.table(dialect, states_level)}
        settings = dialect.adjusted(self.settings(settings))
        world = World.of_tables(tables, dialect, settings, absent=(NEW_TABLE,))
        if self.layout is Layout.CLUSTERED:
            world = world.after(f"ALTER TABLE {TABLE} {self.layout.value}")
        if self.deletion_vectors:
            world = world.after(f"DELETE FROM {TABLE} WHERE id < 0")
        return world

    def _ids(self, ids: tuple[int, ...]) -> tuple[int, ...]:
        return (*ids, -ids[0]) if self.deletion_vectors else ids

    def settings(self, settings: Settings) -> Settings:
        """The session's settings: tables without row-level concurrency are as if it were off."""
        return replace(settings, row_level_concurrency=self.rows_reconciled)

    @property
    def situations(self) -> tuple[Situation, ...]:
        """The situations that can make a difference: a table without partitions has one way
        to speak of a day, unless rows are told apart by what conditions say.
        """
        if self.layout is Layout.PARTITIONED or self.rows_reconciled:
            return SITUATIONS
        return tuple(situation for situation in SITUATIONS if not situation.names_day)

    def table(self, dialect: Dialect, states_level: bool = False) -> TableOf:
        """Its rows and properties; a level is set where it is not the dialect's default."""
        properties = {}
        if self.deletion_vectors or self.layout is Layout.CLUSTERED:  # those may get them unasked
            properties[DELETION_VECTORS.key] = str(self.deletion_vectors).lower()
        if states_level or self.isolation is not dialect.default_isolation:
            properties[ISOLATION_PROPERTY] = self.isolation.value
        rows = [[_row(row_id, ids) for row_id in self._ids(ids)] for ids in FILES]
        return TableOf(
            schema=SCHEMA,
            partition_columns=["day"] if self.layout is Layout.PARTITIONED else [],
            properties=properties,
            files=[DataFile({}, part) for part in rows],
            versions=0,
        )
