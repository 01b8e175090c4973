"""Failures that somebody kept are held against what a draft predicts."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.inferring.synthetic_logs import HOUR_MS, MONDAY_MS, LogOnDisk
from whitecap.cli import main
from whitecap.engine.rules import ConflictException
from whitecap.exit_codes import ExitCode
from whitecap.sim.inferring.evidence.figures import count_interval
from whitecap.sim.inferring.failures import (
    ComparedGroup,
    conflict_of,
    rate_of_runs,
    read_failures,
)

DAY = "2026-01-12"
EVERY_MS = 60_000


@pytest.fixture
def table(tmp_path: Path) -> LogOnDisk:
    """An hour of appends, which conflict with nobody."""
    log = LogOnDisk(tmp_path / "clicks")
    for number in range(60):
        at = MONDAY_MS + number * EVERY_MS
        log.append(DAY, readVersion=log.version - 1, timestamp=at, job={"jobName": "nightly load"})
    return log


def _csv(folder: Path, *lines: str, header: str = "instant,job,exception") -> Path:
    file = folder / "failures.csv"
    file.write_text("\n".join([header, *lines]) + "\n")
    return file


def _lines(count: int, job: str) -> list[str]:
    instants = (MONDAY_MS + 5 * EVERY_MS + n * 90_000 for n in range(count))
    moments = (datetime.fromtimestamp(at / 1000, UTC) for at in instants)
    return [f"{moment:%Y-%m-%d %H:%M:%S},{job},ConcurrentAppendException" for moment in moments]


def _compared(table: LogOnDisk, folder: Path, failures: Path) -> Result:
    out = folder / "mine.yaml"
    arguments = [str(table.folder), "--out", str(out), "--failures", str(failures)]
    return CliRunner().invoke(main, ["from-log", *arguments])


def test_conflicts_that_no_draft_predicts_are_told(table: LogOnDisk, tmp_path: Path) -> None:
    result = _compared(table, tmp_path, _csv(tmp_path, *_lines(12, "Nightly Load")))
    assert result.exit_code == ExitCode.FINE, result.output
    row = next(
        line for line in result.output.splitlines() if line.startswith("insert-nightly-load ")
    )
    assert " 12 " in row
    assert row.rstrip().endswith("fewer than seen")


def test_none_seen_and_none_predicted_agree(table: LogOnDisk, tmp_path: Path) -> None:
    result = _compared(table, tmp_path, _csv(tmp_path))
    assert "agrees" in result.output


def test_one_conflict_is_no_more_than_five_runs_without_any_allow(
    table: LogOnDisk, tmp_path: Path
) -> None:
    """A draft with one conflict in ten hours has none in five hours of runs in 6 of 10 cases."""
    result = _compared(table, tmp_path, _csv(tmp_path, *_lines(1, "Nightly Load")))
    row = next(
        line for line in result.output.splitlines() if line.startswith("insert-nightly-load ")
    )
    assert row.rstrip().endswith("agrees"), row


@pytest.mark.parametrize("counts", [(0, 0, 0, 0, 0), (2, 2, 2, 2, 2), (0, 1, 0, 0, 0)])
def test_what_runs_predict_is_never_surer_than_so_many_conflicts_make_it(
    counts: tuple[int, ...],
) -> None:
    mean, low, high = rate_of_runs(counts, hours=2)
    rarest, most = (end / 10 for end in count_interval(sum(counts)))
    assert low <= rarest <= mean < most <= high


def test_runs_that_scatter_are_as_uncertain_as_student_s_t_says() -> None:
    _, low, high = rate_of_runs((10, 30, 20, 40, 0), hours=1)
    assert (low, high) == pytest.approx((20 - 19.632, 20 + 19.632), abs=0.001)


def test_what_is_not_compared_is_told_with_the_reason(table: LogOnDisk, tmp_path: Path) -> None:
    lines = [
        *_lines(2, "insert-nightly-load"),
        "2020-01-01,insert-nightly-load,ConcurrentAppendException",
        f"{DAY} 00:20:00,insert-nightly-load,java.lang.OutOfMemoryError",
        f"{DAY}T00:20:00+00:00,somebody else,ConcurrentAppendException",
    ]
    output = " ".join(_compared(table, tmp_path, _csv(tmp_path, *lines)).output.split())
    assert "1 outside of the time that the log spans" in output
    assert "1 no conflict of Delta Lake" in output
    assert "1 of jobs that are not in the draft" in output


@pytest.mark.parametrize(
    ("header", "line", "said"),
    [
        ("instant,job", "x,y", ".csv:1: needs the columns instant, job, exception: exception"),
        ("instant,job,exception", "yesterday,insert,x", ".csv:2: 'yesterday' is no instant"),
        ("instant,job,exception", f"{DAY} 00:20:00,inser,ConcurrentAppendException",
         "there is no writer group of the draft 'inser' (did you mean 'insert-nightly-load'?)"),
    ],
)  # fmt: skip
def test_wrong_failures_are_bad_input(
    header: str, line: str, said: str, table: LogOnDisk, tmp_path: Path
) -> None:
    result = _compared(table, tmp_path, _csv(tmp_path, line, header=header))
    assert result.exit_code == ExitCode.BAD_INPUT
    assert said in result.stderr


def test_failures_need_a_file_for_the_draft(table: LogOnDisk, tmp_path: Path) -> None:
    file = str(_csv(tmp_path))
    result = CliRunner().invoke(main, ["from-log", str(table.folder), "--failures", file])
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "--failures needs --out" in result.stderr


def test_an_instant_is_utc_unless_it_says_otherwise(tmp_path: Path) -> None:
    lines = [f"{DAY} 01:00:00,a,x", f"{DAY}T02:00:00+01:00,a,x"]
    failures = read_failures(_csv(tmp_path, *lines))
    assert [failure.at_ms for failure in failures] == [MONDAY_MS + HOUR_MS] * 2


@pytest.mark.parametrize(
    ("said", "conflict"),
    [
        ("io.delta.exceptions.ConcurrentAppendException: Files were added", "CONCURRENT_APPEND"),
        ("[DELTA_CONCURRENT_DELETE_READ.ALL_PARTITIONS] ...", "CONCURRENT_DELETE_READ"),
        ("DELTA_METADATA_CHANGED", "METADATA_CHANGED"),
        ("java.lang.OutOfMemoryError", None),
        ("", None),
    ],
)
def test_a_conflict_is_known_by_class_error_class_or_message(
    said: str, conflict: str | None
) -> None:
    assert conflict_of(said) == (ConflictException[conflict] if conflict else None)


@pytest.mark.parametrize(
    ("seen", "predicted", "verdict"),
    [
        ((5, 3, 9), (6, 4, 8), "agrees"),
        ((5, 3, 9), (1, 0, 2), "fewer than seen"),
        ((0, 0, 2), (6, 4, 8), "more than seen"),
    ],
)
def test_both_agree_where_their_intervals_meet(
    seen: tuple[float, float, float], predicted: tuple[float, float, float], verdict: str
) -> None:
    assert ComparedGroup("merge", 5, seen, predicted).verdict == verdict
