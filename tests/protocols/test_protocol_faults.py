"""What goes wrong with each protocol in a run, and what its recording says of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sim.sim_worlds import INSERT, TABLE, ran, rows, scenario
from whitecap.engine.errors import InvalidInput
from whitecap.engine.log.commit_file import log_key
from whitecap.sim.oracles.runs.of_run import judge
from whitecap.sim.run import FinishedRun

TIMED = {**TABLE, "properties": {"delta.enableInCommitTimestamps": True}}
TOGETHER = {"schedule": {"every": "5 s"}}
EXCLUSIVE = ["s3", "s3-dynamodb", "hdfs", "abfs", "catalog-managed"]
DECIDES = {"s3-dynamodb": "put_item", "hdfs": "rename", "catalog-managed": "ratify"}


def _ran(store: dict[str, Any] | str, *faults: Any, **writer: Any) -> FinishedRun:
    """Three loaders that start a job at the same instants, for five minutes."""
    loader = {**INSERT, "count": 3, "arrival": TOGETHER, "compute": "1 s", **writer}
    store = {"profile": store} if isinstance(store, str) else store
    parts: dict[str, Any] = {"table": TIMED, "faults": list(faults), "writers": {"loader": loader}}
    return ran(store=store, duration="5 min", **parts)


def _bodies_of(run: FinishedRun) -> dict[int, list[int]]:
    """The versions of each transaction, by the files that are in the log."""
    versions: dict[int, list[int]] = {}
    for row in rows(run, "commits"):
        versions.setdefault(row["transaction_id"], []).append(row["version"])
    return versions


CRASHES = {"writer_crash": {"rate": "12 per min", "restart": "1 s"}}


@pytest.mark.parametrize("profile", EXCLUSIVE)
def test_drivers_that_die_lose_and_double_nothing(profile: str) -> None:
    run = _ran(profile, CRASHES)
    versions = _bodies_of(run)
    outcomes = {row["transaction_id"]: row["outcome"] for row in rows(run)}
    assert sum(row["rule"] == "writer_crash" for row in rows(run)) > 20
    assert all(len(own) == 1 for owner, own in versions.items() if owner is not None)
    for transaction, outcome in outcomes.items():
        if outcome in ("committed", "aborted"):
            assert (transaction in versions) == (outcome == "committed")
    assert not run.world.store.overwritten


def test_a_commit_whose_driver_dies_before_the_copy_is_finished_by_the_next_who_looks() -> None:
    """It dies a moment after its item is put; the other one copies and completes it."""
    store = {"profile": "s3-dynamodb", **_constant()}
    once = {**INSERT, "arrival": {"schedule": {"at": ["10 s"]}}, "compute": "1 s"}
    later = {**once, "arrival": {"schedule": {"at": ["20 s"]}}}
    plain = ran(store=store, table=TIMED, duration="1 min", writers={"a": once, "b": later})
    decided_ms = rows(plain, "attempts")[0]["effect_at_ms"]
    crash = {
        "writer_crash": {"rate": "100 per ms", "restart": "1 h"},
        "writers": ["a"],
        "between": [f"{decided_ms + 6} ms", f"{decided_ms + 7} ms"],
    }
    writers = {"a": once, "b": later}
    run = ran(store=store, table=TIMED, duration="1 min", writers=writers, faults=[crash])
    first, second = rows(run)
    assert (first["outcome"], second["outcome"]) == ("unknown", "committed")
    assert _bodies_of(run)[first["transaction_id"]] == [2]
    assert second["read_version"] == 2
    recovery = [
        r["kind"]
        for r in rows(run, "requests")
        if r["transaction_id"] == 1 and r["key"].startswith(log_key(2)) and ".crc" not in r["key"]
    ]
    assert recovery[:8] == ["head", "list", "head", "get", "head", "list", "put", "put_item"]


def _constant() -> dict[str, Any]:
    plain = ("head", "list", "get", "put", "copy", "delete")
    latencies: dict[str, Any] = {name: {"latency": "10 ms"} for name in plain}
    services = ("get_item", "query", "put_item")
    return latencies | {"dynamodb": {name: {"latency": "10 ms"} for name in services}}


@pytest.mark.parametrize(
    ("ttl", "skew"), [("0 s", "0 s"), ("1 d", {"behind": "2 d"}), ("1 s", {"behind": "2 s"})]
)
def test_an_item_that_goes_too_soon_loses_commits_without_a_word(ttl: str, skew: Any) -> None:
    """Whoever has looked for the file before it was copied puts a second item after the first went:
    its own copy finds the file there, and it believes in a commit that is another's."""
    store = {"profile": "s3-dynamodb", "dynamodb": {"ttl": ttl}, **_slow_temporary_files()}
    run = _ran(store, clock_skew=skew)
    lost = {(commit.transaction_id, commit.version) for commit in run.world.store.overwritten}
    believed = {
        (row["transaction_id"], row["committed_version"])
        for row in rows(run)
        if row["outcome"] == "committed"
    }
    in_the_log = {(row["transaction_id"], row["version"]) for row in rows(run, "commits")}
    assert lost
    assert lost <= believed
    assert believed - lost <= in_the_log
    assert not lost & in_the_log
    assert run.recording.manifest["live_rows"] == 120 + 4 * (len(in_the_log) - 2)


def _slow_temporary_files() -> dict[str, Any]:
    """Puts between a tenth of a second and two, so that some are overtaken while they write."""
    return {"put": {"latency": {"uniform": {"low": "100 ms", "high": "2 s"}}}}


@pytest.mark.parametrize("skew", ["0 s", {"ahead": "2 d"}])
def test_an_item_that_stays_long_enough_loses_nothing(skew: Any) -> None:
    run = _ran({"profile": "s3-dynamodb", **_slow_temporary_files()}, clock_skew=skew)
    assert not run.world.store.overwritten
    assert run.recording.manifest["counts"]["committed"] > 100


def test_one_driver_excludes_its_own_writers_and_two_lose_commits() -> None:
    store = "s3-single-driver"
    assert not _ran(store, cluster="etl").world.store.overwritten
    lost = _ran(store).world.store.overwritten
    assert lost


def _one_driver(policy: str, *faults: Any, **group: Any) -> FinishedRun:
    """Two writers of a driver that only its lock protects, whose client sends again after 30 s."""
    client = {"on_lost_reply": policy, "timeout": "30 s"}
    store = {"profile": "s3-single-driver", "client": client}
    paced = {"arrival": {"schedule": {"every": "2 min"}}, "compute": "5 s"}
    writers = {"a": {**INSERT, "count": 2, "cluster": "one", **paced, **group}}
    return ran(store=store, duration="30 min", writers=writers, faults=list(faults))


LATE = {"late_effect": {"nth": 2, "delay": "60 s"}, "writers": ["a-1"]}


@pytest.mark.parametrize(("policy", "lost"), [("resend", 0), ("surface", 1)])
def test_one_driver_lets_nobody_in_between_while_its_client_sends_again(
    policy: str, lost: int
) -> None:
    """Without a reply the log store's call has not ended, unless its caller takes it for one."""
    run = _one_driver(policy, LATE)
    assert len(run.world.store.overwritten) == lost
    assert bool(judge(run).findings) == bool(lost)


@pytest.mark.parametrize("deadline", [None, "3 min"])
def test_what_is_given_up_while_in_doubt_keeps_nobody_out(deadline: str | None) -> None:
    """By a client that gets no reply at all, and by a deadline before it has sent that often."""
    deaf = {
        "lost_reply": {"probability": 1.0}, "writers": ["a-1"], "between": ["110 s", "8 min"]
    }  # fmt: skip
    run = _one_driver("resend", deaf, deadline=deadline)
    ends = [row["ended_at_ms"] for row in rows(run) if row["writer"] == "a-2"]
    assert sum(end_ms is not None and end_ms > 10 * 60_000 for end_ms in ends) >= 8


@pytest.mark.parametrize("profile", DECIDES)
@pytest.mark.parametrize("policy", ["surface", "resend", "resend_and_check"])
def test_a_lost_reply_to_what_decides_is_in_doubt(profile: str, policy: str) -> None:
    """`put_if_absent` names what decides, whatever the protocol."""
    store = {"profile": profile, "client": {"on_lost_reply": policy, "timeout": "500 ms"}}
    run = _ran(store, {"lost_reply": {"probability": 0.4}})
    outcomes = [row["outcome"] for row in rows(run)]
    owned = [own for owner, own in _bodies_of(run).items() if owner is not None]
    unanswered = {r["kind"] for r in rows(run, "requests") if r["reply_at_ms"] is None}
    assert DECIDES[profile] in unanswered
    match policy:
        case "surface":
            assert outcomes.count("unknown") > 10
            assert max(map(len, owned)) == 1
        case "resend":
            assert max(map(len, owned)) > 1  # its own commit in the way is taken for another's
        case "resend_and_check":
            assert max(map(len, owned)) == 1
            assert set(outcomes) <= {"committed", "in_flight"}


def test_a_copy_that_is_throttled_to_the_end_is_left_to_others() -> None:
    throttled = {"throttling": {"probability": 0.5, "requests": ["put"]}}
    store = {"profile": "s3-dynamodb", "client": {"throttle_retries": 0}}
    run = _ran(store, throttled)
    unknown = [row for row in rows(run) if row["rule"] == "store_refused"]
    in_the_log = set(_bodies_of(run))
    assert {row["outcome"] for row in unknown} == {"aborted", "unknown"}
    for row in unknown:
        assert (row["transaction_id"] in in_the_log) == (row["outcome"] == "unknown")


def test_a_commit_is_published_whatever_the_deadline_of_the_job_that_made_it() -> None:
    """The job succeeded: there is nothing left of it to cancel."""
    published = {name: {"latency": "20 s"} for name in ("success", "loss")}
    store = {"profile": "catalog-managed", "put_if_absent": published}
    writer = {**INSERT, "arrival": {"schedule": {"at": ["1 s"]}}, "compute": "1 s"}
    loader = {**writer, "deadline": "10 s"}
    run = ran(store=store, table=TIMED, duration="1 min", writers={"loader": loader})
    (job,) = rows(run)
    assert (job["outcome"], job["ended_at_ms"] < 10_000) == ("committed", True)
    requests = [row for row in rows(run, "requests") if row["kind"] == "put_if_absent"]
    assert [row["result"] for row in requests] == ["created"]


@pytest.mark.parametrize(
    ("store", "said"),
    [
        ({"profile": "s3", "log_store": {"protocol": "dynamodb"}}, "needs dynamodb"),
        ({"profile": "s3", "log_store": {"protocol": "catalog"}}, "needs catalog"),
        ({"profile": "s3", "log_store": {"protocol": "rename"}}, "a rename is a copy"),
        ({"profile": "s3", "log_store": {"protocol": "single_driver"}}, "needs log_store.probe"),
        ({"profile": "s3", "log_store": {"protocol": "two_phase"}}, "protocol"),
        ({"profile": "catalog-managed"}, "delta.enableInCommitTimestamps: true"),
    ],
)
def test_a_protocol_that_a_store_cannot_have_is_refused(store: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        scenario(store=store)


def test_a_protocol_is_another_profiles_where_the_store_has_what_it_needs() -> None:
    run = ran(store={"profile": "s3-dynamodb", "log_store": {"protocol": "conditional_put"}})
    kinds = {row["kind"] for row in rows(run, "requests")}
    assert "put_if_absent" in kinds
    assert not kinds & {"put_item", "get_item", "query"}
