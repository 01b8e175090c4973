"""Searches over synthetic responses whose boundary is known: shares of clustered jobs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from whitecap.engine.recorded import Direction, Measure, Objective
from whitecap.reports.answers.objectives import Held
from whitecap.reports.planning.levels import LookSchedule
from whitecap.reports.planning.search import Bracket, Sense, ValueStanding, bracket_of
from whitecap.reports.planning.trying import Quantity, TriedValue, needed_for, standing_at
from whitecap.reports.statistics import share

JOBS = 60
"""Of one replication."""


def held(threshold: float) -> Held:
    """A job success rate of all writers of at least so much."""
    return Held(Objective(Measure.JOB_SUCCESS_RATE, Direction.AT_LEAST, threshold), None)


@dataclass
class Response:
    """Success at each position by `share_at`; replications are clusters and, in all positions,
    alike (common random numbers)."""

    share_at: Callable[[int], float]
    threshold: float
    seed: int
    alike: float = 0.0
    """The correlation of two jobs of a replication."""
    most: int = 100
    runs: int = 0
    _drawn: dict[int, list[int]] = field(default_factory=dict)

    def tried(self, at: int, replications: int, error: float) -> ValueStanding:
        """How a position stands after so many replications."""
        drawn = self._drawn.setdefault(at, [])
        while len(drawn) < replications:
            drawn.append(self._successes(at, len(drawn)))
            self.runs += 1
        estimate = share(drawn, [JOBS] * len(drawn), good=True)
        objective = held(self.threshold)
        standing = standing_at(estimate, objective, error)
        quantity = Quantity(objective, estimate, standing, needed_for(estimate, objective, error))
        return TriedValue((quantity,), replications).tried(self.most)

    def _successes(self, at: int, replication: int) -> int:
        random = np.random.default_rng((self.seed, replication))
        own, p = self.share_at(at), self.share_at(at)
        if self.alike:
            spread = 1 / self.alike - 1
            own = float(random.beta(max(p * spread, 1e-9), max((1 - p) * spread, 1e-9)))
        return int((random.random(JOBS) < own).sum())


def searched(response: Response, schedule: LookSchedule, sense: Sense | None = None) -> Bracket:
    """Try values until the search is at its end."""
    tried: dict[int, ValueStanding] = {}
    while True:
        bracket = bracket_of(tried, schedule, sense)
        if not bracket.wanted:
            return bracket
        for at, count in bracket.wanted.items():
            tried[at] = response.tried(at, count, schedule.error)
