"""SQL statements drawn at random for a kind of table, in parts that can be taken away."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.log import properties
from whitecap.sim.replay.drawing.layouts import DrawnLayout

WITH_VECTORS = properties.DELETION_VECTORS.key

T = TypeVar("T")


class DrawnStatement(Struct, frozen=True):
    """A statement: its text with a place for conditions, and the conditions.

    `commits`: how many commits it makes if nothing keeps it from them.
    """

    text: str
    conditions: tuple[str, ...] = ()
    joiner: str = " WHERE "
    commits: int = 1

    def sql(self) -> str:
        """The statement's text."""
        where = self.joiner + " AND ".join(self.conditions) if self.conditions else ""
        return self.text.replace("{where}", where)

    def smaller(self) -> Iterator[DrawnStatement]:
        """The statement with one condition less."""
        for conditions in one_fewer(self.conditions):
            yield replace(self, conditions=conditions)


def one_fewer(parts: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    """The parts without one of them, each in turn."""
    for number in range(len(parts)):
        yield parts[:number] + parts[number + 1 :]


def draw_history(draw: random.Random, layout: DrawnLayout) -> tuple[DrawnStatement, ...]:
    """Statements that end before a race begins, of those that every table of a layout takes."""
    history = [DrawnStatement("DELETE FROM target{where}", (layout.atoms(draw),))]
    if not layout.partition_columns:
        history.append(DrawnStatement(f"ALTER TABLE target CLUSTER BY ({layout.key})"))
    return tuple(draw.sample(history, draw.randint(1, len(history))))


def draw_statement(draw: random.Random, layout: DrawnLayout, number: int) -> DrawnStatement:
    """A statement on `target` of this layout; `number` keeps its values and names apart."""
    kinds = {
        _insert: 6,
        _insert_self: 4,
        _delete: 8,
        _update: 8,
        _merge: 8,
        _optimize: 4,
        _overwrite: 3,
        _define: 9 if layout.wider else 3,
        _maintain: 2,
    }
    (kind,) = draw.choices(list(kinds), weights=list(kinds.values()))
    return kind(draw, layout, number)


def _conditions(draw: random.Random, layout: DrawnLayout) -> tuple[str, ...]:
    return tuple(_conjunct(draw, layout) for _ in range(draw.choice((1, 1, 2))))


def _conjunct(draw: random.Random, layout: DrawnLayout) -> str:
    match draw.random():
        case chance if chance < 0.15:
            return f"({layout.atoms(draw)} OR {layout.atoms(draw)})"
        case chance if chance < 0.25:
            return f"NOT ({layout.atoms(draw)})"
        case chance if chance < 0.29:
            return f"{layout.key} IN (SELECT {layout.key} FROM source)"
        case _:
            return layout.atoms(draw)


def _insert(draw: random.Random, layout: DrawnLayout, number: int) -> DrawnStatement:
    if draw.random() < 0.1:
        return DrawnStatement("INSERT INTO target SELECT * FROM source")
    rows = (layout.literals(draw, 10 * number + n) for n in range(draw.choice((1, 2))))
    return DrawnStatement(f"INSERT INTO target VALUES {', '.join(rows)}")


def _insert_self(draw: random.Random, layout: DrawnLayout, _: int) -> DrawnStatement:
    text = f"INSERT INTO target SELECT {_moved(layout)} FROM target{{where}}"
    return DrawnStatement(text, _conditions(draw, layout))


def _moved(layout: DrawnLayout) -> str:
    """The layout's columns as a SELECT list that makes other rows of the old ones."""
    number = layout.number
    return ", ".join(f"{name} + 5000" if name == number else name for name in layout.columns)


def _delete(draw: random.Random, layout: DrawnLayout, _: int) -> DrawnStatement:
    return DrawnStatement("DELETE FROM target{where}", _conditions(draw, layout))


def _update(draw: random.Random, layout: DrawnLayout, _: int) -> DrawnStatement:
    number = layout.number
    new = draw.choice((f"{number} + 10000", f"CASE WHEN {layout.atoms(draw)} THEN 1 ELSE 2 END"))
    change = draw.choice((f"{number} = {new}", *layout.moves))
    return DrawnStatement(f"UPDATE target SET {change}{{where}}", _conditions(draw, layout))


CLAUSES = (
    "WHEN MATCHED THEN UPDATE SET v = s.v + 1000",
    "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    "WHEN MATCHED AND t.v > 3 THEN UPDATE SET v = s.v + 1000 WHEN NOT MATCHED THEN INSERT *",
    "WHEN NOT MATCHED THEN INSERT *",
    "WHEN NOT MATCHED AND s.v > 70 THEN INSERT *",
    "WHEN MATCHED THEN DELETE",
    "WHEN MATCHED AND s.v > 70 THEN DELETE WHEN MATCHED THEN UPDATE SET v = 0",
    "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED BY SOURCE AND t.v > 12 THEN DELETE",
    "WHEN NOT MATCHED BY SOURCE AND t.v > 12 THEN UPDATE SET v = 1",
)


def _merge(draw: random.Random, layout: DrawnLayout, _: int) -> DrawnStatement:
    extra = (draw.choice(layout.extra_on),) if draw.random() < 0.5 else ()
    joined = " AND ".join(layout.on)
    source = "source"
    if draw.random() < 0.2:
        source = f"(SELECT DISTINCT * FROM target WHERE {layout.atoms(draw)})"
    text = f"MERGE INTO target t USING {source} s ON {joined}{{where}} {draw.choice(CLAUSES)}"
    return DrawnStatement(text, extra, joiner=" AND ")


def _optimize(draw: random.Random, layout: DrawnLayout, _: int) -> DrawnStatement:
    if draw.random() < 0.3:
        how = draw.choice((f"ZORDER BY ({layout.number})", "FULL"))
        return DrawnStatement(f"OPTIMIZE target {how}")
    if layout.partition_columns and draw.random() < 0.6:
        part = draw.choice([part for part in layout.slices if None not in part.values()])
        column = layout.partition_columns[0]
        return DrawnStatement("OPTIMIZE target{where}", (f"{column} = '{part[column]}'",))
    return DrawnStatement("OPTIMIZE target")


def _overwrite(draw: random.Random, layout: DrawnLayout, _: int) -> DrawnStatement:
    text = draw.choice(
        (
            "TRUNCATE TABLE target",
            "INSERT OVERWRITE target SELECT * FROM source",
            f"INSERT OVERWRITE target SELECT {_moved(layout)} FROM target WHERE "
            f"{layout.atoms(draw)}",
            *layout.overwrites,
        )
    )
    return DrawnStatement(text)


def _define(draw: random.Random, layout: DrawnLayout, number: int) -> DrawnStatement:
    setting = "ALTER TABLE target SET TBLPROPERTIES"
    return draw.choice(
        (
            DrawnStatement(f"ALTER TABLE target ADD COLUMN w{number} INT"),
            DrawnStatement(f"{setting} ('delta.checkpointInterval' = '20')"),
            DrawnStatement(f"{setting} ('delta.appendOnly' = 'true')"),
            DrawnStatement(f"{setting} ('{WITH_VECTORS}' = 'true')"),
            DrawnStatement(f"{setting} ('delta.enableRowTracking' = 'true')", commits=3),
            DrawnStatement(f"{setting} ('delta.enableChangeDataFeed' = 'true')"),
            DrawnStatement("ALTER TABLE target UNSET TBLPROPERTIES ('delta.checkpointInterval')"),
            DrawnStatement(
                f"ALTER TABLE target ALTER COLUMN {layout.number} COMMENT 'number {number}'"
            ),
            DrawnStatement(f"ALTER TABLE target ALTER COLUMN {_widened(draw, layout)}"),
            DrawnStatement(
                f"ALTER TABLE target ADD CONSTRAINT c{number} CHECK (v >= 0 OR v IS NULL)"
            ),
            DrawnStatement(f"ALTER TABLE target RENAME COLUMN {layout.number} TO w{number}"),
            DrawnStatement(f"ALTER TABLE target DROP COLUMN {layout.number}"),
            DrawnStatement(f"ALTER TABLE target DROP FEATURE {draw.choice(DROPPED)}"),
            DrawnStatement("CREATE OR REPLACE TABLE target USING delta AS SELECT * FROM source"),
        )
    )


def _widened(draw: random.Random, layout: DrawnLayout) -> str:
    return draw.choice(layout.wider or (f"{layout.number} TYPE DECIMAL(20,0)",))


DROPPED = ("deletionVectors", "rowTracking", "typeWidening", "columnMapping")
"""Features that an ALTER TABLE drops; of a table without them it is refused."""


def _maintain(draw: random.Random, layout: DrawnLayout, _: int) -> DrawnStatement:
    version = draw.randint(1, len(layout.slices))
    return draw.choice(
        (
            DrawnStatement("VACUUM target", commits=2),
            DrawnStatement("REORG TABLE target APPLY (PURGE)"),
            DrawnStatement(f"RESTORE TABLE target TO VERSION AS OF {version}"),
        )
    )
