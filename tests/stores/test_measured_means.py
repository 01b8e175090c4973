"""A profile's latencies have the means that were measured, and runs draw them as the profile says.

Measured: YCSB, June 2025, of one client (successes) and two (losses), milliseconds; and of GET the
means behind endive's providers (github.com/cdouglas/endive, analysis/distributions.json and
providers). Google's is left out: its tail is the limit of one write a second to one object name.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.sim.sim_worlds import INSERT, ran, rows
from whitecap.sim.loading.profiles import profile_named
from whitecap.sim.scenario.store import StoreSection

SUCCESS = {"s3": 67.992, "s3-express": 14.57, "azure": 103.618, "azure-premium": 59.32}
LOSS = {"azure": 278.976, "azure-premium": 358.049}
GET = {"azure": 38.1, "azure-premium": 34.8}

MODES = {"azure": (10.0, 250.0), "azure-premium": (10.0, 500.0)}
"""Losses are either faster than the one or slower than the other: nothing was seen between."""


def _success_ms(store: StoreSection) -> float:
    """A put without rivals."""
    put = store.put_if_absent
    if put.success.latency is not None:
        return put.success.latency.mean_ms()
    assert put.out is not None
    assert put.at_key is not None
    assert put.success.back is not None
    return put.out.mean_ms() + put.at_key.success.mean_ms() + put.success.back.mean_ms()


@pytest.mark.parametrize("profile", SUCCESS)
def test_a_success_takes_what_was_measured_on_average(profile: str) -> None:
    assert _success_ms(profile_named(profile)) == pytest.approx(SUCCESS[profile], rel=0.03)


@pytest.mark.parametrize("profile", LOSS)
def test_a_loss_takes_what_was_measured_on_average(profile: str) -> None:
    latency = profile_named(profile).put_if_absent.loss.latency
    assert latency is not None
    assert latency.mean_ms() == pytest.approx(LOSS[profile], rel=0.03)
    ranks = np.linspace(0, 1, 2_000_001)[:-1]
    assert latency.quantile(ranks).mean() == pytest.approx(LOSS[profile], rel=0.03)


@pytest.mark.parametrize("profile", GET)
def test_a_get_takes_what_was_measured_on_average(profile: str) -> None:
    assert profile_named(profile).get.mean_ms() == pytest.approx(GET[profile], rel=0.03)


@cache
def _losses(profile: str) -> NDArray[np.float64]:
    """Latencies of the puts that lost, in a run of writers that do little but commit."""
    at_once = {
        "profile": profile,
        "put": {"per_mib": "0 ms"},
        "head": {"latency": "0 ms"},
        "list": {"latency": "1 ms", "per_1000_keys": "0 ms"},
        "spark": {"job": "0 ms"},
    }
    crowd = {**INSERT, "count": 8, "compute": "0 ms", "arrival": {"closed": {"think": "1 ms"}}}
    run = ran(store=at_once, writers={"crowd": crowd}, duration="3 min")
    lost = [put for put in rows(run, "attempts") if put["result"] == "already_exists"]
    return np.array([put["reply_at_ms"] - put["sent_at_ms"] for put in lost])


@pytest.mark.parametrize("profile", MODES)
def test_no_loss_of_a_run_lies_between_the_modes(profile: str) -> None:
    fast, slow = MODES[profile]
    losses = _losses(profile)
    assert len(losses) > 300
    assert ((losses > fast) & (losses < slow)).mean() < 0.01


@pytest.mark.parametrize("profile", MODES)
def test_losses_of_a_run_have_the_quantiles_that_were_measured(profile: str) -> None:
    """Were short draws to win, the fast mode would hardly be seen among the losses."""
    latency = profile_named(profile).put_if_absent.loss.latency
    assert latency is not None
    losses = _losses(profile)
    error = 3 * 0.5 / len(losses) ** 0.5
    for rank in (0.1, 0.25, 0.5, 0.8, 0.9, 0.95):
        measured = latency.at(rank)
        assert (losses < measured - 1e-6).mean() <= rank + error
        assert (losses <= measured + 1e-6).mean() >= rank - error
