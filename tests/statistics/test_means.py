"""Means of one value per replication: Student's t, what counts add, and what agreement means."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.statistics.simulation import short_of, slack
from whitecap.reports.statistics import Claim, mean

WHOLE = 5000
SETS = short_of(WHOLE)

pytestmark = pytest.mark.simulated


def test_an_interval_is_student_s_around_the_mean() -> None:
    estimate = mean([2.0, 4.0, 6.0, 5.0, 3.0], least=-math.inf)
    half = 2.776445 * math.sqrt(2.5) / math.sqrt(5)
    assert (estimate.point, estimate.replications) == (4.0, 5)
    assert (estimate.low, estimate.high) == pytest.approx((4 - half, 4 + half))


def test_what_cannot_be_negative_is_bounded_by_zero_and_reaches_further_up() -> None:
    estimate = mean([0.1, 0.2, 5.0, 0.3, 0.1])
    assert estimate.low == 0.0
    assert estimate.high - estimate.point > 2.776 * np.std([0.1, 0.2, 5.0, 0.3, 0.1]) / 2


def test_a_mean_of_shares_stays_below_one() -> None:
    assert mean([1.0, 1.0, 0.7, 1.0, 1.0], most=1.0).high == 1.0


def test_replications_without_a_value_do_not_count() -> None:
    assert mean([1.0, None, math.nan, 3.0]).replications == 2
    assert mean([None]).statement is Claim.NONE


def test_one_replication_is_a_number_and_no_statement() -> None:
    estimate = mean([0.25])
    assert (estimate.point, estimate.statement) == (0.25, Claim.NONE)
    assert not estimate.is_known
    assert estimate.bounds() == (0.25, 0.25)


def test_fewer_than_five_replications_state_the_side_that_matters() -> None:
    goodput, aborts = mean([9.0, 10.0, 11.0]), mean([9.0, 10.0, 11.0], good=False)
    assert (goodput.statement, goodput.high) == (Claim.AT_LEAST, math.inf)
    assert (aborts.statement, aborts.low) == (Claim.AT_MOST, 0.0)


def test_values_that_all_agree_are_stated_as_that_and_without_an_interval() -> None:
    estimate = mean([7.5] * 6)
    assert estimate.statement is Claim.ALIKE
    assert not estimate.is_known


def test_counts_that_all_agree_leave_room_for_one_more_in_replications_like_them() -> None:
    """Were every second replication otherwise, five alike would be seen once in 32 times."""
    estimate = mean([3] * 5, exposure=1)
    assert estimate.statement is Claim.TWO_SIDED
    assert estimate.low == pytest.approx(3 - (1 - 0.025 ** (1 / 5)))
    assert estimate.high > 3.5


def test_nothing_counted_is_bounded_by_the_exact_limit_of_a_poisson_mean() -> None:
    estimate = mean([0] * 5, exposure=30.0)
    assert (estimate.statement, estimate.low, estimate.events) == (Claim.AT_MOST, 0.0, 0)
    assert estimate.high == pytest.approx(max(-math.log(0.05), 5 * (1 - 0.05**0.2)) / 150)


def test_few_counted_are_stated_as_at_most() -> None:
    estimate = mean([1, 0, 2, 0, 1], exposure=1)
    assert (estimate.statement, estimate.events) == (Claim.AT_MOST, 4)
    assert estimate.high >= 9.1535 / 5


Draw = Callable[[np.random.Generator, int], Any]
PROCESSES: dict[str, tuple[Draw, float, float | None]] = {
    "normal": (lambda random, n: random.normal(10, 2, n), 10.0, None),
    "lognormal": (lambda random, n: random.lognormal(0, 0.5, n), math.exp(0.125), None),
    "exponential": (lambda random, n: random.exponential(1, n), 1.0, None),
    "one in five": (lambda random, n: random.poisson(0.2, n), 0.2, 1.0),
    "one each": (lambda random, n: random.poisson(1, n), 1.0, 1.0),
    "thirty each": (lambda random, n: random.poisson(30, n), 30.0, 1.0),
    "clustered": (lambda random, n: random.negative_binomial(2.5, 1 / 3, n), 5.0, 1.0),
    "a hundred, now and then one more": (
        lambda random, n: 100 + (random.random(n) < 0.1),
        100.1,
        1.0,
    ),
}


@pytest.mark.parametrize("process", PROCESSES)
@pytest.mark.parametrize("replications", [5, 10, 30])
def test_intervals_of_means_hold_the_truth(process: str, replications: int) -> None:
    draw, truth, exposure = PROCESSES[process]
    random = np.random.default_rng([7, replications, len(process)])
    held = 0
    for _ in range(SETS):
        estimate = mean(draw(random, replications), exposure=exposure)
        held += estimate.low <= truth <= estimate.high
    assert held / SETS >= 0.93 - slack(WHOLE)
