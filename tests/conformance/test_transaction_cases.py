"""Races seen on a real Delta Lake, at the level of the log, hold on this engine."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.conformance.seen import SEEN
from tests.passing_by import result_both_ways
from whitecap.engine.races.conformance.case import CaseStatus, TransactionCase
from whitecap.engine.races.conformance.run import run_cases
from whitecap.engine.races.conformance.transaction_cases import run_case

LOG_CASES = [case for case in SEEN if isinstance(case, TransactionCase)]


@pytest.mark.parametrize("case", LOG_CASES, ids=lambda case: case.id)
def test_the_engine_does_what_delta_did(case: TransactionCase) -> None:
    result = result_both_ways(case)
    assert result.status is CaseStatus.PASSED, result.differences


def test_ids_name_one_case_each() -> None:
    ids = [case.id for case in SEEN]
    assert len(ids) == len(set(ids))


def test_an_expectation_that_does_not_hold_is_told_with_what_was_found() -> None:
    case = next(case for case in LOG_CASES if case.expect["result"] == "committed")
    wrong = replace(case, expect={"result": "committed", "version": 99})
    result = run_case(wrong)
    assert result.status is CaseStatus.FAILED
    assert [(d.key, d.expected) for d in result.differences] == [("version", 99)]


def test_a_setting_that_is_not_modelled_fails_the_case_by_name() -> None:
    case = replace(LOG_CASES[0], settings={"spark.databricks.delta.nope": "1"})
    (result,) = run_cases([case])
    assert result.status is CaseStatus.FAILED
    assert "spark.databricks.delta.nope" in result.differences[0].actual


def test_a_dialect_that_is_not_there_skips_the_case_with_the_reason() -> None:
    (result,) = run_cases([replace(LOG_CASES[0], dialect="delta-oss-9.9")])
    assert result.status is CaseStatus.SKIPPED
    assert "delta-oss-9.9" in result.reason


def test_a_case_that_makes_no_sense_fails_alone() -> None:
    case = LOG_CASES[0]
    current = replace(case.current, actions=[{"frobnicate": {}}])
    broken = replace(case, current=current)
    results = list(run_cases([broken, case]))
    assert [result.status for result in results] == [CaseStatus.FAILED, CaseStatus.PASSED]
    assert "frobnicate" in results[0].differences[0].actual
