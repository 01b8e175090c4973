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
with those variances demands. What that achieves is measured in `tests/reports_statistics` and
written down in `docs/statistics.md`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
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
_HALVINGS = 25


@dataclass(frozen=True, slots=True)
class DesignEffect:
    """Possible design effects along the last axis, and the weights of each, which add up to 1."""

    values: FloatArray
    weights: FloatArray

    def at(self, tail: FloatArray | float) -> FloatArray:
        """The one design effect that stands for all, in an interval with `tail` on either side.

        The mixture has as much beyond z * sqrt(result) as a standard normal has beyond z.
        """
        wanted = np.asarray(tail, dtype=float)
        deviations = np.sqrt(self.values)
        near, far = np.log(deviations.min(axis=-1)), np.log(deviations.max(axis=-1))
        for _ in range(_HALVINGS):
            middle = (near + far) / 2
            limit = ndtri(wanted) * np.exp(middle)
            beyond = (self.weights * ndtr(limit[..., None] / deviations)).sum(axis=-1)
            is_near = beyond > wanted
            near, far = np.where(is_near, middle, near), np.where(is_near, far, middle)
        result: FloatArray = np.exp(2 * far)
        return result


def of_counts(events: FloatArray, units: FloatArray, times: float = 1.0) -> DesignEffect:
    """The design effect of events among units, replications along the last axis.

    With `times`, as if so many times as many replications had been seen, scattered alike.
    """
    total = np.maximum(units.sum(axis=-1), 1e-9)
    share = np.clip(events.sum(axis=-1) / total, 0.5 / total, 1 - 0.5 / total)
    rarer = np.minimum(events.sum(axis=-1), (units - events).sum(axis=-1)) * times
    replications = np.maximum((units > 0).sum(axis=-1), 1) * times
    size = np.maximum(np.square(units).sum(axis=-1) / total, 1.0)
    doubts = _doubts(replications - 1, total / size * times - 1)[..., None]

    top = np.log1p(np.minimum((size - 1) * _MOST_ODDS, _MOST_PER_EVENT * (rarer + 1)))[..., None]
    odds = np.expm1(np.maximum(top, 1e-9) * _middles(_STEPS_ABOVE))
    alike = odds / (odds + np.maximum(size - 1, 1e-9)[..., None])
    above = 1 + (size - 1)[..., None] * alike
    bottom = np.maximum(_LEAST, 1 / (1 + rarer / replications))[..., None]
    below = bottom ** _middles(_STEPS_BELOW)

    squares = squared_deviations(events, units, share)
    agreeing = normal_alike(squares.sum(axis=-1) * times, replications - 1, below)
    scattered = (
        beta_binomial(events, units, share, alike),
        normal_clusters(squares, units, alike),
    )
    priors = (
        -np.log(bottom) * doubts / _STEPS_BELOW + 0 * below,
        top * doubts / _STEPS_ABOVE * above**_RISE,
    )
    beta, normal = (
        # Half a degree of freedom back: the common share was taken from the same counts.
        _weights(priors, (agreeing, likelihood * times + np.log(above) / 2))
        for likelihood in scattered
    )
    part = np.minimum(_NORMAL_SHARE / np.maximum(replications - 1, 1), 0.5)[..., None]
    values = np.concatenate([_ones(size), below, above], axis=-1)
    return DesignEffect(values, part * normal + (1 - part) * beta)


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


def _ones(like: FloatArray) -> FloatArray:
    return np.ones((*like.shape, 1))


def _middles(steps: int) -> FloatArray:
    """The middles of so many equal parts of 0 to 1."""
    return (np.arange(steps) + 0.5) / steps
