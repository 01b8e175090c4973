"""What a log kept for long costs each listing, and what threads of one driver share."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from tests.sim.sim_worlds import TABLE, rows
from tests.stores.test_log_access import (
    CHECKSUM,
    INSERT,
    OWN_COMMIT,
    READ,
    STORE,
    log_kinds,
    log_run,
    log_writer,
)
from whitecap.sim.quantities.units import DAY_MS
from whitecap.sim.run import FinishedRun
from whitecap.sim.store.contents.log_directory import LogDirectory

TWICE = {"w": log_writer(INSERT, ["0 s", "60 s"])}


def _table(log: dict[str, Any] | None, **properties: Any) -> dict[str, Any]:
    return TABLE | ({} if log is None else {"log": log}) | {"properties": properties}


def _listings(run: FinishedRun, key: str = "_delta_log/") -> list[dict[str, Any]]:
    return [r for r in rows(run, "requests") if r["kind"] == "list" and r["key"] == key]


@pytest.mark.parametrize(
    ("log", "pages"),
    [
        (None, 1),
        ({"commits": 400}, 1),
        ({"commits": 2_000}, 5),
        ({"commits": 2_000, "checkpoint_interval": 1}, 7),
        ({"rate": "1 per h"}, 2),
        ({"rate": "1 per min", "retention": "1 d"}, 5),
    ],
    ids=str,
)
def test_a_listing_is_as_many_pages_as_the_log_needs(
    log: dict[str, Any] | None, pages: int
) -> None:
    run = log_run(TWICE, table=_table(log))
    assert log_kinds(run)[1] == [*["list"] * 2 * pages, *OWN_COMMIT, *CHECKSUM]
    warm = rows(run)[1]
    assert warm["snapshot_at_ms"] - warm["submitted_at_ms"] == 2 * pages * 100 - 50


def test_the_pages_of_a_listing_hold_the_log_together() -> None:
    run = log_run(TWICE, table=_table({"commits": 2_000}))
    of_the_warm_one = [r["size_bytes"] for r in _listings(run) if r["transaction_id"] == 1]
    at_the_start = 2 * 2  # the commits of the initial table, with their checksums
    checkpoint_and_pointer, first_commit = 2, 2
    objects = 4_200 + at_the_start + checkpoint_and_pointer + first_commit
    assert of_the_warm_one == [*[1_000] * 4, objects - 4_000] * 2


def test_the_pointer_is_one_object_in_whatever_order_its_writers_tell_of_it() -> None:
    directory = LogDirectory()
    directory.pointer_appears((5.0, 1))
    directory.pointer_appears((3.0, 2))
    directory.pointer_appears((4.0, 3))
    assert [directory.count((now_ms, 0)) for now_ms in (2.0, 3.5, 4.5, 6.0)] == [0, 1, 1, 1]


def test_nothing_expires_by_a_checkpoint_that_is_still_to_come() -> None:
    """Its writer may tell of it ahead of time."""
    directory = LogDirectory()
    for version in range(4):
        directory.landed(version, 100, float(version))
    there_ms = 2.0 * DAY_MS
    directory.checkpoint_appears(3, 10, (there_ms, 1))
    expired = partial(directory.take_expired, kept_ms=int(there_ms), epoch_ms=0)
    assert expired((there_ms - 1, 2)) == 0
    assert expired((there_ms, 2)) == 2 * 2


def test_keys_of_a_page_take_time() -> None:
    store = {**STORE, "list": {"latency": "100 ms", "per_1000_keys": "1 s"}}
    run = log_run(TWICE, table=_table({"commits": 100}), store=store)
    (listing, *_) = [r for r in _listings(run) if r["transaction_id"] == 1]
    assert listing["reply_at_ms"] - listing["sent_at_ms"] == 100 + listing["size_bytes"]


def test_a_fast_listing_is_one_page_however_long_the_log_is() -> None:
    store = {**STORE, "spark": {**STORE["spark"], "fast_listing": True}}
    run = log_run(TWICE, table=_table({"commits": 2_000}), store=store)
    fast = ["head", "list", "list"]
    assert log_kinds(run)[1] == [*fast * 2, *OWN_COMMIT, *CHECKSUM]


def _over_midnight(retention: str | None = None, **properties: Any) -> list[int]:
    """How many files the transactions delete, by version; version 10 comes before midnight."""
    at = [f"{5 * n} s" for n in range(1, 25)]
    table = _table({"rate": "1 per h", "retention": retention}, **properties)
    run = log_run({"w": log_writer(INSERT, at)}, table=table, start="2026-01-14 23:59:00")
    kinds = dict(zip([r["committed_version"] for r in rows(run)], log_kinds(run), strict=True))
    return [kinds[version].count("delete") - CHECKSUM.count("delete") for version in range(2, 26)]


def test_the_first_checkpoint_after_midnight_deletes_a_day_of_log() -> None:
    """24 commits with their checksums, and two or three checkpoints; everything in one commit."""
    deleted = _over_midnight()
    assert deleted[20 - 2] == round(24 * 2.1)
    assert sum(deleted) == deleted[20 - 2]


@pytest.mark.parametrize("days", [9, 40])
def test_a_retention_that_only_the_log_says_is_that_of_the_table(days: int) -> None:
    """Expired day by day as it was filled: not all at once, and not never."""
    stated = _over_midnight(None, **{"delta.logRetentionDuration": f"interval {days} days"})
    assert _over_midnight(f"{days} d") == stated == _over_midnight()


def test_without_clean_up_nothing_is_deleted() -> None:
    assert not any(_over_midnight(None, **{"delta.enableExpiredLogCleanup": False}))


def _together(cluster: str | None, **store: Any) -> FinishedRun:
    """Two writers that start at the same instants, of one cluster or of two."""
    group = log_writer(INSERT, ["0 s", "60 s"], count=2, compute="1 s")
    return log_run({"w": group | ({"cluster": cluster} if cluster else {})}, store=STORE | store)


def test_threads_of_a_driver_list_one_after_the_other() -> None:
    for cluster, apart_ms in ((None, 0), ("etl", 100)):
        started = {
            r["transaction_id"]: r["sent_at_ms"] for r in reversed(_listings(_together(cluster)))
        }
        assert abs(started[2] - started[3]) == apart_ms, cluster


def test_threads_of_a_driver_share_what_it_knows_of_the_log() -> None:
    """The second thread is not cold, and the first one's commit is nothing new to it."""
    group = log_writer(INSERT, ["0 s"])
    late = {**group, "arrival": {"schedule": {"at": ["30 s"]}}}
    shared = log_run({"a": {**group, "cluster": "etl"}, "b": {**late, "cluster": "etl"}})
    assert log_kinds(shared)[1] == ["list", "list", *OWN_COMMIT, *CHECKSUM]
    apart = log_run({"a": group, "b": late})
    assert log_kinds(apart)[1] == ["head!", "list", *READ, "list", *OWN_COMMIT, *CHECKSUM]


def test_commits_of_a_driver_exclude_each_other_where_the_log_store_has_a_lock() -> None:
    """The second one's snapshot is old by then: it loses all the same, but only then."""
    slow = {"success": {"latency": "300 ms"}, "loss": {"latency": "300 ms"}}
    free: dict[str, Any] = {"put_if_absent": slow}
    lock = free | {"log_store": {"commit_lock": True}}
    for cluster, store, overlap in (("etl", lock, False), ("etl", free, True), (None, lock, True)):
        attempts = rows(_together(cluster, **store), "attempts")
        assert [a["result"] for a in attempts].count("already_exists") == 2
        pairs = pairwise(attempts)
        overlaps = [later["sent_at_ms"] < earlier["reply_at_ms"] for earlier, later in pairs]
        assert any(overlaps) is overlap, (cluster, store)


def test_a_crash_of_a_driver_ends_what_all_of_its_threads_do() -> None:
    crash = {"writer_crash": {"rate": "1 per min", "restart": "10 s"}}
    group = log_writer(INSERT, ["0 s"], compute="9 min")
    names = ("a", "b")
    run = log_run({name: {**group, "cluster": "etl"} for name in names}, faults=[crash])
    first, second = rows(run)
    assert first["exception"] == second["exception"] == "WriterCrash"
    assert first["ended_at_ms"] == second["ended_at_ms"]
    apart = log_run(dict.fromkeys(names, group), faults=[crash])
    assert len({row["ended_at_ms"] for row in rows(apart)}) == 2
