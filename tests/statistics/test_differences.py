"""Differences of pairs: what is stated, and how often it holds with replications that correlate."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.statistics.simulation import noise, short_of, slack
from whitecap.reports.arrays import FloatArray
from whitecap.reports.statistics import Claim, difference, mean, percentile, share

SETS = short_of(200)
SETS_OF_MEANS = 2000

pytestmark = pytest.mark.simulated


def test_what_both_share_cancels() -> None:
    """Replications differ by 10, the two by 1: only pairing can see it."""
    gap = difference(mean([11.0, 21.0, 31.1, 41.0, 50.9]), mean([10.0, 20.0, 30.0, 40.0, 50.0]))
    assert gap.point == pytest.approx(1.0)
    assert gap.is_distinguishable
    assert gap.high - gap.low < 0.3


def test_a_difference_of_means_is_student_s_on_the_differences() -> None:
    gap = difference(mean([3.0, 5.0, 4.0, 6.0, 7.0]), mean([1.0, 2.0, 3.0, 3.0, 6.0]))
    half = 2.776445 * np.std([2, 3, 1, 3, 1], ddof=1) / math.sqrt(5)
    assert (gap.low, gap.high) == pytest.approx((2 - half, 2 + half))


def test_replications_without_a_value_on_either_side_are_left_out() -> None:
    assert difference(mean([1.0, None, 3.0, 4.0]), mean([1.0, 2.0, None, 5.0])).replications == 2


def test_a_difference_reads_the_same_from_both_sides() -> None:
    first, second = share([3, 4, 6, 2, 8], [20] * 5), share([1, 3, 2, 2, 4], [25] * 5)
    there, back = difference(first, second), difference(second, first)
    assert -back == there


def test_two_equal_differences_do_not_make_certainty() -> None:
    gap = difference(mean([5.0, 9.0]), mean([4.0, 8.0]))
    assert gap.low < 0 < gap.high
    assert not gap.is_distinguishable


def test_identical_replications_leave_room_for_what_was_not_seen() -> None:
    values = [3.0, 5.0, 4.0, 6.0, 7.0]
    for estimate in (mean(values), share([3, 0, 1, 2, 4], [20] * 5), share([0] * 5, [20] * 5)):
        gap = difference(estimate, estimate)
        assert gap.low < 0 < gap.high


def test_only_where_nothing_varies_at_all_is_agreement_stated_as_that() -> None:
    gap = difference(mean([2.0] * 5), mean([3.0] * 5))
    assert (gap.statement, gap.point, gap.is_distinguishable) == (Claim.ALIKE, -1.0, True)
    assert not difference(mean([2.0] * 3), mean([3.0] * 3)).is_distinguishable
    assert not difference(mean([2.0] * 5), mean([2.0] * 5)).is_distinguishable


def test_one_replication_says_nothing_of_a_difference() -> None:
    for first, second in (
        (mean([3.0]), mean([1.0])),
        (share([90], [100]), share([10], [100])),
        (percentile([[5.0] * 50], 50), percentile([[1.0] * 50], 50)),
    ):
        gap = difference(first, second)
        assert gap.statement is Claim.NONE
        assert not gap.is_distinguishable


def test_what_cannot_be_compared_is_refused() -> None:
    values = list(np.random.default_rng(1).exponential(1, (5, 50)))
    for first, second in (
        (mean([1.0, 2.0]), share([1, 2], [3, 4])),
        (mean([1.0, 2.0]), mean([1.0, 2.0, 3.0])),
        (percentile(values, 50), percentile(values, 95)),
    ):
        with pytest.raises(ValueError, match="same replications"):
            difference(first, second)


counts = st.lists(
    st.tuples(st.integers(0, 50), st.integers(50, 90), st.integers(0, 50), st.integers(50, 90)),
    min_size=2,
    max_size=8,
)


@given(counts)
def test_shares_differ_by_at_most_one_and_are_never_of_one_certain_difference(
    rows: list[tuple[int, int, int, int]],
) -> None:
    events, units, others, other_units = (list(each) for each in zip(*rows, strict=True))
    gap = difference(share(events, units), share(others, other_units))
    assert -1 <= gap.low < gap.high <= 1
    assert gap.low <= gap.point <= gap.high


def correlated(
    random: np.random.Generator, shape: tuple[int, ...], correlation: float
) -> tuple[FloatArray, FloatArray]:
    """Two normal deviates each."""
    common, first, second = random.standard_normal((3, *shape))
    both, own = math.sqrt(correlation), math.sqrt(1 - correlation)
    return both * common + own * first, both * common + own * second


@pytest.mark.parametrize(("replications", "size"), [(5, 60), (5, 500), (10, 200), (30, 100)])
@pytest.mark.parametrize(("first", "second"), [(-1.6, -1.6), (0.0, -0.3), (2.3, 1.6)])
def test_differences_of_shares_hold_with_replications_and_units_that_correlate(
    first: float, second: float, replications: int, size: int
) -> None:
    """An event is a normal deviate below `first`; it is made of the replication's and its own."""
    random = np.random.default_rng(
        [9, replications, size, int(10 * first) + 50, int(-10 * second) + 50]
    )
    truth = normal_share(first) - normal_share(second)
    held = []
    for between, common in ((0.0, 0.0), (0.0, 0.9), (0.04, 0.0), (0.04, 0.9)):
        kept = 0
        for _ in range(SETS):
            of_replication = correlated(random, (replications, 1), common)
            of_unit = correlated(random, (replications, size), common)
            events = [
                (math.sqrt(between) * r + math.sqrt(1 - between) * u < limit).sum(axis=1)
                for r, u, limit in zip(of_replication, of_unit, (first, second), strict=True)
            ]
            left, right = (share(each, [size] * replications) for each in events)
            gap = difference(left, right)
            kept += gap.low <= truth <= gap.high
        held.append(kept / SETS)
    assert np.mean(held) >= 0.93 - noise(SETS * len(held)), held
    assert min(held) >= 0.93 - noise(SETS), held


def normal_share(limit: float) -> float:
    """How much of a normal distribution lies below."""
    return 0.5 * math.erfc(-limit / math.sqrt(2))


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.95])
@pytest.mark.parametrize("replications", [2, 3, 5, 10, 30])
def test_differences_of_means_hold_however_much_replications_correlate(
    replications: int, correlation: float
) -> None:
    random = np.random.default_rng([10, replications, int(100 * correlation)])
    kept = 0
    for _ in range(short_of(SETS_OF_MEANS)):
        first, second = correlated(random, (replications,), correlation)
        gap = difference(mean(10 + first), mean(9 + second))
        kept += gap.low <= 1 <= gap.high
    assert kept / short_of(SETS_OF_MEANS) >= 0.93 - slack(SETS_OF_MEANS)


@pytest.mark.parametrize(("replications", "size"), [(5, 400), (10, 200), (30, 60)])
@pytest.mark.parametrize("percent", [50.0, 95.0])
def test_differences_of_percentiles_hold_with_values_and_replications_that_correlate(
    percent: float, replications: int, size: int
) -> None:
    random = np.random.default_rng([11, replications, size, int(percent)])
    held = []
    for between, common in ((0.0, 0.0), (0.0, 0.9), (0.3, 0.8)):
        deviation = {50.0: 0.0, 95.0: 1.6448536}[percent] * math.sqrt(1 + between**2)
        truth = math.exp(deviation) * (1 - 2)
        kept = 0
        for _ in range(SETS):
            of_replication = correlated(random, (replications, 1), common)
            of_value = correlated(random, (replications, size), common)
            first, second = (
                percentile(list(factor * np.exp(between * r + v)), percent)
                for factor, r, v in zip((1, 2), of_replication, of_value, strict=True)
            )
            gap = difference(first, second)
            kept += gap.low <= truth <= gap.high
        held.append(kept / SETS)
    assert np.mean(held) >= 0.93 - noise(SETS * len(held)), held
    assert min(held) >= 0.93 - noise(SETS), held
