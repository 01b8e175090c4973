"""Means with a 95 % interval over replications.

A replication is one independent run, so the interval is Student's t over replications and never
over the transactions of one run, which are not independent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, stdev

from scipy.special import stdtrit

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and its two-sided 95 % interval; bounds are NaN below two replications."""

    mean: float
    low: float
    high: float
    replications: int

    @property
    def is_known(self) -> bool:
        """Whether there were enough replications for bounds."""
        return not math.isnan(self.low)

    def bounds(self, least: float = 0.0, most: float = math.inf) -> tuple[float, float]:
        """Bounds within what the quantity can be; the mean twice where there are none."""
        if not self.is_known:
            return self.mean, self.mean
        return min(max(self.low, least), most), max(min(self.high, most), least)

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval lies on one side of zero: a difference can be told from none."""
        return self.is_known and (self.low > 0 or self.high < 0)


def t_quantile(degrees_of_freedom: int, confidence: float = CONFIDENCE) -> float:
    """The two-sided critical value of Student's t distribution."""
    return float(stdtrit(degrees_of_freedom, 0.5 + confidence / 2))


def interval_of(values: Iterable[float | None]) -> Interval:
    """The interval of one value per replication; replications without a value do not count."""
    known = [float(v) for v in values if v is not None and not math.isnan(v)]
    if not known:
        return Interval(math.nan, math.nan, math.nan, 0)
    mean = fmean(known)
    if len(known) == 1:
        return Interval(mean, math.nan, math.nan, 1)
    half_width = t_quantile(len(known) - 1) * stdev(known) / math.sqrt(len(known))
    return Interval(mean, mean - half_width, mean + half_width, len(known))
