"""Each protocol asks what its log store asks, in that order, and takes the sum of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.sim.sim_worlds import INSERT, TABLE, ran, rows, scenario
from whitecap.sim.run import FinishedRun
from whitecap.sim.scenario.store import StoreSection

TIMED = {**TABLE, "properties": {"delta.enableInCommitTimestamps": True}}
COMMIT = {
    "s3": "put_if_absent",
    "gcs": "put_if_absent",
    "s3-single-driver": "head! list head! list put",
    "s3-dynamodb": ("head! list get_item head list put put_item head get head! list put put_item"),
    "hdfs": "head! put rename",
    "abfs": "head! put rename",
}
"""Of an uncontended commit, from its first request to where the log store's write returns; `!`: the
object was not there."""

LOST_EARLY = {"s3-single-driver": "head", "s3-dynamodb": "head", "hdfs": "head", "abfs": "head"}
"""Of an attempt at a version that was there before."""

CATALOG = Counter({"list": 1, "put": 1, "head": 1, "ratify": 1})


def _run(profile: str, store: dict[str, Any] | None = None, **parts: Any) -> FinishedRun:
    """One writer, three commits a minute."""
    writer = {**INSERT, "arrival": {"schedule": {"every": "20 s"}}, "compute": "1 s"}
    given = {"writers": {"w": writer}, "duration": "1 min", "table": TIMED, **parts}
    return ran(store={"profile": profile, **(store or {})}, **given)


def _requests(run: FinishedRun, attempt: dict[str, Any]) -> list[str]:
    """What was sent within an attempt, in order."""
    ends_ms = attempt["reply_at_ms"]
    return [
        r["kind"] + ("!" if r["result"] == "missing" else "")
        for r in rows(run, "requests")
        if r["transaction_id"] == attempt["transaction_id"]
        and attempt["sent_at_ms"] <= r["sent_at_ms"] < ends_ms
    ]


@pytest.mark.parametrize("profile", COMMIT)
def test_a_commit_asks_what_its_log_store_asks(profile: str) -> None:
    run = _run(profile)
    attempts = rows(run, "attempts")
    assert len(attempts) == 3
    for attempt in attempts:
        asked = [kind.replace("get_item!", "get_item") for kind in _requests(run, attempt)]
        assert asked == COMMIT[profile].split()


@pytest.mark.parametrize("profile", LOST_EARLY)
def test_who_comes_late_learns_it_by_the_first_request(profile: str) -> None:
    quick = {**INSERT, "arrival": {"schedule": {"at": ["1 s"]}}, "compute": "1 s"}
    run = _run(profile, writers={"quick": quick, "slow": {**quick, "compute": "9 s"}})
    first_of_slow = rows(run, "attempts")[1]
    assert first_of_slow["result"] == "already_exists"
    assert _requests(run, first_of_slow) == LOST_EARLY[profile].split()


def test_a_catalog_is_asked_by_every_snapshot_and_ratifies_what_was_staged() -> None:
    run = _run("catalog-managed")
    (first, *_) = rows(run, "attempts")
    assert Counter(_requests(run, first)) == CATALOG
    mine = [r for r in rows(run, "requests") if r["transaction_id"] == 1]
    snapshot = sorted(r["kind"] for r in mine[:2])
    assert snapshot == ["get_commits", "list"]
    assert mine[0]["sent_at_ms"] == mine[1]["sent_at_ms"]
    published = [r for r in mine if r["kind"] == "put_if_absent"]
    assert [r["key"] for r in published] == ["_delta_log/00000000000000000003.json"]
    assert not run.world.store.unpublished


def test_what_a_catalog_ratified_is_read_before_it_is_published() -> None:
    slow = {"put_if_absent": {"success": {"latency": "30 s"}, "loss": {"latency": "30 s"}}}
    run = _run("catalog-managed", store=slow, duration="90 s")
    assert [r["read_version"] for r in rows(run)] == [1, 2, 3, 4, 5]
    assert run.world.store.unpublished


# Time ----------------------------------------------------------------------------------------


def _mean_ms(store: StoreSection, kind: str) -> float:
    """Without what is in proportion to bytes."""
    services = {"get_item": store.dynamodb, "put_item": store.dynamodb}
    owner = services.get(kind, store)
    return float(getattr(owner, kind).mean_ms())


@pytest.mark.parametrize("profile", ["s3-single-driver", "s3-dynamodb", "hdfs", "abfs"])
def test_a_commit_takes_the_sum_of_its_requests(profile: str) -> None:
    """Means add up; 1,500 commits know theirs to about one in two hundred."""
    plain = {name: {"per_mib": "0 ms"} for name in ("put", "get")}
    store = {"list": {"per_1000_keys": "0 ms"}, **plain}
    writer = {**INSERT, "count": 1, "arrival": {"schedule": {"every": "10 s"}}, "compute": "1 s"}
    run = _run(profile, store=store, writers={"w": writer}, duration="15000 s")
    taken_ms = [a["reply_at_ms"] - a["sent_at_ms"] for a in rows(run, "attempts")]
    measured_ms = sum(taken_ms) / len(taken_ms)
    model = scenario(store={"profile": profile}, table=TIMED).store
    expected_ms = sum(_mean_ms(model, kind.strip("!")) for kind in COMMIT[profile].split())
    assert len(taken_ms) >= 1499
    assert measured_ms == pytest.approx(expected_ms, rel=0.01)


def test_a_catalog_commit_takes_the_longer_of_two_ways_and_its_ratification() -> None:
    exact = {
        **{name: {"latency": f"{ms} ms"} for name, ms in {"head": 10, "list": 500}.items()},
        "put": {"latency": "40 ms", "per_mib": "0 ms"},
        "catalog": {"ratify": {"latency": "70 ms"}},
    }
    run = _run("catalog-managed", store=exact)
    (first, *_) = rows(run, "attempts")
    assert first["reply_at_ms"] - first["sent_at_ms"] == pytest.approx(500 + 70)
    assert first["effect_at_ms"] - first["sent_at_ms"] == pytest.approx(500 + 35)
    landed = {row["version"]: row["committed_at_ms"] for row in rows(run, "commits")}
    assert landed[first["version"]] == first["effect_at_ms"]


@pytest.mark.parametrize("profile", ["s3-dynamodb", "s3-single-driver", "hdfs", "catalog-managed"])
def test_the_commit_is_where_the_protocol_has_it(profile: str) -> None:
    decides = {
        "s3-dynamodb": "put_item",
        "s3-single-driver": "put",
        "hdfs": "rename",
        "catalog-managed": "ratify",
    }[profile]
    run = _run(profile)
    landed = {row["version"]: row["committed_at_ms"] for row in rows(run, "commits")}
    effects = {r["effect_at_ms"] for r in rows(run, "requests") if r["kind"] == decides}
    attempts = rows(run, "attempts")
    assert attempts
    for attempt in attempts:
        assert attempt["effect_at_ms"] == landed[attempt["version"]]
        assert attempt["effect_at_ms"] in effects


def test_the_requests_that_carry_a_commit_through_dynamodb_take_three_puts() -> None:
    """Without the probes of its file system client, 150 to 200 ms instead of one put's 61 ms."""
    model = scenario(store={"profile": "s3-dynamodb"}).store
    carry = ("get_item", "put", "put_item", "get", "put", "put_item")
    assert 150 < sum(_mean_ms(model, kind) for kind in carry) < 200
