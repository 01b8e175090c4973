"""Which values of a column each group works on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from statistics import median

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import chi2

from whitecap.sim.inferring.domains import DraftDomain, day_of
from whitecap.sim.inferring.evidence.figures import (
    NORMAL_95,
    DraftFigure,
    counted,
    fitted,
    many,
    number_text,
)
from whitecap.sim.inferring.log.observed import ObservedCommit

LEVEL = 0.01
"""A skew is told where even choices would differ so much once in a hundred logs."""

REACHED = 0.9
"""The share of commits that the ends of ranges are to cover."""

KOLMOGOROV_95 = 1.36
"""The distance from a law, times the root of the number, that chance exceeds once in 20 logs."""

OFTEN = 0.8
"""The share of a group's commits that do alike for the draft to do so, as to pin a column."""

LEAST_EXPONENT, MOST_EXPONENT = 0.01, 10.0
"""Between which exponents of Zipf's law are looked for."""


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
        return ValueChoice(_newest(domain, commits), several)
    return ranked(domain, touched)


def _newest(domain: DraftDomain, commits: Sequence[ObservedCommit]) -> DraftFigure:
    """How far behind the day of the commit the values lie, of commits that take one, as most do."""
    behind = [
        max((day_of(commit.timestamp_ms) - date.fromisoformat(value)).days, 0)
        for commit in commits
        if len(values := domain.of(commit)) == 1
        for value in values
    ]
    return of_days_behind(behind, domain)


def of_days_behind(behind: Sequence[int], domain: DraftDomain) -> DraftFigure:
    """One of the newest days evenly, or by Zipf's law, so that jobs meet as often as in the log.

    How often two jobs take the same day, the sum of the squares of its days' shares, decides how
    often they conflict. Evenly where as many days have that sum within its error, and lie no
    further from the log's days than Zipf's law with that sum does, or than chance (Kolmogorov).
    """
    assert domain.days is not None
    ranks = _DayRanks.of(behind)
    within = min(ranks.evenly, domain.days)
    evenly = np.full(within, 1 / within)
    exponent = zipf_that_meets(ranks.meeting, domain.days)
    zipf = zipf_shares(exponent, domain.days)
    near = max(ranks.distance(zipf), KOLMOGOROV_95 / math.sqrt(len(behind)))
    if ranks.meets_as(1 / within) and ranks.distance(evenly) <= near:
        is_any = within > domain.days / 2 and ranks.meets_as(1 / domain.days)
        days = domain.days if is_any else within
        evenly_said = "the newest day alone" if days == 1 else f"{days} days chosen evenly"
        said = f"{ranks.said}, as of {evenly_said}"
        return one_of_newest(within, domain, said, perhaps_any=is_any)
    days_text = many(domain.days, "day")
    said = f"{ranks.said}, as by Zipf's law of {days_text}, nearer than days chosen evenly"
    return fitted(f"{{zipf: {{exponent: {number_text(exponent)}}}}}", said)


class _DayRanks(Struct, frozen=True, eq=False):
    """How many jobs took the day of their own, the one before it, and so on.

    `meeting` is how likely two of them take the same, without the bias of small samples, and
    `error` its standard error (Hoeffding 1948, of the mean over all pairs).
    """

    counts: NDArray[np.int64]
    meeting: float
    error: float

    @classmethod
    def of(cls, behind: Sequence[int]) -> _DayRanks:
        counts = np.bincount(behind)
        count = len(behind)
        shares = counts / count
        squares, cubes = float((shares**2).sum()), float((shares**3).sum())
        pairs = float((counts * (counts - 1)).sum()) / max(count * (count - 1), 1)
        variance = 4 * (cubes - squares**2) / count + 2 * (squares - squares**2) / count**2
        return cls(counts, pairs, math.sqrt(max(variance, 0.0)))

    @property
    def evenly(self) -> int:
        """Of how many days, chosen evenly, two jobs take the same as often; no more than seen."""
        reach = len(self.counts)
        return min(round(1 / self.meeting), reach) if self.meeting else reach

    @property
    def said(self) -> str:
        """The figure that is to be met, with its interval."""
        low, high = (self.meeting + side * NORMAL_95 * self.error for side in (-1, 1))
        ends = [number_text(100 * min(max(end, 0.0), 1.0)) for end in (self.meeting, low, high)]
        count = many(int(self.counts.sum()), "commit")
        said = f"of {count} two lie equally far behind their own day in {ends[0]} %"
        return f"{said} [{ends[1]}, {ends[2]}] of pairs"

    def meets_as(self, meeting: float) -> bool:
        """Whether that is as often, within the error of counting."""
        return not self.meeting or abs(meeting - self.meeting) <= NORMAL_95 * self.error

    def distance(self, shares: NDArray[np.float64]) -> float:
        """The largest difference of what has come up to a day (Kolmogorov's)."""
        days = max(len(self.counts), len(shares))
        seen = np.zeros(days)
        seen[: len(self.counts)] = self.counts / self.counts.sum()
        drafted = np.zeros(days)
        drafted[: len(shares)] = shares
        return float(np.abs(np.cumsum(seen - drafted)).max())


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

    fit = minimize_scalar(improbability, bounds=(LEAST_EXPONENT, MOST_EXPONENT), method="bounded")
    return float(fit.x), 2 * (improbability(0.0) - float(fit.fun))


def zipf_shares(exponent: float, count: int) -> NDArray[np.float64]:
    """The share of each of so many values, the busiest first."""
    weights = np.arange(1, count + 1, dtype=np.float64) ** -exponent
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def zipf_that_meets(meeting: float, count: int) -> float:
    """The exponent with which two draws of so many values are the same so often, or nearly."""

    def excess(exponent: float) -> float:
        return float((zipf_shares(exponent, count) ** 2).sum()) - meeting

    if excess(LEAST_EXPONENT) >= 0:
        return LEAST_EXPONENT
    if excess(MOST_EXPONENT) <= 0:
        return MOST_EXPONENT
    return float(brentq(excess, LEAST_EXPONENT, MOST_EXPONENT))
