"""Files are skipped by statistics exactly where Delta's data skipping would skip them."""

from __future__ import annotations

from datetime import date

import pytest
from msgspec.structs import replace

from tests.collected_statistics import collect_statistics
from whitecap.engine.log.schema import parse_ddl
from whitecap.engine.log.statistics import FileStatistics
from whitecap.engine.sql.predicates.predicate import parse_predicate

SCHEMA = parse_ddl("x INT, v BIGINT, s STRING, d DATE, n INT")
ROWS = [(1, 100, "abc", date(2026, 1, 1), None), (1, 105, "abd", date(2026, 1, 9), None)]


def keeps(sql: str, statistics: FileStatistics, **parameters: object) -> bool:
    predicate = parse_predicate(sql, parameters)
    test = predicate.skipping_test(SCHEMA.select(("v", "s", "d", "n")))
    return True if test is None else test.keeps(statistics)


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


BOTH = FileStatistics(3, {"v": 100, "s": "b"}, {"v": 105, "s": "c"}, {"v": 0, "s": 0})


def lacking(**changes: object) -> FileStatistics:
    return replace(BOTH, **changes)


def test_missing_statistics_keep_the_file() -> None:
    assert keeps("v = 99", FileStatistics())
    assert keeps("v IS NULL", FileStatistics(num_records=1))


@pytest.mark.parametrize(
    "sql", ["v = 99 AND s = 'b'", "v = 99 AND s IS NOT NULL", "v = 9 OR s = 'a'"]
)
def test_a_file_is_left_out_only_with_every_statistic_that_the_condition_asks_for(sql: str) -> None:
    assert not keeps(sql, BOTH)
    assert keeps(sql, lacking(null_count={"v": 0}))


@pytest.mark.parametrize(
    "sql", ["v = 99", "v < 99", "v > 200", "v IN (1, 2)", "v IS NOT NULL AND v = 9"]
)
def test_bounds_count_only_beside_the_numbers_of_rows_and_of_nulls(sql: str) -> None:
    assert not keeps(sql, BOTH)
    assert keeps(sql, lacking(null_count={}))
    assert keeps(sql, lacking(num_records=None))


def test_a_comparison_asks_for_the_bound_that_decides_it() -> None:
    assert not keeps("v < 99", lacking(max_values={}))
    assert not keeps("v > 200", lacking(min_values={}))
    assert keeps("v < 99", lacking(min_values={}))
    assert keeps("v <> 99", lacking(max_values={}))


def test_a_part_that_statistics_cannot_judge_asks_for_none() -> None:
    assert not keeps("v = 99 AND upper(s) = 'B'", lacking(null_count={"v": 0}))
    assert keeps("v = 99 OR upper(s) = 'B'", BOTH)


def test_isnull_says_the_same_as_is_null() -> None:
    assert not keeps("isnull(v)", BOTH)
    assert not keeps("NOT isnotnull(v)", BOTH)
    assert keeps("isnotnull(v)", BOTH)


def test_parameters_skip_as_literals_do() -> None:
    statistics = collect_statistics(ROWS, SCHEMA, ["x"])
    assert not keeps("v IN (:keys)", statistics, keys=[1, 2])
    assert keeps("v IN (:keys)", statistics, keys=[1, 103])
    assert not keeps("d = :d", statistics, d="2025-01-01")
