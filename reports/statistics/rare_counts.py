"""Differences of what is counted a few times a replication, as commits that are lost are.

Student's t is no measure of them: of two or three replications it calls 1, 1, 1 after 0, 0, 0
certain, because these do not scatter, and 5, 9, 3, 7, 12 after five times 0 nothing, because they
do. What happens now and then is Poisson's, and what happens in bursts scatters more, so bounds are
the exact ones of a count that is smaller by the dispersion.
"""

from __future__ import annotations

import math

from scipy.special import gammaincinv

from whitecap.reports.arrays import FloatArray
from whitecap.reports.statistics import design_effect
from whitecap.reports.statistics.estimate import FEWEST_EVENTS


def is_rare(first: FloatArray, second: FloatArray) -> bool:
    """Whether one side counts so little, a replication, that its counts are far from normal."""
    return bool(min(first.mean(), second.mean()) < FEWEST_EVENTS)


def bounds_of_rare(first: FloatArray, second: FloatArray, tail: float) -> tuple[float, float]:
    """Bounds of the first mean minus the second with `tail` beyond each; two counts and more each.

    Each side has Garwood's bounds, put together as variances recovered from limits (MOVER; Zou and
    Donner 2008). The dispersion, of both sides together, is moderated as a design effect is: that
    of few replications is hardly known. Of few counts nothing is known that would narrow the exact
    bounds. What both sides have in common is not made use of; of rare events it is little.
    """
    effect = max(_dispersion(first, second, tail), 1.0)
    left, right = _bounds(first, tail, effect), _bounds(second, tail, effect)
    gap = float(first.mean() - second.mean())
    down = math.hypot(first.mean() - left[0], right[1] - second.mean())
    up = math.hypot(left[1] - first.mean(), second.mean() - right[0])
    return gap - down, gap + up


def _dispersion(first: FloatArray, second: FloatArray, tail: float) -> float:
    expected = first.mean() / len(first) + second.mean() / len(second)
    if not expected:
        return 1.0
    seen = first.var(ddof=1) / len(first) + second.var(ddof=1) / len(second)
    replications = len(first) + len(second) - 1
    return float(design_effect.of_scatter(seen / expected, replications, replications).at(tail))


def _bounds(counts: FloatArray, tail: float, effect: float) -> tuple[float, float]:
    """Of a mean count."""
    low, high = poisson_bounds(float(counts.sum()) / effect, tail)
    return low * effect / len(counts), high * effect / len(counts)


def poisson_bounds(counted: float, tail: float) -> tuple[float, float]:
    """Exact bounds of a Poisson mean with `tail` beyond each (Garwood 1936)."""
    low = float(gammaincinv(counted, tail)) if counted > 0 else 0.0
    return low, float(gammaincinv(counted + 1, 1 - tail))
