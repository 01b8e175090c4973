"""Which values of a column each group works on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from statistics import median

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.stats import chi2

from whitecap.sim.inferring.domains import DraftDomain, day_of
from whitecap.sim.inferring.figures import DraftFigure, counted, fitted, many, number_text
from whitecap.sim.inferring.log.observed import ObservedCommit

LEVEL = 0.01
"""A skew is told where even choices would differ so much once in a hundred logs."""

REACHED = 0.9
"""The share of commits that `newest` is to cover."""


class ValueChoice(Struct, frozen=True):
    """How a group chooses a value, as a parameter says it; `None`: each commit takes several.

    `only` is the place among the listed values of the one that all commits work on.
    """

    figure: DraftFigure | None
    several: float
    only: int | None = None


def choice_of(domain: DraftDomain, commits: Sequence[ObservedCommit]) -> ValueChoice:
    """Which values these commits work on."""
    touched = [values for values in (domain.of(commit) for commit in commits) if values]
    if not touched:
        return ValueChoice(None, 0.0)
    several = median(len(values) for values in touched)
    if several > 1:
        return ValueChoice(None, several)
    if domain.is_daily:
        return ValueChoice(_newest(domain, commits, len(touched)), several)
    return ranked(domain, touched)


def _newest(domain: DraftDomain, commits: Sequence[ObservedCommit], count: int) -> DraftFigure:
    """How far behind the day of the commit the values lie."""
    behind = [
        max((day_of(commit.timestamp_ms) - date.fromisoformat(value)).days, 0)
        for commit in commits
        for value in domain.of(commit)
    ]
    within = reached(behind) + 1
    because = f"nine of ten of {many(count, 'commit')} within {many(within, 'day')} of their own"
    return one_of_newest(within, domain, because)


def reached(numbers: Sequence[int]) -> int:
    """What nine of ten of these numbers do not exceed."""
    return sorted(numbers)[min(math.ceil(REACHED * len(numbers)), len(numbers)) - 1]


def one_of_newest(
    within: int, domain: DraftDomain, because: str, perhaps_any: bool = True
) -> DraftFigure:
    """One of so many of the newest days, or perhaps of all where these are more than half."""
    assert domain.days is not None
    if perhaps_any and within > 1 and within > domain.days / 2:
        return counted("uniform", because)
    return counted("newest" if within == 1 else f"{{newest: {{within: {within}}}}}", because)


def ranked(domain: DraftDomain, touched: Sequence[set[str]]) -> ValueChoice:
    """Zipf's law over the listed values where it explains more than an even choice."""
    ranks = {value: rank for rank, value in enumerate(domain.listed)}
    counts = np.zeros(len(domain.listed))
    for values in touched:
        for value in values & ranks.keys():
            counts[ranks[value]] += 1
    only = np.flatnonzero(counts)
    if len(only) == 1 and len(domain.listed) > 1 and len(touched) > 2 and domain.days is None:
        figure = counted("", f"all {len(touched):,} commits work on this one")
        return ValueChoice(figure, 1.0, int(only[0]))
    over = f"{many(len(touched), 'commit')} over {many(len(counts), 'value')}"
    exponent, gain = zipf_fit(counts)
    if gain > chi2.ppf(1 - LEVEL, 1):
        text = f"{{zipf: {{exponent: {number_text(exponent)}}}}}"
        return ValueChoice(fitted(text, f"Zipf's law of {over}"), 1.0)
    return ValueChoice(counted("uniform", f"{over}, no skew beyond chance"), 1.0)


def zipf_fit(counts: NDArray[np.float64]) -> tuple[float, float]:
    """The likeliest exponent for counts by rank, and twice its gain in log-likelihood over 0."""
    if len(counts) < 2 or not counts.sum():
        return 0.0, 0.0
    logs = np.log(np.arange(1, len(counts) + 1))

    def improbability(exponent: float) -> float:
        scale = np.log(np.exp(-exponent * logs).sum())
        return float((counts * (exponent * logs + scale)).sum())

    fit = minimize_scalar(improbability, bounds=(0.01, 10.0), method="bounded")
    return float(fit.x), 2 * (improbability(0.0) - float(fit.fun))
