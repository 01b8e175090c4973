"""Shares: what is stated of them, exactly, and within which bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.statistics.simulation import noise
from whitecap.reports.statistics import Claim, Estimate, share, weighted_share
from whitecap.reports.statistics.shares import exact_bounds


def test_the_point_is_all_events_among_all_units_not_a_mean_of_shares() -> None:
    estimate = share([1, 0, 0, 0, 90], [1, 50, 50, 50, 100])
    assert estimate.point == 91 / 251


@pytest.mark.parametrize(
    ("events", "units", "low", "high"),
    [(10, 100, 0.0490, 0.1762), (0, 20, 0.0, 0.1684), (20, 20, 0.8316, 1.0)],
)
def test_exact_bounds_are_those_of_the_printed_table(
    events: int, units: int, low: float, high: float
) -> None:
    bounds = exact_bounds(events, units, 0.025)
    assert [float(bound) for bound in bounds] == pytest.approx([low, high], abs=5e-5)


@pytest.mark.parametrize("units", [60, 600, 3000])
def test_no_event_at_all_is_stated_by_the_exact_form_of_the_rule_of_three(units: int) -> None:
    estimate = share([0] * 5, [units / 5] * 5)
    assert (estimate.statement, estimate.low) == (Claim.AT_MOST, 0.0)
    assert estimate.high == pytest.approx(1 - 0.05 ** (1 / units))
    assert estimate.high == pytest.approx(3 / units, rel=0.03)


def test_no_failure_at_all_is_stated_as_at_least() -> None:
    estimate = share([600] * 5, [600] * 5)
    assert (estimate.statement, estimate.high, estimate.events) == (Claim.AT_LEAST, 1.0, 0)
    assert estimate.low == pytest.approx(0.05 ** (1 / 3000))


def test_few_events_widen_the_exact_bound_if_anything() -> None:
    estimate = share([1, 0, 2, 1, 0], [100] * 5)
    assert (estimate.statement, estimate.events) == (Claim.AT_MOST, 4)
    assert estimate.high >= float(exact_bounds(4, 500, 0.05)[1])


def test_few_of_both_kinds_are_stated_from_both_sides() -> None:
    estimate = share([1, 0, 1, 0, 1], [2, 1, 1, 1, 1])
    assert estimate.statement is Claim.TWO_SIDED
    assert estimate.low < 0.12
    assert estimate.high > 0.88


@pytest.mark.parametrize(
    ("good", "expected"),
    [
        (True, Claim.AT_LEAST),
        (False, Claim.AT_MOST),
        (None, Claim.AT_LEAST),
    ],
)
def test_fewer_than_five_replications_state_the_side_that_matters(
    good: bool | None, expected: Claim
) -> None:
    assert share([70, 75, 72], [100] * 3, good=good).statement is expected


def test_a_side_that_the_data_chose_costs_what_both_sides_cost() -> None:
    chosen, stated = share([70, 75], [100] * 2), share([70, 75], [100] * 2, good=True)
    assert chosen.low < stated.low


def test_a_single_replication_says_little_because_others_may_be_different() -> None:
    alone, five = share([300], [1000]), share([60] * 5, [200] * 5)
    assert alone.high > five.high + 0.1


def test_replications_without_units_have_no_say() -> None:
    assert share([3, 0, 4, 9], [10, 0, 10, 12]).replications == 3
    nothing = share([0, 0], [0, 0])
    assert nothing.statement is Claim.NONE
    assert math.isnan(nothing.point)
    assert share([], []).statement is Claim.NONE


def test_scattered_replications_are_worth_less_than_those_that_agree() -> None:
    agreeing, scattered = share([20] * 6, [100] * 6), share([2, 40, 5, 38, 30, 5], [100] * 6)
    assert agreeing.point == scattered.point
    assert scattered.high - scattered.low > 3 * (agreeing.high - agreeing.low)


def test_more_confidence_is_more_width() -> None:
    widths = [
        each.high - each.low
        for each in (share([20, 25, 17, 30, 22], [100] * 5, confidence=c) for c in (0.9, 0.99))
    ]
    assert widths[0] < widths[1]


@pytest.mark.parametrize(
    ("events", "units"),
    [([1, 2], [1]), ([-1], [5]), ([3], [2]), ([math.nan], [2]), ([[1]], [[2]])],
)
def test_counts_that_do_not_belong_together_are_refused(events: list, units: list) -> None:  # type: ignore[type-arg]
    with pytest.raises(ValueError, match=r"units|events"):
        share(events, units)


replications = st.lists(
    st.integers(0, 2000).flatmap(lambda units: st.tuples(st.integers(0, units), st.just(units))),
    min_size=1,
    max_size=12,
)


@given(replications)
def test_bounds_lie_within_zero_and_one_around_the_point_and_never_on_it(
    counts: list[tuple[int, int]],
) -> None:
    estimate = share(*map(list, zip(*counts, strict=True)))
    if estimate.replications:
        assert 0 <= estimate.low <= estimate.point <= estimate.high <= 1
        assert estimate.low < estimate.high


@given(replications)
def test_a_share_and_what_is_left_of_the_whole_are_stated_alike(
    counts: list[tuple[int, int]],
) -> None:
    events, units = (np.array(each) for each in zip(*counts, strict=True))
    some, others = share(events, units, good=True), share(units - events, units, good=False)
    if some.replications:
        mirrored = {
            Claim.AT_MOST: Claim.AT_LEAST,
            Claim.AT_LEAST: Claim.AT_MOST,
        }
        assert others.statement is mirrored.get(some.statement, some.statement)
        assert (1 - others.high, 1 - others.low) == pytest.approx((some.low, some.high), abs=1e-9)


def test_a_weighted_share_is_a_ratio_of_sums_with_the_events_that_made_it() -> None:
    wasted = weighted_share(
        [30.0, 50, 20, 45, 70], [1000.0] * 5, events=[3, 5, 2, 4, 6], units=[100] * 5
    )
    assert wasted.point == 215 / 5000
    assert wasted.statement is Claim.TWO_SIDED
    assert 0 < wasted.low < wasted.point < wasted.high < 1


def test_a_weighted_share_of_nothing_is_bounded_by_the_units_that_were_seen() -> None:
    wasted = weighted_share([0.0] * 5, [1e6] * 5, events=[0] * 5, units=[60] * 5)
    assert (wasted.statement, wasted.low) == (Claim.AT_MOST, 0.0)
    assert wasted.high == pytest.approx(1 - 0.05 ** (1 / 300))


@pytest.mark.parametrize("count", [5, 10, 30])
def test_intervals_of_weighted_shares_hold_the_truth(count: int) -> None:
    """Compute times are exponential; one in ten transactions is aborted and wastes its own."""
    random = np.random.default_rng([6, count])
    held = 0
    for _ in range(400):
        times = random.exponential(1.0, (count, 80))
        aborted = random.random(times.shape) < random.beta(5, 45, (count, 1))
        wasted = weighted_share(
            (times * aborted).sum(axis=1),
            times.sum(axis=1),
            events=aborted.sum(axis=1),
            units=np.full(count, 80.0),
        )
        held += wasted.low <= 0.1 <= wasted.high
    assert held / 400 >= 0.93 - noise(400)


def test_the_observations_of_an_estimate_do_not_make_it_another_one() -> None:
    first, second = share([3, 4, 5, 6, 7], [10] * 5), share([7, 6, 5, 4, 3], [10] * 5)
    assert isinstance(first, Estimate)
    assert first == second
