"""The best of several against all others, corrected for how many were looked at."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from msgspec import Struct
from scipy.special import ndtr

from whitecap.reports.statistics.differences import CountsPair, MeansPair, pair_of
from whitecap.reports.statistics.estimate import CONFIDENCE, Estimate, EstimatedDifference
from whitecap.reports.statistics.moderation import UNKNOWN, Prior, prior_of


class ComparisonWithBest(Struct, frozen=True):
    """The best by its point, and the best minus each other one, nearest first.

    `differences` have the corrected confidence, so that what they exclude and what is said of the
    pair is one thing.
    """

    best: str
    differences: Mapping[str, EstimatedDifference]
    pairs: int
    flattered_by: float = 0.0
    """By how much the best's point is too good on average, if those alike are equals."""

    @property
    def alike(self) -> tuple[str, ...]:
        """Those that cannot be told apart from the best."""
        return tuple(name for name, gap in self.differences.items() if not gap.is_distinguishable)

    @property
    def worse(self) -> tuple[str, ...]:
        """Those that are distinguishably worse than the best."""
        return tuple(name for name, gap in self.differences.items() if gap.is_distinguishable)


def compare_with_best(
    estimates: Mapping[str, Estimate],
    *,
    higher_is_better: bool,
    confidence: float = CONFIDENCE,
) -> ComparisonWithBest | None:
    """The best compared with all others by paired differences; `None` with fewer than two.

    The best is chosen by looking, which is a comparison of every pair, so the differences have
    Bonferroni's level for all k (k - 1) / 2 pairs: with equal candidates the chance that any is
    called distinguishable is at most 1 - `confidence`. Holm's step-down test would find a little
    more but has no intervals that say the same as its verdicts; Hsu's comparison with the best
    promises less, because among equals it may call one worse. With few replications such levels
    need variances that are known better than one pair can know its own: they are moderated by
    those of all pairs (`moderation.py`).

    Raises `ValueError` where the estimates cannot be compared.
    """
    candidates = {name: each for name, each in estimates.items() if not math.isnan(each.point)}
    if len(candidates) < 2:
        return None
    sign = -1.0 if higher_is_better else 1.0
    best, *others = sorted(candidates, key=lambda name: sign * candidates[name].point)
    pairs = {
        (candidate, other): pair_of(candidates[candidate], candidates[other])
        for candidate, other in itertools.combinations([best, *others], 2)
    }
    corrected = 1 - (1 - confidence) / len(pairs)
    prior = _prior(list(pairs.values()), len(candidates))
    gaps = {name: pairs[best, name].difference(corrected, prior) for name in others}
    alike = {best, *(name for name, gap in gaps.items() if not gap.is_distinguishable)}
    equals = [pair for names, pair in pairs.items() if alike.issuperset(names)]
    return ComparisonWithBest(best, gaps, len(pairs), _flattery(equals, len(alike)))


def _flattery(pairs: Sequence[MeansPair | CountsPair], candidates: int) -> float:
    """The mean of the greatest of so many equal candidates beyond the truth.

    What they have in common (the same random numbers) flatters nobody, so the standard error of
    each is that of their differences over the root of two; the root of a variance that is known
    with few degrees of freedom is too small on average, by a fourth of one over them.
    """
    uncertain = [pair for pair in pairs if pair.error > 0]
    if not uncertain:
        return 0.0
    error = math.sqrt(float(np.mean([pair.error**2 for pair in uncertain])) / 2)
    freedom = (candidates - 1) * (min(pair.replications for pair in uncertain) - 1)
    return error * greatest_of(candidates) * (1 + 1 / (4 * freedom))


@cache
def greatest_of(candidates: int) -> float:
    """The mean of the greatest of so many standard normal numbers: 0.56 of 2, 1.82 of 18."""
    at = np.linspace(-_REACH, _REACH, _STEPS)
    return float(np.trapezoid(1 - ndtr(at) ** candidates - (at < 0), at))


_REACH, _STEPS = 9.0, 20_001
"""From where to where is integrated, and at how many points: a normal number lies beyond 9 once in
1e19 times. The integrand jumps at 0, so the result is half a step, 0.00045, too large."""


def _prior(pairs: Sequence[MeansPair | CountsPair], candidates: int) -> Prior:
    """What all pairs say of the variance of any; nothing if there is only one."""
    freedom = min(pair.replications for pair in pairs) - 1
    if freedom < 1:
        return UNKNOWN
    return prior_of([pair.variance for pair in pairs], freedom, (candidates - 2) * freedom)
