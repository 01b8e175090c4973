"""Means: one value per replication, such as goodput or a count."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from scipy.special import stdtrit

from whitecap.reports.arrays import FloatArray
from whitecap.reports.fewest import FEWEST_REPLICATIONS
from whitecap.reports.statistics.estimate import (
    CONFIDENCE,
    FEWEST_EVENTS,
    Claim,
    Estimate,
    nothing,
)
from whitecap.reports.statistics.rare_counts import poisson_bounds


def mean(
    values: Sequence[float | None] | FloatArray,
    *,
    least: float = 0.0,
    most: float = math.inf,
    exposure: float | None = None,
    confidence: float = CONFIDENCE,
    good: bool = True,
) -> Estimate:
    """The mean of one value per replication; those without a value have no say.

    Student's t over replications, within `least` and `most`. What cannot be negative is skewed
    where it scatters widely, so its upper bound is as many times the mean as the margin says
    (of half the mean: e to the half), which for small margins is the same. Fewer than 5
    replications state one side: `at least` if large values are `good`, else `at most`.

    With an `exposure` the values are counts per that much (minutes, say; 1 for plain counts).
    Fewer than 5 counted altogether are stated as `at most`, with the exact bound of a Poisson mean
    (Garwood 1936) where that is further out; and where all replications agree, the interval is
    what one count more or less, in as many replications as could have escaped notice, would make.
    Values that agree and are no counts are stated as they are, without an interval.
    """
    every = np.array([math.nan if value is None else value for value in values], dtype=float)
    return Means(every, least, most, exposure, good).estimate(confidence)


class Means(Struct, frozen=True):
    """One value per replication, not a number where there is none, and what it can be."""

    every: FloatArray
    least: float = 0.0
    most: float = math.inf
    exposure: float | None = None
    good: bool = True

    @property
    def values(self) -> FloatArray:
        """Those that there are."""
        return self.every[~np.isnan(self.every)]

    @property
    def is_plain_count(self) -> bool:
        """Whether the values are counts of a replication, not per minute."""
        return self.exposure == 1

    @property
    def point(self) -> float:
        """The mean; not a number without values."""
        return float(self.values.mean()) if len(self.values) else math.nan

    def turned(self, *, good: bool) -> Means:
        """The same, of which few replications state the lower side (`good`) or the upper one."""
        return replace(self, good=good)

    def estimate(self, confidence: float, times: float = 1.0) -> Estimate:
        """The mean and its bounds, as if seen `times` as often."""
        replications = round(len(self.values) * times)
        if not replications:
            return nothing(observations=self)
        statement = self._statement(replications, times)
        tail = (1 - confidence) / (2 if statement is Claim.TWO_SIDED else 1)
        low = high = math.nan
        if statement not in (Claim.NONE, Claim.ALIKE):
            low, high = self.bounds(tail, times)
        return Estimate(
            self.point,
            self.least if statement is Claim.AT_MOST else low,
            self.most if statement is Claim.AT_LEAST else high,
            statement,
            replications,
            confidence,
            self.counted(times),
            observations=self,
        )

    def counted(self, times: float = 1.0) -> float | None:
        """How many were counted altogether, if anything was."""
        if self.exposure is None:
            return None
        return float(self.values.sum()) * self.exposure * times

    def _statement(self, replications: int, times: float) -> Claim:
        counted = self.counted(times)
        if counted is not None and counted < FEWEST_EVENTS:
            return Claim.AT_MOST
        if len(self.values) < 2:
            return Claim.NONE
        if np.ptp(self.values) == 0 and self.exposure is None:
            return Claim.ALIKE
        if replications >= FEWEST_REPLICATIONS:
            return Claim.TWO_SIDED
        return Claim.AT_LEAST if self.good else Claim.AT_MOST

    def bounds(self, tail: float, times: float = 1.0) -> tuple[float, float]:
        """Both bounds with `tail` beyond each, as if seen `times` as often."""
        replications = len(self.values) * times
        half = margin(self.values, tail, times)
        if self.exposure is not None and len(self.values) > 1:
            half = max(half, unnoticed(replications, tail) / self.exposure)
        high = self.point + half
        if self.least == 0 < self.point:
            high = self.point * math.exp(half / self.point)
        counted = self.counted(times)
        if self.exposure is not None and counted is not None and counted < FEWEST_EVENTS:
            _, exact = poisson_bounds(counted, tail)
            high = max(high, exact / (replications * self.exposure))
        return max(self.point - half, self.least), min(high, self.most)


def margin(values: FloatArray, tail: float, times: float = 1.0) -> float:
    """How far a mean may be off with `tail` beyond either side, by Student's t."""
    if len(values) < 2:
        return 0.0
    replications = len(values) * times
    error = float(values.std(ddof=1)) / math.sqrt(replications)
    return -float(stdtrit(replications - 1, tail)) * error


def unnoticed(replications: float, tail: float) -> float:
    """The share of replications that could have been otherwise although none of these was."""
    return 1 - math.pow(tail, 1 / replications)
