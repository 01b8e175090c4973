"""The kinds of small table that races are drawn on, and the values their statements use."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from whitecap.engine.races.row_tables import DataFile

_Values = dict[str, Any]


class DrawnLayout(Struct, frozen=True):
    """A kind of table: columns, partitioning, the values that its files and statements use.

    `source` are the rows of the table that MERGE takes its changes from, `on` its conditions;
    `overwrites` are statements that replace one partition, `moves` assignments after which rows
    belong elsewhere, `wider` the columns that may be given a wider type.
    """

    name: str
    schema: str
    partition_columns: tuple[str, ...]
    slices: tuple[_Values, ...]
    row: Callable[[_Values, int], _Values]
    atoms: Callable[[random.Random], str]
    literals: Callable[[random.Random, int], str]
    on: tuple[str, ...]
    extra_on: tuple[str, ...]
    source: tuple[_Values, ...]
    number: str
    key: str
    overwrites: tuple[str, ...] = ()
    wider: tuple[str, ...] = ()
    moves: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return [part.split()[0] for part in self.schema.split(", ")]

    def files(self) -> tuple[DataFile, ...]:
        """Its data files of four rows each, one for each slice."""
        return tuple(
            DataFile(
                partition_values=part,
                rows=[self.row(part, 4 * number + n) for n in range(4)],
            )
            for number, part in enumerate(self.slices)
        )


def _int_atom(draw: random.Random, name: str, values: Sequence[int]) -> str:
    low, high = sorted(draw.sample(list(values), 2))
    return draw.choice(
        [
            f"{name} = {low}",
            f"{name} <> {low}",
            f"{name} > {low}",
            f"{name} <= {high}",
            f"{name} IN ({low}, {high})",
            f"{name} BETWEEN {low} AND {high}",
            f"{name} IS NOT NULL",
            f"{name} IS NULL",
            f"{name} <=> {low}",
            f"{name} % 2 = 0",
            f"{name} = '{low}'",
        ]
    )


def _text_atom(draw: random.Random, name: str, values: Sequence[str]) -> str:
    text, other = draw.sample(list(values), 2)
    return draw.choice(
        [
            f"{name} = '{text}'",
            f"{name} <> '{text}'",
            f"{name} >= '{text}'",
            f"{name} IN ('{text}', '{other}')",
            f"{name} LIKE '{text[:-1]}%'",
            f"{name} IS NOT NULL",
            f"{name} <=> '{text}'",
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


def _measured_atom(draw: random.Random) -> str:
    match draw.choice(("ok", "at", "price", "v")):
        case "ok":
            return draw.choice(("ok", "NOT ok", "ok = true", "ok IS NULL", "ok <=> false"))
        case "at":
            return draw.choice(
                (
                    "at >= '2026-01-02 00:00:00'",
                    "at < TIMESTAMP '2026-01-02 06:00:00'",
                    "at BETWEEN '2026-01-01' AND '2026-01-02'",
                    "CAST(at AS DATE) = '2026-01-02'",
                )
            )
        case "price":
            return _int_atom(draw, "price", (0, 3, 7, 11))
    return _int_atom(draw, "v", (0, 3, 7, 14))


def _measured_row(part: _Values, n: int) -> _Values:
    return {**part, "at": f"2026-01-0{1 + n % 3} 0{n % 8}:00:00", "price": n + 0.5, "v": n}


def _narrow_atom(draw: random.Random) -> str:
    if draw.random() < 0.2:
        return draw.choice(("price = 2.5", "price > 1.250", "price < 100000", "price IS NULL"))
    return _int_atom(draw, draw.choice(("g", "b", "v")), (0, 1, 2, 5, 9, 300, 40000))


def _by_made_day_atom(draw: random.Random) -> str:
    match draw.choice(("day", "at", "at", "v")):
        case "day":
            return _text_atom(draw, "day", DAYS)
        case "at":
            return draw.choice(
                (
                    "at >= '2026-01-02 00:00:00'",
                    "at < TIMESTAMP '2026-01-02 06:00:00'",
                    "at = '2026-01-01 03:00:00'",
                    "at BETWEEN '2026-01-01 02:00:00' AND '2026-01-01 20:00:00'",
                    "CAST(at AS DATE) = '2026-01-02'",
                    "at IS NULL",
                )
            )
    return _int_atom(draw, "v", (0, 1, 5, 9, 12))


LAYOUTS = (
    DrawnLayout(
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
        key="x",
        overwrites=(
            "INSERT OVERWRITE target PARTITION (x = 1) SELECT v FROM source",
            "INSERT OVERWRITE target PARTITION (x = 2) VALUES (200), (201)",
            "INSERT INTO target REPLACE WHERE x = 1 VALUES (1, 21000)",
            "INSERT INTO target REPLACE WHERE x = 2 SELECT * FROM target WHERE x = 2 AND v > 1",
            "INSERT INTO target REPLACE WHERE x = 1 SELECT * FROM source",
        ),
    ),
    DrawnLayout(
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
        key="country",
        overwrites=(
            "INSERT OVERWRITE target PARTITION (day = '2026-01-01', country = 'CH') "
            "SELECT k, v FROM source",
            "INSERT OVERWRITE target PARTITION (day = '2026-01-02', country) "
            "SELECT country, k, v FROM source",
            "INSERT INTO target REPLACE WHERE day = '2026-01-01' "
            "SELECT * FROM target WHERE day = '2026-01-01' AND k > 1",
            "INSERT INTO target REPLACE WHERE country = 'US' AND k > 9 "
            "VALUES (DATE '2026-01-01', 'US', 60, 21000)",
        ),
    ),
    DrawnLayout(
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
        key="k",
        overwrites=(
            "INSERT INTO target REPLACE WHERE k > 9 VALUES (60, 21000)",
            "INSERT INTO target REPLACE WHERE v < 4 SELECT * FROM target WHERE v < 2",
        ),
    ),
    DrawnLayout(
        name="by flag, measured",
        schema="ok BOOLEAN, at TIMESTAMP, price DECIMAL(10,2), v BIGINT",
        partition_columns=("ok",),
        slices=({"ok": True}, {"ok": True}, {"ok": False}, {"ok": None}),
        row=_measured_row,
        atoms=_measured_atom,
        literals=lambda draw, n: (
            f"({draw.choice(('true', 'false'))}, '2026-01-02 05:00:00', 3.25, {20000 + n})"
        ),
        on=("t.ok = s.ok", "t.v = s.v"),
        extra_on=("t.ok", "t.price > 2", "t.at > '2026-01-01 12:00:00'"),
        source=(
            {"ok": True, "at": "2026-01-01 00:00:00", "price": 9.75, "v": 3},
            {"ok": False, "at": "2026-01-02 00:00:00", "price": 1.25, "v": 77},
        ),
        number="v",
        key="v",
        overwrites=(
            "INSERT OVERWRITE target PARTITION (ok = true) SELECT at, price, v FROM source",
            "INSERT INTO target REPLACE WHERE NOT ok SELECT * FROM source WHERE NOT ok",
        ),
    ),
    DrawnLayout(
        name="by a generated day",
        schema="k INT, at TIMESTAMP, day DATE GENERATED ALWAYS AS (CAST(at AS DATE)), v BIGINT",
        partition_columns=("day",),
        slices=tuple({"day": day} for day in (*DAYS, *DAYS)),
        row=lambda part, n: {**part, "k": n, "at": f"{part['day']} 0{n % 8}:00:00", "v": n},
        atoms=_by_made_day_atom,
        literals=lambda draw, n: (
            f"({60 + n}, '2026-01-02 0{n % 8}:00:00', DATE '{draw.choice(DAYS)}', {20000 + n})"
        ),
        on=("t.k = s.k",),
        extra_on=("t.day = '2026-01-01'", "t.at < '2026-01-02 00:00:00'", "t.v > 3"),
        source=(
            {"k": 2, "at": "2026-01-02 05:00:00", "v": 777},
            {"k": 66, "at": "2026-01-03 05:00:00", "v": 778},
        ),
        number="v",
        key="k",
        overwrites=(
            "INSERT OVERWRITE target PARTITION (day = '2026-01-01') "
            "SELECT k, at, v FROM target WHERE day = '2026-01-01'",
            "INSERT INTO target REPLACE WHERE day = '2026-01-02' "
            "SELECT * FROM target WHERE at >= '2026-01-02 00:00:00' AND k > 9",
        ),
        moves=("at = at + INTERVAL 1 DAY", "at = NULL", "day = '2026-01-02'"),
    ),
    DrawnLayout(
        name="by a small number, narrow",
        schema="g SMALLINT, b TINYINT, price DECIMAL(6,2), v INT",
        partition_columns=("g",),
        slices=({"g": 1}, {"g": 1}, {"g": 2}, {"g": None}),
        row=lambda part, n: {**part, "b": n, "price": n / 4, "v": n},
        atoms=_narrow_atom,
        literals=lambda draw, n: f"({draw.choice((1, 2, 3))}, {n}, 7.25, {20000 + n})",
        on=("t.v = s.v",),
        extra_on=("t.g = 1", "t.b < 9", "t.price > 1"),
        source=({"g": 1, "b": 2, "price": 77.75, "v": 2}, {"g": 9, "b": 3, "price": 0, "v": 70}),
        number="v",
        key="g",
        overwrites=(
            "INSERT OVERWRITE target PARTITION (g = 1) SELECT b, price, v FROM source",
            "INSERT INTO target REPLACE WHERE b < 5 SELECT * FROM target WHERE b < 2",
        ),
        wider=("g TYPE INT", "b TYPE INT", "price TYPE DECIMAL(10,4)", "v TYPE BIGINT"),
        moves=("g = g + 1", "b = 300", "price = price * 1.5"),
    ),
)
