"""Estimates: a number, how far it is certain, and which kind of statement that is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

CONFIDENCE = 0.95
"""That of every interval unless it says otherwise: what readers expect of one. Ours."""


def confidence_of(comparisons: int) -> float:
    """The level of each of so many intervals that hold together with 95 % (Bonferroni)."""
    return 1 - (1 - CONFIDENCE) / max(comparisons, 1)


FEWEST_EVENTS = 5
"""Events, or others than events, below which one side alone is stated. Ours: the exact 95 % bounds
of 5 events (Garwood 1936) are 1.6 and 11.7, so that the lower one is a third of what was seen; of
4 it is 1.1 already."""

FEWEST_BEYOND = 10
"""Values beyond a percentile, below which it is marked: of 10 the count alone varies by a third."""


class Claim(StrEnum):
    """What an estimate claims; every surface words it by this."""

    TWO_SIDED = "two-sided"
    AT_MOST = "at most"
    AT_LEAST = "at least"
    ALIKE = "alike"
    """Every replication gave this very value, which says nothing of how far others would lie."""
    NONE = "none"
    """A number alone, or not even that: too little was seen for any bound."""


class Observations(Protocol):
    """What an estimate was made from, one entry per replication."""

    def turned(self, *, good: bool) -> Observations:
        """The same, of which few replications state the lower side (`good`) or the upper one."""
        ...

    def estimate(self, confidence: float, times: float = 1.0) -> Estimate:
        """The estimate; with `times`, as if that many times as many replications had been seen,
        alike in everything else."""
        ...


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share, mean or percentile over replications.

    `low` and `high` bound it with 95 % confidence, or what was asked for: both sides together if
    the statement is two-sided; else only the stated side is a claim and the other bound is what
    the quantity cannot pass. They are not numbers where there is no claim. `events` are those
    counted (the rarer kind), `units` what they were counted of. A percentile rests on `units`
    values, of which about so many lie `beyond` it.
    """

    point: float
    low: float
    high: float
    statement: Claim
    replications: int
    confidence: float = CONFIDENCE
    events: float | None = None
    units: float | None = None
    observations: Observations | None = field(default=None, repr=False, compare=False)
    beyond: float | None = None

    @property
    def is_known(self) -> bool:
        """Whether there are bounds."""
        return not math.isnan(self.low)

    @property
    def is_thin(self) -> bool:
        """Whether it is a percentile beyond which too few values lie to rest anything on."""
        return self.beyond is not None and self.beyond < FEWEST_BEYOND

    def bounds(self) -> tuple[float, float]:
        """What to draw: the stated bounds, and the point where none is stated."""
        match self.statement:
            case Claim.TWO_SIDED:
                return self.low, self.high
            case Claim.AT_MOST:
                return self.point, self.high
            case Claim.AT_LEAST:
                return self.low, self.point
            case _:
                return self.point, self.point


def nothing(replications: int = 0, observations: Observations | None = None) -> Estimate:
    """The estimate of what was never seen."""
    nan = math.nan
    return Estimate(nan, nan, nan, Claim.NONE, replications, observations=observations)


class EstimatedDifference(Struct, frozen=True):
    """The first minus the second, paired by replication, with a two-sided interval."""

    point: float
    low: float
    high: float
    statement: Claim
    replications: int
    confidence: float = CONFIDENCE

    @property
    def is_distinguishable(self) -> bool:
        """Whether the two can be told apart: the one verdict about this pair."""
        if self.statement is Claim.ALIKE:
            return self.point != 0
        return self.low > 0 or self.high < 0

    def __neg__(self) -> EstimatedDifference:
        """The second minus the first."""
        return EstimatedDifference(
            -self.point, -self.high, -self.low, self.statement, self.replications, self.confidence
        )
