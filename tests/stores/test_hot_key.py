"""Contended commits come out as conditional writes of one key were measured."""

from __future__ import annotations

from functools import cache

import pytest

from benchmarks.validation.hot_key import CHECKED, FITTED, PROFILES, HotKeyComparison, rows
from benchmarks.validation.hot_key_fit import FORMS
from tests.sim.sim_worlds import scenario
from whitecap.sim.scenario.store import ConditionalPut

EVERY = [(profile, clients) for profile in PROFILES for clients in (*FITTED, *CHECKED)]


@cache
def _row(profile: str, clients: int) -> HotKeyComparison:
    (row,) = rows([profile], [clients], successes=500)
    return row


@pytest.mark.parametrize(("profile", "clients"), EVERY)
def test_attempts_and_successes_are_within_ten_percent(profile: str, clients: int) -> None:
    row = _row(profile, clients)
    tolerance = 0.1 if clients in CHECKED else 0.05
    assert abs(row.attempts_error) < tolerance
    assert abs(row.rate_error) < tolerance


@pytest.mark.parametrize(("profile", "clients"), EVERY)
def test_latencies_of_successes_and_losses_are_near_the_measured(
    profile: str, clients: int
) -> None:
    """S3 Express' losses, and the upper tail of 16 clients, are the farthest off."""
    row = _row(profile, clients)
    median = row.success_errors[3]
    assert abs(median) < 0.12
    assert all(abs(error) < 0.2 for error in row.success_errors[:5])
    assert all(abs(error) < 0.25 for error in row.loss_errors[:6])


@pytest.mark.parametrize("profile", PROFILES)
def test_profiles_have_what_was_fitted(profile: str) -> None:
    form = FORMS[profile]
    fitted = form.put_if_absent(profile, form.shipped)
    model = scenario(store={"profile": "instant", "put_if_absent": fitted}).store.put_if_absent
    shipped = scenario(store=profile).store.put_if_absent
    assert _figures(shipped) == pytest.approx(_figures(model), rel=2e-3, abs=2e-3)


def _figures(put: ConditionalPut) -> list[float]:
    assert put.out is not None
    assert put.out.quantiles is not None
    assert put.at_key is not None
    backs = [answer.back for answer in (put.success, put.loss)]
    at_key = [put.at_key.success.mean_ms(), put.at_key.loss.mean_ms(), put.at_key.effect_share]
    means = [0.0 if back is None else back.mean_ms() for back in backs]
    late = [0.0 if back is None else back.at(0.9) for back in backs]
    return [*put.out.quantiles.table()[1], *at_key, *means, *late]
