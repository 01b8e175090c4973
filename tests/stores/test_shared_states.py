"""Threads of one driver share what one of them reads of the log, and wait for each other there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.sim.sim_worlds import rows
from tests.stores.test_log_access import INSERT, UPDATE, log_kinds, log_run, log_writer
from whitecap.sim.run import FinishedRun

COMMITS = 3
"""In the log when threads update: two of the initial table, and one more."""

JOB_MS = 500 + 20
"""What reading them takes: a job of Spark's, and one wave of reads."""


def together(statement: str, at: Sequence[str], **more: Any) -> dict[str, Any]:
    return log_writer(statement, at, cluster="one", **more)


def gets(run: FinishedRun) -> list[int]:
    """How many files of the log each transaction read before its commit."""
    return [
        kinds[: kinds.index("put_if_absent")].count("get") if "put_if_absent" in kinds else 0
        for kinds in log_kinds(run)
    ]


def updates(*at: str, **more: Any) -> dict[str, Any]:
    """Threads that update at about the same time, once the driver is warm."""
    warm = {"a warm": together(INSERT, ["0 s"])}
    return warm | {f"w{n}": together(UPDATE, [when], **more) for n, when in enumerate(at)}


def test_one_of_several_threads_reads_a_state_and_the_others_wait_for_it() -> None:
    run = log_run(updates("60 s", "60 s", "60 s"))
    assert sorted(gets(run)[1:]) == [0, 0, COMMITS]
    reader, *waiting = sorted(rows(run)[1:], key=lambda row: row["snapshot_at_ms"])
    read_at_ms = reader["snapshot_at_ms"] + 50 + JOB_MS
    starts = [row["commit_started_at_ms"] for row in (reader, *waiting)]
    assert starts == pytest.approx([read_at_ms] * 3)
    assert len({row["snapshot_at_ms"] for row in (reader, *waiting)}) == 3


def test_threads_of_drivers_of_their_own_read_it_each() -> None:
    apart = {f"w{n}": log_writer(UPDATE, ["60 s"]) for n in range(3)}
    run = log_run({"a warm": log_writer(INSERT, ["0 s"]), **apart})
    assert gets(run)[1:] == [COMMITS + 1] * 3  # and a checksum, as their drivers are cold
    assert len({row["commit_started_at_ms"] for row in rows(run)[1:]}) == 1


def test_who_asks_when_it_was_read_neither_waits_nor_reads() -> None:
    """Nothing is deleted, so nothing is committed, and the state stays that of the newest."""
    nothing = "DELETE FROM events WHERE date = :date AND event_id = -1"
    threads = {f"w{n}": together(nothing, [at]) for n, at in enumerate(["0 s", "60 s"])}
    assert log_kinds(log_run(threads))[1] == ["list", "list"]


def test_a_newer_snapshot_waits_until_the_state_of_the_installed_one_is_read() -> None:
    """Another cluster commits while the thread reads: whoever lists next has to wait for it."""
    writers = updates("60 s") | {
        "other cluster": log_writer(INSERT, ["59.9 s"]),
        "z late": together(INSERT, ["60.4 s"]),
    }
    run = log_run(writers)
    of_writer = {row["writer"]: row for row in rows(run)}
    reader, late = of_writer["w0-1"], of_writer["z late-1"]
    assert reader["snapshot_at_ms"] < late["submitted_at_ms"] < reader["commit_started_at_ms"]
    assert late["snapshot_at_ms"] > reader["commit_started_at_ms"]


def test_a_reader_whose_job_is_cancelled_leaves_the_reading_to_who_waits() -> None:
    writers = updates("60 s")
    writers["w0"]["deadline"] = "600 ms"
    writers["w1"] = together(UPDATE, ["60.01 s"])
    run = log_run(writers)
    cancelled, other = rows(run)[1:]
    assert cancelled["outcome"] != "committed"
    assert other["outcome"] == "committed"
    assert other["commit_started_at_ms"] == pytest.approx(60_600 + JOB_MS)
