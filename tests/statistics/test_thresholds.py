"""Thresholds: met, missed or undecided, and how many replications would decide."""

from __future__ import annotations

import numpy as np
import pytest

from tests.rule_of_three import units_to_show
from whitecap.reports.statistics import (
    MOST_REPLICATIONS,
    Claim,
    Estimate,
    EstimateStanding,
    Standing,
    facing,
    held_against,
    mean,
    percentile,
    share,
)

SUCCESS = share([596, 598, 595, 597, 599], [600] * 5)


def test_all_of_the_interval_on_the_right_side_meets_all_on_the_wrong_misses() -> None:
    assert held_against(SUCCESS, at_least=0.98).standing is Standing.MET
    assert held_against(SUCCESS, at_least=0.999).standing is Standing.MISSED
    assert held_against(SUCCESS, at_least=0.995).standing is Standing.UNDECIDED
    assert held_against(SUCCESS, at_most=0.98).standing is Standing.MISSED
    assert held_against(SUCCESS, at_most=0.999).standing is Standing.MET


def test_one_stated_side_is_enough_to_meet_or_to_miss() -> None:
    flawless, hopeless = share([600] * 5, [600] * 5), share([0] * 5, [600] * 5)
    assert held_against(flawless, at_least=0.999).standing is Standing.MET
    assert held_against(hopeless, at_least=0.99).standing is Standing.MISSED
    assert held_against(hopeless, at_most=0.001).standing is Standing.MET
    assert held_against(flawless, at_least=0.9995).standing is Standing.UNDECIDED


def test_undecided_says_how_many_replications_alike_would_decide() -> None:
    """6,000 jobs without a failure show 99.95 %: ten replications of 600."""
    judged = held_against(share([600] * 5, [600] * 5), at_least=0.9995)
    assert judged.replications == 10
    assert units_to_show(0.9995) == 5990


@pytest.mark.parametrize(
    ("estimate", "at_least"),
    [
        (SUCCESS, 0.994),
        (mean([9.0, 10.0, 11.0, 10.5, 9.5]), 9.5),
        (percentile(list(np.random.default_rng(1).exponential(1, (5, 100))), 50), 0.6),
        (share([300, 280, 310], [400] * 3), 0.7),
    ],
)
def test_as_many_replications_as_said_decide_and_one_fewer_does_not(
    estimate: Estimate, at_least: float
) -> None:
    judged = held_against(estimate, at_least=at_least)
    assert judged.standing is Standing.UNDECIDED
    assert judged.replications is not None
    assert judged.replications > estimate.replications
    assert not judged.is_more
    assert estimate.observations is not None
    for fewer, expected in ((0, False), (1, True)):
        times = (judged.replications - fewer) / estimate.replications
        again = held_against(estimate.observations.estimate(0.95, times), at_least=at_least)
        assert (again.standing is Standing.UNDECIDED) == expected


def test_a_real_sweep_of_that_many_replications_is_mostly_decided() -> None:
    random = np.random.default_rng(18)
    asked = [random.binomial(600, 0.993, 5).tolist() for _ in range(60)]
    judged = [held_against(share(each, [600] * 5), at_least=0.99) for each in asked]
    counts = [each.replications for each in judged if each.replications and not each.is_more]
    needed = int(np.median(counts))
    more = [random.binomial(600, 0.993, needed).tolist() for _ in range(60)]
    again = [share(each, [600] * needed) for each in more]
    decided = [
        held_against(each, at_least=0.99).standing is not Standing.UNDECIDED for each in again
    ]
    assert np.mean(decided) >= 0.3


def test_on_the_threshold_no_number_that_anybody_would_run_decides() -> None:
    judged = held_against(share([300] * 5, [600] * 5), at_least=0.5)
    assert judged == EstimateStanding(Standing.UNDECIDED, MOST_REPLICATIONS, is_more=True)


def test_few_replications_are_held_against_a_threshold_by_the_side_that_faces_it() -> None:
    """A half that succeeds is no perhaps of 99 %, though what is stated of it is `at least`."""
    half = share([500, 510, 505], [600] * 3, good=True)
    assert half.statement is Claim.AT_LEAST
    assert held_against(half, at_least=0.99).standing is Standing.MISSED
    assert held_against(half, at_least=0.5).standing is Standing.MET
    assert held_against(half, at_most=0.5).standing is Standing.MISSED
    assert facing(half, 0.99).statement is Claim.AT_MOST
    slow = percentile(list(np.random.default_rng(1).exponential(1, (2, 400))), 50)
    assert held_against(slow, at_most=0.3).standing is Standing.MISSED
    assert held_against(slow, at_most=1.5).standing is Standing.MET
    assert held_against(mean([9.0, 10.0, 11.0]), at_least=30).standing is Standing.MISSED


def test_few_replications_close_to_a_threshold_ask_for_more() -> None:
    judged = held_against(share([500, 510, 505], [600] * 3, good=True), at_least=0.85)
    assert judged.standing is Standing.UNDECIDED
    assert judged.replications is not None
    assert judged.replications >= 5


def test_nothing_seen_decides_nothing_and_promises_nothing() -> None:
    assert held_against(share([], []), at_least=0.5) == EstimateStanding(Standing.UNDECIDED)
    assert held_against(mean([4.0]), at_most=5.0) == EstimateStanding(Standing.UNDECIDED)


def test_replications_that_all_agree_are_judged_by_their_value_if_there_are_five() -> None:
    assert held_against(mean([1500.0] * 5), at_most=2000.0).standing is Standing.MET
    assert held_against(mean([1500.0] * 5), at_most=1000.0).standing is Standing.MISSED
    assert held_against(mean([1500.0] * 3), at_most=2000.0).replications == 5


def test_an_estimate_that_was_read_from_a_table_is_judged_without_a_projection() -> None:
    stored = Estimate(0.5, 0.4, 0.6, Claim.TWO_SIDED, 5)
    assert held_against(stored, at_least=0.3).standing is Standing.MET
    assert held_against(stored, at_least=0.55) == EstimateStanding(Standing.UNDECIDED)


def test_exactly_one_threshold_is_needed() -> None:
    for thresholds in ({}, {"at_least": 0.1, "at_most": 0.2}):
        with pytest.raises(ValueError, match="one threshold"):
            held_against(SUCCESS, **thresholds)
