"""What a statement reads of its target: files by ids, and partitions that it is refused by.

The target's files have one row each, and its partitions 1, 2, 4 and 8 files: how many files are
left by conditions on partitions tells which partitions these are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from tests.commands.observing import Watched
from tests.commands.sql_database import Database
from whitecap.engine.commands import run_statement
from whitecap.engine.log.actions import AddFile
from whitecap.engine.races.conformance.staged import StagedStatement
from whitecap.engine.sql.parsing.parse import parse_statement

QUERIES = Path(__file__).with_name("spark_queries.json")
STATEMENTS = Path(__file__).with_name("spark_statements.json")
FILES_OF = {"a": 1, "b": 2, "c": 4, None: 8}
TARGET, BATCH = "id INT, n INT, day STRING", "day STRING, k INT, v INT"
BATCH_ROWS = "('a', 1, 1), ('b', 2, 1)"


class Scanned(Struct, frozen=True):
    """The ids in the files that are read, and the partitions whose new files would conflict."""

    ids: tuple[int, ...]
    days: tuple[str, ...]

    @classmethod
    def of(cls, ids: set[int], days: set[str | None]) -> Scanned:
        """In order; NULL is written as such."""
        return cls(tuple(sorted(ids)), tuple(sorted(map(str, days))))

    def covers(self, other: Scanned) -> bool:
        """Whether all that the other one reads is read here."""
        return set(self.ids) >= set(other.ids) and set(self.days) >= set(other.days)


def target_rows() -> list[str]:
    """The row of each file, as VALUES has it."""
    days = [day for day, files in FILES_OF.items() for _ in range(files)]
    return [f"({number}, {_some(number)}, {_text(day)})" for number, day in enumerate(days, 1)]


def _some(number: int) -> str:
    return str(number % 3) if number % 4 else "NULL"


def _text(day: str | None) -> str:
    return "NULL" if day is None else f"'{day}'"


def days_of(files: int) -> set[str | None]:
    """The partitions that so many files are those of."""
    return {day for day, own in FILES_OF.items() if files & own}


class Observation(Struct, frozen=True):
    """What real Delta was seen to read for SQL, and whether the engine reads the same."""

    sql: str
    ids: tuple[int, ...]
    days: tuple[str, ...]
    is_same: bool

    @property
    def scanned(self) -> Scanned:
        """What was read there."""
        return Scanned(self.ids, self.days)


def kept(file: Path) -> list[Observation]:
    """What was written down in a file."""
    return msgspec.json.decode(file.read_bytes(), type=list[Observation])


def written(scans: Mapping[str, Scanned], here: Callable[[str], Scanned]) -> bytes:
    """Observations as JSON, a line for each."""
    lines = (
        msgspec.json.encode(Observation(sql, seen.ids, seen.days, here(sql) == seen))
        for sql, seen in scans.items()
    )
    return b"[\n" + b",\n".join(lines) + b"\n]\n"


def read_by_query(query: str) -> Scanned:
    """What the engine reads of the target for an INSERT of the query, which is never committed."""
    return read_by_statement(f"INSERT INTO target {query}")


def read_by_statement(sql: str) -> Scanned:
    """What the engine reads of the target for a statement that is never committed."""
    db = _database()
    client = db.client()
    own = client["target"]
    watched = Watched("target", own.shared, own.settings, own.dialect, root=own.root)
    client["target"] = watched
    StagedStatement(run_statement(parse_statement(sql), client), db.store)
    (txn,) = watched.transactions
    reads, files = txn.read_set, list(txn.snapshot.all_files())
    assert not reads.whole_table
    return Scanned.of(
        {_id_in(file) for file in files if reads.file_read_at(file.path) is not None},
        {
            (file.partition_values or {}).get("day") or None
            for file in files
            if any(entry.matches(file.partition_values) for entry in reads.entries)
        },
    )


@cache
def _database() -> Database:
    db = Database()
    db.create("target", TARGET, "day")
    for row in target_rows():
        db.sql(f"INSERT INTO target VALUES {row}")
    db.create("batch", BATCH)
    db.sql(f"INSERT INTO batch VALUES {BATCH_ROWS}")
    return db


def _id_in(file: AddFile) -> int:
    return int(json.loads(str(file.stats))["minValues"]["id"])
