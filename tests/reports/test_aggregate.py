"""The measures of a run, computed by Spark, against values worked out by hand."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from synthetic_recordings import aborted, transaction, write_run, write_sweep

from whitecap import cli
from whitecap.engine.errors import InvalidInput
from whitecap.exit_codes import ExitCode
from whitecap.reports.aggregate import aggregate, measures_per_run, transactions_of
from whitecap.reports.agreement import read_agreement
from whitecap.reports.report import build_report
from whitecap.reports.runs import find_runs

pytestmark = pytest.mark.spark

MINUTE = 60_000.0


def by_hand() -> list[dict[str, Any]]:
    """A job that succeeds at once, one after two refusals, one given up, and the odd ones out."""
    later = 30 * MINUTE
    return [
        # Job 0 commits at once after 10 s.
        transaction(0, submitted_at_ms=later, ended_at_ms=later + 10_000, compute_ms=8_000.0),
        # Job 1: refused twice, then committed 50 s after its first submission; one retry.
        aborted(1, submitted_at_ms=later, ended_at_ms=later + 9_000, compute_ms=4_000.0),
        aborted(
            2, job_id=1, rerun_number=1, submitted_at_ms=later + 10_000, attempts=2,
            ended_at_ms=later + 19_000, compute_ms=4_000.0,
        ),
        transaction(
            3, job_id=1, rerun_number=2, submitted_at_ms=later + 20_000,
            ended_at_ms=later + 50_000, compute_ms=4_000.0,
        ),
        # Job 4 is given up; Delta refused it for another reason than a conflict.
        aborted(4, "DeltaAnalysisException", submitted_at_ms=later, ended_at_ms=later + 1_000,
                given_up=True, attempts=0, compute_ms=0.0),
        # Job 5 had nothing to do: it succeeded, and is no goodput.
        transaction(5, submitted_at_ms=later, ended_at_ms=later + 2_000, attempts=0,
                    committed_version=None, compute_ms=0.0),
        # Job 6 never learned its outcome, job 7 is still under way, job 8 waits to run again.
        transaction(6, outcome="unknown", given_up=True, submitted_at_ms=later,
                    ended_at_ms=later + 5_000, committed_version=None, compute_ms=0.0),
        transaction(7, outcome="in_flight", submitted_at_ms=later, ended_at_ms=None, attempts=0,
                    committed_version=None, compute_ms=500.0),
        aborted(8, submitted_at_ms=later, ended_at_ms=later + 3_000, compute_ms=0.0),
        # Submitted in the warm-up: job 9 ends there too, job 10 commits after it.
        transaction(9, submitted_at_ms=0.0, ended_at_ms=1_000.0),
        transaction(10, submitted_at_ms=9 * MINUTE, ended_at_ms=11 * MINUTE),
        # Job 11 is refused in the warm-up and commits, run again, after it: two minutes in all.
        aborted(11, submitted_at_ms=9 * MINUTE, ended_at_ms=9.5 * MINUTE),
        transaction(12, job_id=11, rerun_number=1, submitted_at_ms=10.5 * MINUTE,
                    ended_at_ms=11 * MINUTE, compute_ms=1_000.0),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, spark: Any) -> dict[str, float]:
    """The measures of the run above: one hour of which ten minutes are warm-up."""
    path = tmp_path_factory.mktemp("by hand") / "a [run] {of} *?"
    runs = find_runs(write_run(path, by_hand(), warm_up_ms=10 * MINUTE))
    row: dict[str, float] = measures_per_run(transactions_of(spark, runs)).runs.iloc[0].to_dict()
    return row


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("transactions", 10),
        ("attempts", 8),
        ("conflict_rate", 3 / 8),
        ("retry_rate", 1 / 8),
        ("abort_rate", 4 / 9),
        ("rerun_rate", 3 / 10),
        ("goodput_per_minute", 4 / 50),
        ("jobs", 8),
        ("job_success_rate", 4 / 6),
        ("latency_p50_ms", 30_000.0),
        ("latency_p95_ms", 109_500.0),
        ("latency_p99_ms", 117_900.0),
        ("wasted_compute_share", 8_000 / 21_000),
    ],
)
def test_every_measure_is_what_its_definition_says(
    measured: dict[str, float], measure: str, value: float
) -> None:
    assert measured[measure] == pytest.approx(value)


def test_a_run_in_which_nothing_ended_has_no_rates(tmp_path: Path, spark: Any) -> None:
    nothing = transaction(0, outcome="in_flight", ended_at_ms=None, attempts=0)
    runs = find_runs(write_run(tmp_path / "r", [nothing]))
    row = measures_per_run(transactions_of(spark, runs)).runs.iloc[0]
    assert row["goodput_per_minute"] == 0
    for measure in ("conflict_rate", "abort_rate", "job_success_rate", "latency_p50_ms"):
        assert row[measure] is None or row[measure] != row[measure], measure


def test_a_run_without_a_single_transaction_has_goodput_zero(tmp_path: Path, spark: Any) -> None:
    root = write_sweep(tmp_path / "s", {"writers": ["2", "4"]}, 1, minutes=15)
    shutil.rmtree(root / "runs" / "4" / "0")
    write_run(root / "runs" / "4" / "0", [])
    tables = aggregate(spark, find_runs(root))
    assert tables.of("goodput_per_minute")["4"].point == 0.0
    assert tables.of("conflict_rate")["4"].replications == 0


def test_one_run_is_reported_by_its_writers(tmp_path: Path, spark: Any) -> None:
    rows = [transaction(0), aborted(1, writer_group="merger", command="MERGE", given_up=True)]
    tables = aggregate(spark, find_runs(write_run(tmp_path / "r", rows)))
    found = {cell: interval.point for cell, interval in tables.of("abort_rate").items()}
    assert found == {"all writers": 0.5, "loader · INSERT": 0.0, "merger · MERGE": 1.0}


def _digests(directory: Path) -> dict[str, str]:
    files = (path for path in directory.rglob("*") if path.is_file())
    return {
        path.relative_to(directory).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def test_a_report_is_self_contained_and_repeats_byte_for_byte(grid: Path, spark: Any) -> None:
    report = build_report(grid, lambda: spark)
    page = report.page.read_text()
    assert page.count("data:image/svg+xml;base64,") == len(report.figures) == 6
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page
    assert report.answer is not None
    assert report.answer.headline in page
    for line in ("5f1d" * 16, "delta-oss-4.4", "18 of 18 finished"):
        assert line in page
    first = _digests(grid / "report")
    (grid / "report" / "tables" / "source.json").unlink()
    build_report(grid, lambda: spark)
    assert _digests(grid / "report") == first


def test_tables_are_computed_once_and_again_when_a_run_is_added(tmp_path: Path, spark: Any) -> None:
    root = write_sweep(tmp_path / "s", {"writers": ["2", "4"]}, 2, minutes=15)
    late = root / "runs" / "4" / "1" / "manifest.json"
    held_back = late.read_text()
    late.unlink()
    page = build_report(root, lambda: spark).page.read_text()
    assert "3 of 4 runs are finished" in page

    def no_session() -> Any:
        raise AssertionError("the tables were there")

    build_report(root, no_session)
    late.write_text(held_back)
    with pytest.raises(AssertionError, match="the tables were there"):
        build_report(root, no_session)


def agreement_of(matches: int) -> dict[str, Any]:
    """An agreement as a replay writes it, with one of its transactions."""
    row = {
        "transaction": "loader-0 12", "command": "MERGE", "read_version": 4, "reason": "",
        "comparison": "match", "recorded_end": "aborted", "recorded_version": None,
        "recorded_exception": "ConcurrentAppendException", "real_end": "aborted",
        "real_version": None, "real_exception": "ConcurrentAppendException",
    }  # fmt: skip
    return {
        "matches": matches, "mismatches": 0, "not_comparable": 1, "commits": matches - 4,
        "exception_counts": {"ConcurrentAppendException": 4}, "delta_version": "4.4.0",
        "run": "runs/by-date__Serializable/0", "code_version": "0.1.0", "transactions": [row],
    }  # fmt: skip


def test_an_agreement_that_cannot_be_read_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "replay").mkdir()
    (tmp_path / "replay" / "agreement.json").write_text('{"matches": 3}')
    with pytest.raises(InvalidInput, match="is not an agreement"):
        read_agreement(tmp_path)


def test_the_replays_agreement_is_told_on_the_page(grid: Path, spark: Any) -> None:
    (grid / "replay").mkdir()
    found = agreement_of(24)
    (grid / "replay" / "agreement.json").write_text(json.dumps(found))
    page = build_report(grid, lambda: spark).page.read_text()
    assert "Both sides had 20 commits, 4 ConcurrentAppendException." in page
    assert "not of the one reported here" not in page
    assert "Real Delta Lake agrees on all 24 replayed transactions." in page
    (grid / "replay" / "agreement.json").write_text(json.dumps(found | {"mismatches": 2}))
    page = build_report(grid, lambda: spark).page.read_text()
    assert "disagrees on 2 of 26" in page


@pytest.mark.usefixtures("spark")
def test_the_command_prints_the_answer_and_where_the_pictures_are(grid: Path) -> None:
    result = CliRunner().invoke(cli.main, ["report", str(grid)])
    assert result.exit_code == ExitCode.FINE, result.output
    assert "Best by goodput" in result.output
    assert "conflict_rate_map.png" in result.output
    assert "report.html" in result.output


def test_the_command_refuses_what_is_no_recording(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli.main, ["report", str(tmp_path)])
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "neither a sweep's directory" in result.output
    assert list(tmp_path.iterdir()) == []
