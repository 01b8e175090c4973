"""Percentiles: order statistics of all values, and how often they hold the truth."""

from __future__ import annotations

import math
from functools import cache
from itertools import product

import numpy as np
import pytest

from tests.statistics.simulation import noise, short_of, slack
from whitecap.reports.statistics import Claim, percentile

WHOLE = 250
SETS = short_of(WHOLE)

pytestmark = pytest.mark.simulated


def test_the_point_is_the_percentile_of_all_values_together() -> None:
    values = [
        np.arange(10.0),
        np.arange(50.0, 90.0),
        np.arange(5.0),
        np.arange(3.0),
        np.arange(9.0),
    ]
    assert percentile(values, 95).point == pytest.approx(np.percentile(np.concatenate(values), 95))


def test_it_says_on_how_many_values_it_rests() -> None:
    estimate = percentile([[1.0, 2.0, 3.0], [], [4.0]], 50)
    assert (estimate.units, estimate.replications) == (4, 2)


def test_where_values_do_not_reach_only_the_reachable_side_is_stated() -> None:
    values = np.random.default_rng(1).exponential(1, (5, 40))
    estimate = percentile(list(values), 99)
    assert (estimate.statement, estimate.high) == (Claim.AT_LEAST, math.inf)
    assert estimate.low in values


def test_a_low_percentile_of_few_values_is_stated_as_at_most() -> None:
    values = list(np.random.default_rng(2).exponential(1, (5, 40)))
    assert percentile(values, 1).statement is Claim.AT_MOST


def test_what_is_stated_as_at_most_is_bounded_by_zero_below() -> None:
    """A latency cannot pass it."""
    values = list(np.random.default_rng(3).exponential(1, (3, 400)))
    assert percentile(values, 50).low == 0


def test_a_percentile_of_very_few_values_lies_within_its_interval() -> None:
    """It is linear between two values, of which its bound may be the farther one."""
    random = np.random.default_rng(0)
    for _ in range(200):
        sizes = random.integers(0, 6, random.integers(1, 9))
        values = [random.exponential(1, size) for size in sizes]
        for percent, good in product((50, 95, 99), (True, False)):
            estimate = percentile(values, percent, good=good)
            assert not estimate.is_known or estimate.low <= estimate.point <= estimate.high


def test_of_three_values_nothing_is_known() -> None:
    assert percentile([[1.0], [2.0], [3.0]], 50).statement is Claim.NONE
    assert math.isnan(percentile([[], []], 50).point)


def test_of_fewer_than_five_replications_the_side_that_matters_is_stated() -> None:
    values = list(np.random.default_rng(3).exponential(1, (3, 400)))
    assert percentile(values, 50).statement is Claim.AT_MOST
    assert percentile(values, 50, good=True).statement is Claim.AT_LEAST


def test_values_that_are_all_the_same_are_stated_as_that() -> None:
    assert percentile([[1500.0] * 100] * 5, 95).statement is Claim.ALIKE


@pytest.mark.parametrize("percent", [0, 100, 120, -5])
def test_a_percent_beyond_the_ends_is_refused(percent: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 100"):
        percentile([[1.0, 2.0]], percent)


def test_replications_that_differ_make_the_interval_wider() -> None:
    random = np.random.default_rng(4)
    alike = random.exponential(1, (6, 100))
    different = alike * np.array([0.5, 2.0, 0.6, 1.8, 0.5, 2.2])[:, None]
    estimates = [percentile(list(values), 50) for values in (alike, different)]
    widths = [each.high - each.low for each in estimates]
    assert widths[1] > 3 * widths[0]


TAILS = {
    "lognormal": lambda random, shape: random.lognormal(0, 1, shape),
    "pareto": lambda random, shape: random.pareto(1.5, shape) + 1,
}


@cache
def truth(tail: str, between: float, percent: float) -> float:
    """The percentile of the process, from two million values."""
    random = np.random.default_rng(0)
    values = TAILS[tail](random, 2_000_000)
    return float(
        np.percentile(values * np.exp(between * random.standard_normal(len(values))), percent)
    )


@pytest.mark.parametrize(("replications", "size"), [(5, 60), (5, 400), (10, 200), (30, 60)])
@pytest.mark.parametrize("between", [0.0, 0.3])
@pytest.mark.parametrize("tail", TAILS)
def test_intervals_of_percentiles_hold_the_truth(
    tail: str, between: float, replications: int, size: int
) -> None:
    """`between` is how much replications differ: the deviation of the logarithm of their scale."""
    random = np.random.default_rng([8, replications, size, int(10 * between), len(tail)])
    held = dict.fromkeys((50.0, 95.0, 99.0), 0)
    for _ in range(SETS):
        scale = np.exp(between * random.standard_normal((replications, 1)))
        values = TAILS[tail](random, (replications, size)) * scale
        for percent in held:
            estimate = percentile(values, percent)
            held[percent] += estimate.low <= truth(tail, between, percent) <= estimate.high
    coverage = {percent: count / SETS for percent, count in held.items()}
    assert min(coverage.values()) >= 0.93 - noise(SETS), coverage
    assert np.mean(list(coverage.values())) >= 0.93 - slack(WHOLE), coverage
