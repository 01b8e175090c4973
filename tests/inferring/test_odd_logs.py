"""Logs as odd as their format allows: a draft that runs, or one clear message."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from sqlglot.dialects.spark import Spark

from tests.command_line import invoked
from tests.inferring.synthetic_logs import MONDAY_MS, LogOnDisk
from whitecap.engine.errors import InvalidInput
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.exit_codes import ExitCode
from whitecap.sim.inferring.log.observed import observe
from whitecap.sim.inferring.naming import sql_name
from whitecap.sim.loading import parse_scenario
from whitecap.sim.scenario.model import Scenario

DAY = "2026-01-12"


_from_log = partial(invoked, "from-log")


def _drafted(log: LogOnDisk) -> Scenario:
    result = _from_log(log.folder)
    assert result.exit_code == ExitCode.FINE, result.output
    return parse_scenario(result.output)


def _by_text(folder: Path, values: list[str]) -> LogOnDisk:
    """A table with a partition of each of these texts."""
    log = LogOnDisk(folder / "texts", "id BIGINT, kind STRING", by=["kind"])
    for value in values:
        _append(log, {"kind": value})
    return log


def _append(log: LogOnDisk, partition: dict[str, str]) -> None:
    add = {
        "path": f"{log.version}", "partitionValues": partition, "size": 9, "dataChange": True,
        "modificationTime": MONDAY_MS, "stats": '{"numRecords": 3}',
    }  # fmt: skip
    log.commit("WRITE", {"add": add})


def test_names_and_values_may_hold_what_yaml_does_not_take(tmp_path: Path) -> None:
    values = ["a\x1bb", "a\x7fb", "\u2028", "💥", " ", "null", "x: y # z"]
    log = _by_text(tmp_path, values)
    for _ in range(3):
        log.commit("WRITE", userName="a\x1bb 💥\n- x: y # z")
    table = _drafted(log).table
    assert table is not None
    assert sorted(map(str, table.values["kind"].among or ())) == sorted(values)


def test_a_column_that_is_called_otherwise_takes_nobodys_name(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "odd", "id BIGINT, `a b` STRING, a_b STRING", by=["a b", "a_b"])
    for number in range(4):
        _append(log, {"a b": str(number), "a_b": "x"})
    table = _drafted(log).table
    assert table is not None
    assert table.partition_by == ["a_b_column", "a_b"]


def test_names_that_yaml_reads_as_truths_are_quoted(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "yes", "id BIGINT, no STRING", by=["no"])
    for _ in range(3):
        _append(log, {"no": "a"})
    table = _drafted(log).table
    assert table is not None
    assert (table.name, table.partition_by) == ("yes", ["no"])


def test_an_empty_partition_value_is_null(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "nulls")
    for day in (DAY, "", DAY, ""):
        _append(log, {"day": day})
    assert {commit.partitions for commit in observe(str(log.folder), 4).commits} == {
        frozenset({(DAY,)}),
        frozenset({(None,)}),
    }
    table = _drafted(log).table
    assert table is not None
    assert table.values["day"].days == 1


def test_metrics_that_are_no_numbers_tell_nothing(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "metrics")
    for metric in ("Infinity", "NaN", None, "soon", "2000"):
        log.append(DAY, operationMetrics={"executionTimeMs": metric})
    commits = observe(str(log.folder), 5).commits
    assert [commit.metric("executionTimeMs") for commit in commits] == [None] * 4 + [2000]


def test_a_commit_says_the_same_however_its_json_is_spaced(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "spaced")
    log.append(DAY, userName="jane")
    (log.log / f"{1:020d}.json").write_text(
        (log.log / f"{1:020d}.json").read_text().replace('{"commitInfo"', '{ "commitInfo" ')
    )
    commit = observe(str(log.folder), 1).commits[0]
    assert (commit.operation, commit.origin.user) == ("WRITE", "jane")


def _without_timestamps(log: LogOnDisk) -> None:
    for file in log.log.glob("*.json"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines:
            line.get("commitInfo", {}).pop("timestamp", None)
        file.write_text("\n".join(map(json.dumps, lines)))


def test_a_commit_without_timestamp_has_that_of_its_file(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "untimed")
    log.append(DAY)
    _without_timestamps(log)
    file = log.log / f"{1:020d}.json"
    assert observe(str(log.folder), 1).commits[0].timestamp_ms == int(file.stat().st_mtime * 1000)


@pytest.mark.parametrize("at", [MONDAY_MS * 1000, -1])
def test_a_timestamp_in_another_unit_is_told_with_its_commit(at: int, tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "units")
    log.append(DAY, timestamp=at)
    result = _from_log(log.folder)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert f"{1:020d}.json: its timestamp, {at}, is no instant" in result.stderr


def _of_one_commit(log: LogOnDisk) -> tuple[object, ...]:
    log.append(DAY)
    return "--commits", 1


def _of_one_instant(log: LogOnDisk) -> tuple[object, ...]:
    for _ in range(3):
        log.append(DAY, timestamp=MONDAY_MS + 60_000)
    return "--commits", 3


@pytest.mark.parametrize("fill", [_of_one_commit, _of_one_instant])
def test_failures_are_held_against_a_log_that_spans_some_time(
    fill: Callable[[LogOnDisk], tuple[object, ...]], tmp_path: Path
) -> None:
    log = LogOnDisk(tmp_path / "short")
    options = fill(log)
    failures = tmp_path / "failures.csv"
    failures.write_text(f"instant,job,exception\n{DAY} 00:02:00,insert,ConcurrentAppendException\n")
    out = tmp_path / "mine.yaml"
    result = _from_log(log.folder, *options, "--out", out, "--failures", failures)
    assert result.exit_code == ExitCode.BAD_INPUT, result.output
    assert "no time to hold failures against" in result.stderr


@pytest.mark.parametrize("spelling", ["writeserializable", "WRITESERIALIZABLE"])
def test_a_draft_reads_a_level_in_any_case(tmp_path: Path, spelling: str) -> None:
    by_table = LogOnDisk(tmp_path / "table", properties={"delta.isolationLevel": spelling})
    by_commits = LogOnDisk(tmp_path / "commits")
    for _ in range(3):
        by_table.append(DAY)
        by_commits.append(DAY, isolationLevel=spelling)
    for table in (_drafted(by_table).table, _drafted(by_commits).table):
        assert table is not None
        assert table.isolation == "WriteSerializable"


def test_columns_and_tables_may_be_called_like_any_word_of_sql(tmp_path: Path) -> None:
    words = sorted({word.split()[0].lower() for word in Spark.Tokenizer.KEYWORDS if word.isalpha()})
    refused = []
    for word in words:
        column = sql_name(word)
        try:
            parse_statement(f"UPDATE events SET v = 1 WHERE {column} = :{column}")
            parse_statement(f"INSERT INTO events REPLACE WHERE {column} = 1 VALUES :rows")
        except InvalidInput:
            refused.append(word)
    assert (refused, len(words) > 200) == ([], True)
    log = LogOnDisk(tmp_path / "stream", "`values` BIGINT, `for` STRING", by=["for"])
    for number in range(4):
        _append(log, {"for": str(number)})
    table = _drafted(log).table
    assert table is not None
    assert (table.name, table.partition_by) == ("events", ["for_column"])


@pytest.mark.parametrize("from_files", [(), ("--from-files",)])
def test_values_that_no_scenario_can_list_are_left_out_and_told(
    from_files: tuple[str, ...], tmp_path: Path
) -> None:
    log = LogOnDisk(tmp_path / "scores", "id BIGINT, score DOUBLE", by=["score"])
    for value in ("0.5", "NaN", "1.5E3", "Infinity", "-Infinity", "-0.0", "NaN"):
        _append(log, {"score": value})
    result = _from_log(log.folder, *from_files)
    assert result.exit_code == ExitCode.FINE, result.output
    table = parse_scenario(result.output).table
    assert table is not None
    if not from_files:
        assert sorted(map(str, table.values["score"].among or ())) == ["-0.0", "0.5", "1500.0"]
        said = "those with most commits first; -Infinity, Infinity, NaN are left out"
        assert said in " ".join(result.output.replace("#", " ").split())


def test_a_column_of_nan_alone_has_a_stand_in(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "scores", "id BIGINT, score DOUBLE", by=["score"])
    for _ in range(4):
        _append(log, {"score": "NaN"})
    table = _drafted(log).table
    assert table is not None
    assert table.values["score"].among == [0.0]


def test_what_is_left_out_is_counted_under_its_own_operation(tmp_path: Path) -> None:
    log = LogOnDisk(tmp_path / "renamed")
    made = json.loads((log.log / f"{0:020d}.json").read_text().splitlines()[2])
    for _ in range(5):
        log.append(DAY)
    for operation in ("RENAME COLUMN", "DROP COLUMNS"):
        log.commit(operation, made)
    output = _from_log(log.folder).output
    assert "# - 1 commit of DROP COLUMNS" in output
    assert "# - 1 commit of RENAME COLUMN" in output
