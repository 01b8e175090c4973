"""`whitecap conformance`: what it prints, and how it exits."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import invoked
from tests.refusals import require_refused

CASES = Path(__file__).parent / "cases" / "transactions.json"


run = partial(invoked, "conformance")


@pytest.fixture
def changed(tmp_path: Path) -> Any:
    """A file with one of our cases, changed at the top level."""

    def write(**changes: Any) -> Path:
        case = {**json.loads(CASES.read_text())[1], **changes}
        file = tmp_path / "cases.json"
        file.write_text(json.dumps([case]))
        return file

    return write


def test_all_passed_is_one_line_and_exit_code_0() -> None:
    result = run(CASES, "--case", "legacy-03", "--case", "legacy-04")
    assert (result.exit_code, result.output) == (0, "2 passed, 0 failed\n")


def test_a_failure_is_shown_with_expected_and_found(changed: Any) -> None:
    result = run(changed(expect={"result": "committed", "version": 7}))
    assert result.exit_code == 1
    assert result.output.splitlines() == [
        "FAILED legacy-03",
        "  version",
        "    expected: 7",
        "    found:    3",
        "0 passed, 1 failed",
    ]


def test_a_skipped_case_is_named_with_its_reason(changed: Any) -> None:
    result = run(changed(dialect="delta-oss-9.9"))
    assert result.exit_code == 0
    assert result.output == (
        "SKIPPED legacy-03: dialect delta-oss-9.9 is not there\n0 passed, 0 failed, 1 skipped\n"
    )


def test_a_sample_is_spread_evenly_and_repeatable() -> None:
    first, second = run(CASES, "--sample", 5), run(CASES, "--sample", 5)
    assert first.output == second.output == "5 passed, 0 failed\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("nonsense", "not a list of cases"),
        ('[{"id": "a"}]', "dialect is missing"),
        ('[{"id": "a", "dialect": 4}]', "setup_log is missing"),
        ('[{"id": "a", "frob": 1}]', "frob"),
    ],
)
def test_a_file_that_holds_no_cases_is_bad_input(
    tmp_path: Path, content: str, message: str
) -> None:
    file = tmp_path / "cases.json"
    file.write_text(content)
    result = run(file)
    assert result.exit_code == 2
    assert message in result.output


def test_a_file_that_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    result = run(tmp_path / "nothing.json")
    assert result.exit_code == 2
    assert "nothing.json: cannot be read: No such file or directory" in result.stderr


def test_a_file_that_is_not_there_hides_nothing_of_another(changed: Any, tmp_path: Path) -> None:
    result = run(tmp_path / "absent.json", changed(exepct={}))
    require_refused(result, "absent.json", "exepct")


def test_all_keys_that_are_wrong_are_told_with_the_nearest_and_what_is_missing(
    changed: Any,
) -> None:
    result = run(changed(dialct="x", exepct={}, expect={"reslt": "committed"}))
    require_refused(
        result,
        "unknown key 'dialct' (did you mean 'dialect'?)",
        "unknown key 'exepct' (did you mean 'expect'?)",
        ".expect: unknown key 'reslt' (did you mean 'result'?)",
    )


def test_a_case_of_statements_is_one_without_its_tables_too(tmp_path: Path) -> None:
    file = tmp_path / "cases.json"
    file.write_text('[{"id": "a", "dialect": "x", "tabels": {}, "winner": "", "current": ""}]')
    require_refused(run(file), "'tabels' (did you mean 'tables'?)", "expect is missing")


def test_an_unknown_expectation_or_name_is_bad_input_with_the_nearest_one(changed: Any) -> None:
    wrong_key = run(changed(expect={"result": "committed", "isolation": "x"}))
    assert (wrong_key.exit_code, "isolation_level" in wrong_key.output) == (2, True)
    wrong_id = run(CASES, "--case", "legacy-0")
    assert (wrong_id.exit_code, "did you mean 'legacy-" in wrong_id.output) == (2, True)
