"""Conditional writes of one key wait for each other, in the order in which they arrive."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.stats import ks_2samp

from tests.sim.sim_worlds import INSERT, ran, rows, scenario
from whitecap.sim.run import FinishedRun
from whitecap.sim.scenario.store import ConditionalPut
from whitecap.sim.time.random_streams import RandomStreams

QUICK = {
    "list": {"latency": "1 ms", "per_1000_keys": "0 ms"},
    "put": {"per_mib": "0 ms"},
    "spark": {"job": "0 ms"},
}
CROWD = {**INSERT, "count": 6, "compute": "0 ms", "arrival": {"closed": {"think": "1 ms"}}}
QUEUE: dict[str, Any] = {
    "out": {"exponential": {"mean": "10 ms"}},
    "at_key": {
        "success": "40 ms",
        "loss": "3 ms",
        "effect_share": 0.25,
        "source": "a test",
    },
    "success": {"back": "5 ms"},
    "loss": {"back": "7 ms"},
}


def _crowd(profile: str = "s3", **put: Any) -> FinishedRun:
    store = {"profile": profile, **QUICK, **({"put_if_absent": put} if put else {})}
    return ran(store=store, writers={"crowd": CROWD}, duration="30 s")


def _puts(run: FinishedRun) -> list[dict[str, Any]]:
    puts = [r for r in rows(run, "attempts") if r["reply_at_ms"] is not None]
    return sorted(puts, key=lambda put: float(put["effect_at_ms"]))


def test_one_put_is_served_at_a_time() -> None:
    """A success holds its key for 40 ms and is seen after 10; who loses holds it for 3."""
    puts = _puts(_crowd(**QUEUE))
    service = {"created": 40.0, "already_exists": 3.0}
    back = {"created": 5.0, "already_exists": 7.0}
    ends = [put["reply_at_ms"] - back[put["result"]] for put in puts]
    begins = [end - service[put["result"]] for end, put in zip(ends, puts, strict=True)]
    assert {put["result"] for put in puts} == {*service}
    assert all(end <= begin + 1e-6 for end, begin in zip(ends, begins[1:], strict=False))
    busy = sum(a + 1e-6 > b for a, b in zip(ends, begins[1:], strict=False))
    assert busy > 50
    for put, begin in zip(puts, begins, strict=True):
        seen = 10.0 if put["result"] == "created" else 0.0
        assert put["effect_at_ms"] == pytest.approx(begin + seen)


def test_who_loses_knows_of_the_winner_before() -> None:
    run = _crowd(**QUEUE)
    landed = {commit["version"]: commit["committed_at_ms"] for commit in rows(run, "commits")}
    lost = [put for put in _puts(run) if put["result"] == "already_exists"]
    assert len(lost) > 100
    assert all(landed[put["version"]] <= put["effect_at_ms"] for put in lost)


def test_nobody_waits_where_nobody_competes() -> None:
    alone = {**CROWD, "count": 1}
    store = {"profile": "s3", **QUICK, "put_if_absent": {**QUEUE, "out": "10 ms"}}
    puts = _puts(ran(store=store, writers={"alone": alone}, duration="30 s"))
    took = [put["reply_at_ms"] - put["sent_at_ms"] for put in puts]
    assert took == pytest.approx([55.0] * len(took))


@pytest.mark.parametrize("profile", ["s3", "s3-express"])
def test_a_put_without_rivals_takes_what_was_measured_of_one_client(profile: str) -> None:
    alone = {**CROWD, "count": 1, "arrival": {"closed": {"think": "50 ms"}}}
    put = {"per_mib": "0 ms"}
    run = ran(store={"profile": profile, "put": put}, writers={"alone": alone}, duration="8 min")
    took = [put["reply_at_ms"] - put["sent_at_ms"] for put in _puts(run)]
    section = run.scenario.store.put_if_absent
    assert section.out is not None
    assert section.at_key is not None
    assert section.success.back is not None
    uniforms = RandomStreams(97).source("test", "out").uniforms(range(20_000), [0])
    fixed_ms = section.at_key.success.mean_ms() + section.success.back.mean_ms()
    expected = section.out.quantile(uniforms)[:, 0] + fixed_ms
    assert len(took) > 150
    assert ks_2samp(np.round(took, 6), expected.round(6)).pvalue > 0.005


def test_service_times_may_be_drawn() -> None:
    at_key = {**QUEUE["at_key"], "success": {"uniform": {"low": "20 ms", "high": "60 ms"}}}
    put = {**QUEUE, "at_key": at_key}
    alone = {**CROWD, "count": 1}
    store = {"profile": "s3", **QUICK, "put_if_absent": {**put, "out": "10 ms"}}
    puts = _puts(ran(store=store, writers={"alone": alone}, duration="30 s"))
    took = [put["reply_at_ms"] - put["sent_at_ms"] for put in puts]
    assert min(took) == pytest.approx(35, abs=2)
    assert max(took) == pytest.approx(75, abs=2)
    assert np.mean(took) == pytest.approx(55, rel=0.03)


def test_without_a_queue_the_ways_are_all_there_is() -> None:
    without = {**QUEUE, "at_key": None, "out": "10 ms"}
    took = {round(p["reply_at_ms"] - p["sent_at_ms"], 6) for p in _puts(_crowd(**without))}
    assert took == {15.0, 17.0}


def test_a_queue_is_part_of_latencies_and_so_takes_constants() -> None:
    cited = {"source": "a test"}
    answer = {"latency": "1 ms", **cited}
    drawn = {"uniform": {"low": "1 ms", "high": "2 ms"}}
    put = {"at_key": {"success": drawn, "loss": "1 ms", **cited}, "success": answer, "loss": answer}
    with pytest.raises(ValidationError, match="at_key is part of the latency here"):
        ConditionalPut.model_validate(put)


AT_ONCE = {
    **QUICK,
    "head": {"latency": "0 ms"},
    "put": {"latency": "0 ms", "per_mib": "0 ms"},
    "log_store": {"checksum": ["put"], "after_put": [], "commit_lock": False},
    "limits": {"writes_per_s": None, "reads_per_s": None},
}
"""Little but the put of a commit takes time."""


def _latencies(held: str, writers: int, result: str) -> list[float]:
    at_once = {"profile": "azure", **AT_ONCE, "put_if_absent": {"at_key": {"success": held}}}
    run = ran(store=at_once, writers={"crowd": {**CROWD, "count": writers}}, duration="30 s")
    return [p["reply_at_ms"] - p["sent_at_ms"] for p in _puts(run) if p["result"] == result]


def test_a_queue_within_latencies_makes_puts_wait_for_rivals_alone() -> None:
    free = _latencies("0 ms", 1, "created")
    assert _latencies("40 ms", 1, "created") == pytest.approx(free, rel=0.05)
    waiting = _latencies("40 ms", 6, "already_exists")
    assert np.median(waiting) > np.median(_latencies("0 ms", 6, "already_exists")) + 5


def test_latencies_replace_the_ways_and_the_queue_of_a_profile() -> None:
    latencies = {"success": {"latency": "60 ms"}, "loss": {"latency": "70 ms"}}
    put = scenario(store={"profile": "s3", "put_if_absent": latencies}).store.put_if_absent
    assert put.out is None
    assert put.at_key is None
    assert put.success.back is None
