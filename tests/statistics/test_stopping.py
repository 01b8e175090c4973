"""The stopping rule: when there are replications enough, and how often its intervals hold."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.statistics.stopped_early import Situation, shares, simulate, situations
from whitecap.reports.statistics import (
    Claim,
    Estimate,
    WantedPrecision,
    half_width,
    mean,
    percentile,
    replications_after,
    share,
)


def test_the_farther_bound_counts() -> None:
    estimate = share([3] * 20, [100] * 20)
    assert half_width(estimate) == estimate.high - estimate.point
    assert half_width(estimate) > estimate.point - estimate.low


def test_where_one_side_is_stated_the_other_is_what_cannot_be_passed() -> None:
    never = share([0] * 10, [100] * 10)
    assert half_width(never) == never.high
    assert half_width(share([100] * 10, [100] * 10)) == pytest.approx(never.high)


def test_without_a_bound_nothing_is_known_and_where_all_agree_everything_is() -> None:
    assert half_width(percentile([[1.0, 2.0]] * 10, 99.9)) == math.inf
    assert half_width(mean([7.5])) == math.inf
    assert half_width(mean([7.5] * 10)) == 0
    assert not WantedPrecision(0.01).is_met(share([], []))


def test_of_itself_a_half_width_is_a_part_of_the_value() -> None:
    estimate = Estimate(200.0, 190.0, 211.0, Claim.TWO_SIDED, 20)
    assert WantedPrecision(0.06, is_relative=True).is_met(estimate)
    assert not WantedPrecision(0.05, is_relative=True).is_met(estimate)
    assert WantedPrecision(11.0).is_met(estimate)


def test_few_rare_events_are_no_reason_to_stop_unless_they_are_known_twice_as_well() -> None:
    few = share([1, 0, 2, 0, 0, 1, 0, 1, 0, 0], [1000] * 10)
    half = half_width(few)
    assert WantedPrecision(1.5 * half).is_met(few)
    assert not WantedPrecision(1.5 * half).suffices(few)
    assert WantedPrecision(2.1 * half).suffices(few)
    assert WantedPrecision(1.01 * half_width(share([0] * 10, [100] * 10))).suffices(
        share([0] * 10, [100] * 10)
    )


def test_a_round_is_about_what_would_meet_it() -> None:
    estimate = Estimate(0.5, 0.47, 0.53, Claim.TWO_SIDED, 20, events=400.0, units=800.0)
    assert WantedPrecision(0.025).needed(estimate) == pytest.approx(28.8)
    assert replications_after(20, 100, [(estimate, WantedPrecision(0.025))]) == 29
    assert replications_after(20, 100, [(estimate, WantedPrecision(0.001))]) == 40
    assert replications_after(20, 100, [(estimate, WantedPrecision(0.0299))]) == 24
    assert replications_after(20, 22, [(estimate, WantedPrecision(0.001))]) == 22
    assert replications_after(20, 100, []) == 20


@given(
    st.integers(1, 1000), st.integers(1, 1000), st.floats(0, 1), st.floats(0, 1), st.floats(1e-6, 1)
)
def test_rounds_grow_and_end(seen: int, more: int, point: float, bound: float, half: float) -> None:
    low, high = min(point, bound), max(point, bound)
    estimate = Estimate(point, low, high, Claim.TWO_SIDED, seen)
    most = seen + more
    after = replications_after(seen, most, [(estimate, WantedPrecision(half))])
    assert seen < after <= min(2 * seen, most)


@pytest.mark.parametrize("situation", situations()[::2], ids=lambda each: each.name)
def test_intervals_of_the_rule_hold_about_as_often_as_they_say(situation: Situation) -> None:
    """The table of `docs/statistics.md` with fewer sets: five standard errors below 95 % at most,
    and 3 points more of rare events that come in clusters."""
    sets = 100
    stopped = simulate(situation, sets, seed=3)
    is_rare = "0.001" in situation.name or "0.01," in situation.name
    error = math.sqrt(0.95 * 0.05 / sets)
    assert stopped.coverage >= 0.95 - 3 * error - (0.03 if is_rare else 0.0)


def test_without_the_correction_rare_clusters_would_stop_it_too_early(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    situation = Situation("rare", 0.001, shares(0.001, 1000, 5.0), WantedPrecision(0.001))
    corrected = simulate(situation, 250).coverage
    monkeypatch.setattr(WantedPrecision, "suffices", WantedPrecision.is_met)
    assert simulate(situation, 250).coverage < corrected - 0.02
