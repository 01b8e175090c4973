"""A driver whose clock is wrong writes wrong times, and nothing else goes by its clock."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.sim.sim_worlds import INSERT, TABLE, ran, rows, scenario
from whitecap.engine.errors import InvalidInput
from whitecap.engine.log.commit_file import Commit
from whitecap.sim.run import FinishedRun

TIMED = {**TABLE, "properties": {"delta.enableInCommitTimestamps": True}}
EVERY_10_S = {**INSERT, "arrival": {"schedule": {"every": "10 s"}}, "compute": "1 s"}
HOUR_MS = 3_600_000


def _two(skew: Any, **parts: Any) -> FinishedRun:
    """A writer with the right time, and one with another, in turn."""
    right = {**EVERY_10_S, "starts": "5 s"}
    wrong = {**EVERY_10_S, "clock_skew": skew}
    return ran(writers={"right": right, "wrong": wrong}, duration="1 min", **parts)


def _commits(run: FinishedRun) -> list[tuple[str, float, Commit]]:
    """Whose each commit is, when its attempt was sent (epoch ms), and what it says."""
    writers = {row["transaction_id"]: row for row in rows(run)}
    attempts = {
        (row["transaction_id"], row["version"]): row["sent_at_ms"] for row in rows(run, "attempts")
    }
    history = run.world.tables[0].shared.commits
    commits = []
    for row in rows(run, "commits"):
        owner, version = row["transaction_id"], row["version"]
        if owner is not None:
            stored = run.world.store.objects[f"_delta_log/{version:020}.json"]
            commit = history.commit(version, stored.body, stored.modified_at_ms)
            sent_ms = run.world.store.epoch_ms + attempts[owner, version]
            commits.append((writers[owner]["writer_group"], sent_ms, commit))
    return commits


@pytest.mark.parametrize(
    ("skew", "ms"),
    [("1 h", HOUR_MS), ({"ahead": "1 h"}, HOUR_MS), ({"behind": "1 h"}, -HOUR_MS)],
)
def test_commit_info_holds_the_drivers_time(skew: Any, ms: int) -> None:
    commits = _commits(_two(skew))
    assert {group for group, _, _ in commits} >= {"wrong"}
    for group, sent_ms, commit in commits:
        assert commit.commit_info is not None
        expected = sent_ms + (ms if group == "wrong" else 0)
        assert commit.commit_info.timestamp == pytest.approx(expected, abs=1)


def test_in_commit_timestamps_never_go_back_and_stay_ahead_with_the_clock_that_is() -> None:
    """After an hour from the future everybody counts up by one, as max(now, before + 1) says."""
    commits = _commits(_two("1 h", table=TIMED))
    times = [
        c.commit_info.in_commit_timestamp or 0 for _, _, c in commits if c.commit_info is not None
    ]
    assert times == sorted(set(times))
    first = next(n for n, (group, _, _) in enumerate(commits) if group == "wrong")
    for before, (group, _, commit) in zip(times[first:], commits[first + 1 :], strict=False):
        assert commit.commit_info is not None
        if group == "right":
            assert commit.commit_info.in_commit_timestamp == before + 1


def test_a_value_that_asks_for_the_time_is_the_drivers() -> None:
    table = {**TABLE, "schema": "event_id BIGINT, at TIMESTAMP", "partition_by": [], "values": {}}
    statement = "INSERT INTO events SELECT 1000000, current_timestamp()"
    writers = {
        "w": {
            "statement": statement,
            "arrival": {"schedule": {"at": ["1 s"]}},
            "clock_skew": {"behind": "1 h"},
        }
    }
    run = ran(table={**table, "key": None}, writers=writers, duration="20 s")
    (written,) = [f for f in run.world.store.data_files.values() if f.written_at_ms]
    (row,) = written.written.rows
    stamp_ms = row[1].timestamp() * 1000
    assert stamp_ms == pytest.approx(run.world.store.epoch_ms + 1000 - HOUR_MS, abs=2000)


def test_files_keep_the_stores_time() -> None:
    run = _two("1 h")
    commits = rows(run, "commits")
    assert commits
    for row in commits:
        stored = run.world.store.objects[f"_delta_log/{row['version']:020}.json"]
        expected = run.world.store.epoch_ms + int(row["committed_at_ms"])
        assert stored.modified_at_ms == expected


def test_what_expires_of_the_log_goes_by_the_clock_of_who_cleans_up() -> None:
    """A day ahead, one more day of the log is deleted."""
    table = {**TABLE, "log": {"rate": "1 per h", "retention": "9 d"}}
    table |= {"properties": {"delta.logRetentionDuration": "interval 9 days"}}

    def deleted(skew: Any) -> int:
        writer = {**EVERY_10_S, **({} if skew is None else {"clock_skew": skew})}
        run = ran(writers={"w": writer}, table=table, duration="3 min")
        keys = [row["key"] for row in rows(run, "requests") if row["kind"] == "delete"]
        return sum(key.endswith(".json") for key in keys)

    assert deleted({"behind": "1 d"}) == 0
    assert deleted({"ahead": "1 d"}) > deleted(None)


def test_verdicts_do_not_depend_on_clocks() -> None:
    outcomes = [[r["outcome"] for r in rows(_two(s))] for s in ("0 s", "1 h", {"behind": "9 h"})]
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_it_is_drawn_once_for_each_cluster() -> None:
    group = {
        **EVERY_10_S,
        "count": 6,
        "clock_skew": {"either_way": {"exponential": {"mean": "1 h"}}},
    }
    run = ran(writers={"w": group}, duration="1 min")
    skews: dict[int, set[int]] = {}
    for row in rows(run, "commits"):
        stored = run.world.store.objects[f"_delta_log/{row['version']:020}.json"]
        line = msgspec.json.decode(stored.body.partition(b"\n")[0])
        if row["transaction_id"] is not None:
            writer = rows(run)[row["transaction_id"]]["writer"]
            late = line["commitInfo"]["timestamp"] - stored.modified_at_ms
            skews.setdefault(writer, set()).add(round(late / 10_000))
    assert len(skews) == 6
    assert all(len(own) <= 2 for own in skews.values())
    assert {min(own) > 0 for own in skews.values()} == {True, False}


def test_a_cluster_has_one_clock() -> None:
    writer = {**EVERY_10_S, "cluster": "etl", "clock_skew": "1 s"}
    with pytest.raises(InvalidInput, match="cluster 'etl' has one clock"):
        scenario(writers={"a": writer, "b": {**writer, "clock_skew": "2 s"}})
    scenario(writers={"a": writer, "b": {**EVERY_10_S, "cluster": "etl"}})
