"""Percentiles of all values of all replications, with an interval between two of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import bdtrik

from whitecap.reports.arrays import FloatArray
from whitecap.reports.fewest import FEWEST_REPLICATIONS
from whitecap.reports.statistics import design_effect
from whitecap.reports.statistics.estimate import (
    CONFIDENCE,
    FEWEST_EVENTS,
    Claim,
    Estimate,
    nothing,
)

LEAST = 0.0
"""What the values, all of them latencies, cannot pass below."""


def percentile(
    replications: Sequence[Sequence[float] | FloatArray],
    percent: float,
    *,
    confidence: float = CONFIDENCE,
    good: bool = False,
) -> Estimate:
    """The percentile of all values together (linear between two), from each replication's values.

    The interval lies between two order statistics, chosen so that the share of values below the
    percentile may be `percent`, in a sample that is smaller by the design effect of that share
    over the replications (Woodruff 1952). Where fewer than 5 values lie beyond, or those that do
    cannot bound it, the reachable side is stated alone, and of fewer than 5 replications the side
    that matters: `at most`, or `at least` if large values are `good`. `units` are the values that
    it rests on.

    Raises `ValueError` for a percent that is not between 0 and 100.
    """
    if not 0 < percent < 100:
        raise ValueError(f"a percentile lies between 0 and 100, not at {percent:g}")
    values = [np.asarray(each, dtype=float) for each in replications]
    return Percentiles.of(values, percent / 100, good).estimate(confidence)


@dataclass(frozen=True)
class Percentiles:
    """All values, sorted; per replication how many there are and how many of them lie at or below
    the percentile."""

    level: float
    ordered: FloatArray
    below: FloatArray
    units: FloatArray
    good: bool = False

    @classmethod
    def of(cls, values: Sequence[FloatArray], level: float, good: bool = False) -> Percentiles:
        """From the values of each replication."""
        units = np.array([len(each) for each in values], dtype=float)
        ordered = np.sort(np.concatenate(values)) if len(values) else np.empty(0)
        point = _quantile(ordered, level)
        below = np.array([np.count_nonzero(each <= point) for each in values], dtype=float)
        return cls(level, ordered, below, units, good)

    @cached_property
    def point(self) -> float:
        """The percentile; not a number without values."""
        return _quantile(self.ordered, self.level)

    def turned(self, *, good: bool) -> Percentiles:
        """The same, of which few replications state the lower side (`good`) or the upper one."""
        return replace(self, good=good)

    def estimate(self, confidence: float, times: float = 1.0) -> Estimate:
        """The percentile and its bounds, as if seen `times` as often."""
        replications = round(np.count_nonzero(self.units) * times)
        if not replications:
            return nothing(observations=self)
        spread = design_effect.of_counts(self.below, self.units, times)
        effect = float(spread.at((1 - confidence) / 2)) / times
        both, alone = (self.bounds(tail, effect) for tail in ((1 - confidence) / 2, 1 - confidence))
        statement = self._statement(both, alone, replications, times)
        return Estimate(
            self.point,
            *_stated(statement, both, alone),
            statement,
            replications,
            confidence,
            units=len(self.ordered) * times,
            beyond=values_beyond(len(self.ordered) * times, 100 * self.level),
            observations=self,
        )

    def bounds(self, tail: float, effect: float) -> tuple[float, float]:
        """The outermost values that bound it with `tail` beyond each; infinite out of reach.

        The percentile lies between two values: of very few, the bound may be the farther one.
        """
        from_below = self._rank(self.level, tail, effect)
        from_above = self._rank(1 - self.level, tail, effect)
        low = -math.inf if from_below is None else float(self.ordered[from_below])
        high = math.inf if from_above is None else float(self.ordered[-1 - from_above])
        return min(low, self.point), max(high, self.point)

    def _rank(self, level: float, tail: float, effect: float) -> int | None:
        """How many values may lie beyond the bound that leaves `tail`; none if all must not."""
        worth = len(self.ordered) / effect
        if (1 - level) ** worth > tail:
            return None
        rank = math.floor(float(bdtrik(tail, worth, level)) * effect)
        return min(rank, len(self.ordered) - 1)

    def _statement(
        self,
        both: tuple[float, float],
        alone: tuple[float, float],
        replications: int,
        times: float,
    ) -> Claim:
        if both[0] == both[1]:
            return Claim.ALIKE
        values = len(self.ordered) * times
        few_above = values * (1 - self.level) < FEWEST_EVENTS
        few = few_above or values * self.level < FEWEST_EVENTS
        if all(map(math.isfinite, both)) and not few and replications >= FEWEST_REPLICATIONS:
            return Claim.TWO_SIDED
        reachable = [
            statement
            for statement, bound in zip((Claim.AT_LEAST, Claim.AT_MOST), alone, strict=True)
            if math.isfinite(bound)
        ]
        wanted = Claim.AT_LEAST if few_above or self.good else Claim.AT_MOST
        return wanted if wanted in reachable else next(iter(reachable), Claim.NONE)

    @cached_property
    def step(self) -> float:
        """What a share of all values is worth in the percentile, over a standard error of it."""
        error = math.sqrt(self.level * (1 - self.level) / len(self.ordered))
        levels = np.clip([self.level - error, self.level + error], 0, 1)
        low, high = (_quantile(self.ordered, level) for level in levels)
        return float((high - low) / (levels[1] - levels[0]))

    @property
    def contributions(self) -> FloatArray:
        """What each replication adds to the percentile beyond its mean; they sum to zero."""
        total = self.units.sum()
        share = self.below.sum() / total
        result: FloatArray = (share * self.units - self.below) / total * self.step
        return result

    @property
    def variance(self) -> float:
        """The variance of the percentile of independent values."""
        return self.level * (1 - self.level) / len(self.ordered) * self.step**2


def _stated(
    statement: Claim, both: tuple[float, float], alone: tuple[float, float]
) -> tuple[float, float]:
    """The bounds that a statement has, of those that hold together and those that hold alone."""
    match statement:
        case Claim.TWO_SIDED:
            return both
        case Claim.AT_MOST:
            return LEAST, alone[1]
        case Claim.AT_LEAST:
            return alone[0], math.inf
        case Claim.NONE | Claim.ALIKE:
            return math.nan, math.nan


def values_beyond(values: float, percent: float) -> float:
    """About how many of so many values lie beyond a percentile, on its rarer side."""
    return round(values * min(percent, 100 - percent) / 100, 6)


def _quantile(ordered: FloatArray, level: float) -> float:
    """Of sorted values, linear between two; not a number of none."""
    if not len(ordered):
        return math.nan
    place = level * (len(ordered) - 1)
    before = min(int(place), max(len(ordered) - 2, 0))
    after = min(before + 1, len(ordered) - 1)
    low, high = float(ordered[before]), float(ordered[after])
    return low + (high - low) * (place - before)
