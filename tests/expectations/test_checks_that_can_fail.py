"""What `whitecap check` must not let pass: cells that nobody ran, expectations nothing can miss."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from whitecap.cli import main
from whitecap.exit_codes import ExitCode

TINY = """\
name: tiny
duration: 10 min
store: s3
table:
  schema: "event_id BIGINT, date DATE, amount DOUBLE"
  partition_by: [date]
  key: event_id
  values: {date: {days: 3}}
  initial: {rows: 30, rows_per_file: 10}
writers:
  w:
    count: 1
    statement: UPDATE events SET amount = 0 WHERE date = :date
    parameters: {date: newest}
    arrival: {closed: {think: 10 s}}
    compute: 5 s
"""
MANY = "sweep:\n  replications: 2\n  axes: {writers: {'1': {}, '20': {writers.w.count: 20}}}\n"


def check(directory: Path, text: str, *options: object) -> Result:
    """The command's result on a scenario."""
    path = directory / "tiny.yaml"
    path.write_text(text)
    return CliRunner().invoke(main, ["check", str(path), "--jobs", "1", *map(str, options)])


def expecting(*expectations: dict[str, object]) -> str:
    """The `expect:` of a scenario."""
    return yaml.safe_dump({"expect": list(expectations)}, sort_keys=False)


def test_what_is_expected_without_when_must_hold_in_every_cell(tmp_path: Path) -> None:
    result = check(tmp_path, TINY + MANY + expecting({"measure": "aborted", "equals": 0}))
    assert result.exit_code == ExitCode.EXPECTATION_MISSED, result.output
    assert "writers = 20" in result.output


IN_VAIN = [
    ({"measure": "aborted", "exception": "ConcurentApendException", "equals": 0},
     "expect.0.exception", "did you mean 'ConcurrentAppendException'"),
    ({"measure": "conflict_rate", "exception": "WriterCrash", "at_most": 0.5},
     "expect.0.exception", "is no conflict"),
    ({"measure": "aborted", "command": "MERGE", "equals": 0},
     "expect.0.command", "no writer runs MERGE"),
    ({"measure": "aborted", "command": "UPDAT", "equals": 0},
     "expect.0.command", "did you mean 'UPDATE'"),
    ({"measure": "aborted", "command": "UPDATE events", "equals": 0},
     "expect.0.command", "did you mean 'UPDATE'"),
    ({"measure": "aborted", "writer": "w", "command": "INSERT", "equals": 0},
     "expect.0.command", "'w' runs UPDATE"),
    ({"measure": "aborted", "writer": "v", "equals": 0},
     "expect.0.writer", "there is no writer 'v'"),
    ({"measure": "abortd", "equals": 0}, "expect.0.measure", "did you mean 'aborted'"),
    ({"measure": "conflict_rate", "at_most": 5}, "expect.0.at_most", "write 0.05 for 5 %"),
    ({"measure": "job_success_rate", "at_least": 99}, "expect.0.at_least", "write 0.99 for 99 %"),
    ({"measure": "abort_rate", "at_least": -0.1}, "expect.0.at_least", "is below 0"),
    ({"measure": "aborted", "at_least": 0}, "expect.0.at_least", "nothing could miss it"),
    ({"measure": "abort_rate", "at_most": 1}, "expect.0.at_most", "nothing could miss it"),
    ({"measure": "latency_p95_ms", "at_least": 0}, "expect.0.at_least", "nothing could miss it"),
    ({"measure": "aborted", "at_least": 5, "at_most": 3}, "expect.0", "nothing could meet it"),
    ({"measure": "aborted", "equals": 2.5}, "expect.0.equals", "nothing could meet it"),
    ({"measure": "aborted", "equals": -1}, "expect.0.equals", "nothing could meet it"),
    ({"measure": "aborted", "at_most": -1}, "expect.0.at_most", "nothing could meet it"),
    ({"measure": "aborted", "equals": 1, "at_least": 1}, "expect.0", "equals stands alone"),
    ({"measure": "abort_rate", "equals": 0}, "expect.0.equals", "aborted equals 0"),
    ({"measure": "job_success_rate", "at_least": 1}, "expect.0.at_least", "given_up equals 0"),
    ({"measure": "latency_p50_ms", "equals": 5000}, "expect.0.equals", "exactly: true"),
    ({"measure": "aborted", "at_most": float("inf")}, "expect.0.at_most", "not inf"),
    ({"measure": "aborted", "equals": True}, "expect.0.equals", "number"),
    ({"measure": "live_rows", "writer": "w", "equals": 30}, "expect.0.writer", "whole table"),
    ({"measure": "aborted", "equals": 0, "when": {"writers": "20"}},
     "expect.0.when.writers", "the sweep has no axis 'writers'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("expectation", "place", "message"), IN_VAIN, ids=[message for _, _, message in IN_VAIN]
)
def test_an_expectation_in_vain_is_bad_input_with_its_place(
    tmp_path: Path, expectation: dict[str, object], place: str, message: str
) -> None:
    result = check(tmp_path, TINY + expecting(expectation))
    assert result.exit_code == ExitCode.BAD_INPUT, result.output
    (line,) = [line for line in result.output.splitlines() if message in line]
    assert f"{place}:" in line
    assert "tiny.yaml" in line


def test_all_expectations_in_vain_are_told_together(tmp_path: Path) -> None:
    some = [expectation for expectation, _, _ in IN_VAIN[:4]]
    result = check(tmp_path, TINY + expecting(*some))
    assert sum("expect." in line for line in result.output.splitlines()) == 4


@pytest.mark.parametrize(
    "expectation",
    [
        {"measure": "aborted", "exception": "WriterCrash", "equals": 0},
        {"measure": "aborted", "exception": "DeltaAnalysisException", "equals": 0},
        {"measure": "unknown", "equals": 0},
        {"measure": "conflict_rate", "at_most": 0.9},
        {"measure": "abort_rate", "exactly": True, "equals": 0},
    ],
)
def test_that_something_is_impossible_may_be_expected(
    tmp_path: Path, expectation: dict[str, object]
) -> None:
    result = check(tmp_path, TINY + expecting(expectation))
    assert result.exit_code == ExitCode.FINE, result.output


def test_a_command_that_only_some_cells_run_needs_their_names(tmp_path: Path) -> None:
    axes = {"what": {"change": {}, "append": {"writers.w.statement": "DELETE FROM events"}}}
    sweep = yaml.safe_dump({"sweep": {"axes": axes, "replications": 1}})
    text = TINY.replace("    parameters: {date: newest}\n", "").replace("WHERE date = :date", "")
    everywhere = {"measure": "aborted", "command": "DELETE", "equals": 0}
    result = check(tmp_path, text + sweep + expecting(everywhere))
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "(what = change)" in result.output
    result = check(tmp_path, text + sweep + expecting({**everywhere, "when": {"what": "append"}}))
    assert result.exit_code == ExitCode.FINE, result.output


def test_nothing_is_met_by_writers_that_did_nothing(tmp_path: Path) -> None:
    idle = TINY.replace("count: 1", "starts: 1 h")
    result = check(tmp_path, idle + expecting({"measure": "aborted", "writer": "w", "equals": 0}))
    assert result.exit_code == ExitCode.EXPECTATION_MISSED, result.output
    assert "nothing was submitted" in result.output
