"""How much more replications scatter than independent trials would: the design effect.

Transactions of one replication depend on each other, so a replication is a cluster. The design
effect D is the variance of a share over that of as many independent trials; intervals are exact
ones for a sample D times smaller (Korn and Graubard 1998, Survey Methodology 24). With 5
replications the scatter tells little about D, and both usual ways out are wrong: Student's t with
4 degrees of freedom is a third too wide where trials are independent, D = 1 far too narrow where
they are not.

So D is moderated towards 1 as far as the replications allow, as Smyth (2004) moderates variances:
every possible D is weighted by how likely it makes the observed scatter, times a prior that holds
D = 1 possible in its own right, and the interval is as wide as the mixture of normal distributions
with those variances demands. What that achieves is measured in `tests/statistics` and
written down in `docs/statistics.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct
from scipy.special import ndtr, ndtri

from whitecap.reports.arrays import FloatArray
from whitecap.reports.statistics.moderation import UNKNOWN, Prior
from whitecap.reports.statistics.scatter import (
    beta_binomial,
    normal_alike,
    normal_clusters,
    squared_deviations,
)

_DOUBT = 0.3
"""Prior weight of every factor e of D, against 1 for D = 1 itself, at 5 replications.

The largest with which intervals of independent trials are at most 1.3 times as wide as exact
ones. With more replications the price falls, and D = 1 is doubted more (`_doubts`)."""

_LEAST_FREEDOM = 4
"""Of the 5 replications that `_DOUBT` is for: with more of them D = 1 is doubted more."""

_RISE = 0.25
"""The prior rises with the fourth root of D: with few replications a large one hides easily."""

_LEAST = 0.2
"""Replications of a regulated system may agree better than independent trials; so much at most,
and not where there are so few events that whole numbers of them cannot but agree."""

_MOST_ODDS = 20.0
"""The largest odds that are considered of two units of a replication being alike."""

_MOST_PER_EVENT = 1.25
"""A D is considered that leaves half an event's worth: beyond that nothing was seen at all."""

_NORMAL_SHARE = 2.0
"""With few replications the beta-binomial likelihood, whose mean is put in as if it were known, is
too sure of itself: half of the weights at 5 replications are the normal one's, fewer later."""

_DIFFERENCES = 1e-3, 1e4
"""Design effects of differences: common random numbers can make them far smaller than 1."""

_STEPS_ABOVE, _STEPS_BELOW, _STEPS_OF_DIFFERENCES = 64, 16, 96
"""How many design effects above and below 1 are considered, and how many of differences.

Sixteen times as many above, or thirty times as many below, change no width of an interval of a
share by more than 0.05 % (2 to 30 replications of 20 to 1,000 units). Thirty times as many of
differences change widths by 0.05 % where 3 replications or more vary 0.01 to 1 times as
independent units do, and by 3 % elsewhere."""

_CLOSE = 1e-9
"""A deviation is found once a step changes it by less than this share of itself. Ours."""

_MOST_STEPS = 60
"""Enough to halve any range of a deviation's logarithm, which is 8.1 for differences, down to
`_CLOSE`, if every other step has to. Three to seven are usual."""


class DesignEffect(Struct, frozen=True):
    """Possible design effects along the last axis, and the weights of each, which add up to 1."""

    values: FloatArray
    weights: FloatArray

    @np.errstate(divide="ignore", invalid="ignore")  # nothing is beyond a limit far out
    def at(self, tail: FloatArray | float) -> FloatArray:
        """The one design effect that stands for all, in an interval with `tail` on either side.

        The mixture has as much beyond z * sqrt(result) as a standard normal has beyond z.
        """
        wanted = ndtri(np.asarray(tail, dtype=float))
        deviations = np.sqrt(self.values)
        near, far = np.log(deviations.min(axis=-1)), np.log(deviations.max(axis=-1))
        tried = np.log((self.weights * self.values).sum(axis=-1)) / 2
        for _ in range(_MOST_STEPS):
            reached, slope = self._reached(wanted * np.exp(tried), deviations)
            is_near = reached > wanted
            near, far = np.where(is_near, tried, near), np.where(is_near, far, tried)
            last, tried = tried, _within(tried + np.log(wanted / reached) / slope, near, far)
            if not (np.abs(tried - last) >= _CLOSE).any():
                break
        result: FloatArray = np.exp(2 * tried)
        return result

    def _reached(self, limit: FloatArray, deviations: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Where a standard normal has as much beyond as the mixture has beyond `limit`.

        And by what share that grows with the share by which `limit` does: as much for one normal
        distribution, so that Newton's steps in logarithms are few.
        """
        scaled = limit[..., None] / deviations
        reached = ndtri((self.weights * ndtr(scaled)).sum(axis=-1))
        density = (self.weights * scaled * np.exp(-np.square(scaled) / 2)).sum(axis=-1)
        return reached, density / (reached * np.exp(-np.square(reached) / 2))


def _within(step: FloatArray, near: FloatArray, far: FloatArray) -> FloatArray:
    """A step, or the middle of a range where it leads out of it, or nowhere."""
    result: FloatArray = np.where((near <= step) & (step <= far), step, (near + far) / 2)
    return result


def of_counts(events: FloatArray, units: FloatArray, times: float = 1.0) -> DesignEffect:
    """The design effect of events among units, replications along the last axis.

    With `times`, as if so many times as many replications had been seen, scattered alike.
    """
    seen = _SeenClusters(events, units, times)
    beta, normal = (_weights(seen.priors, likelihoods) for likelihoods in seen.likelihoods)
    part = np.minimum(_NORMAL_SHARE / np.maximum(seen.freedom, 1), 0.5)[..., None]
    values = np.concatenate([_ones(seen.size), seen.below, seen.above], axis=-1)
    return DesignEffect(values, part * normal + (1 - part) * beta)


@dataclass(frozen=True)
class _SeenClusters:
    """Events among units, replications along the last axis, as if they had been seen `times` as
    often. Which design effects are possible then, along one more axis, and how likely each is."""

    events: FloatArray
    units: FloatArray
    times: float

    @cached_property
    def total(self) -> FloatArray:
        """All units; a little more than none."""
        return _array(np.maximum(self.units.sum(axis=-1), 1e-9))

    @cached_property
    def rarer(self) -> FloatArray:
        """How many events there were, or units without one, whatever is fewer."""
        others = (self.units - self.events).sum(axis=-1)
        return _array(np.minimum(self.events.sum(axis=-1), others) * self.times)

    @cached_property
    def replications(self) -> FloatArray:
        """How many have units; at least one."""
        return _array(np.maximum((self.units > 0).sum(axis=-1), 1) * self.times)

    @property
    def freedom(self) -> FloatArray:
        """Degrees of freedom of their scatter."""
        return self.replications - 1

    @cached_property
    def size(self) -> FloatArray:
        """Units of a replication, as a unit sees it: large replications count for their units."""
        return _array(np.maximum(np.square(self.units).sum(axis=-1) / self.total, 1.0))

    @cached_property
    def top(self) -> FloatArray:
        """Up to where design effects above 1 reach, as a logarithm."""
        per_event = _MOST_PER_EVENT * (self.rarer + 1)
        return _array(np.log1p(np.minimum((self.size - 1) * _MOST_ODDS, per_event)))[..., None]

    @cached_property
    def alike(self) -> FloatArray:
        """By how much two units of a replication are alike, for each design effect above 1."""
        odds = np.expm1(np.maximum(self.top, 1e-9) * _middles(_STEPS_ABOVE))
        return _array(odds / (odds + np.maximum(self.size - 1, 1e-9)[..., None]))

    @cached_property
    def above(self) -> FloatArray:
        """The design effects above 1."""
        return _array(1 + (self.size - 1)[..., None] * self.alike)

    @cached_property
    def bottom(self) -> FloatArray:
        """Down to where design effects below 1 reach."""
        return _array(np.maximum(_LEAST, 1 / (1 + self.rarer / self.replications)))[..., None]

    @cached_property
    def below(self) -> FloatArray:
        """The design effects below 1."""
        return _array(self.bottom ** _middles(_STEPS_BELOW))

    @cached_property
    def priors(self) -> tuple[FloatArray, FloatArray]:
        """Of those below and above 1."""
        effective_freedom = self.total / self.size * self.times - 1
        doubts = _doubts(self.freedom, effective_freedom)[..., None]
        return (
            -np.log(self.bottom) * doubts / _STEPS_BELOW + 0 * self.below,
            self.top * doubts / _STEPS_ABOVE * self.above**_RISE,
        )

    @property
    def likelihoods(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Log likelihoods of those below and above 1: by the beta-binomial, by normal clusters."""
        half = 0.5 / self.total
        share = np.clip(self.events.sum(axis=-1) / self.total, half, 1 - half)
        squares = squared_deviations(self.events, self.units, share)
        agreeing = normal_alike(squares.sum(axis=-1) * self.times, self.freedom, self.below)
        for scattered in (
            beta_binomial(self.events, self.units, share, self.alike),
            normal_clusters(squares, self.units, self.alike),
        ):
            # Half a degree of freedom back: the common share was taken from the same counts.
            yield agreeing, scattered * self.times + np.log(self.above) / 2


def of_scatter(
    ratio: float, replications: int, worth: float, prior: Prior = UNKNOWN
) -> DesignEffect:
    """The design effect of a difference whose variance is `ratio` times that of independent units.

    What both sides share makes it as small as it may. `worth` is how many replications of equal
    size these are worth; what other differences say of theirs is a `prior`.
    """
    values = np.geomspace(*_DIFFERENCES, _STEPS_OF_DIFFERENCES)
    freedom = replications - 1.0 + prior.freedom
    squares = ratio * (replications - 1) + prior.level * prior.freedom
    likelihood = normal_alike(np.asarray(squares), np.asarray(freedom), values)
    doubts = _doubts(np.asarray(replications - 1.0), np.asarray(worth - 1.0))
    density = doubts * np.log(values[1] / values[0]) * np.maximum(values, 1) ** _RISE
    return DesignEffect(np.concatenate([np.ones(1), values]), _weights((density,), (likelihood,)))


def _doubts(freedom: FloatArray, effective_freedom: FloatArray) -> FloatArray:
    """The prior's weight per factor e; replications of unequal size tell less about D."""
    evenness = np.clip(effective_freedom / np.maximum(freedom, 1e-9), 0, 1)
    doubts: FloatArray = (
        _DOUBT
        * np.maximum(freedom / _LEAST_FREEDOM, 1) ** 1.5
        * np.where(freedom > 0, evenness, 1) ** 3
    )
    return doubts


def _weights(priors: tuple[FloatArray, ...], likelihoods: tuple[FloatArray, ...]) -> FloatArray:
    """Of D = 1, whose prior is 1, and then of what has these priors and log likelihoods."""
    ones = _ones(priors[0][..., 0])
    prior = np.concatenate([ones, *priors], axis=-1)
    likelihood = np.concatenate([0 * ones, *likelihoods], axis=-1)
    weights: FloatArray = prior * np.exp(likelihood - likelihood.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights


def _array(values: Any) -> FloatArray:
    """What NumPy makes of arrays and numbers, typed: of both it may make either."""
    array: FloatArray = values
    return array


def _ones(like: FloatArray) -> FloatArray:
    return np.ones((*like.shape, 1))


def _middles(steps: int) -> FloatArray:
    """The middles of so many equal parts of 0 to 1."""
    return (np.arange(steps) + 0.5) / steps
