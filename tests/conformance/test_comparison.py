"""When a case's expectation holds: absent, null and empty are told apart nowhere."""

from __future__ import annotations

from typing import Any

import pytest

from whitecap.engine.races.conformance.case import CaseStatus, StatementCase
from whitecap.engine.races.conformance.compare import judge


def passes(expect: dict[str, Any], actual: dict[str, Any]) -> bool:
    case = StatementCase(
        id="a", dialect="delta-oss-4.4", tables={}, winner="", current="", expect=expect
    )
    return judge(case, actual).status is CaseStatus.PASSED


@pytest.mark.parametrize("actual", [{}, {"tags": None}, {"tags": {}}])
@pytest.mark.parametrize("expected", [None, {}])
def test_no_tags_and_empty_tags_are_the_same(expected: Any, actual: dict[str, Any]) -> None:
    assert passes({"tags": expected}, actual)


def test_no_tags_are_not_some() -> None:
    assert not passes({"tags": None}, {"tags": {"a": "b"}})
    assert not passes({"tags": {"a": "b"}}, {})


@pytest.mark.parametrize("actual", [{"tags": None}, {}])
def test_the_tags_of_an_added_file_may_be_absent_where_empty_ones_are_expected(
    actual: dict[str, Any],
) -> None:
    assert passes({"adds": {"a": {"tags": {}}}}, {"adds": {"a": actual}})


def test_a_field_of_an_added_file_that_is_expected_must_be_there() -> None:
    assert not passes({"adds": {"a": {"baseRowId": 1}}}, {"adds": {"a": {}}})


@pytest.mark.parametrize("actual", [{}, {"error_class": None}, {"error_class": ""}])
def test_no_error_class_is_expected_as_null(actual: dict[str, Any]) -> None:
    assert passes({"error_class": None}, actual)


def test_an_error_class_is_not_none() -> None:
    assert not passes({"error_class": None}, {"error_class": "DELTA_METADATA_CHANGED"})


def test_decimals_differ_by_their_last_digit() -> None:
    expected, actual = ([{"w": f"12345678901234567890.012345678{n}"}] for n in (8, 9))
    assert not passes({"rows": expected}, {"rows": actual})
    assert passes({"rows": expected}, {"rows": expected})
