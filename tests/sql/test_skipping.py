"""Files are skipped by statistics exactly where Delta's data skipping would skip them."""

from __future__ import annotations

from datetime import date

import pytest

from whitecap.engine.log.schema import parse_ddl
from whitecap.engine.log.statistics import FileStatistics, collect_statistics
from whitecap.engine.sql.predicates.predicate import parse_predicate

SCHEMA = parse_ddl("x INT, v BIGINT, s STRING, d DATE, n INT")
ROWS = [(1, 100, "abc", date(2026, 1, 1), None), (1, 105, "abd", date(2026, 1, 9), None)]


def keeps(sql: str, statistics: FileStatistics, **parameters: object) -> bool:
    predicate = parse_predicate(sql, parameters)
    test = predicate.skipping_test(SCHEMA, ("x",))
    return True if test is None else test(statistics)


@pytest.mark.parametrize(
    ("sql", "kept"),
    [
        ("v = 103", True),
        ("v = 99", False),
        ("103 = v", True),
        ("105 < v", False),
        ("v > 104", True),
        ("v >= 106", False),
        ("v BETWEEN 106 AND 200", False),
        ("NOT (v >= 100)", False),
        ("NOT (v = 103 AND v > 105)", True),
        ("NOT (v < 100 OR v > 100)", True),
        ("v IN (1, 200)", True),
        ("v IN (1, 99)", False),
        ("v NOT IN (1, 99)", True),
        ("v % 2 = 7", True),
        ("v + 0 = 7", False),
        ("1 * v = 7", False),
        ("v - 0 = 7", True),
        ("v >= 1e3", True),
        ("CAST(v AS DECIMAL(20, 0)) = 7", False),
        ("CAST(v AS DOUBLE) = 7", True),
        ("CAST(d AS TIMESTAMP) > '2026-03-01'", False),
        ("s LIKE ANY ('b%', 'c%')", False),
        ("s NOT LIKE 'b%'", True),
        ("v = 1 OR v = 2", False),
        ("v = 1 OR x = 7", True),
        ("v = 1 AND x = 7", False),
        ("s = 'b'", False),
        ("s LIKE 'ab%'", True),
        ("s LIKE 'b%'", False),
        ("d = '2026-01-05'", True),
        ("d < DATE '2026-01-01'", False),
        ("v IS NULL", False),
        ("n IS NOT NULL", False),
        ("n = 5", False),
        ("v = NULL", False),
        ("v <=> NULL", False),
        ("v = 103.5", True),
        ("v = 104.0", True),
        ("v = 99.0", False),
        ("v > 105.5", False),
        ("s = 5", True),
        ("v = '103'", True),
        ("v = '99'", False),
    ],
)
def test_a_file_is_kept_unless_its_statistics_exclude_every_row(sql: str, kept: bool) -> None:
    assert keeps(sql, collect_statistics(ROWS, SCHEMA, ["x"])) is kept


def test_missing_statistics_keep_the_file() -> None:
    assert keeps("v = 99", FileStatistics())
    assert keeps("v IS NULL", FileStatistics(num_records=1))


def test_parameters_skip_as_literals_do() -> None:
    statistics = collect_statistics(ROWS, SCHEMA, ["x"])
    assert not keeps("v IN (:keys)", statistics, keys=[1, 2])
    assert keeps("v IN (:keys)", statistics, keys=[1, 103])
    assert not keeps("d = :d", statistics, d="2025-01-01")
