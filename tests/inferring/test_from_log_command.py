"""`whitecap from-log`: its drafts run, wrong input is told in one message, nothing is touched."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow.fs import FileSystem, LocalFileSystem

import whitecap
from tests.calibration.loopback_s3 import loopback_s3
from tests.command_line import invoked
from tests.inferring.synthetic_logs import MONDAY_MS, LogOnDisk
from whitecap.engine.errors import InvalidInput
from whitecap.engine.log.clients.stored_log import StoredLog
from whitecap.engine.storage.disk.directory import DirectoryStore
from whitecap.engine.storage.memory import run as drive
from whitecap.engine.storage.requests import Get
from whitecap.exit_codes import ExitCode
from whitecap.sim.loading import load_scenario
from whitecap.sim.real_table.places import ArrowStore, store_at, unreachable
from whitecap.sim.real_table.reading import read_table

DAYS = ("2026-01-10", "2026-01-11", "2026-01-12")


_from_log = partial(invoked, "from-log")


@pytest.fixture
def table(tmp_path: Path) -> LogOnDisk:
    log = LogOnDisk(tmp_path / "clicks")
    for number in range(12):
        log.append(DAYS[number % 3], readVersion=log.version - 1)
    return log


def test_what_is_drafted_runs_and_touches_nothing_of_the_table(
    table: LogOnDisk, tmp_path: Path
) -> None:
    before = {path: path.read_bytes() for path in table.folder.rglob("*") if path.is_file()}
    out = tmp_path / "mine.yaml"
    drafted = _from_log(table.folder, "--out", out)
    assert drafted.exit_code == ExitCode.FINE, drafted.output
    assert "insert: 12 commits, how long it takes is assumed" in drafted.output
    assert "runs of the scenario predict" in drafted.output
    ran = invoked("run", out)
    assert ran.exit_code == ExitCode.FINE, ran.output
    assert {path: path.read_bytes() for path in table.folder.rglob("*") if path.is_file()} == before


def test_a_draft_says_what_the_log_says(table: LogOnDisk) -> None:
    text = _from_log(table.folder).output
    assert "A log holds no aborted transaction" in text
    assert ": 12 commits in the" in text
    assert "# assumed: it decides most, and the log does not say it" in text
    assert "# - 1 commit of CREATE TABLE" in text
    scenario = load_scenario_text(text)
    assert scenario.table is not None
    assert (scenario.table.name, scenario.table.partition_by) == ("clicks", ["day"])
    assert (scenario.table.initial.rows, scenario.table.initial.rows_per_file) == (60, 5)
    assert scenario.table.bytes_per_row == 100
    assert scenario.table.values["day"].days == 3


def load_scenario_text(text: str):  # type: ignore[no-untyped-def]
    from whitecap.sim.loading import parse_scenario

    return parse_scenario(text)


def test_a_file_that_is_there_is_replaced_only_where_that_is_said(
    table: LogOnDisk, tmp_path: Path
) -> None:
    out = tmp_path / "mine.yaml"
    out.write_text("precious")
    refused = _from_log(table.folder, "--out", out)
    assert refused.exit_code == ExitCode.BAD_INPUT
    assert "say --overwrite" in refused.stderr
    assert out.read_text() == "precious"
    assert _from_log(table.folder, "--out", out, "--overwrite").exit_code == ExitCode.FINE
    assert load_scenario(out).name == "mine"


def _daily(folder: Path) -> LogOnDisk:
    log = LogOnDisk(folder / "daily")
    for number in range(9):
        log.append(DAYS[number % 3])
    return log


def test_anonymous_drafts_have_nobodys_words(tmp_path: Path) -> None:
    log = LogOnDisk(
        tmp_path / "secret_orders", "tenant STRING, account_id BIGINT, x DOUBLE", by=["tenant"]
    )
    for number in range(12):
        add = {
            "path": f"{number}", "partitionValues": {"tenant": f"acme{number % 3}"}, "size": 9,
            "modificationTime": MONDAY_MS, "dataChange": True, "stats": '{"numRecords": 3}',
        }  # fmt: skip
        log.commit("WRITE", {"add": add}, userName="jane@acme.com", job={"jobName": "acme nightly"})
    named = _from_log(log.folder).output
    hidden = _from_log(log.folder, "--anonymise").output
    words = ("secret", "orders", "tenant", "account", "acme", "jane", str(tmp_path))
    assert [word for word in words if word in named] == list(words)
    assert [word for word in words if word in hidden] == []
    dated = _from_log(_daily(tmp_path).folder, "--anonymise").output
    assert not [day for day in DAYS if day in dated.replace("start: 2026-01-12", "")]
    scenario = load_scenario_text(hidden)
    assert scenario.table is not None
    assert scenario.table.partition_by == ["column_1"]
    assert scenario.start.weekday() == load_scenario_text(named).start.weekday()


def _without_log(folder: Path) -> Path:
    (folder / "plain").mkdir()
    return folder / "plain"


def _with_gap(folder: Path) -> Path:
    log = LogOnDisk(folder / "gap")
    for _ in range(5):
        log.append(DAYS[0])
    (log.log / f"{3:020d}.json").unlink()
    return log.folder


def _unreadable(folder: Path) -> Path:
    log = LogOnDisk(folder / "broken")
    for _ in range(5):
        log.append(DAYS[0])
    (log.log / f"{2:020d}.json").write_text('{"commitInfo":{}}\n{"add":{"path"')
    return log.folder


def _a_file(folder: Path) -> Path:
    file = folder / "a.log"
    file.touch()
    return file


def _empty(folder: Path) -> Path:
    return LogOnDisk(folder / "empty").folder


def _without_beginning(folder: Path) -> Path:
    log = LogOnDisk(folder / "cut")
    for _ in range(5):
        log.append(DAYS[0])
    (log.log / f"{0:020d}.json").unlink()
    return log.folder


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda folder: folder / "nowhere", "nowhere: is not there"),
        (_a_file, "a.log: is a file, and a table is a directory"),
        (_without_log, "is no Delta table: no commits in _delta_log"),
        (_with_gap, "00000000000000000003.json: is missing, _delta_log/00000000000000000004.json"),
        (_unreadable, "_delta_log/00000000000000000002.json:2: "),
        (_empty, "no commit of a writer is in its log, only CREATE TABLE"),
        (_without_beginning, "00000000000000000000.json: is missing"),
        (lambda _: "foo://bucket/table", "foo://bucket/table: cannot be opened"),
        (lambda _: "mock:///table", "mock:///table: is no Delta table"),
        (lambda _: "s3://", "s3://: names no bucket"),
        (lambda _: "s3a://", "s3a://: names no bucket"),
        (lambda _: "gs://", "gs://: names no bucket"),
        (lambda _: "abfss://acc.dfs.core.windows.net", "core.windows.net: names no bucket"),
    ],
)
def test_what_is_no_table_or_a_broken_one_is_told_in_one_message(
    make: Callable[[Path], Any], said: str, tmp_path: Path
) -> None:
    out = tmp_path / "mine.yaml"
    result = _from_log(make(tmp_path), "--out", out)
    assert result.exit_code == ExitCode.BAD_INPUT, result.output
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not out.exists()


def test_an_unknown_store_is_answered_with_the_nearest_one(table: LogOnDisk) -> None:
    result = _from_log(table.folder, "--store", "s4")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "no store profile 's4'" in result.stderr


def test_only_so_many_of_the_newest_commits_are_read(table: LogOnDisk) -> None:
    text = _from_log(table.folder, "--commits", 6).output
    assert "from 6 commits" in " ".join(text.replace("\n#", "").split())
    assert "# 6 commits of WRITE" in text


def test_a_log_without_its_oldest_commits_is_read_from_its_checkpoint_on(
    table: LogOnDisk,
) -> None:
    from whitecap.engine.log.checkpoints.checkpoint import write_checkpoint

    store = DirectoryStore(table.folder)
    drive(write_checkpoint(drive(StoredLog().update(), store)), store)
    for version in range(4):
        (table.log / f"{version:020d}.json").unlink()
    text = _from_log(table.folder).output
    assert "# 9 commits of WRITE" in text
    assert "# counted: 9 commits in about " in text
    assert "versions 0 to 3 are gone: old commits are cleaned up" in text
    scenario = load_scenario_text(text)
    assert scenario.table is not None
    assert scenario.table.initial.rows == 60


def test_a_table_in_s3_is_read_and_its_credentials_are_shown_nowhere(table: LogOnDisk) -> None:
    with loopback_s3() as bucket:
        for file in table.log.iterdir():
            bucket.objects[f"clicks/_delta_log/{file.name}"] = file.read_bytes()
        before = dict(bucket.objects)
        options = f"scheme=http&region=us-east-1&endpoint_override={bucket.url[7:]}"
        result = _from_log(f"s3a://someone:hidden@bucket/clicks?{options}")
        assert bucket.objects == before
    assert result.exit_code == ExitCode.FINE, result.output
    assert "s3a://bucket/clicks" in result.output
    assert "hidden" not in result.output
    assert "# guessed: the table lies at s3a://" in result.output


def test_a_table_is_the_same_through_either_reader(table: LogOnDisk) -> None:
    arrow = ArrowStore(LocalFileSystem(), str(table.folder))
    assert drive(StoredLog(encode=None).update(), arrow).version == table.version - 1


def test_python_drafts_the_same(table: LogOnDisk) -> None:
    drafted = whitecap.from_log(table.folder)
    assert drafted.text == _from_log(table.folder).output
    assert len(whitecap.run(drafted.text, changes={"duration": "1 min"}).transactions) > 0


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("gs://b/t", "gs://b/t?retry_limit_seconds=30"),
        ("gs://b/t?scheme=http", "gs://b/t?scheme=http&retry_limit_seconds=30"),
        ("gs://b/t?retry_limit_seconds=9", "gs://b/t?retry_limit_seconds=9"),
    ],
)
def test_a_bucket_that_does_not_answer_is_given_up_soon_unless_the_user_waits(
    given: str, asked: str
) -> None:
    store = store_at(given)
    assert isinstance(store, ArrowStore)
    assert store.files == FileSystem.from_uri(asked)[0]
    assert store.folder == "b/t"


class _NotLoggedIn:
    """Files as Arrow's client of Azure answers for them where nobody is logged in."""

    def get_file_info(self, selector: object) -> list[object]:
        """No answer, by an error that is none of the operating system."""
        raise pa.ArrowException("Unknown error: Failed to get token.\nSee https://aka.ms/azsdk")

    def open_input_stream(self, path: str) -> object:
        """No answer either."""
        raise pa.ArrowInvalid("Unknown error: no token")


def test_whoever_is_not_logged_in_is_told_so_by_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    store = ArrowStore(_NotLoggedIn(), "container/clicks")
    with pytest.raises(OSError, match="no token"):
        store.answer(Get("_delta_log/_last_checkpoint"))
    for module in ("inferring.log.observed", "real_table.reading"):
        monkeypatch.setattr(f"whitecap.sim.{module}.store_at", lambda _: store)
    uri = "abfss://c@acc.dfs.core.windows.net/clicks"
    result = _from_log(uri)
    assert result.exit_code == ExitCode.BAD_INPUT
    said = "cannot be read: Unknown error: Failed to get token. See https://aka.ms/azsdk"
    assert result.stderr == f"error: {uri}: {said}\n"
    with pytest.raises(InvalidInput, match="Failed to get token"):
        read_table(uri)


def test_what_gcs_says_twice_is_told_once() -> None:
    reason = "google::cloud::Status(UNAVAILABLE: Could not resolve hostname"
    error = OSError(f"{reason} error_info={{reason=, metadata={{original-message={reason}}}}})")
    assert str(unreachable("gs://b/t", error)) == f"gs://b/t: cannot be read: {reason}"
