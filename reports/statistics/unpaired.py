"""Differences of two estimates whose replications have nothing in common."""

from __future__ import annotations

import math

import numpy as np

from whitecap.reports.statistics import design_effect
from whitecap.reports.statistics.estimate import (
    CONFIDENCE,
    Claim,
    Estimate,
    EstimatedDifference,
)
from whitecap.reports.statistics.means import Means
from whitecap.reports.statistics.percentiles import Percentiles
from whitecap.reports.statistics.rare_counts import bounds_of_rare, is_rare
from whitecap.reports.statistics.shares import Shares


def unpaired_difference(
    first: Estimate, second: Estimate, confidence: float = CONFIDENCE
) -> EstimatedDifference:
    """The first minus the second, of independent replications, however many either side has.

    Each side gets its own two-sided bounds, and they are put together as variances recovered from
    limits (MOVER; Zou and Donner 2008), which asks for no common variance; plain counts of a few a
    replication as `rare_counts.py` has it. Of a side with one
    replication nothing is known of how far others would lie, so no bound is stated.

    Raises `ValueError` where the two are not of one kind.
    """
    left, right = first.observations, second.observations
    if (
        not isinstance(left, _KINDS)
        or not isinstance(right, _KINDS)
        or type(left) is not type(right)
    ):
        raise ValueError("only two shares, two means or two percentiles have a difference")
    count, point = min(_replications(left), _replications(right)), first.point - second.point
    if count < 2 or math.isnan(point):
        return EstimatedDifference(point, math.nan, math.nan, Claim.NONE, count, confidence)
    tail = (1 - confidence) / 2
    if isinstance(left, Means) and isinstance(right, Means) and _are_rare(left, right):
        low, high = bounds_of_rare(left.values, right.values, tail)
        return EstimatedDifference(point, low, high, Claim.TWO_SIDED, count, confidence)
    (low, high), (other_low, other_high) = _bounds(left, tail), _bounds(right, tail)
    down = math.hypot(first.point - low, other_high - second.point)
    up = math.hypot(high - first.point, second.point - other_low)
    if not down and not up:
        return EstimatedDifference(point, math.nan, math.nan, Claim.ALIKE, count, confidence)
    return EstimatedDifference(point, point - down, point + up, Claim.TWO_SIDED, count, confidence)


_KINDS = (Means, Shares, Percentiles)


def _are_rare(left: Means, right: Means) -> bool:
    are_plain = left.is_plain_count and right.is_plain_count
    return are_plain and is_rare(left.values, right.values)


def _replications(observed: Means | Shares | Percentiles) -> int:
    if isinstance(observed, Means):
        return len(observed.values)
    return int(np.count_nonzero(observed.units))


def _bounds(observed: Means | Shares | Percentiles, tail: float) -> tuple[float, float]:
    """Both bounds of one side, with `tail` beyond each."""
    match observed:
        case Means():
            return observed.bounds(tail)
        case Shares(events=events, units=units):
            return observed.bounds(tail, float(design_effect.of_counts(events, units).at(tail)))
        case Percentiles(below=below, units=units):
            return observed.bounds(tail, float(design_effect.of_counts(below, units).at(tail)))
