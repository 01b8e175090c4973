"""Counts of a few a replication, as of lost commits: how often equals are told apart, what is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from tests.statistics.simulation import short_of, slack
from whitecap.reports.arrays import FloatArray
from whitecap.reports.statistics import (
    CONFIDENCE,
    Estimate,
    EstimatedDifference,
    difference,
    mean,
    unpaired_difference,
)

Telling = Callable[[Estimate, Estimate, float], EstimatedDifference]
BOTH = pytest.mark.parametrize("told_by", [difference, unpaired_difference])

OF_TWENTY = 1 - (1 - CONFIDENCE) / 20
"""The level of a check that compares twenty numbers."""

WHOLE = 250
SETS = short_of(WHOLE)

pytestmark = pytest.mark.simulated


def apart(
    told_by: Telling, now: Sequence[float] | FloatArray, then: Sequence[float] | FloatArray,
    confidence: float = CONFIDENCE,
) -> bool:  # fmt: skip
    """Whether these counts, one per replication, are told apart."""
    return told_by(
        mean(now, exposure=1, good=False), mean(then, exposure=1, good=False), confidence
    ).is_distinguishable


def part_told(
    told_by: Telling, sets: Sequence[tuple[FloatArray, FloatArray]], confidence: float
) -> float:
    """In which part of the sets."""
    return sum(apart(told_by, now, then, confidence) for now, then in sets) / len(sets)


def poisson(
    expected: tuple[float, float], replications: int
) -> list[tuple[FloatArray, FloatArray]]:
    """Sets of independent counts."""
    draw = np.random.default_rng(7)
    shape = SETS, replications
    now, then = (draw.poisson(each, shape).astype(float) for each in expected)
    return list(zip(now, then, strict=True))


def bursts(expected: float, replications: int) -> list[tuple[FloatArray, FloatArray]]:
    """Likewise, of twice the variance of Poisson's."""
    draw = np.random.default_rng(8)
    shape = 2, SETS, replications
    now, then = draw.negative_binomial(expected, 0.5, shape).astype(float)
    return list(zip(now, then, strict=True))


@BOTH
@pytest.mark.parametrize("confidence", [CONFIDENCE, OF_TWENTY])
@pytest.mark.parametrize("replications", [2, 3, 10])
@pytest.mark.parametrize("expected", [0.3, 3.0])
def test_equal_counts_are_seldom_told_apart(
    told_by: Telling, confidence: float, replications: int, expected: float
) -> None:
    """With Student's t 6 % of two replications with 0.3 were, at the level of 0.25 %."""
    at_most = 0.05 + 0.03 if confidence == CONFIDENCE else 0.02
    for sets in (poisson((expected, expected), replications), bursts(expected, replications)):
        assert part_told(told_by, sets, confidence) <= at_most + slack(WHOLE)


@BOTH
def test_many_where_there_were_none_are_told_although_they_scatter(told_by: Telling) -> None:
    """Student's t did in half of such sets."""
    assert part_told(told_by, poisson((7.0, 0.0), 5), OF_TWENTY) > 0.8
    assert apart(told_by, [40, 55, 38], [0, 0, 0], OF_TWENTY)


@BOTH
def test_one_in_each_of_two_or_three_replications_is_no_certainty(told_by: Telling) -> None:
    assert not apart(told_by, [1, 1], [0, 0])
    assert not apart(told_by, [1, 1, 1], [0, 0, 0])


def test_one_more_in_every_replication_of_five_is_no_chance() -> None:
    assert apart(difference, [1] * 5, [0] * 5, OF_TWENTY)


@BOTH
def test_a_single_burst_is_no_certainty(told_by: Telling) -> None:
    assert not apart(told_by, [36, 0, 0, 0, 0], [0] * 5)


@BOTH
@pytest.mark.parametrize("replications", [3, 10])
def test_the_interval_holds_the_difference(told_by: Telling, replications: int) -> None:
    held = 0
    for now, then in poisson((3.0, 1.0), replications):
        gap = told_by(mean(now, exposure=1), mean(then, exposure=1), CONFIDENCE)
        held += gap.low <= 2 <= gap.high
    assert held / SETS >= 0.93 - slack(WHOLE)


def test_counts_per_minute_stay_with_their_own_scatter() -> None:
    """What is regulated agrees better than rare events would."""
    now, then = (
        mean([each / 10 for each in counts], exposure=10)
        for counts in ([3, 3, 4, 3, 3], [2, 2, 1, 2, 2])
    )
    assert difference(now, then).is_distinguishable


def test_counts_per_minute_that_agree_in_few_replications_are_no_certainty() -> None:
    def goodput(count: int, replications: int) -> Estimate:
        return mean([count / 10] * replications, exposure=10)

    assert not difference(goodput(1, 3), goodput(0, 3)).is_distinguishable
    assert difference(goodput(60, 3), goodput(30, 3)).is_distinguishable
    assert difference(goodput(1, 5), goodput(0, 5)).is_distinguishable
