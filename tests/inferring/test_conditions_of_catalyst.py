"""Negations and lists in the conditions that Spark and DataFusion log."""

from __future__ import annotations

import pytest

from whitecap.sim.inferring.log.conditions import (
    ColumnLimit,
    compared,
    condition_of,
    names_column,
    pin_of,
    template_of,
)
from whitecap.sim.inferring.log.observed import ObservedCommit

COLUMNS = ("id", "day", "region")


def _condition(predicate: str) -> str:
    return condition_of(ObservedCommit(1, 0, "DELETE", parameters={"predicate": predicate}))


@pytest.mark.parametrize(
    "predicate",
    [
        '["(NOT (region#1784 = eu) AND (id#1782L = 7))"]',
        '["NOT (region#1 = eu)"]',
        '["((id#1L = 7) AND NOT (region#1 = eu))"]',
        '["(NOT region#1 IN (a,b) AND (id#2L = 7))"]',
        '["(NOT region#1 INSET a, b, c AND (id#2L = 7))"]',
        '["(NOT ((region#1 = it\'s) OR (region#1 = eu)) AND (id#2L = 7))"]',
        "NOT region = 'a) AND (b' AND id = 7",
        "id = 7 AND NOT (region = '(' OR region = 'b')",
        "region NOT IN ('a', 'b') AND id = 7",
        "region != 'a' AND id = 7",
    ],
)
def test_what_is_negated_pins_nothing_but_is_spoken_of(predicate: str) -> None:
    condition = _condition(predicate)
    assert pin_of(condition, "region", COLUMNS) is None
    assert names_column(condition, "region")
    if "id" in predicate:
        assert pin_of(condition, "id", COLUMNS) is ColumnLimit.VALUE


@pytest.mark.parametrize(
    "predicate",
    [
        '["(isnotnull(region#1) AND (region#1 = eu))"]',
        "region IS NOT NULL AND region = 'eu'",
        "day = '2026-01-01' AND region = 'AND NOT (b'",
        '["(NOT (day#1020 = 2026-01-01) AND (region#1 = not here))"]',
    ],
)
def test_a_negation_reaches_no_further_than_its_operand(predicate: str) -> None:
    assert pin_of(_condition(predicate), "region", COLUMNS) is ColumnLimit.VALUE


def test_negated_conditions_that_differ_in_values_have_one_template() -> None:
    first, second = (_condition(f'["(NOT (region#1 = {value}))"]') for value in ("eu", "New York"))
    assert template_of(first, COLUMNS) == template_of(second, COLUMNS)


@pytest.mark.parametrize(
    ("predicate", "values"),
    [
        ('["region#4029 INSET a, b, eu, f"]', ["a", "b", "eu", "f"]),
        ('["(region#4029 INSET a, b, eu AND (id#4027L = 2))"]', ["a", "b", "eu"]),
        ('["(region#1 INSET a, b OR (id#4027L = 2))"]', ["a", "b"]),
        ('["region#1 INSET St. John\'s, New York"]', ["St. John's", "New York"]),
        ('["region#1 IN (a,New York)"]', ["a", "New York"]),
        ("[\"region IN ('a', 'b, c', 'it''s')\"]", ["a", "b, c", "it's"]),
        ("region IN (CAST('a' AS STRING), CAST('b' AS STRING))", ["a", "b"]),
        ("(region = 'a' OR region = 'b') AND id IN (1, 2)", ["a", "b"]),
    ],
)
def test_a_list_compares_with_each_of_its_values(predicate: str, values: list[str]) -> None:
    condition = _condition(predicate)
    assert [text for _, text in compared(condition, "region", COLUMNS)] == values
    assert pin_of(condition, "region", COLUMNS) is ColumnLimit.VALUE


def test_numbers_and_days_of_a_list_are_read_as_they_are_logged() -> None:
    numbers = _condition('["id#3277L INSET 1, 10, 11, 2"]')
    assert [text for _, text in compared(numbers, "id", COLUMNS)] == ["1", "10", "11", "2"]
    days = _condition("day IN (DATE '2026-01-01', DATE '2026-01-02')")
    expected = ["2026-01-01", "2026-01-02"]
    assert [text for _, text in compared(days, "day", COLUMNS)] == expected


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ('["(region#4029 INSET a, b, eu AND (id#4L = 2))"]',
         '["(region#4030 INSET a, b, x AND (id#5L = 7))"]'),
        ('["(region#4029 INSET a, b, eu AND (id#4L = 2))"]',
         '["(region#4030 IN (a,New York) AND (id#5L = 7))"]'),
        ('["region#1 INSET id, region, day"]', '["region#1 INSET New York, f, g, h"]'),
    ],
)  # fmt: skip
def test_lists_of_other_values_have_one_template(first: str, second: str) -> None:
    templates = {template_of(_condition(each), COLUMNS) for each in (first, second)}
    assert len(templates) == 1
