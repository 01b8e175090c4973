"""Recordings of many runs become tables on Spark, and tables become a report."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.reports.synthetic_recordings import (
    aborted,
    add_run,
    recorded,
    remove_run,
    transaction,
    write_run,
    write_sweep,
)
from whitecap import cli
from whitecap.engine.errors import InvalidInput
from whitecap.engine.recorded import Measure
from whitecap.exit_codes import ExitCode
from whitecap.reports.aggregate import aggregate
from whitecap.reports.agreement import read_agreement
from whitecap.reports.measures.measured_run import measure_run
from whitecap.reports.report import build_report
from whitecap.reports.runs import RunSet, read_each
from whitecap.sweep_places import recorded_runs

pytestmark = pytest.mark.spark

OnSpark = Callable[[Path], RunSet]


def test_a_run_without_a_single_transaction_has_goodput_zero(
    tmp_path: Path, on_spark: OnSpark
) -> None:
    root = write_sweep(tmp_path / "s", {"writers": ["2", "4"]}, 1, minutes=15)
    remove_run(root, "4", 0)
    add_run(root, "4", 0, [])
    tables = aggregate(on_spark(root))
    assert tables.of("goodput_per_minute")["4"].point == 0.0
    assert tables.of("conflict_rate")["4"].replications == 0


def test_one_run_is_reported_by_its_writers_and_without_spark(tmp_path: Path) -> None:
    rows = [transaction(0), aborted(1, writer_group="merger", command="MERGE", given_up=True)]
    tables = aggregate(recorded_runs(write_run(tmp_path / "r", rows), _unasked))
    rates = {cell: interval.point for cell, interval in tables.of("abort_rate").items()}
    assert rates == {"all writers": 0.5, "loader · INSERT": 0.0, "merger · MERGE": 1.0}


def _unasked(*_: object) -> Any:
    raise AssertionError("nobody but this process was to measure")


def test_spark_measures_each_run_as_it_is_measured_alone(grid: Path, on_spark: OnSpark) -> None:
    runs = on_spark(grid)
    measured = aggregate(runs).measured
    alone_by_name = read_each(recorded(grid), measure_run)
    assert sum(len(each) for each in measured.values()) == len(runs.runs) == 18
    for run in runs.runs:
        alone, spread = alone_by_name[run.name], measured[run.cell][run.replication]
        assert spread.refusals == alone.refusals
        assert spread.whole.left_out == alone.whole.left_out
        for measure in Measure:
            assert _same(spread.tally(measure).value, alone.tally(measure).value), measure
        for group, part in alone.groups.items():
            assert spread.groups[group].left_out == part.left_out
            for measure in Measure:
                assert _same(spread.groups[group].value(measure), part.value(measure)), measure


def _same(value: float, other: float) -> bool:
    return value == other or (math.isnan(value) and math.isnan(other))


def _digests(directory: Path) -> dict[str, str]:
    files = (path for path in directory.rglob("*") if path.is_file())
    return {
        path.relative_to(directory).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def test_a_report_is_self_contained_and_repeats_byte_for_byte(
    grid: Path, on_spark: OnSpark
) -> None:
    report = build_report(on_spark(grid))
    page = report.page.read_text()
    assert page.count("data:image/svg+xml;base64,") == len(report.figures) == 6
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page
    assert report.answer.headline in page
    for line in ("5f1d" * 16, "delta-oss-4.4", "18 of 18 finished"):
        assert line in page
    first = _digests(grid / "report")
    (grid / "report" / "tables" / "source.json").unlink()
    build_report(on_spark(grid))
    assert _digests(grid / "report") == first


def test_tables_are_computed_once_and_again_when_a_run_is_added(
    tmp_path: Path, on_spark: OnSpark
) -> None:
    root = write_sweep(tmp_path / "s", {"writers": ["2", "4"]}, 2, minutes=15)
    late = root / "recordings" / "batch=00003-made" / "_SUCCESS"
    late.unlink()
    page = build_report(on_spark(root)).page.read_text()
    assert "3 of 4 runs are finished" in page

    def unasked(*_: object) -> Any:
        raise AssertionError("the tables were there")

    build_report(recorded_runs(root, unasked))
    late.touch()
    with pytest.raises(AssertionError, match="the tables were there"):
        build_report(recorded_runs(root, unasked))


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
        "run": "by-date__Serializable, replication 0", "code_version": "0.1.0",
        "transactions": [row],
    }  # fmt: skip


def test_an_agreement_that_cannot_be_read_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "replay").mkdir()
    (tmp_path / "replay" / "agreement.json").write_text('{"matches": 3}')
    with pytest.raises(InvalidInput, match="is not an agreement"):
        read_agreement(tmp_path)


def test_the_replays_agreement_is_told_on_the_page(grid: Path, on_spark: OnSpark) -> None:
    (grid / "replay").mkdir()
    agreement = agreement_of(24)
    (grid / "replay" / "agreement.json").write_text(json.dumps(agreement))
    page = build_report(on_spark(grid)).page.read_text()
    assert "Both sides had 20 commits, 4 ConcurrentAppendException." in page
    assert "not of the one reported here" not in page
    assert "Real Delta Lake agrees on all 24 replayed transactions." in page
    (grid / "replay" / "agreement.json").write_text(json.dumps(agreement | {"mismatches": 2}))
    page = build_report(on_spark(grid)).page.read_text()
    assert "disagrees on 2 of 26" in page


def test_the_command_prints_the_answer_and_where_the_pictures_are(grid: Path) -> None:
    result = CliRunner().invoke(cli.main, ["report", str(grid)])
    assert result.exit_code == ExitCode.FINE, result.output
    assert "job success rate of every writer group at least 99 %" in " ".join(result.output.split())
    assert "conflict_rate_map.png" in result.output
    assert "report.html" in result.output


def test_the_command_refuses_what_is_no_recording(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli.main, ["report", str(tmp_path)])
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "neither a sweep's directory" in result.output
    assert list(tmp_path.iterdir()) == []
