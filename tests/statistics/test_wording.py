"""How estimates read, everywhere alike."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whitecap.reports.measures import Unit, written
from whitecap.reports.statistics import (
    Claim,
    Estimate,
    EstimatedDifference,
    difference,
    mean,
    percentile,
    said_estimate,
    share,
    written_bounds,
    written_difference,
    written_difference_bounds,
    written_estimate,
)


def estimate(point: float, low: float, high: float, statement: Claim = Claim.TWO_SIDED) -> Estimate:
    """Of ten replications."""
    return Estimate(point, low, high, statement, 10)


@pytest.mark.parametrize(
    ("of", "unit", "text"),
    [
        (estimate(0.992, 0.987, 0.995), Unit.SHARE, "99.2 % (98.7 to 99.5 %)"),
        (estimate(0.0312, 0.0207, 0.0466), Unit.SHARE, "3.12 % (2.07 to 4.66 %)"),
        (estimate(0.99962, 0.99941, 0.99978), Unit.SHARE, "99.96 % (99.94 to 99.98 %)"),
        (estimate(0.00031, 0.00012, 0.00063), Unit.SHARE, "0.031 % (0.012 to 0.063 %)"),
        (estimate(12.34, 11.8, 12.9), Unit.PER_MINUTE, "12.3 / min (11.8 to 12.9 / min)"),
        (estimate(950, 900, 1100), Unit.MILLISECONDS, "950 ms (900 ms to 1.10 s)"),
        (estimate(12_100, 11_000, 14_200), Unit.MILLISECONDS, "12.1 s (11.0 to 14.2 s)"),
        (share([0] * 5, [200] * 5), Unit.SHARE, "at most 0.30 %"),
        (share([1, 0, 2, 1, 0], [100] * 5), Unit.SHARE, "at most 2.03 % (4 events)"),
        (share([99, 100, 99, 98, 100], [100] * 5), Unit.SHARE, "at least 97.9 % (4 events)"),
        (share([200], [200]), Unit.SHARE, "at least 98.5 % (1 replication)"),
        (share([1, 0], [100] * 2), Unit.SHARE, "at most 2.76 % (1 event, 2 replications)"),
        (mean([9.0, 10.0, 11.0]), Unit.PER_MINUTE, "at least 8.31 / min (3 replications)"),
        (mean([7.5] * 6), Unit.PER_MINUTE, "7.50 / min (all 6 replications alike)"),
        (mean([7.5]), Unit.PER_MINUTE, "7.50 / min (1 replication)"),
        (percentile([range(20)] * 5, 99), Unit.MILLISECONDS, "at least 19.0 ms (only 100 values)"),
        (
            percentile([range(20)] * 5, 50),
            Unit.MILLISECONDS,
            "9.50 ms (8.00 to 11.0 ms, 100 values)",
        ),
        (
            percentile([[20_000.0] * 266], 95),
            Unit.MILLISECONDS,
            "20.0 s (1 replication, 266 values)",
        ),
        (share([], []), Unit.SHARE, "n/a"),
    ],
)
def test_an_estimate_reads(of: Estimate, unit: Unit, text: str) -> None:
    assert written_estimate(of, unit) == text


@pytest.mark.parametrize(
    ("of", "text"),
    [
        (share([200] * 5, [200] * 5), "100 %, at least 99.7 %"),
        (share([1, 0, 2, 1, 0], [100] * 5), "0.80 %, at most 2.03 % (4 events)"),
        (estimate(0.992, 0.987, 0.995), "99.2 % (98.7 to 99.5 %)"),
        (share([], []), "n/a"),
    ],
)
def test_a_sentence_says_what_was_seen_beside_a_bound(of: Estimate, text: str) -> None:
    assert said_estimate(of, Unit.SHARE) == text


def test_what_is_not_all_is_never_written_as_all() -> None:
    assert written_estimate(share([30_000] * 5, [30_000] * 5), Unit.SHARE) == "at least 99.998 %"
    almost = share([29_998, 30_000, 29_999, 29_997, 29_999], [30_000] * 5)
    assert written_estimate(almost, Unit.SHARE) == "99.995 % (99.98 to 99.999 %)"


@given(st.floats(1e-9, 1 - 1e-9), st.floats(1e-9, 1 - 1e-9), st.floats(1e-9, 1 - 1e-9))
def test_written_bounds_of_shares_hold_what_the_bounds_hold(a: float, b: float, c: float) -> None:
    low, point, high = sorted((a, b, c))
    text = written_bounds(estimate(point, low, high), Unit.SHARE)
    first, last = (float(each.rstrip(" %")) / 100 for each in text.split(" to "))
    assert 0 <= first <= low + 1e-12
    assert high - 1e-12 <= last <= 1


@pytest.mark.parametrize(
    ("gap", "unit", "text"),
    [
        (EstimatedDifference(0.031, 0.012, 0.05, Claim.TWO_SIDED, 9), Unit.SHARE,
         "+3.1 points (+1.2 to +5.0 points)"),
        (EstimatedDifference(-0.302, -0.4, 0.0037, Claim.TWO_SIDED, 9), Unit.SHARE,
         "-30.2 points (-40.0 to +0.4 points)"),
        (EstimatedDifference(0.063, -0.00013, 0.1193, Claim.TWO_SIDED, 9), Unit.SHARE,
         "+6.30 points (-0.01 to +11.93 points)"),
        (EstimatedDifference(0.0013, -0.00002, 0.0025, Claim.TWO_SIDED, 9), Unit.SHARE,
         "+0.130 points (-0.002 to +0.250 points)"),
        (EstimatedDifference(0.00013, 0.00011, 0.00015, Claim.TWO_SIDED, 9), Unit.SHARE,
         "+0.013 points (+0.011 to +0.015 points)"),
        (EstimatedDifference(1200, -250, 2650, Claim.TWO_SIDED, 9), Unit.MILLISECONDS,
         "+1.20 s (-250 ms to +2.65 s)"),
        (EstimatedDifference(0.0, -0.5, 0.5, Claim.TWO_SIDED, 9), Unit.PER_MINUTE,
         "0 / min (-0.50 to +0.50 / min)"),
        (EstimatedDifference(-0.14958, -0.15383, -0.14533, Claim.TWO_SIDED, 5), Unit.PER_MINUTE,
         "-0.1496 / min (-0.1538 to -0.1453 / min)"),
        (EstimatedDifference(60.0, 30.0, math.inf, Claim.TWO_SIDED, 9), Unit.MILLISECONDS,
         "+60.0 ms (at least +30.0 ms)"),
        (EstimatedDifference(60.0, -math.inf, 90.0, Claim.TWO_SIDED, 9), Unit.MILLISECONDS,
         "+60.0 ms (at most +90.0 ms)"),
        (EstimatedDifference(60.0, -math.inf, math.inf, Claim.TWO_SIDED, 9), Unit.MILLISECONDS,
         "+60.0 ms (no bounds, 9 replications)"),
        (difference(share([1], [100]), share([0], [100])), Unit.SHARE,
         "+1.0 points (1 replication)"),
        (difference(mean([2.0] * 5), mean([3.0] * 5)), Unit.PER_MINUTE,
         "-1.00 / min (all 5 replications alike)"),
        (difference(mean([None]), mean([None])), Unit.PER_MINUTE, "n/a"),
    ],
)  # fmt: skip
def test_a_difference_reads(gap: EstimatedDifference, unit: Unit, text: str) -> None:
    assert written_difference(gap, unit) == text


@pytest.mark.parametrize(
    ("of", "unit", "threshold", "text"),
    [
        (estimate(0.9896, 0.9885, 0.98997), Unit.SHARE, 0.99, "98.960 % (98.850 to 98.997 %)"),
        (estimate(0.9912, 0.99004, 0.992), Unit.SHARE, 0.99, "99.120 % (99.004 to 99.200 %)"),
        (estimate(0.9960, 0.99061, 0.998), Unit.SHARE, 0.9905, "99.60 % (99.06 to 99.80 %)"),
        (estimate(0.9, 0.8, 0.95), Unit.SHARE, 0.99, "90.0 % (80.0 to 95.0 %)"),
        (estimate(60_100, 60_040, 61_000), Unit.MILLISECONDS, 60_000,
         "1.0017 min (1.0007 to 1.0167 min)"),
        (estimate(10.02, 9.0, 11.0), Unit.PER_MINUTE, 10.04, "10.02 / min (9.000 to 11.00 / min)"),
        (estimate(400.004, 380.0, 420.0), Unit.MONEY, 400.0, "400.004 (380.000 to 420.000)"),
        (estimate(0.154, 0.1, 0.2), Unit.PER_MINUTE, 0.15, "0.1540 / min (0.1000 to 0.2000 / min)"),
    ],
)  # fmt: skip
def test_no_number_is_rounded_to_or_past_a_threshold_that_it_stands_beside(
    of: Estimate, unit: Unit, threshold: float, text: str
) -> None:
    assert written_estimate(of, unit, [threshold]) == text


@given(
    st.sampled_from([Unit.PER_MINUTE, Unit.MILLISECONDS, Unit.SLOT_HOURS, Unit.MONEY]),
    st.floats(-1e6, 1e6),
    st.floats(1e-6, 1.0),
)
def test_no_interval_reads_as_a_number(unit: Unit, low: float, width: float) -> None:
    high = low + width * max(abs(low), 1e-3)
    gap = EstimatedDifference(low, low, high, Claim.TWO_SIDED, 5)
    first, last = written_difference_bounds(gap, unit).split(" to ")
    assert first.split(" ")[0].lstrip("+") != last.split(" ")[0].lstrip("+")


@given(st.floats(0.001, 0.999), st.floats(0.001, 0.999), st.sampled_from([-1e-6, -1e-4, 1e-4, 0.1]))
def test_a_written_share_lies_on_the_side_of_the_threshold_that_it_is_on(
    threshold: float, point: float, beyond: float
) -> None:
    high = min(max(threshold + beyond, point), 1.0)
    text = written_bounds(estimate(point, 0.0, high), Unit.SHARE, [threshold])
    written_high = float(text.split(" to ")[1].rstrip(" %")) / 100
    assert (written_high >= threshold - 1e-12) == (high >= threshold)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.9996, Unit.SHARE, "99.96 %"),
        (1.0, Unit.SHARE, "100 %"),
        (1 - 1e-15, Unit.SHARE, "100 %"),
        (0.00004, Unit.SHARE, "0.0040 %"),
        (1 / 60, Unit.PER_MINUTE, "0.017 / min"),
        (0.0149, Unit.MONEY, "0.0149"),
        (2.28e-05, Unit.MONEY, "0.0000228"),
        (0.5, Unit.MONEY, "0.5"),
        (12.345, Unit.MONEY, "12.35"),
    ],
)
def test_a_number_alone_keeps_what_it_says(value: float, unit: Unit, text: str) -> None:
    assert written(value, unit) == text
