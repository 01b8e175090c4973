"""How often an interval holds the truth when replications are added until it is narrow enough."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from whitecap.reports.statistics import Estimate, mean, percentile, share
from whitecap.reports.statistics.stopping import FEWEST_TO_STOP, WantedPrecision, replications_after

Draw = Callable[[np.random.Generator, int], Callable[[int], Estimate]]
"""Replications as they come: of a generator and their greatest number, the estimate of the first
so many."""

MOST = 200


@dataclass(frozen=True)
class Situation:
    """A known truth, how replications of it are drawn, and how near one wants to come."""

    name: str
    truth: float
    draw: Draw
    wanted: WantedPrecision


@dataclass(frozen=True)
class Stopped:
    """Where the rule stopped: with how many replications, how often it met what was wanted, and
    how often the interval then held the truth; `fixed`: how often it does without a rule."""

    replications: float
    met: float
    coverage: float
    fixed: float


def stopped(estimate_of: Callable[[int], Estimate], wanted: WantedPrecision) -> Estimate:
    """The estimate that the rule ends with."""
    seen = FEWEST_TO_STOP
    while True:
        estimate = estimate_of(seen)
        unmet = [] if wanted.suffices(estimate) else [(estimate, wanted)]
        more = replications_after(seen, MOST, unmet)
        if more == seen:
            return estimate
        seen = more


def simulate(situation: Situation, sets: int, seed: int = 1) -> Stopped:
    """So many times from the beginning; without the rule, the mean number of replications."""
    random = np.random.default_rng([seed, *situation.name.encode()])
    several = [situation.draw(random, MOST) for _ in range(sets)]
    ended = [stopped(estimate_of, situation.wanted) for estimate_of in several]
    usual = round(float(np.median([each.replications for each in ended])))
    fixed = [estimate_of(usual) for estimate_of in several]
    return Stopped(
        replications=float(np.mean([each.replications for each in ended])),
        met=float(np.mean([situation.wanted.is_met(each) for each in ended])),
        coverage=_held(ended, situation.truth),
        fixed=_held(fixed, situation.truth),
    )


def _held(estimates: list[Estimate], truth: float) -> float:
    return float(np.mean([each.low <= truth <= each.high for each in estimates]))


def shares(p: float, size: int, effect: float) -> Draw:
    """Beta-binomial counts of replications of equal size."""

    def draw(random: np.random.Generator, most: int) -> Callable[[int], Estimate]:
        own: Any = p
        if effect > 1:
            total = (size - 1) / (effect - 1) - 1
            own = random.beta(p * total, (1 - p) * total, most)
        events = random.binomial(size, own, most).astype(float)
        units = np.full(most, float(size))
        return lambda seen: share(events[:seen], units[:seen])

    return draw


def means(cv: float) -> Draw:
    """Lognormal values of mean 1, skewed as goodput and counts are."""
    sigma = math.sqrt(math.log1p(cv**2))

    def draw(random: np.random.Generator, most: int) -> Callable[[int], Estimate]:
        values = random.lognormal(-(sigma**2) / 2, sigma, most)
        return lambda seen: mean(values[:seen])

    return draw


def percentiles(percent: float, size: int, between: float) -> Draw:
    """Exponential values with a factor per replication, lognormal with this standard deviation."""

    def draw(random: np.random.Generator, most: int) -> Callable[[int], Estimate]:
        factors = np.exp(random.normal(0.0, between, (most, 1)))
        values = random.exponential(1.0, (most, size)) * factors
        return lambda seen: percentile(list(values[:seen]), percent)

    return draw


def true_percentile(percent: float, between: float) -> float:
    """Of `percentiles`, by a large sample."""
    random = np.random.default_rng(0)
    factors = np.exp(random.normal(0.0, between, 4_000_000))
    return float(np.percentile(random.exponential(1.0, 4_000_000) * factors, percent))


def situations() -> list[Situation]:
    """Those of `docs/statistics.md`."""
    points, percent = 0.01, 0.05
    cases = [
        Situation(
            f"share {p:g}, {size} units, design effect {effect:g}, +- {half / points:g} points",
            p, shares(p, size, effect), WantedPrecision(half),
        )
        for p, size, half in ((0.5, 200, 0.02), (0.05, 200, 0.01), (0.01, 200, 0.005),
                              (0.001, 1000, 0.001))
        for effect in (1.0, 2.0, 5.0)
    ]  # fmt: skip
    cases += [
        Situation(
            f"mean, cv {cv:g}, +- 5 %", 1.0, means(cv), WantedPrecision(percent, is_relative=True)
        )
        for cv in (0.1, 0.2, 0.4)
    ]
    cases += [
        Situation(
            f"p{level:g} of {size} values, {'alike' if not between else 'scattered'}, +- 5 %",
            true_percentile(level, between), percentiles(level, size, between),
            WantedPrecision(percent, is_relative=True),
        )
        for level, size in ((50, 100), (95, 200))
        for between in (0.0, 0.2)
    ]  # fmt: skip
    return cases
