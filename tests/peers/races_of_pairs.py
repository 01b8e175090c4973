"""Every pair of operations of delta-rs, on tables of four files, as races that expect nothing yet.

The first operation is about day d1 and the second about the same day or the other one. `txn` is an
append of an application; the race of two of them has one application.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from whitecap.engine.races.conformance.case import StatementCase
from whitecap.engine.races.row_tables import DataFile, TableOf

FILES = ((0, "d1"), (10, "d1"), (20, "d2"), (30, "d2"))
"""The first id of a file, and its day."""
ROWS_PER_FILE = 10


@dataclasses.dataclass(frozen=True)
class Aim:
    """What an operation is about: a file whose ids begin with `first_id`, of one day.

    `who` counts the operations of a race: none is about a row of another.
    """

    first_id: int
    day: str
    partitioned: bool
    who: int = 0

    @property
    def row(self) -> int:
        return self.first_id + self.who

    @property
    def of_day(self) -> str:
        return f"day = '{self.day}'"


def _merge(aim: Aim, row: int, of_day: str, clauses: str) -> str:
    source = f"(SELECT {row} AS id, '{aim.day}' AS day, 9 AS v)"
    return f"MERGE INTO target t USING {source} s ON t.id = s.id AND {of_day} {clauses}"


_CHANGE = "WHEN MATCHED THEN UPDATE SET v = s.v"
_INSERT = "WHEN NOT MATCHED THEN INSERT (id, day, v) VALUES (s.id, s.day, s.v)"


def _replace(aim: Aim) -> str:
    new = f"({400 + aim.who}, '{aim.day}', 7)"
    return f"INSERT INTO target REPLACE WHERE {aim.of_day} VALUES {new}"


def _optimize(aim: Aim) -> str:
    return "OPTIMIZE target" + (f" WHERE {aim.of_day}" if aim.partitioned else "")


OPERATIONS: dict[str, Callable[[Aim], str]] = {
    "app": lambda aim: f"INSERT INTO target VALUES ({100 + aim.who}, '{aim.day}', 0)",
    "txn": lambda aim: f"INSERT INTO target VALUES ({100 + aim.who}, '{aim.day}', 0)",
    "ovw": lambda aim: f"INSERT OVERWRITE target VALUES ({200 + aim.who}, '{aim.day}', 0)",
    "repl": _replace,
    "del": lambda aim: f"DELETE FROM target WHERE {aim.of_day} AND id = {aim.row}",
    "delP": lambda aim: f"DELETE FROM target WHERE {aim.of_day}",
    "upd": lambda aim: f"UPDATE target SET v = -1 WHERE {aim.of_day} AND id = {aim.row}",
    "updA": lambda aim: f"UPDATE target SET v = {-2 - aim.who}",
    "mrgE": lambda aim: _merge(aim, aim.row, f"t.{aim.of_day}", _CHANGE),
    "mrgI": lambda aim: _merge(aim, aim.row, "t.day = s.day", _CHANGE),
    "mrgN": lambda aim: _merge(aim, 300 + aim.who, "t.day = s.day", _INSERT),
    "cmp": _optimize,
    "zord": lambda aim: f"{_optimize(aim)} ZORDER BY (id)",
    "prop": lambda aim: (
        "ALTER TABLE target SET TBLPROPERTIES"
        f" ('delta.logRetentionDuration' = 'interval {30 + aim.who} days')"
    ),
    "cnst": lambda aim: f"ALTER TABLE target ADD CONSTRAINT c{aim.who} CHECK (id >= 0)",
    "col": lambda aim: f"ALTER TABLE target ADD COLUMNS (w{aim.who} BIGINT)",
    "all": lambda _: "DELETE FROM target",
}

LAYOUTS = {
    "a": (False, 0, "d1"),
    "b": (True, 20, "d2"),
    "a2": (False, 20, "d2"),
    "c": (True, 0, "d1"),
    "c2": (True, 10, "d1"),
}
"""By the letters of docs/mixed-engines.md: whether partitioned, and what the second is about."""


def table(partitioned: bool, rows_per_file: int = ROWS_PER_FILE) -> TableOf:
    """Rows in four files, by default forty."""
    return TableOf(
        schema="id BIGINT, day STRING, v BIGINT",
        partition_columns=["day"] if partitioned else [],
        properties={},
        files=[
            DataFile(
                partition_values={},
                rows=[{"id": first + n, "day": day, "v": n} for n in range(rows_per_file)],
            )
            for first, day in FILES
        ],
        versions=5,
    )


def race(
    dialect: str, layout: str, first: str, second: str, rows_per_file: int = ROWS_PER_FILE
) -> StatementCase:
    """Two operations in one layout; nothing is expected yet."""
    partitioned, first_id, day = LAYOUTS[layout]
    application = {
        "spark.databricks.delta.write.txnAppId": "app",
        "spark.databricks.delta.write.txnVersion": "1",
    }
    return StatementCase(
        id=f"{dialect}-{layout}-{first}-{second}",
        dialect=dialect,
        tables={"target": table(partitioned, rows_per_file)},
        winner=OPERATIONS[first](Aim(0, "d1", partitioned)),
        current=OPERATIONS[second](Aim(first_id, day, partitioned, 1)),
        settings=application if first == second == "txn" else {},
        expect={},
    )
