"""Races about what delta-rs makes of a statement's condition, which expect nothing yet.

The current statement changes rows where a condition holds; each winner is about other rows, so it
stands in the way only where its files cannot be told from those of the condition: by bounds, by
counts of NULLs, by partition. Files hold values, values and NULLs, or nothing but NULLs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from whitecap.engine.log.schema import parse_ddl
from whitecap.engine.races.conformance.case import StatementCase
from whitecap.engine.races.row_tables import DataFile, TableOf

_Row = tuple[Any, ...]

_FILES = (
    ((1, "a", 1), (2, "a", None)),
    ((3, "b", 7), (4, "b", 9)),
    ((5, None, None), (6, None, None)),
    ((7, "ab", 4),),
)
"""Rows of id, day and q by file; all of a file are of one day."""

WINNERS = {
    "other": "DELETE FROM target WHERE id IN (3, 4)",
    "nulls": "DELETE FROM target WHERE id >= 5 AND id <= 6",
    "value": "INSERT INTO target VALUES (8, 'b', 8)",
    "null": "INSERT INTO target VALUES (9, NULL, NULL)",
}

_DAYS = ", ".join(f"'{day:02}'" for day in range(1, 21))

CONDITIONS = {
    "none": "q = 99",
    "none-of-day": "day = 'z'",
    "none-of-both": "day = 'a' AND id = 99",
    "equal": "q = 1",
    "unequal": "NOT (q = 7) AND id < 3",
    "range": "q BETWEEN 0 AND 2",
    "null": "q IS NULL AND id < 3",
    "not-null": "q IS NOT NULL AND id < 3",
    "sum": "q + 1 = 2",
    "nothing-added": "q + 0 = 1",
    "excluded": "day NOT IN ('b', 'c') AND id < 3",
    "day": "day = 'a'",
    "day-unequal": "day <> 'b' AND id < 3",
    "day-range": "day >= 'a' AND day < 'ab'",
    "day-null": "day IS NULL OR id = 1",
    "day-prefix": "day LIKE 'a%'",
    "day-pattern": "day = 'a' OR day LIKE 'ab_'",
    "day-without-marks": "day LIKE 'a'",
    "day-no-pattern": "day NOT LIKE 'b%x'",
    "day-suffix": "day LIKE '%a'",
    "day-function": "upper(day) = 'A'",
    "day-or-day": "day = 'a' OR day = 'ab'",
    "day-or-row": "day = 'a' OR id = 7",
    "day-and-row": "day = 'a' AND id < 9",
    "twenty-days": f"day IN ({_DAYS.replace('20', 'a')})",
    "one-day-more": f"day IN ({_DAYS}, 'a')",
}

_BY_CLAUSE = (
    "MERGE INTO target t USING (SELECT 1 AS id, 5 AS q) s ON t.id = s.id"
    " WHEN MATCHED AND t.q < 3 THEN DELETE"
)
"""Spark leaves out files by the condition of a clause too."""

_BY_PATTERN = (
    "MERGE INTO target t USING (SELECT 1 AS id, 5 AS q) s ON t.id = s.id AND t.day NOT LIKE 'b%'"
    " WHEN MATCHED THEN UPDATE SET q = 5"
)
"""A LIKE in ON leaves out no file there, though one in an UPDATE does."""

_BY_ROW_OR_VALUE = (
    "MERGE INTO target t USING (SELECT 1 AS id, 'a' AS day, 5 AS q) s"
    " ON (t.id = s.id AND t.day = 'a') OR (t.q = s.q AND t.id < 3)"
    " WHEN MATCHED THEN UPDATE SET q = 50"
)
"""Each side of the OR asks something of the target alone; Spark looks at neither."""

_BY_NOT_NULL = (
    "MERGE INTO target t USING (SELECT 1 AS id, 5 AS q) s ON t.id = s.id AND t.q IS NOT NULL"
    " WHEN MATCHED THEN UPDATE SET q = 5"
)
"""IS NOT NULL in ON leaves out no file there, though in an UPDATE it does."""

_BY_DENIED_UNEQUAL = (
    "MERGE INTO target t USING (SELECT 1 AS id, 5 AS q) s ON t.id = s.id AND NOT (t.q <> 1)"
    " WHEN MATCHED THEN UPDATE SET q = 5"
)
"""An equality there, which leaves out files; of what is denied only LIKE, NULL and flags do not."""

_BY_SOURCE = (
    "MERGE INTO target t USING (SELECT 1 AS id, 5 AS q) s ON t.id = s.id"
    " WHEN NOT MATCHED BY SOURCE AND t.q > 50 THEN DELETE"
)
"""Changes no row; Spark rewrites every file for it."""

_UPSERT = (
    "MERGE INTO target t"
    " USING (SELECT * FROM (VALUES (1, 'a', 5), (50, 'a', 6)) AS v(id, day, q)) s"
    " ON t.id = s.id WHEN MATCHED AND t.q > 50 THEN UPDATE SET q = 5"
    " WHEN NOT MATCHED THEN INSERT (id, day, q) VALUES (s.id, s.day, s.q)"
)
"""Inserts a row and updates none; Spark rewrites the file of the row that matches."""


_TRUTHS = (
    ((1, True, 1), (2, True, None)),
    ((3, False, 7), (4, False, 9)),
    ((5, None, 3), (6, None, None)),
    ((7, True, 4), (8, False, 4)),
)
"""Rows of id, b and q by file."""

_TRUTH_WINNERS = {
    "true": "DELETE FROM target WHERE id = 1",
    "false": "DELETE FROM target WHERE id = 3",
    "null": "DELETE FROM target WHERE id = 5",
    "both": "DELETE FROM target WHERE id = 7",
    "new-true": "INSERT INTO target VALUES (20, true, 1)",
    "new-false": "INSERT INTO target VALUES (21, false, 1)",
    "new-null": "INSERT INTO target VALUES (22, NULL, 1)",
}

_TRUTH_CONDITIONS = {
    "itself": "b",
    "denied": "NOT b",
    "is-true": "b IS TRUE",
    "is-false": "b IS FALSE",
    "is-not-true": "b IS NOT TRUE",
    "less": "b < true",
    "listed": "b IN (true)",
    "excluded": "b NOT IN (true)",
    "and-value": "b AND q < 5",
}


def _table(schema: str, rows_by_file: Sequence[Sequence[_Row]], partition: str = "") -> TableOf:
    names = parse_ddl(schema).names
    return TableOf(
        schema=schema,
        partition_columns=[partition] if partition else [],
        properties={},
        files=[
            DataFile(partition_values={}, rows=[dict(zip(names, row, strict=True)) for row in rows])
            for rows in rows_by_file
        ],
        versions=len(rows_by_file) + 1,
    )


def _of_truths(dialect: str) -> Iterator[StatementCase]:
    """Conditions on a BOOLEAN column, by whose bounds delta-rs tells files apart."""
    for condition, sql in _TRUTH_CONDITIONS.items():
        for winner, first in _TRUTH_WINNERS.items():
            yield StatementCase(
                id=f"{dialect}-truth-{condition}-{winner}",
                dialect=dialect,
                tables={"target": _table("id BIGINT, b BOOLEAN, q INT", _TRUTHS)},
                winner=first,
                current=f"UPDATE target SET id = id + 1000 WHERE {sql}",
                expect={},
            )


def races(dialect: str) -> Iterator[StatementCase]:
    """All conditions with all winners, on a partitioned table and on one that is not."""
    yield from _of_truths(dialect)
    statements = {
        **{name: f"UPDATE target SET id = 20 WHERE {sql}" for name, sql in CONDITIONS.items()},
        "deleted": "DELETE FROM target WHERE q = 99",
        "clause": _BY_CLAUSE,
        "on-pattern": _BY_PATTERN,
        "on-either": _BY_ROW_OR_VALUE,
        "on-not-null": _BY_NOT_NULL,
        "on-denied-unequal": _BY_DENIED_UNEQUAL,
        "source": _BY_SOURCE,
    }
    races = [
        (f"{condition}-{winner}", WINNERS[winner], current)
        for condition, current in statements.items()
        for winner in WINNERS
    ]
    races.append(("row-upsert", _UPSERT, "UPDATE target SET id = 20 WHERE id = 2"))
    for layout in ("partitioned", "flat"):
        partition = "day" if layout == "partitioned" else ""
        table = _table("id BIGINT, day STRING, q INT", _FILES, partition)
        for name, first, second in races:
            yield StatementCase(
                id=f"{dialect}-{layout}-{name}",
                dialect=dialect,
                tables={"target": table},
                winner=first,
                current=second,
                expect={},
            )
