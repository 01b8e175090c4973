"""Requests take as long as the profile says, whoever competes, and no draw decides who wins."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.stats import ks_2samp, spearmanr

from tests.sim.sim_worlds import INSERT, ran, rows, scenario
from whitecap.sim.run import FinishedRun
from whitecap.sim.scenario.store import ConditionalPut, Measured, StoreSection
from whitecap.sim.store.requests.kinds import RequestKind
from whitecap.sim.store.requests.latency import latencies_of
from whitecap.sim.time.random_streams import RandomStreams

PROFILES = {"s3": "60 s", "s3-express": "15 s", "azure": "90 s", "gcs": "4 min", "local": "250 ms"}
"""Each with the time in which some hundred puts of six writers win."""

WITHOUT_QUEUE = ["azure", "gcs", "local"]
"""Where a put takes as long whoever competes; the others: tests/stores/test_key_queue.py."""

CROWD = {**INSERT, "count": 6, "arrival": {"closed": {"think": {"exponential": {"mean": "2 ms"}}}}}
EXACT = {"per_mib": "0 ms"}


@cache
def _crowded(profile: str) -> FinishedRun:
    """Writers that do little but commit, so that most puts meet a rival's."""
    at_once = {"spark": {"job": "0 ms"}, "list": {"per_1000_keys": "0 ms"}}
    store = {"profile": profile, "put": EXACT, "get": EXACT, **at_once}
    writers = {"crowd": {**CROWD, "compute": "0 ms"}}
    return ran(store=store, duration=PROFILES[profile], writers=writers)


def _requests(run: FinishedRun, kind: str, *results: str) -> list[dict[str, Any]]:
    return [
        r
        for r in rows(run, "requests")
        if r["kind"] == kind and r["result"] in results and r["reply_at_ms"] is not None
    ]


def _totals(requests: list[dict[str, Any]]) -> list[float]:
    """Rounded, since instants are sums and some latencies are held at a quantile."""
    return [round(r["reply_at_ms"] - r["sent_at_ms"], 6) for r in requests]


def _drawn(latency: Any) -> np.ndarray[Any, Any]:
    uniforms = RandomStreams(99).source("test", "latency").uniforms(range(40_000), [0])
    drawn: np.ndarray[Any, Any] = latency.quantile(uniforms)[:, 0]
    return drawn.round(6)


@pytest.mark.parametrize("profile", WITHOUT_QUEUE)
@pytest.mark.parametrize("answer", ["created", "already_exists"])
def test_puts_that_win_and_puts_that_lose_take_what_the_profile_says(
    profile: str, answer: str
) -> None:
    run = _crowded(profile)
    put = run.scenario.store.put_if_absent
    totals = _totals(_requests(run, "put_if_absent", answer))
    latency = put.success.latency if answer == "created" else put.loss.latency
    assert len(totals) > 150
    assert ks_2samp(totals, _drawn(latency)).pvalue > 0.005


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("kind", ["get", "list"])
def test_reads_take_what_the_profile_says(profile: str, kind: str) -> None:
    run = _crowded(profile)
    measured = getattr(run.scenario.store, kind)
    totals = _totals(_requests(run, kind, "found", "missing", "listed"))
    assert ks_2samp(totals, _drawn(measured.latency)).pvalue > 0.005


@pytest.mark.parametrize("profile", WITHOUT_QUEUE)
def test_the_way_out_does_not_tell_how_long_the_answer_takes(profile: str) -> None:
    for answer in ("created", "already_exists"):
        requests = _requests(_crowded(profile), "put_if_absent", answer)
        out = [r["effect_at_ms"] - r["sent_at_ms"] for r in requests]
        assert abs(spearmanr(out, _totals(requests)).statistic) < 4 / len(requests) ** 0.5


def _legs(kind: RequestKind, **store: Any) -> np.ndarray[Any, Any]:
    """Legs of 40,000 requests, one a line."""
    latency = latencies_of(scenario(store={"profile": "s3", **store}).store)[kind]
    source = RandomStreams(98).source("test", "legs")
    uniforms = source.uniforms(range(40_000), range(latency.ranks))
    legs: np.ndarray[Any, Any] = latency.drawn(uniforms)
    return legs


@pytest.mark.parametrize("profile", WITHOUT_QUEUE)
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_both_ways_together_are_the_latency_of_either_answer(profile: str, share: float) -> None:
    out, *backs = _legs(RequestKind.PUT_IF_ABSENT, profile=profile, effect={"share": share}).T
    put = scenario(store=profile).store.put_if_absent
    assert (out.max() > 0) == (share > 0)
    for back, answer in zip(backs, (put.success, put.loss), strict=True):
        assert back.min() >= 0
        assert ks_2samp((out + back).round(6), _drawn(answer.latency)).pvalue > 0.005


def test_half_of_a_latency_is_half_of_the_faster_answers() -> None:
    """A put wins in 40 to 80 ms and loses in 45 to 90; a way out may take 40, the shortest."""
    win = {"latency": {"uniform": {"low": "40 ms", "high": "80 ms"}}}
    loss = {"latency": {"uniform": {"low": "45 ms", "high": "90 ms"}}}
    out, _, _ = _legs(RequestKind.PUT_IF_ABSENT, put_if_absent={"success": win, "loss": loss}).T
    assert np.median(out) == pytest.approx(0.5 * 60, rel=0.02)
    assert out.max() <= 40.1


def test_constant_latencies_are_cut_at_the_share() -> None:
    put = {"success": {"latency": "100 ms"}, "loss": {"latency": "60 ms"}}
    legs = _legs(RequestKind.PUT_IF_ABSENT, put_if_absent=put, effect={"share": 0.5})
    assert legs[0].tolist() == [30.0, 70.0, 30.0]
    legs = _legs(RequestKind.LIST, list={"latency": "80 ms"}, effect={"share": 0.25})
    assert legs[0].tolist() == [20.0, 60.0]


def test_ways_out_and_back_that_are_given_are_drawn_apart() -> None:
    ways = {"out": {"exponential": {"mean": "10 ms"}}, "back": {"exponential": {"mean": "30 ms"}}}
    for kind, name in (
        (RequestKind.LIST, "list"),
        (RequestKind.GET, "get"),
        (RequestKind.PUT, "put"),
    ):
        out, back = _legs(kind, **{name: ways}).T
        assert (out.mean(), back.mean()) == pytest.approx((10, 30), rel=0.02)
        assert abs(np.corrcoef(out, back)[0, 1]) < 0.02
    put = {"out": ways["out"], "success": {"back": "50 ms"}, "loss": {"back": "5 ms"}}
    out, success, loss = _legs(RequestKind.PUT_IF_ABSENT, put_if_absent=put).T
    assert out.mean() == pytest.approx(10, rel=0.02)
    assert {*success.tolist(), *loss.tolist()} == {50.0, 5.0}


def test_a_latency_is_said_in_one_way() -> None:
    cited = {"source": "a test"}
    for given in ({}, {"out": "1 ms"}, {"latency": "1 ms", "back": "1 ms"}):
        with pytest.raises(ValidationError, match="latency, or out and back"):
            Measured.model_validate({**cited, **given})
    success, loss = {"latency": "1 ms", **cited}, {"back": "1 ms", **cited}
    for parts in ({"loss": loss}, {"loss": success, "out": "1 ms"}):
        with pytest.raises(ValidationError, match="give out and the back"):
            ConditionalPut.model_validate({"success": success, **parts})


def test_an_override_replaces_the_other_way_of_saying_it() -> None:
    def store(**over: Any) -> StoreSection:
        return scenario(store={"profile": "s3", **over}).store

    apart = store(get={"out": "1 ms", "back": "2 ms"}).get
    assert apart.latency is None
    put = store(
        put_if_absent={"out": "1 ms", "success": {"back": "2 ms"}, "loss": {"back": "3 ms"}}
    )
    assert put.put_if_absent.success.latency is None
