"""Intervals over replications: Student's t, and what happens with too few replications."""

from __future__ import annotations

import math

import numpy as np
import pytest

from whitecap.reports.intervals import interval_of, t_quantile


@pytest.mark.parametrize(
    ("degrees", "critical"), [(1, 12.7062), (2, 4.3027), (4, 2.7764), (9, 2.2622), (30, 2.0423)]
)
def test_critical_values_are_those_of_the_printed_table(degrees: int, critical: float) -> None:
    assert t_quantile(degrees) == pytest.approx(critical, abs=5e-5)


def test_an_interval_is_mean_plus_minus_t_times_the_standard_error() -> None:
    interval = interval_of([2.0, 4.0, 6.0])
    half = 4.302653 * 2.0 / math.sqrt(3)
    assert (interval.mean, interval.replications) == (4.0, 3)
    assert interval.low == pytest.approx(4.0 - half)
    assert interval.high == pytest.approx(4.0 + half)


def test_one_replication_has_a_mean_and_no_bounds() -> None:
    interval = interval_of([0.25])
    assert interval.mean == 0.25
    assert not interval.is_known
    assert not interval.excludes_zero
    assert interval.bounds() == (0.25, 0.25)


def test_replications_without_a_value_do_not_count() -> None:
    assert interval_of([1.0, None, math.nan, 3.0]).replications == 2
    assert math.isnan(interval_of([None]).mean)


def test_drawn_bounds_stay_within_what_a_share_can_be() -> None:
    assert interval_of([0.0, 0.0, 0.3]).bounds(0.0, 1.0)[0] == 0.0
    assert interval_of([1.0, 1.0, 0.7]).bounds(0.0, 1.0)[1] == 1.0


def test_ninety_five_of_a_hundred_intervals_hold_the_true_mean() -> None:
    random = np.random.default_rng(3)
    intervals = [interval_of(random.normal(10, 2, 5)) for _ in range(2000)]
    covered = sum(i.low <= 10 <= i.high for i in intervals) / len(intervals)
    assert covered == pytest.approx(0.95, abs=0.015)
