"""Shares: events among units, one pair per replication, with an interval within 0 and 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from scipy.special import betaincinv

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


def share(
    events: Sequence[float] | FloatArray,
    units: Sequence[float] | FloatArray,
    *,
    confidence: float = CONFIDENCE,
    good: bool | None = None,
) -> Estimate:
    """All events among all units, from the counts of each replication (no units: no say).

    The interval is that of Clopper and Pearson for as many independent units as the replications
    are worth (`design_effect.py`); its coverage is in `docs/statistics.md`. Fewer than 5 events
    are stated as `at most`, fewer than 5 of the others as `at least`, each with all of the
    uncertainty on that side; with no event at all that is the exact form of the rule of three
    (Hanley and Lippman-Hand 1983). Fewer than 5 replications state one side as well: `at least`
    if the events are `good`, `at most` if they are not; where nobody says, what is nearer.

    Raises `ValueError` for counts that do not belong together.
    """
    observed = Shares(np.asarray(events, dtype=float), np.asarray(units, dtype=float), good=good)
    return observed.estimate(confidence)


def weighted_share(
    part: Sequence[float] | FloatArray,
    whole: Sequence[float] | FloatArray,
    *,
    events: Sequence[float] | FloatArray,
    units: Sequence[float] | FloatArray,
    confidence: float = CONFIDENCE,
    good: bool | None = None,
) -> Estimate:
    """The share of one sum in another, such as wasted compute in all compute.

    `events` of the `units` have a part. A replication counts as its part of the whole, in units
    of average size; what their unequal size adds to the scatter is in the design effect.

    Raises `ValueError` for sums or counts that do not belong together.
    """
    sums = _belonging(np.asarray(part, dtype=float), np.asarray(whole, dtype=float))
    counts = _belonging(np.asarray(events, dtype=float), np.asarray(units, dtype=float))
    if sums[0].shape != counts[0].shape:
        raise ValueError("sums and counts are of different replications")
    total = sums[1].sum()
    scale = counts[1].sum() / total if total else 0.0
    kinds = (float(counts[0].sum()), float((counts[1] - counts[0]).sum()))
    return Shares(sums[0] * scale, sums[1] * scale, kinds, good).estimate(confidence)


class Shares(Struct, frozen=True):
    """Events among units per replication; `counted` are both kinds where these are no counts."""

    events: FloatArray
    units: FloatArray
    counted: tuple[float, float] | None = None
    good: bool | None = None

    def __post_init__(self) -> None:
        _belonging(self.events, self.units)

    @property
    def point(self) -> float:
        """The share; not a number without units."""
        total = float(self.units.sum())
        return float(self.events.sum()) / total if total else math.nan

    @property
    def kinds(self) -> tuple[float, float]:
        """How many events there are, and how many others."""
        if self.counted is not None:
            return self.counted
        return float(self.events.sum()), float((self.units - self.events).sum())

    def turned(self, *, good: bool) -> Shares:
        """The same, of which few replications state the lower side (`good`) or the upper one."""
        return replace(self, good=good)

    def estimate(self, confidence: float, times: float = 1.0) -> Estimate:
        """The share and its bounds, as if seen `times` as often."""
        replications = round(np.count_nonzero(self.units) * times)
        if not replications:
            return nothing(observations=self)
        events, others = (kind * times for kind in self.kinds)
        low, high, stated = bounds_of_shares(
            self.events, self.units, confidence, kinds=self.kinds, good=self.good, times=times
        )
        statement = _STATEMENTS[int(stated)]
        return Estimate(
            self.point,
            float(low),
            float(high),
            statement,
            replications,
            confidence,
            others if statement is Claim.AT_LEAST else events,
            events + others,
            self,
        )

    def bounds(self, tail: float, effect: float) -> tuple[float, float]:
        """Exact bounds with `tail` beyond each, of a sample that is worth `effect` times less."""
        low, high = exact_bounds(self.events.sum() / effect, self.units.sum() / effect, tail)
        return float(low), float(high)

    step: ClassVar[float] = 1.0
    """What a share of all units is worth in the estimate."""

    @property
    def contributions(self) -> FloatArray:
        """What each replication adds to the share beyond its mean; they sum to zero."""
        result: FloatArray = (self.events - self.point * self.units) / self.units.sum()
        return result

    @property
    def variance(self) -> float:
        """The variance of the share of independent units, positive even where none occurred."""
        total = float(self.units.sum())
        share = min(max(self.point, 0.5 / total), 1 - 0.5 / total)
        return share * (1 - share) / total


_STATEMENTS = (Claim.TWO_SIDED, Claim.AT_MOST, Claim.AT_LEAST)
_TWO_SIDED, _AT_MOST, _AT_LEAST = range(3)

_Both = tuple[Any, Any]
"""Of events, and of the others; numbers or arrays of them."""


def bounds_of_shares(
    events: FloatArray,
    units: FloatArray,
    confidence: float = CONFIDENCE,
    *,
    kinds: tuple[float, float] | None = None,
    good: bool | None = None,
    times: float = 1.0,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Lower and upper bounds and the place of the statement in `_STATEMENTS`.

    Replications are along the last axis; leading axes, which the tests of coverage have, are shares
    that have nothing to do with each other.
    """
    total, all_units = events.sum(axis=-1), units.sum(axis=-1)
    some, others = kinds or (total, all_units - total)
    rare = some * times < FEWEST_EVENTS, others * times < FEWEST_EVENTS
    is_few = (np.count_nonzero(units, axis=-1) * times < FEWEST_REPLICATIONS) & (total >= 0)
    is_good = (2 * total > all_units) if good is None else good
    stated = _stated((some, others), rare, is_few, is_good)
    is_chosen = is_few & np.logical_not(rare[0] | rare[1]) & (good is None)
    # A side that the data chose is as often wrong on either.
    tail = np.where((stated == _TWO_SIDED) | is_chosen, (1 - confidence) / 2, 1 - confidence)
    # Always that of two sides: a bound of few events is the one that clusters make worst.
    effect = design_effect.of_counts(events, units, times).at((1 - confidence) / 2)
    effect = _believed(effect, (some, others), rare) / times
    low, high = exact_bounds(total / effect, all_units / effect, tail)
    return (
        np.where(stated == _AT_MOST, 0.0, low),
        np.where(stated == _AT_LEAST, 1.0, high),
        stated,
    )


def _stated(kinds: _Both, rare: _Both, is_few: Any, is_good: Any) -> FloatArray:
    """What is stated, by its place: that what is rare is rare, of few replications one side only.

    `kinds` are the numbers of events and of others, `rare` says which of them are few.
    """
    some, others = kinds
    return np.select(
        [
            rare[0] & rare[1] & (some > 0) & (others > 0),
            rare[0] & (some <= others),
            rare[1],
            is_few,
        ],
        [_TWO_SIDED, _AT_MOST, _AT_LEAST, np.where(is_good, _AT_LEAST, _AT_MOST)],
        _TWO_SIDED,
    )


def _believed(effect: FloatArray, kinds: _Both, rare: _Both) -> FloatArray:
    """The design effect as far as it is known: of a few events nothing is that would narrow the
    exact bound, of none nothing that would widen it."""
    some, others = kinds
    effect = np.where(rare[0] | rare[1], np.maximum(effect, 1.0), effect)
    return np.where((some == 0) | (others == 0), 1.0, effect)


def exact_bounds(
    events: FloatArray | float, units: FloatArray | float, tail: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """Clopper and Pearson's bounds (1934), also for numbers of events that are not whole."""
    some, others = np.asarray(events, dtype=float), np.asarray(units - events, dtype=float)
    low = np.where(some <= 0, 0.0, betaincinv(np.maximum(some, 1e-12), others + 1, tail))
    high = np.where(others <= 0, 1.0, betaincinv(some + 1, np.maximum(others, 1e-12), 1 - tail))
    return low, high


def _belonging(events: FloatArray, units: FloatArray) -> tuple[FloatArray, FloatArray]:
    if events.shape != units.shape or events.ndim != 1:
        raise ValueError("every replication has a number of events and one of units")
    if not (np.isfinite(events).all() and np.isfinite(units).all()):
        raise ValueError("events and units are numbers")
    if (events < 0).any() or (events > units * (1 + 1e-9)).any():
        raise ValueError("there are between none and all of the units that are events")
    return events, units
