"""Races of SQL statements end as they were seen to end on a real Delta Lake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.conformance.seen import CASES, SEEN
from tests.passing_by import result_both_ways
from whitecap.engine.races.conformance.case import CaseStatus, StatementCase
from whitecap.engine.races.conformance.statement_cases import run_case

RACES = [case for case in SEEN if isinstance(case, StatementCase)]
LEAST = 5_800
"""Observed so far, and none is given up."""


@pytest.mark.parametrize("case", RACES, ids=lambda case: case.id)
def test_an_observed_race_of_statements_ends_as_observed(case: StatementCase) -> None:
    result = result_both_ways(case)
    assert result.status is CaseStatus.PASSED, result.differences


def test_no_observed_race_is_lost() -> None:
    assert len(RACES) >= LEAST


@pytest.mark.parametrize("file", sorted(CASES.glob("*.json")), ids=lambda file: file.stem)
def test_a_file_holds_one_case_a_line(file: Path) -> None:
    cases = json.loads(file.read_text())
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    assert file.read_text() == f"[\n{lines}\n]\n"


def _interleaved(name: str) -> StatementCase:
    return next(case for case in RACES if case.id == name)


def test_a_staged_winner_can_lose_where_one_that_begins_later_does_not() -> None:
    staged = _interleaved("three-staged-middle-one-loses")
    one_by_one = replace(staged, overlapping=False)
    assert [d.key for d in run_case(one_by_one).differences if d.key == "winner"] == ["winner"]


def test_where_a_statement_of_several_commits_waits_decides_what_it_commits_next() -> None:
    case = _interleaved("row-tracking-backfill-against-insert")
    earlier = replace(case, waits_at=1)
    changed = {difference.key for difference in run_case(earlier).differences}
    assert changed >= {"version", "isolation_level"}


def test_a_statement_with_fewer_commits_ends_before_it_would_wait() -> None:
    case = _interleaved("row-tracking-backfill-against-insert")
    beyond = replace(case, waits_at=9, expect={"winner": "committed"})
    (difference,) = run_case(beyond).differences
    assert (difference.key, difference.actual) == ("winner", "(nothing)")


def test_a_rerun_sees_what_the_winners_left() -> None:
    case = _interleaved("rerun-finds-nothing-to-do")
    assert run_case(case).status is CaseStatus.PASSED
    unmoved = replace(case, winner="INSERT INTO target VALUES (7, 7)")
    actual = {d.key: d.actual for d in run_case(unmoved).differences}
    assert actual["rerun"] == "committed"


def test_a_case_that_expects_other_rows_fails_and_says_so() -> None:
    case = RACES[0]
    changed = replace(case, expect={**case.expect, "rows": []})
    result = run_case(changed)
    assert [difference.key for difference in result.differences] == ["rows"]


@pytest.mark.parametrize("key", ["current", "winner"])
@pytest.mark.parametrize(
    "text",
    ["ANALYZE TABLE target COMPUTE STATISTICS", "FROM target INSERT INTO target SELECT *"],
)
def test_a_case_with_a_statement_that_is_not_modelled_is_skipped_with_its_text(
    key: str, text: str
) -> None:
    case = RACES[0]
    result = run_case(replace(case, **{key: text}))
    assert result.status is CaseStatus.SKIPPED
    assert text in result.reason
