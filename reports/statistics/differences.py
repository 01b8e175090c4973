"""Differences of two estimates, paired by replication."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import stdtrit

from whitecap.reports.arrays import FloatArray
from whitecap.reports.fewest import FEWEST_REPLICATIONS
from whitecap.reports.statistics import design_effect
from whitecap.reports.statistics.estimate import (
    CONFIDENCE,
    Claim,
    Estimate,
    EstimatedDifference,
)
from whitecap.reports.statistics.means import Means, unnoticed
from whitecap.reports.statistics.moderation import UNKNOWN, Prior
from whitecap.reports.statistics.percentiles import Percentiles
from whitecap.reports.statistics.rare_counts import bounds_of_rare, is_rare
from whitecap.reports.statistics.shares import Shares


def difference(
    first: Estimate, second: Estimate, confidence: float = CONFIDENCE
) -> EstimatedDifference:
    """The first minus the second; both have the same replications in the same order.

    Replication r has the same random numbers on both sides: what they share cancels, because the
    scatter that counts is that of each replication's contribution to the difference.

    Means: Student's t on the differences; plain counts of a few a replication, unless all of
    several replications differ by the same, as `rare_counts.py` has it. Shares and percentiles:
    each side gets its exact bounds for a sample that is smaller by the design effect of the
    difference (its scatter over that of independent units, moderated as in `design_effect.py`),
    and the two are put together as variances recovered from limits (MOVER; Zou and Donner 2008).
    Shares differ by at most 1.

    Never of zero width: what no replication or unit showed could still be so in as many as would
    have escaped notice. One replication alone says nothing of a difference.

    Raises `ValueError` where the two cannot be compared.
    """
    return pair_of(first, second).difference(confidence)


def pair_of(first: Estimate, second: Estimate) -> MeansPair | CountsPair:
    """The two side by side. Raises `ValueError` where they cannot be compared."""
    match first.observations, second.observations:
        case Means() as left, Means() as right if len(left.every) == len(right.every):
            return MeansPair.of(left, right)
        case Shares() as left, Shares() as right if len(left.units) == len(right.units):
            return CountsPair(left, right)
        case Percentiles() as left, Percentiles() as right if (
            len(left.units) == len(right.units) and left.level == right.level
        ):
            return CountsPair(left, right)
    raise ValueError(
        "only two shares, two means or two equal percentiles of the same replications have a "
        "difference"
    )


@dataclass(frozen=True)
class MeansPair:
    """Two means of the replications in which both have a value."""

    first: FloatArray
    second: FloatArray
    step: float | None
    """What one count more makes, where values are counts."""
    are_plain_counts: bool = False

    @classmethod
    def of(cls, first: Means, second: Means) -> MeansPair:
        """Without the replications that have no value on one side."""
        both = ~(np.isnan(first.every) | np.isnan(second.every))
        step = None if first.exposure is None else 1 / first.exposure
        are_plain = first.is_plain_count and second.is_plain_count
        return cls(first.every[both], second.every[both], step, are_plain)

    @property
    def replications(self) -> int:
        """How many there are of both."""
        return len(self.first)

    @cached_property
    def variance(self) -> float:
        """Of the differences; 0 where rounding alone makes them differ."""
        differences = self.first - self.second
        if np.ptp(differences) <= _ROUNDING * max(np.abs([self.first, self.second]).max(), 0.0):
            return 0.0
        return float(differences.var(ddof=1))

    @property
    def error(self) -> float:
        """The standard error of the difference; 0 where nothing tells it."""
        return math.sqrt(self.variance / self.replications) if self.replications > 1 else 0.0

    def difference(self, confidence: float, prior: Prior = UNKNOWN) -> EstimatedDifference:
        """With its interval; a prior about the variance counts as more degrees of freedom."""
        count = self.replications
        point = float((self.first - self.second).mean()) if count else math.nan
        if count < 2:
            return _without_bounds(point, count, confidence)
        tail = (1 - confidence) / 2
        if self._is_rare and not prior.freedom:
            low, high = self._bounds_of_counts(tail)
            return EstimatedDifference(point, low, high, Claim.TWO_SIDED, count, confidence)
        freedom = count - 1 + prior.freedom
        # Where all differences agree, others may differ as much as the values themselves do.
        own = self.variance or float(max(self.first.var(ddof=1), self.second.var(ddof=1)))
        variance = (own * (count - 1) + prior.freedom * prior.level) / freedom
        half = -float(stdtrit(freedom, tail)) * math.sqrt(variance / count)
        half = max(half, unnoticed(count, tail) * (self.step or 0.0))
        if not half:
            return _alike(point, count, confidence)
        return EstimatedDifference(
            point, point - half, point + half, Claim.TWO_SIDED, count, confidence
        )

    def _bounds_of_counts(self, tail: float) -> tuple[float, float]:
        step = self.step or 1.0
        low, high = bounds_of_rare(self.first / step, self.second / step, tail)
        return low * step, high * step

    @property
    def _is_rare(self) -> bool:
        """Whether bounds are those of rare counts: few replications that agree say too little for
        any others; five and more speak for themselves, as what happens in each is no chance."""
        if not self.variance:
            return self.step is not None and self.replications < FEWEST_REPLICATIONS
        return self.are_plain_counts and is_rare(self.first, self.second)


_ROUNDING = 1e-12
"""By what part of themselves numbers may differ that are the same but for rounding. Ours."""


@dataclass(frozen=True)
class CountsPair:
    """Two shares, or two percentiles, which are read off a share of values below."""

    first: Shares | Percentiles
    second: Shares | Percentiles

    @property
    def replications(self) -> int:
        """How many have units on both sides."""
        return int(np.count_nonzero((self.first.units > 0) & (self.second.units > 0)))

    @cached_property
    def variance(self) -> float:
        """Of the difference, over that of independent units; common chance makes it small."""
        count, expected = self.replications, self.first.variance + self.second.variance
        if count < 2 or not expected:
            return 0.0
        squares = np.square(self.first.contributions - self.second.contributions)
        return float(squares.sum()) / expected * count / (count - 1)

    @property
    def error(self) -> float:
        """The standard error of the difference; 0 where nothing tells it."""
        return math.sqrt(self.variance * (self.first.variance + self.second.variance))

    def difference(self, confidence: float, prior: Prior = UNKNOWN) -> EstimatedDifference:
        """With its interval; a prior about the design effect counts as more replications."""
        count, point = self.replications, self.first.point - self.second.point
        if count < 2:
            return _without_bounds(point, count, confidence)
        tail = (1 - confidence) / 2
        effect = design_effect.of_scatter(self.variance, count, self._worth, prior).at(tail)
        low, high = self._recovered(tail, float(effect))
        units = min(float(self.first.units.sum()), float(self.second.units.sum()))
        least = unnoticed(units, tail) * max(self.first.step, self.second.step)
        low, high = min(low, point - least), max(high, point + least)
        if low == high:
            return _alike(point, count, confidence)
        if isinstance(self.first, Shares):
            low, high = max(low, -1.0), min(high, 1.0)
        return EstimatedDifference(point, low, high, Claim.TWO_SIDED, count, confidence)

    @property
    def _worth(self) -> float:
        """How many replications of equal size these are worth."""
        weights = sum(each.units / each.units.sum() for each in (self.first, self.second))
        return float(np.sum(weights) ** 2 / np.square(weights).sum())

    def _recovered(self, tail: float, effect: float) -> tuple[float, float]:
        """Bounds of the difference from the bounds of either side."""
        left, right = self.first.bounds(tail, effect), self.second.bounds(tail, effect)
        first, second = self.first.point, self.second.point
        return (
            first - second - math.hypot(first - left[0], right[1] - second),
            first - second + math.hypot(left[1] - first, second - right[0]),
        )


def _without_bounds(point: float, replications: int, confidence: float) -> EstimatedDifference:
    nan = math.nan
    return EstimatedDifference(point, nan, nan, Claim.NONE, replications, confidence)


def _alike(point: float, replications: int, confidence: float) -> EstimatedDifference:
    """Every replication gave this very difference: certain only of several."""
    statement = Claim.ALIKE if replications >= FEWEST_REPLICATIONS else Claim.NONE
    return EstimatedDifference(point, math.nan, math.nan, statement, replications, confidence)
