"""Differences of replications that have nothing in common hold as often as they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from whitecap.reports.statistics import (
    Claim,
    difference,
    mean,
    percentile,
    share,
    unpaired_difference,
)

SETS = 300
NOISE = 3 * math.sqrt(0.95 * 0.05 / SETS)


@pytest.mark.parametrize(("few", "many"), [(5, 5), (5, 20), (10, 30)])
@pytest.mark.parametrize("ratio", [1.0, 5.0])
def test_differences_of_means_hold_with_other_variances_and_numbers(
    few: int, many: int, ratio: float
) -> None:
    random = np.random.default_rng([3, few, many, int(ratio)])
    held = 0
    for _ in range(SETS):
        first, second = random.normal(100, 8 * ratio, few), random.normal(90, 8, many)
        gap = unpaired_difference(mean(first), mean(second))
        held += gap.low <= 10 <= gap.high
    assert held / SETS >= 0.95 - NOISE


@pytest.mark.parametrize(("few", "many"), [(5, 5), (5, 20)])
@pytest.mark.parametrize("between", [0.0, 0.03])
def test_differences_of_shares_hold_where_replications_scatter(
    few: int, many: int, between: float
) -> None:
    random = np.random.default_rng([4, few, many, int(100 * between)])
    held = 0
    for _ in range(SETS):
        sides = []
        for replications, p in ((few, 0.3), (many, 0.2)):
            truths = np.clip(random.normal(p, between, replications), 0, 1)
            sides.append(share(random.binomial(200, truths).tolist(), [200] * replications))
        first, second = sides
        gap = unpaired_difference(first, second)
        held += gap.low <= 0.1 <= gap.high
    assert held / SETS >= 0.93 - NOISE


def test_differences_of_percentiles_hold() -> None:
    random = np.random.default_rng(5)
    truth = 2 * (-math.log(0.05)) - (-math.log(0.05))
    held = 0
    for _ in range(SETS):
        slow, fast = random.exponential(2, (5, 80)), random.exponential(1, (8, 80))
        gap = unpaired_difference(percentile(list(slow), 95), percentile(list(fast), 95))
        held += gap.low <= truth <= gap.high
    assert held / SETS >= 0.93 - NOISE


def test_what_both_share_does_not_cancel_where_it_is_not_said_to_be_shared() -> None:
    common = np.random.default_rng(6).normal(100, 20, 8)
    first, second = mean(common + 1), mean(common)
    paired, apart = difference(first, second), unpaired_difference(first, second)
    assert paired.point == pytest.approx(apart.point)
    assert not paired.is_distinguishable or paired.high - paired.low < 60
    assert apart.low < -20
    assert apart.high > 20


def test_one_replication_alone_has_no_bounds_beside_many() -> None:
    gap = unpaired_difference(mean([3.0]), mean([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert gap.statement is Claim.NONE
    assert (gap.point, gap.is_distinguishable) == (0.0, False)


def test_a_difference_reads_the_same_from_both_sides_unpaired_too() -> None:
    first, second = share([3, 5, 4, 6, 2], [50] * 5), share([9, 8], [60, 70])
    assert unpaired_difference(first, second) == -unpaired_difference(second, first)


def test_two_kinds_have_no_difference() -> None:
    with pytest.raises(ValueError, match="two means"):
        unpaired_difference(mean([1.0, 2.0]), share([1, 2], [3, 3]))
