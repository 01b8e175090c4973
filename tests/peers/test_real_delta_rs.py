"""Conformance cases on the real package deltalake, as far as it is here and reaches."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from tests.peers.races_of_pairs import race
from whitecap.cli import main
from whitecap.engine.races.conformance.case import CaseStatus, StatementCase, load_cases
from whitecap.exit_codes import ExitCode
from whitecap.sim.replay.delta_rs.cases import run_cases

CASES = Path(__file__).parents[1] / "conformance" / "cases"
OLDER = CASES / "delta_rs_1_6_3.json"
NEWER = CASES / "delta_rs_1_6_6.json"


def conformance(*arguments: str | Path) -> tuple[int, str]:
    command = ["conformance", "--engine", "deltalake", *map(str, arguments)]
    result = CliRunner().invoke(main, command, env={"COLUMNS": "1000"})
    return result.exit_code, result.output


def case(first: str, second: str, **changes: object) -> StatementCase:
    template = race("delta-rs-1.6.3", "a", first, second, rows_per_file=2)
    return replace(template, expect={"winner": "committed"}, **changes)


def test_observed_cases_hold_on_the_package_that_is_here() -> None:
    code, text = conformance(OLDER, "--sample", "25")
    assert code == ExitCode.FINE
    assert "25 passed, 0 failed" in text


def test_cases_of_another_version_are_left_out_with_the_reason() -> None:
    code, text = conformance(NEWER, "--sample", "2")
    assert code == ExitCode.FINE
    assert "dialect delta-rs-1.6.6; this is delta-rs-1.6.3" in text
    assert "2 skipped" in text


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"waits_at": 2}, "cannot be stopped"),
        ({"winner_dialect": "delta-oss-4.4"}, "two engines race in it"),
        ({"settings": {"spark.sql.ansi.enabled": "true"}}, "no settings of Spark's"),
        ({"current": "ALTER TABLE target DROP COLUMN v"}, "no operation for DROPCOLUMNS"),
        ({"current": "INSERT INTO target (id) VALUES (1)"}, "writes whole rows"),
        ({"current": "OPTIMIZE target WHERE day > 'd1'"}, "named by their values"),
    ],
)
def test_a_case_beyond_the_package_is_left_out_with_the_reason(
    changes: dict[str, object], reason: str
) -> None:
    (result,) = run_cases([case("app", "app", **changes)])
    assert result.status is CaseStatus.SKIPPED
    assert reason in result.reason


def test_races_of_log_lines_are_left_out_as_the_package_takes_no_predicates() -> None:
    log_case = next(iter(load_cases(CASES / "transactions.json")))
    log_case = replace(log_case, dialect="delta-rs-1.6.3")
    (result,) = run_cases([log_case])
    assert result.status is CaseStatus.SKIPPED
    assert "no predicates" in result.reason


def test_a_case_that_ends_otherwise_fails_with_what_was_found() -> None:
    (result,) = run_cases([replace(case("all", "app"), expect={"current": "?"})])
    assert result.status is CaseStatus.FAILED
    assert result.differences[0].actual == "ConcurrentDeleteReadException"


def test_who_finds_no_row_commits_nothing_though_another_did_meanwhile() -> None:
    nothing = case("app", "app", current="DELETE FROM target WHERE id = 999")
    nothing = replace(nothing, expect={"current": "nothing_to_commit"})
    (result,) = run_cases([nothing])
    assert result.status is CaseStatus.PASSED


def test_statements_beyond_the_pairs_run_too() -> None:
    """A RESTORE is never tried again; two that overlap see each other's commits as conflicts."""
    restore = case("app", "app", current="RESTORE TABLE target TO VERSION AS OF 1")
    (result,) = run_cases([replace(restore, expect={"current": "?"})])
    assert result.differences[0].actual == "ConcurrentWriteException"
    both = case("all", "del", overlapping=True)
    both = replace(both, winner=[str(both.winner), str(both.winner)])
    (result,) = run_cases([replace(both, expect={"winner": "?"})])
    assert result.differences[0].actual == ["committed", "ConcurrentDeleteReadException"]


def test_an_interpreter_without_the_package_is_told_as_missing() -> None:
    code, text = conformance(OLDER, "--python", "/nowhere/python")
    assert code == ExitCode.ENVIRONMENT_MISSING
    assert "--python" in text
