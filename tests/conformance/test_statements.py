"""Races of SQL statements end as they were seen to end on a real Delta Lake."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from engine.conformance.case import CaseStatus, StatementCase, load_cases
from engine.conformance.statements import run_case

CASES = Path(__file__).parent / "cases"


def cases_of(name: str) -> list[StatementCase]:
    return [case for case in load_cases(CASES / name) if isinstance(case, StatementCase)]


@pytest.mark.parametrize(
    "name", ["statements.json", "random_statements.json", "own_statements.json"]
)
def test_every_observed_race_of_statements_ends_as_observed(name: str) -> None:
    results = [run_case(case) for case in cases_of(name)]
    wrong = [result for result in results if result.status is not CaseStatus.PASSED]
    assert len(results) >= 60
    assert wrong == []


def test_a_case_that_expects_other_rows_fails_and_says_so() -> None:
    case = cases_of("statements.json")[0]
    changed = msgspec.structs.replace(case, expect={**case.expect, "rows": []})
    result = run_case(changed)
    assert [difference.key for difference in result.differences] == ["rows"]


def test_a_case_with_a_statement_that_is_not_modelled_is_skipped_with_its_text() -> None:
    case = cases_of("statements.json")[0]
    changed = msgspec.structs.replace(case, current="ANALYZE TABLE target COMPUTE STATISTICS")
    result = run_case(changed)
    assert result.status is CaseStatus.SKIPPED
    assert "ANALYZE" in result.reason
