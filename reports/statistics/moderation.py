"""What several comparisons tell each other about how much their differences scatter."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from scipy.special import digamma, polygamma


class Prior(Struct, frozen=True):
    """What is known of a variance beforehand: about `level`, worth so many degrees of freedom."""

    freedom: float
    level: float


UNKNOWN = Prior(0.0, 0.0)


def prior_of(variances: Sequence[float], freedom: float, most_freedom: float) -> Prior:
    """The distribution that these variances, each with `freedom`, were drawn from.

    Moments of their logarithms (Smyth 2004, section 6.2). Variances that differ no more than
    chance makes them have `most_freedom` behind their mean: what the data have altogether, since
    variances of all pairs of candidates are no independent ones.
    """
    positive = np.array([each for each in variances if each > 0])
    if len(positive) < 2 or most_freedom <= 0:
        return UNKNOWN
    logarithms = np.log(positive) - digamma(freedom / 2) + math.log(freedom / 2)
    excess = float(logarithms.var(ddof=1)) - float(polygamma(1, freedom / 2))
    prior = 2 * _trigamma_inverse(excess) if excess > 0 else math.inf
    if prior >= most_freedom:
        return Prior(most_freedom, float(positive.mean()))
    level = math.exp(logarithms.mean() + digamma(prior / 2) - math.log(prior / 2))
    return Prior(prior, level)


def _trigamma_inverse(value: float) -> float:
    """By Newton's method on 1 / trigamma, which is convex and nearly linear (Smyth's appendix)."""
    result = 0.5 + 1 / value
    for _ in range(_NEWTON_STEPS):
        trigamma = float(polygamma(1, result))
        result += trigamma * (1 - trigamma / value) / float(polygamma(2, result))
    return result


_NEWTON_STEPS = 8
"""All digits of a float for values of up to 1,000; the first five up to 10,000, where the prior is
worth a fiftieth of a degree of freedom."""
