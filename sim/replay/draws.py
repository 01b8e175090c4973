"""Races drawn at random: small tables of several layouts, and pairs of statements on them.

A drawn race stays in parts (files, properties, conjuncts), so that one that shows a difference
can be made smaller part by part.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.conformance.case import DataFile, StatementCase, TableOf

DIALECT = "delta-oss-4.4"
ISOLATION = "delta.isolationLevel"
VECTORS = "delta.enableDeletionVectors"

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Layout:
    """A kind of table: columns, partitioning, the values that its files and statements use.

    `source` are the rows of the table that MERGE takes its changes from; `on` its conditions.
    """

    name: str
    schema: str
    partition_columns: tuple[str, ...]
    slices: tuple[Values, ...]
    row: Callable[[Values, int], Values]
    atoms: Callable[[random.Random], str]
    literals: Callable[[random.Random, int], str]
    on: tuple[str, ...]
    extra_on: tuple[str, ...]
    source: tuple[Values, ...]
    number: str


def _int_atom(draw: random.Random, name: str, values: Sequence[int]) -> str:
    one, other = sorted(draw.sample(list(values), 2))
    return draw.choice(
        [
            f"{name} = {one}",
            f"{name} <> {one}",
            f"{name} > {one}",
            f"{name} <= {other}",
            f"{name} IN ({one}, {other})",
            f"{name} BETWEEN {one} AND {other}",
            f"{name} IS NOT NULL",
            f"{name} IS NULL",
            f"{name} <=> {one}",
            f"{name} % 2 = 0",
            f"{name} = '{one}'",
        ]
    )


def _text_atom(draw: random.Random, name: str, values: Sequence[str]) -> str:
    one, other = draw.sample(list(values), 2)
    return draw.choice(
        [
            f"{name} = '{one}'",
            f"{name} <> '{one}'",
            f"{name} >= '{one}'",
            f"{name} IN ('{one}', '{other}')",
            f"{name} LIKE '{one[:-1]}%'",
            f"{name} IS NOT NULL",
            f"{name} <=> '{one}'",
        ]
    )


def _by_number_atom(draw: random.Random) -> str:
    if draw.random() < 0.5:
        return _int_atom(draw, "x", (1, 2, 3, 7))
    return _int_atom(draw, "v", (0, 1, 3, 11, 100, 102))


DAYS = ("2026-01-01", "2026-01-02")
COUNTRIES = ("CH", "US", "UK")


def _by_day_atom(draw: random.Random) -> str:
    column = draw.choice(("day", "country", "k", "v"))
    if column == "day":
        return _text_atom(draw, "day", DAYS)
    if column == "country":
        return _text_atom(draw, "country", COUNTRIES)
    return _int_atom(draw, column, (0, 1, 5, 9, 12))


def _flat_atom(draw: random.Random) -> str:
    return _int_atom(draw, draw.choice(("k", "v")), (0, 1, 4, 6, 9, 13))


LAYOUTS = (
    Layout(
        name="by number",
        schema="x INT, v BIGINT",
        partition_columns=("x",),
        slices=({"x": 1}, {"x": 1}, {"x": 2}, {"x": 2}, {"x": 3}, {"x": None}),
        row=lambda part, n: {**part, "v": n % 4 + 100 * (n // 4 % 2)},
        atoms=_by_number_atom,
        literals=lambda draw, n: f"({draw.choice((1, 2, 3, 7))}, {20000 + n})",
        on=("t.x = s.x", "t.v = s.v"),
        extra_on=("t.x = 1", "t.x IN (1, 9)", "t.x < 3", "t.v > 1"),
        source=({"x": 1, "v": 3}, {"x": 2, "v": 100}, {"x": 9, "v": 9}),
        number="v",
    ),
    Layout(
        name="by day and country",
        schema="day DATE, country STRING, k INT, v BIGINT",
        partition_columns=("day", "country"),
        slices=tuple({"day": day, "country": land} for day in DAYS for land in ("CH", "US")),
        row=lambda part, n: {**part, "k": n, "v": n},
        atoms=_by_day_atom,
        literals=lambda draw, n: (
            f"(DATE '{draw.choice(DAYS)}', '{draw.choice(COUNTRIES)}', {60 + n}, {20000 + n})"
        ),
        on=("t.day = s.day", "t.country = s.country", "t.k = s.k"),
        extra_on=("t.country = 'US'", "t.day = DATE '2026-01-01'", "t.day >= '2026-01-02'"),
        source=(
            {"day": "2026-01-01", "country": "CH", "k": 2, "v": 777},
            {"day": "2026-01-02", "country": "US", "k": 66, "v": 778},
        ),
        number="v",
    ),
    Layout(
        name="unpartitioned",
        schema="k INT, v BIGINT",
        partition_columns=(),
        slices=({}, {}, {}, {}),
        row=lambda _, n: {"k": n, "v": None if n == 6 else n},
        atoms=_flat_atom,
        literals=lambda draw, n: f"({draw.choice((0, 5, 60))}, {20000 + n})",
        on=("t.k = s.k",),
        extra_on=("t.k < 7", "t.v > 3"),
        source=({"k": 2, "v": 777}, {"k": 9, "v": 5}, {"k": 66, "v": 778}),
        number="v",
    ),
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A statement: its text with a place for conditions, and the conditions."""

    text: str
    conditions: tuple[str, ...] = ()
    joiner: str = " WHERE "

    def sql(self) -> str:
        """The statement's text."""
        where = self.joiner + " AND ".join(self.conditions) if self.conditions else ""
        return self.text.replace("{where}", where)

    def smaller(self) -> Iterator[Drawn]:
        """The statement with one condition less."""
        for number in range(len(self.conditions)):
            kept = self.conditions[:number] + self.conditions[number + 1 :]
            yield replace(self, conditions=kept)


@dataclass(frozen=True, slots=True)
class DrawnRace:
    """A race in parts."""

    name: str
    layout: Layout
    files: tuple[DataFile, ...]
    properties: dict[str, str]
    winners: tuple[Drawn, ...]
    current: Drawn

    def case(self) -> StatementCase:
        """The race as a conformance case that expects nothing yet."""
        return StatementCase(
            id=self.name,
            dialect=DIALECT,
            tables={"target": self._target(), "source": self._source()},
            winner=[each.sql() for each in self.winners],
            current=self.current.sql(),
            expect={},
        )

    def smaller(self) -> Iterator[DrawnRace]:
        """The race with one part less, larger parts first."""
        if len(self.winners) > 1:
            for number in range(len(self.winners)):
                kept = self.winners[:number] + self.winners[number + 1 :]
                yield replace(self, winners=kept)
        for number in range(len(self.files)):
            yield replace(self, files=self.files[:number] + self.files[number + 1 :])
        for key in self.properties:
            yield replace(self, properties={k: v for k, v in self.properties.items() if k != key})
        for current in self.current.smaller():
            yield replace(self, current=current)
        for number, winner in enumerate(self.winners):
            for other in winner.smaller():
                changed = (*self.winners[:number], other, *self.winners[number + 1 :])
                yield replace(self, winners=changed)

    def _target(self) -> TableOf:
        return TableOf(
            schema=self.layout.schema,
            partition_columns=list(self.layout.partition_columns),
            properties=self.properties,
            files=list(self.files),
            versions=1 + len(self.files) + (ISOLATION in self.properties),
        )

    def _source(self) -> TableOf:
        return TableOf(
            schema=self.layout.schema,
            partition_columns=[],
            properties={},
            files=[DataFile(partition_values={}, rows=list(self.layout.source))],
            versions=2,
        )


def draw_race(seed: int, number: int) -> DrawnRace:
    """Race `number` of a seed; each is drawn on its own, whatever was drawn before."""
    draw = random.Random(f"{seed}-{number}")
    layout = draw.choice(LAYOUTS)
    winners = tuple(_statement(draw, layout, n) for n in range(draw.choice((1, 1, 2))))
    return DrawnRace(
        name=f"drawn-{seed}-{number:04d}",
        layout=layout,
        files=_files(layout),
        properties=draw.choice(({}, {VECTORS: "true"}, {ISOLATION: "WriteSerializable"}))
        | ({VECTORS: "true"} if draw.random() < 0.2 else {}),
        winners=winners,
        current=_statement(draw, layout, 9),
    )


def _files(layout: Layout) -> tuple[DataFile, ...]:
    return tuple(
        DataFile(
            partition_values=part,
            rows=[layout.row(part, 4 * number + n) for n in range(4)],
        )
        for number, part in enumerate(layout.slices)
    )


def _conditions(draw: random.Random, layout: Layout) -> tuple[str, ...]:
    return tuple(_conjunct(draw, layout) for _ in range(draw.choice((1, 1, 2))))


def _conjunct(draw: random.Random, layout: Layout) -> str:
    match draw.random():
        case chance if chance < 0.15:
            return f"({layout.atoms(draw)} OR {layout.atoms(draw)})"
        case chance if chance < 0.25:
            return f"NOT ({layout.atoms(draw)})"
        case _:
            return layout.atoms(draw)


def _statement(draw: random.Random, layout: Layout, number: int) -> Drawn:
    kinds = (_insert, _insert_self, _delete, _update, _merge, _optimize, _rare)
    (kind,) = draw.choices(kinds, weights=(3, 2, 4, 4, 4, 2, 2))
    return kind(draw, layout, number)


def _insert(draw: random.Random, layout: Layout, number: int) -> Drawn:
    rows = (layout.literals(draw, 10 * number + n) for n in range(draw.choice((1, 2))))
    return Drawn(f"INSERT INTO target VALUES {', '.join(rows)}")


def _insert_self(draw: random.Random, layout: Layout, _: int) -> Drawn:
    columns = [part.split()[0] for part in layout.schema.split(", ")]
    changed = [f"{name} + 5000" if name == layout.number else name for name in columns]
    text = f"INSERT INTO target SELECT {', '.join(changed)} FROM target{{where}}"
    return Drawn(text, _conditions(draw, layout))


def _delete(draw: random.Random, layout: Layout, _: int) -> Drawn:
    return Drawn("DELETE FROM target{where}", _conditions(draw, layout))


def _update(draw: random.Random, layout: Layout, _: int) -> Drawn:
    number = layout.number
    text = f"UPDATE target SET {number} = {number} + 10000{{where}}"
    return Drawn(text, _conditions(draw, layout))


CLAUSES = (
    "WHEN MATCHED THEN UPDATE SET v = s.v + 1000",
    "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    "WHEN MATCHED AND t.v > 3 THEN UPDATE SET v = s.v + 1000 WHEN NOT MATCHED THEN INSERT *",
    "WHEN NOT MATCHED THEN INSERT *",
    "WHEN MATCHED THEN DELETE",
    "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED BY SOURCE AND t.v > 12 THEN DELETE",
)


def _merge(draw: random.Random, layout: Layout, _: int) -> Drawn:
    extra = (draw.choice(layout.extra_on),) if draw.random() < 0.5 else ()
    joined = " AND ".join(layout.on)
    text = f"MERGE INTO target t USING source s ON {joined}{{where}} {draw.choice(CLAUSES)}"
    return Drawn(text, extra, joiner=" AND ")


def _optimize(draw: random.Random, layout: Layout, _: int) -> Drawn:
    if draw.random() < 0.3:
        return Drawn(f"OPTIMIZE target ZORDER BY ({layout.number})")
    if layout.partition_columns and draw.random() < 0.6:
        part = draw.choice([part for part in layout.slices if None not in part.values()])
        column = layout.partition_columns[0]
        return Drawn("OPTIMIZE target{where}", (f"{column} = '{part[column]}'",))
    return Drawn("OPTIMIZE target")


def _rare(draw: random.Random, _: Layout, number: int) -> Drawn:
    return draw.choice(
        (
            Drawn("TRUNCATE TABLE target"),
            Drawn("INSERT OVERWRITE target SELECT * FROM source"),
            Drawn("INSERT INTO target SELECT * FROM source"),
            Drawn(f"ALTER TABLE target ADD COLUMN w{number} INT"),
            Drawn("ALTER TABLE target SET TBLPROPERTIES ('delta.checkpointInterval' = '20')"),
            Drawn(f"ALTER TABLE target SET TBLPROPERTIES ('{VECTORS}' = 'true')"),
            Drawn(f"ALTER TABLE target ADD CONSTRAINT c{number} CHECK (v >= 0 OR v IS NULL)"),
        )
    )
