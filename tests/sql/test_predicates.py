"""Predicates: Spark's three-valued, typed evaluation on partition values and rows."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import pytest

from whitecap.engine.errors import DeltaError, InvalidInput
from whitecap.engine.log.schema import parse_ddl
from whitecap.engine.settings import Settings
from whitecap.engine.sql.predicates.predicate import (
    parse_predicate,
    split_conditions,
)

EVALUATIONS: list[tuple[str, str, Mapping[str, str | None], bool | None]] = [
    ("part = 1", "part STRING", {"part": "1"}, True),
    ("a = 1 AND b = 1", "a STRING, b STRING", {"a": "1", "b": "2"}, False),
    ("part = 1 OR year > 2019", "part STRING", {"part": "2", "year": "2020"}, True),
    ("X = 1", "x INT", {"x": "1"}, True),
    ("x < 9", "x INT", {"x": "10"}, False),
    ("x < 9", "x STRING", {"x": "10"}, False),
    ("x <=> NULL", "x INT", {"x": None}, True),
    ("x = NULL", "x INT", {"x": "1"}, None),
    ("NOT x = 1", "x INT", {"x": None}, None),
    ("x NOT IN (1, NULL)", "x INT", {"x": "2"}, None),
    ("x NOT IN (1, NULL)", "x INT", {"x": "1"}, False),
    ("x IN (1, NULL)", "x INT", {"x": "1"}, True),
    ("x = 1 OR x IS NULL", "x INT", {"x": None}, True),
    ("x = 2 AND y = 1", "x INT, y INT", {"x": "1", "y": None}, False),
    ("x IS NULL", "x STRING", {"x": ""}, False),
    ("x BETWEEN 1 AND 5", "x INT", {"x": "6"}, False),
    ("x >= '2024-01-01'", "x DATE", {"x": "2024-02-01"}, True),
    ("x = DATE '2024-2-1'", "x DATE", {"x": "2024-02-01"}, True),
    ("year(x) = 2024 AND month(x) IN (1, 2)", "x DATE", {"x": "2024-02-01"}, True),
    ("x LIKE 'a%'", "x STRING", {"x": "ba"}, False),
    ("x LIKE 'a\\\\%_'", "x STRING", {"x": "a%b"}, True),
    ("x % 2 = -1", "x INT", {"x": "-3"}, True),
    ("x / 2 = 1.5", "x INT", {"x": "3"}, True),
    ("x DIV 2 = -1", "x INT", {"x": "-3"}, True),
    ("x = 1.5", "x DOUBLE", {"x": "1.5"}, True),
    ("CASE x WHEN 1 THEN 'a' ELSE 'b' END = 'a'", "x INT", {"x": "1"}, True),
    ("CAST(x AS INT) = 1", "x STRING", {"x": "01"}, True),
    ("TRY_CAST(x AS INT) IS NULL", "x STRING", {"x": "one"}, True),
    ("hour(x) = 10", "x TIMESTAMP", {"x": "2024-02-03T10:00:00.000000Z"}, True),
    ("x + INTERVAL 1 MONTH = DATE '2024-02-29'", "x DATE", {"x": "2024-01-31"}, True),
    ("coalesce(x, 'none') = 'none'", "x STRING", {"x": None}, True),
    ("rand() > 2", "x INT", {"x": "1"}, False),
    ("TRUE", "x INT", {}, True),
]


@pytest.mark.parametrize(("sql", "ddl", "values", "expected"), EVALUATIONS)
def test_a_predicate_on_partition_values_answers_as_spark_does(
    sql: str, ddl: str, values: Mapping[str, str | None], expected: bool | None
) -> None:
    assert parse_predicate(sql).evaluate_partition(values, parse_ddl(ddl)) is expected


def test_a_text_that_is_no_number_fails_in_ansi_mode_and_is_null_outside_it() -> None:
    predicate, schema = parse_predicate("x = 1"), parse_ddl("x STRING")
    with pytest.raises(DeltaError, match="CAST_INVALID_INPUT"):
        predicate.evaluate_partition({"x": "a"}, schema)
    assert predicate.evaluate_partition({"x": "a"}, schema, Settings(ansi=False)) is None


def test_a_timestamp_without_a_zone_is_read_in_the_session_time_zone() -> None:
    predicate = parse_predicate("x = TIMESTAMP '2024-01-01 00:00:00Z'")
    berlin = Settings(session_time_zone="Europe/Berlin")
    values = {"x": "2024-01-01 01:00:00"}
    assert predicate.evaluate_partition(values, parse_ddl("x TIMESTAMP"), berlin) is True


def test_an_or_of_mixed_conditions_gives_its_partition_part() -> None:
    mixed = parse_predicate("(x = 1 AND v = 3) OR (x = 2 AND v = 4)")
    partition, _ = split_conditions([mixed], ["X"])
    assert [p.sql for p in partition] == ["x = 1 OR x = 2"]
    assert split_conditions([parse_predicate("x = 1 OR v = 3")], ["x"])[0] == []


def test_a_condition_is_split_into_partition_and_data_conjuncts() -> None:
    partition, data = split_conditions([parse_predicate("x BETWEEN 1 AND 2 AND v > 5")], ["x"])
    assert [p.sql for p in partition] == ["x >= 1", "x <= 2"]
    assert [p.sql for p in data] == ["v > 5"]


def test_only_the_non_deterministic_part_is_widened() -> None:
    assert parse_predicate("x = 1 AND rand() > 2").widened().sql == "x = 1"
    assert parse_predicate("x = 1 OR NOT rand() > 2").widened().sql == "TRUE"
    deterministic = parse_predicate("x = 1")
    assert deterministic.widened() is deterministic


def test_parameters_are_bound_without_parsing_again() -> None:
    schema = parse_ddl("k INT, d DATE")
    template = parse_predicate("k IN (:keys) AND d = :d")
    first = template.with_parameters({"keys": [1, 2], "d": "2026-01-01"})
    second = template.with_parameters({"keys": [3], "d": None})
    row = (2, date(2026, 1, 1))
    assert first.bind(schema)(row) is True
    assert second.bind(schema)(row) is False
    assert first.sql == "k IN (1, 2) AND d = '2026-01-01'"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("x =", "line 1, column 3.*something is missing"),
        ("", "empty text"),
        ("(x = 1", r"Expecting \)"),
        ("x = 'a", "(?i)tokeniz"),
        ("x = 1 foo", "not a condition"),
        ("DELETE FROM t", "not a condition"),
        ("nam = 'a'", "nam: no such column.*'name'"),
        ("uper(name) = 'a'", "uper.*no such function.*'upper'"),
        ("x + 1", "x \\+ 1: is int, not a condition"),
        ("d = 1", "d = 1: date and int"),
    ],
)
def test_a_wrong_condition_is_refused_with_its_place(sql: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        parse_predicate(sql).bind(parse_ddl("x INT, name STRING, d DATE"))


@pytest.mark.parametrize(
    ("sql", "conjuncts"),
    [
        ("NOT (x = 2 OR v > 3)", ["NOT x = 2", "v <= 3"]),
        ("NOT (NOT x = 2)", ["x = 2"]),
        ("(v > 200) = true AND (x = 2) = false", ["v > 200", "NOT x = 2"]),
        ("v > 200 OR 1 = 0", ["v > 200"]),
        ("v > 200 AND (NOT false OR x = 1)", ["v > 200"]),
        ("v > 200 OR 2 IN (1, 2)", ["TRUE"]),
        ("x BETWEEN 1 AND 2", ["x >= 1", "x <= 2"]),
        ("(x = 1 AND v > 3) OR (x = 1 AND v < 2)", ["x = 1", "v > 3 OR v < 2"]),
        ("x = 1 OR (x = 1 AND v < 2)", ["x = 1"]),
        ("NOT (x = 2 AND v = 3)", ["NOT x = 2 OR NOT v = 3"]),
    ],
)
def test_a_condition_is_split_as_the_optimizer_leaves_it(sql: str, conjuncts: list[str]) -> None:
    assert [part.sql for part in parse_predicate(sql).conjuncts()] == conjuncts
