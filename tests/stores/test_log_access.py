"""A transaction asks of the store what Delta would, in Delta's order, and it takes as long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.sim.sim_worlds import TABLE, ran, rows
from whitecap.sim.run import FinishedRun

STORE: dict[str, Any] = {
    "profile": "s3",
    "list": {"latency": "100 ms", "per_1000_keys": "0 ms"},
    "get": {"latency": "20 ms", "per_mib": "0 ms"},
    "head": {"latency": "10 ms"},
    "put": {"latency": "40 ms", "per_mib": "0 ms"},
    "copy": {"latency": "30 ms"},
    "delete": {"latency": "5 ms"},
    "put_if_absent": {"success": {"latency": "60 ms"}, "loss": {"latency": "60 ms"}},
    "spark": {"job": "500 ms", "parallel_reads": 4},
}
"""Every latency a constant, effects half way."""

CHECKSUM = ["head", "list", "put", "head", "head", "head", "list", "copy", "delete", "head", "head"]
CHECKSUM_MS = 10 + 100 + 40 + 30 + 100 + 30 + 5 + 20
CHECKSUM_SEEN_MS = 10 + 100 + 40 + 30 + 100 + 15
"""From its first request until it is readable: when its copy takes effect."""

OWN_COMMIT = ["put_if_absent", "head"]
READ = ["head", "get"]

INSERT = "INSERT INTO events VALUES :rows"
UPDATE = "UPDATE events SET amount = 0.5 WHERE date = :date"
DELETE = "DELETE FROM events WHERE event_id = 3"
MERGE = """MERGE INTO events AS t USING (SELECT * FROM VALUES (1, 2.0) AS v(event_id, amount)) AS s
ON t.event_id = s.event_id WHEN MATCHED THEN UPDATE SET amount = s.amount"""
ROWS = {"rows": {"rows": {"count": 2}}}
DATE = {"date": "newest"}


def log_writer(statement: str, at: Sequence[str], **more: Any) -> dict[str, Any]:
    """A group that runs a statement at some instants."""
    parameters = {name: kind for name, kind in {**ROWS, **DATE}.items() if f":{name}" in statement}
    arrival = {"schedule": {"at": list(at)}}
    return {"statement": statement, "parameters": parameters, "arrival": arrival, **more}


def log_run(writers: dict[str, Any], **parts: Any) -> FinishedRun:
    """Ten minutes with constant latencies."""
    given = {"store": STORE, "duration": "10 min", **parts}
    return ran(writers=writers, **given)


def log_kinds(run: FinishedRun) -> list[list[str]]:
    """The requests of each transaction, in order; `!` where the object was not there."""
    kinds: list[list[str]] = [[] for _ in rows(run)]
    for r in rows(run, "requests"):
        kinds[r["transaction_id"]].append(r["kind"] + ("!" if r["result"] == "missing" else ""))
    return kinds


def _spent(run: FinishedRun) -> list[float]:
    return [row["ended_at_ms"] - row["submitted_at_ms"] for row in rows(run)]


def test_a_warm_insert_lists_twice_and_reads_nothing() -> None:
    run = log_run({"w": log_writer(INSERT, ["0 s", "60 s"])})
    cold, warm = log_kinds(run)
    assert cold == ["head!", "list", *READ, "list", *OWN_COMMIT, *CHECKSUM]
    assert warm == ["list", "list", *OWN_COMMIT, *CHECKSUM]
    assert _spent(run)[1] == pytest.approx(200 + 60 + 10 + CHECKSUM_MS)


def test_the_commit_is_visible_since_its_put_and_the_writer_goes_on_later() -> None:
    run = log_run({"w": log_writer(INSERT, ["0 s", "60 s"])})
    warm = rows(run)[1]
    put = rows(run, "attempts")[1]
    assert rows(run, "commits")[-1]["committed_at_ms"] == put["effect_at_ms"] == 60_230
    assert warm["ended_at_ms"] == pytest.approx(60_260 + 10 + CHECKSUM_MS)


def test_the_snapshot_is_taken_at_the_effect_of_the_second_listing() -> None:
    run = log_run({"w": log_writer(INSERT, ["0 s", "60 s"])})
    assert rows(run)[1]["snapshot_at_ms"] == 60_150


@pytest.mark.parametrize("statement", [UPDATE, DELETE, MERGE])
def test_commands_that_ask_for_files_read_the_state_in_parallel(statement: str) -> None:
    """Version 5 without a checkpoint: six commits in four tasks are two reads after each other."""
    loads = log_writer(INSERT, ["0 s", "10 s", "20 s", "30 s"])
    run = log_run({"load": loads, "w": log_writer(statement, ["60 s"])})
    assert log_kinds(run)[-1][:5] == ["head!", "list", *READ, "list"]
    assert log_kinds(run)[-1][5:11] == ["get"] * 6
    assert log_kinds(run)[-1][11:13] == OWN_COMMIT
    row = rows(run)[-1]
    assert row["commit_started_at_ms"] - row["snapshot_at_ms"] == pytest.approx(50 + 500 + 2 * 20)


def test_a_state_that_was_read_is_kept_until_something_is_new() -> None:
    """Nothing is deleted, so nothing is committed, and the second look finds the same segment."""
    nothing = "DELETE FROM events WHERE date = :date AND event_id = -1"
    run = log_run({"w": log_writer(nothing, ["0 s", "60 s"])})
    first, second = log_kinds(run)
    assert first == ["head!", "list", *READ, "list", "get", "get"]
    assert second == ["list", "list"]


def test_a_batch_of_a_stream_lists_once_and_reads_the_state() -> None:
    stream = {
        "streaming": {"checkpoint": "c", "rows": {"count": 3}},
        "arrival": {"schedule": {"at": ["0 s", "60 s"]}},
    }
    first, second = log_kinds(log_run({"s": stream}))
    assert first == ["head!", "list", *READ, "get", "get", *OWN_COMMIT, *CHECKSUM]
    assert second == ["list", "get", "get", "get", *OWN_COMMIT, *CHECKSUM]


def test_optimize_takes_one_snapshot_for_all_of_its_batches() -> None:
    setting = {"spark.databricks.delta.optimize.batchSize": "1"}
    run = log_run({"w": log_writer("OPTIMIZE events", ["0 s"])}, settings=setting)
    (kinds,) = log_kinds(run)
    assert kinds[:7] == ["head!", "list", *READ, "list", "get", "get"]
    assert kinds.count("put_if_absent") > 3
    lost = [a for a in rows(run, "attempts") if a["result"] == "already_exists"]
    created = [a for a in rows(run, "attempts") if a["result"] == "created"]
    assert len(lost) == len(created) - 1  # every batch but the first meets the one before


def test_a_statement_that_reads_its_table_lists_for_that_too() -> None:
    copy = "INSERT INTO events SELECT event_id + 1000000, date, country, amount FROM events"
    (kinds,) = log_kinds(log_run({"w": log_writer(copy, ["0 s"])}))
    assert kinds[:8] == ["head!", "list", *READ, "list", "list", "get", "get"]


def test_who_finds_something_new_reads_one_checksum_however_much_it_is() -> None:
    loads = log_writer(INSERT, ["10 s", "20 s", "30 s", "40 s", "50 s"])
    run = log_run({"rare": log_writer(INSERT, ["0 s", "100 s"]), "load": loads})
    assert log_kinds(run)[-1] == ["list", *READ, "list", *OWN_COMMIT, *CHECKSUM]


def test_a_checksum_that_is_not_there_yet_costs_a_job_over_the_log() -> None:
    """The other writer lists while the checksum of the first one's commit is still on its way.

    What it reads then has no checksum to derive its own from: that takes the state.
    """
    put_ms = 200 + 30
    appears_ms = put_ms + 30 + 10 + CHECKSUM_SEEN_MS
    late_ms, early_ms = appears_ms - 100, appears_ms - 110
    for start_ms, is_there in ((late_ms, True), (early_ms, False)):
        warm = {"first": log_writer(INSERT, ["40 s", "60 s"])}
        second = log_writer(INSERT, ["30 s", f"{60_000 + start_ms} ms"])
        last = log_kinds(log_run({**warm, "second": second}))[-1]
        log = ["get"] * 5
        reads, derives = (READ, []) if is_there else (["head!", *log], log)
        assert last == ["list", *reads, "list", *OWN_COMMIT, *derives, *CHECKSUM], start_ms


def test_a_job_that_reads_metadata_alone_may_take_less_than_one_that_reads_the_state() -> None:
    """Both are needed where two checksums are missing, in one insert after the other's."""
    warm = {"first": log_writer(INSERT, ["40 s", "60 s"])}
    writers = {**warm, "second": log_writer(INSERT, ["30 s", "60300 ms"])}
    spark = STORE["spark"] | {"metadata_job": "100 ms"}
    as_long, shorter = (
        log_run(writers, store=STORE | {"spark": given}) for given in (STORE["spark"], spark)
    )
    assert log_kinds(as_long) == log_kinds(shorter)
    assert _spent(as_long)[-1] - _spent(shorter)[-1] == pytest.approx(400)


WARM = log_writer(INSERT, ["0 s", "60 s"])
OTHER = log_writer(INSERT, ["30 s"])
"""So that all of the others find the same that is new."""


def _from_the_put(kinds: list[str]) -> list[str]:
    return kinds[kinds.index("put_if_absent") :]


def test_a_lost_race_costs_one_listing_and_the_winners_one_by_one() -> None:
    """Three loaders at once: the third loses to the first, then to the second."""
    run = log_run({**{f"w{n}": WARM for n in range(3)}, "other": OTHER})
    first, second, third = (_from_the_put(kinds) for kinds in log_kinds(run)[-3:])
    retry = ["put_if_absent", "list", *READ]
    assert first == [*OWN_COMMIT, *CHECKSUM]
    assert second[:6] == [*retry, *OWN_COMMIT]
    assert third[:10] == [*retry, *retry, *OWN_COMMIT]
    by_transaction: dict[int, list[float]] = {}
    for attempt in rows(run, "attempts"):
        by_transaction.setdefault(attempt["transaction_id"], []).append(attempt["sent_at_ms"])
    first_ms, second_ms, third_ms = by_transaction[6]
    assert second_ms - first_ms == third_ms - second_ms == pytest.approx(60 + 100 + 30)


def test_the_winners_of_one_listing_are_read_until_one_of_them_refuses() -> None:
    """Two appends and an update are in the way of an update that began before them."""
    others = {f"w{n}": log_writer(INSERT, [f"{50 + n} s"]) for n in range(2)}
    others["first"] = log_writer(UPDATE, ["52 s"])
    late = {f"l{n}": log_writer(INSERT, [f"{54 + n} s"]) for n in range(2)}
    slow = log_writer("OPTIMIZE events", ["48 s"], compute="20 s")
    run = log_run({"slow": slow, **others, **late})
    kinds = _from_the_put(log_kinds(run)[0])
    retry = kinds[1:]
    assert rows(run)[0]["winning_version"] == 4
    assert retry[: 1 + 3 * 2] == ["list", *READ * 3]
    assert retry[7] != "head"  # the fourth and the fifth winner are not read


def test_a_rebased_commit_without_the_winners_checksum_reads_the_log_afterwards() -> None:
    run = log_run({"a": WARM, "b": WARM, "other": OTHER})
    rebased = _from_the_put(log_kinds(run)[-1])
    files = rows(run, "commits")[-1]["version"] + 1
    assert rebased[4:6] == OWN_COMMIT
    assert rebased[6:8] == ["head!", "head!"]  # neither the winner's checksum nor its own is there
    assert rebased[8:] == [*["get"] * files * 2, *CHECKSUM]  # protocol and metadata, then all


def test_every_tenth_version_is_checkpointed_by_who_commits_it() -> None:
    run = log_run({"w": log_writer(INSERT, [f"{10 * n} s" for n in range(11)])})
    kinds = {row["committed_version"]: k for row, k in zip(rows(run), log_kinds(run), strict=True)}
    pointer, clean_up = ["head", "list", "put"], ["list", "head", "list"]
    written = ["put", "head", *pointer]
    tenth = ["list", "list", *OWN_COMMIT, *["get"] * 11, *CHECKSUM, *written]
    assert kinds[10] == [*tenth, "head!", *clean_up] or kinds[10] == [*tenth, *READ, *clean_up]
    assert kinds[11] == ["list", *READ, "list", *OWN_COMMIT, *CHECKSUM]
    assert len(kinds[9]) == len(kinds[2]) - 3  # the second is the writer's first: it was cold


def test_after_a_checkpoint_only_what_follows_it_is_read() -> None:
    loads = log_writer(INSERT, [f"{10 * n} s" for n in range(11)])
    run = log_run({"load": loads, "w": log_writer(UPDATE, ["200 s"])})
    keys = [r["key"] for r in rows(run, "requests") if r["transaction_id"] == len(rows(run)) - 1]
    state = [key for key in keys[5:] if key.endswith((".json", ".parquet"))][:3]
    assert [key.rpartition("/")[2].lstrip("0") for key in state[:2]] == [
        "10.checkpoint.parquet",
        "11.json",
    ]


def test_the_interval_of_checkpoints_is_the_tables() -> None:
    table = {**TABLE, "properties": {"delta.checkpointInterval": 3}}
    run = log_run({"w": log_writer(INSERT, [f"{10 * n} s" for n in range(6)])}, table=table)
    versions = [row["committed_version"] for row in rows(run)]
    by_length = {v for v, kinds in zip(versions, log_kinds(run), strict=True) if len(kinds) > 20}
    assert by_length == {3, 6}


def test_without_checkpoints_a_state_takes_ever_longer() -> None:
    table = {**TABLE, "properties": {"delta.checkpointInterval": 1_000_000}}
    run = log_run({"w": log_writer(UPDATE, [f"{10 * n} s" for n in range(20)])}, table=table)
    attempts = rows(run)
    assert len(attempts) == 20
    for row in attempts[1:]:
        reads = -(-(row["read_version"] + 1) // 4)
        window_ms = row["commit_started_at_ms"] - row["snapshot_at_ms"]
        assert window_ms == pytest.approx(50 + 500 + 20 * reads)
