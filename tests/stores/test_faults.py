"""Faults: an effect without a reply, an effect too late, refusals, drivers that die."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.sim.sim_worlds import INSERT, UPDATE, ran, rows, scenario
from whitecap.sim.quantities.distributions import Distribution
from whitecap.sim.scenario.faults import Fault
from whitecap.sim.store.requests.faults import Sending, crashes_of, faults_of, next_crash
from whitecap.sim.store.requests.kinds import RequestKind
from whitecap.sim.store.requests.latency import latencies_of
from whitecap.sim.store.requests.tape import Tape, Tapes
from whitecap.sim.time.random_streams import RandomStreams

LOADERS = {"loader": {**INSERT, "count": 3, "arrival": {"closed": {"think": "5 s"}}}}


def _hit(fault: dict[str, Any], store: Any = "s3", **parts: Any) -> Any:
    return ran(**{"faults": [fault], "store": store, "writers": LOADERS, **parts})


def _versions_of(run: Any) -> dict[int, list[int]]:
    owned: dict[int, list[int]] = {}
    for commit in rows(run, "commits"):
        if commit["transaction_id"] is not None:
            owned.setdefault(commit["transaction_id"], []).append(commit["version"])
    return owned


def test_a_lost_reply_leaves_the_commit_in_the_log_and_its_writer_in_doubt() -> None:
    run = _hit({"lost_reply": {"probability": 0.3}})
    owned = _versions_of(run)
    doubtful = [r for r in rows(run) if r["outcome"] == "unknown"]
    assert len(doubtful) > 10
    assert any(r["transaction_id"] in owned for r in doubtful)
    for r in doubtful:
        assert r["ended_at_ms"] - r["commit_started_at_ms"] >= 29_999
        assert r["committed_version"] is None


def test_sending_again_without_a_check_commits_a_blind_append_twice() -> None:
    store = {"profile": "s3", "client": {"on_lost_reply": "resend", "timeout": "1 s"}}
    run = _hit({"lost_reply": {"probability": 0.3}}, store)
    twice = [versions for versions in _versions_of(run).values() if len(versions) > 1]
    assert twice


def test_with_the_check_of_transaction_ids_nothing_is_committed_twice() -> None:
    store = {"profile": "s3", "client": {"on_lost_reply": "resend_and_check", "timeout": "1 s"}}
    run = _hit({"lost_reply": {"probability": 0.3}}, store)
    assert all(len(versions) == 1 for versions in _versions_of(run).values())
    assert {r["outcome"] for r in rows(run)} <= {"committed", "in_flight"}


def test_a_lost_read_costs_the_timeout_and_nothing_else() -> None:
    fault = {"lost_reply": {"probability": 0.1, "requests": ["get", "list"]}}
    run = _hit(fault, {"profile": "s3", "client": {"timeout": "7 s"}})
    unanswered = [r for r in rows(run, "requests") if r["reply_at_ms"] is None]
    assert {r["kind"] for r in unanswered} == {"get", "list"}
    assert {r["outcome"] for r in rows(run)} <= {"committed", "in_flight"}


def test_a_late_effect_comes_after_its_writer_gave_up() -> None:
    fault = {"late_effect": {"probability": 0.3, "delay": "10 s"}}
    store = {"profile": "s3", "client": {"timeout": "5 s"}}
    slow = {"arrival": {"closed": {"think": {"exponential": {"mean": "20 s"}}}}, "count": 2}
    run = _hit(fault, store, writers={"loader": {**INSERT, **slow}}, duration="1 h")
    late = [a for a in rows(run, "attempts") if a["result"] == "unknown" and a["effect_at_ms"]]
    assert late
    for attempt in late:  # 15 s, and up to 21 ms at the key
        assert 14_999 < attempt["effect_at_ms"] - attempt["sent_at_ms"] < 15_030
    created = {(c["transaction_id"], c["version"]) for c in rows(run, "commits")}
    landed = [a for a in late if (a["transaction_id"], a["version"]) in created]
    assert 0 < len(landed) < len(late)


def test_throttled_requests_are_sent_again_after_a_growing_wait() -> None:
    client = {"backoff_base": "100 ms", "backoff_cap": "1 s"}
    run = _hit({"throttling": {"probability": 0.5}}, {"profile": "s3", "client": client})
    requests = rows(run, "requests")
    refused = [r for r in requests if r["result"] == "throttled"]
    assert len(refused) == pytest.approx(len(requests) / 2, rel=0.1)
    assert {r["outcome"] for r in rows(run)} <= {"committed", "in_flight"}


def test_a_client_that_is_refused_too_often_gives_up_and_nothing_is_committed() -> None:
    store = {"profile": "s3", "client": {"throttle_retries": 2, "backoff_base": "1 ms"}}
    run = _hit({"throttling": {"probability": 1.0, "requests": ["put_if_absent"]}}, store)
    ended = [r for r in rows(run) if r["outcome"] != "in_flight"]
    assert ended
    assert {(r["outcome"], r["exception"], r["rule"]) for r in ended} == {
        ("aborted", "StoreRefused", "store_refused")
    }
    assert len(rows(run, "commits")) == 2


def test_the_stores_own_limit_throttles_too() -> None:
    store = {"profile": "s3", "limits": {"reads_per_s": 2}}
    run = _hit({"throttling": {"probability": 0.001}}, store)
    refused = [r for r in rows(run, "requests") if r["result"] == "throttled"]
    assert {r["kind"] for r in refused} == {"get", "head", "list"}


def test_limits_bind_also_where_requests_are_not_recorded() -> None:
    from whitecap.sim.run import run_scenario

    slow = {"profile": "s3", "limits": {"reads_per_s": 1}}
    counts = [
        run_scenario(scenario(store=store, writers=LOADERS)).recording.manifest["counts"]
        for store in ({"profile": "s3"}, slow)
    ]
    assert counts[1]["committed"] < counts[0]["committed"]


def test_a_crash_ends_the_transaction_and_the_writer_is_down_until_its_restart() -> None:
    fault = {"writer_crash": {"rate": "60 per h", "restart": "90 s"}}
    run = _hit(fault, writers={"loader": {**INSERT, "compute": "20 s"}}, duration="1 h")
    crashed = [r for r in rows(run) if r["exception"] == "WriterCrash"]
    assert len(crashed) > 5
    for r in crashed:
        later = [
            x["snapshot_at_ms"]
            for x in rows(run)
            if x["snapshot_at_ms"] and x["snapshot_at_ms"] > r["ended_at_ms"]
        ]
        assert not later or min(later) >= r["ended_at_ms"] + 90_000


SLOW = {"success": {"latency": "4 s"}, "loss": {"latency": "4 s"}}


def test_a_put_on_its_way_when_the_driver_dies_still_lands() -> None:
    """Half a second of latency, crashes every few seconds: some hit between sent and effect."""
    store = {"profile": "s3", "put_if_absent": SLOW}
    fault = {"writer_crash": {"rate": "10 per min", "restart": "1 s"}}
    quick = {**INSERT, "count": 5, "arrival": {"closed": {"think": "1 s"}}, "compute": "1 s"}
    run = _hit(fault, store, writers={"loader": quick})
    owned = _versions_of(run)
    crashed = [r for r in rows(run) if r["exception"] == "WriterCrash"]
    assert {r["outcome"] for r in crashed} == {"aborted", "unknown"}
    assert any(r["transaction_id"] in owned for r in crashed if r["outcome"] == "unknown")
    assert not any(r["transaction_id"] in owned for r in crashed if r["outcome"] == "aborted")


def test_a_fault_strikes_only_in_its_window_and_its_writers() -> None:
    writers = {"loader": LOADERS["loader"], "other": LOADERS["loader"]}
    fault = {
        "lost_reply": {"probability": 1.0},
        "writers": ["other"],
        "between": ["2 min", "4 min"],
    }
    run = _hit(fault, {"profile": "s3", "client": {"timeout": "1 s"}}, writers=writers)
    doubtful = [r for r in rows(run) if r["outcome"] == "unknown"]
    assert doubtful
    assert {r["writer_group"] for r in doubtful} == {"other"}
    unanswered = [a for a in rows(run, "attempts") if a["result"] == "unknown"]
    assert all(120_000 <= attempt["sent_at_ms"] < 240_000 for attempt in unanswered)


def test_adding_a_fault_moves_no_other_faults_draws() -> None:
    lost = Fault.model_validate({"lost_reply": {"probability": 0.5}})
    throttled = Fault.model_validate({"throttling": {"probability": 0.5}})

    def strikes(faults: list[Fault]) -> list[bool]:
        injected = faults_of(faults, "loader", "loader-1", RandomStreams(5))
        tapes = [_tape(job) for job in range(100)]
        return [
            injected.befall(Sending(t, RequestKind.PUT_IF_ABSENT, 0, 0, 0.0)).loses_reply
            for t in tapes
        ]

    assert 20 < sum(strikes([lost])) < 80
    assert strikes([lost]) == strikes([throttled, lost])


def _tape(job: int) -> Tape:
    latencies = latencies_of(scenario().store)
    source = RandomStreams(5).source("store", "loader-1")
    return Tapes(source, latencies, Distribution(constant=0.0)).of(job, 0)


def test_crashes_fall_at_the_same_instants_whatever_the_writer_does() -> None:
    crash = Fault.model_validate({"writer_crash": {"rate": "6 per h", "restart": "1 min"}})
    crashes = crashes_of([crash], {"loader"}, "loader-1", RandomStreams(5))
    first_ms, back_ms = next_crash(crashes, 0.0)
    second_ms, _ = next_crash(crashes, first_ms)
    assert back_ms == first_ms + 60_000
    assert next_crash(crashes, (first_ms + second_ms) / 2)[0] == second_ms
    assert next_crash(crashes, first_ms / 2)[0] == first_ms


def test_crashes_come_at_their_rate_inside_their_window() -> None:
    crash = {"writer_crash": {"rate": "60 per h", "restart": "0 s"}, "between": ["1 h", "11 h"]}
    crashes = crashes_of([Fault.model_validate(crash)], {"w"}, "w-1", RandomStreams(5))
    now_ms, instants = 0.0, []
    while (now_ms := next_crash(crashes, now_ms)[0]) < math.inf:
        instants.append(now_ms)
    assert len(instants) == pytest.approx(600, abs=4 * math.sqrt(600))
    assert 3_600_000 <= instants[0] < instants[-1] < 11 * 3_600_000


def test_catalogued_faults_can_be_used_by_name_and_overridden() -> None:
    plain = scenario(faults=["lost-reply"]).faults[0]
    changed = scenario(faults=[{"use": "lost-reply", "lost_reply": {"probability": 0.5}}]).faults[0]
    assert plain.lost_reply is not None
    assert changed.lost_reply is not None
    assert plain.lost_reply.probability == 0.01
    assert changed.lost_reply.probability == 0.5
    assert changed.source == plain.source


def test_an_update_reruns_after_unknown_only_if_it_says_so() -> None:
    faults = [{"lost_reply": {"probability": 0.5}}]
    store = {"profile": "s3", "client": {"timeout": "1 s"}}
    rerun = {"fixed": {"wait": "1 s", "budget": 3}}
    for after_unknown in (False, True):
        policy = {"fixed": {**rerun["fixed"], "after_unknown": after_unknown}}
        run = ran(faults=faults, store=store, writers={"one": {**UPDATE, "rerun": policy}})
        doubtful = {r["job_id"] for r in rows(run) if r["outcome"] == "unknown"}
        again = {r["job_id"] for r in rows(run) if r["rerun_number"]}
        assert bool(doubtful & again) == after_unknown


def test_a_put_that_is_throttled_when_sent_again_leaves_the_outcome_unknown() -> None:
    """The first sending may have landed, and here did: throttling is no answer to that one."""
    client = {"on_lost_reply": "resend", "throttle_retries": 1}
    faults = [
        {"lost_reply": {"probability": 0.5}},
        {"throttling": {"probability": 0.5, "requests": ["put_if_absent"]}},
    ]
    run = ran(store={"profile": "s3", "client": client}, faults=faults)
    landed = {row["transaction_id"] for row in rows(run, "commits")}
    refused = [row for row in rows(run) if row["rule"] == "store_refused"]
    assert {row["outcome"] for row in refused} == {"aborted", "unknown"}
    assert not {r["transaction_id"] for r in refused if r["outcome"] == "aborted"} & landed
