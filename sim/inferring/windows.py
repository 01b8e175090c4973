"""How long writers take from snapshot to commit, where a log says it.

Two things tell. Some engines write `executionTimeMs` beside the commit's timestamp; that time began
with the snapshot. And every commit of Delta Lake names the version that it read: its snapshot was
taken after that version and before the next one, which brackets the time, more closely the busier
the table is. Times in brackets are fitted as what they are, interval-censored values of a lognormal
(Turnbull 1976 for the likelihood).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, stdev

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_ndtr

from whitecap.sim.inferring.figures import (
    Figure,
    assumed,
    duration_text,
    fitted,
    many,
    number_text,
)
from whitecap.sim.inferring.observed import ObservedCommit
from whitecap.sim.quantities.units import MS_PER

Instants = Mapping[int, int]
"""When a version was committed, in epoch milliseconds."""

TELLING = 10
"""Brackets with a lower end above zero that a fit needs: fewer leave its median open by a half."""

FEW = 5
"""Stated times from which a spread is told; of fewer the median alone."""

ASSUMED_MS = 30 * MS_PER["s"]
ASSUMED_SIGMA = 0.4
"""What `whitecap init` drafts."""

LEAST_SIGMA, MOST_SIGMA = 0.05, 3.0

STATED = ("executionTimeMs", "execution_time_ms")
"""The metric's names: of Delta Lake (DELETE, UPDATE, MERGE), and of delta-rs."""


@dataclass(frozen=True, slots=True)
class Window:
    """The time from snapshot to commit: a lognormal, and how it is known."""

    figure: Figure
    median_ms: float
    sigma: float
    is_known: bool

    @property
    def mean_ms(self) -> float:
        """Its mean."""
        return self.median_ms * math.exp(self.sigma**2 / 2)


def window_of(commits: Sequence[ObservedCommit], instants: Instants) -> Window:
    """The window of one group of writers."""
    stated = [t for t in (each.metric(*STATED) for each in commits) if t is not None and t > 0]
    if stated:
        return _of_stated(stated)
    brackets = [b for b in (bracket(each, instants) for each in commits) if b is not None]
    telling = sum(1 for low, _ in brackets if low > 0)
    if telling >= TELLING:
        return _of_brackets(brackets, telling)
    return _assumed(brackets)


def bracket(commit: ObservedCommit, instants: Instants) -> tuple[float, float] | None:
    """Between which times its window lies; `None` where the log does not say what it read."""
    read = commit.read_version
    if read is None or read >= commit.version or read not in instants:
        return None
    longest = commit.timestamp_ms - instants[read]
    shortest = commit.timestamp_ms - instants.get(read + 1, commit.timestamp_ms)
    return (max(shortest, 0.0), longest) if longest > 0 else None


def _of_stated(times: Sequence[float]) -> Window:
    middle_ms = median(times)
    if len(times) < FEW:
        because = f"executionTimeMs of {many(len(times), 'commit')}; its spread is assumed"
        return _window(fitted, because, middle_ms, ASSUMED_SIGMA)
    sigma = stdev(map(math.log, times))
    because = f"executionTimeMs of {many(len(times), 'commit')}"
    return _window(fitted, because, middle_ms, sigma)


def _of_brackets(brackets: Sequence[tuple[float, float]], telling: int) -> Window:
    ends = np.array(brackets)
    start = np.array([math.log(max(np.median(ends.mean(axis=1)), 1.0)), math.log(ASSUMED_SIGMA)])
    found = minimize(_improbability, start, args=(ends,), method="Nelder-Mead")
    location, log_sigma = found.x
    middle_ms, sigma = math.exp(location), math.exp(log_sigma)
    error = _error_of_location(found.x, ends)
    low, high = (math.exp(location + side * 1.96 * error) for side in (-1, 1))
    because = (
        f"{telling:,} of {many(len(brackets), 'commit')} read a version that others had left behind"
        f" when they committed, which brackets the time; median"
        f" [{duration_text(low)}, {duration_text(high)}] at 95 %"
    )
    return _window(fitted, because, middle_ms, sigma)


def _improbability(point: NDArray[np.float64], ends: NDArray[np.float64]) -> float:
    """Minus the log-likelihood of brackets under a lognormal, by its location and log sigma."""
    location, sigma = point[0], math.exp(point[1])
    if not LEAST_SIGMA <= sigma <= MOST_SIGMA:
        return math.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        low = (np.log(ends[:, 0]) - location) / sigma
        high = (np.log(ends[:, 1]) - location) / sigma
        # In the tail that is the smaller one, where differences of probabilities keep digits.
        flip = low > 0
        low, high = np.where(flip, -high, low), np.where(flip, -low, high)
        shares = log_ndtr(high) + np.log1p(-np.exp(log_ndtr(low) - log_ndtr(high)))
    return -float(np.sum(np.maximum(np.nan_to_num(shares, nan=-1e3), -1e3)))


def _error_of_location(point: NDArray[np.float64], ends: NDArray[np.float64]) -> float:
    """The standard error, from the curvature of the likelihood."""
    step = 0.01
    around = [_improbability(point + np.array([side * step, 0.0]), ends) for side in (-1, 0, 1)]
    curvature = (around[0] - 2 * around[1] + around[2]) / step**2
    return 1 / math.sqrt(curvature) if curvature > 0 and math.isfinite(curvature) else 1.0


def _assumed(brackets: Sequence[tuple[float, float]]) -> Window:
    because = "it decides most, and the log does not say it"
    middle_ms = ASSUMED_MS
    if brackets:
        longest = median(high for _, high in brackets)
        middle_ms = min(middle_ms, max(longest / 2, 1.0))
        because += f", only that half of them took at most {duration_text(longest)}"
    return _window(assumed, because, middle_ms, ASSUMED_SIGMA)


def _window(
    how: Callable[[str, str], Figure], because: str, middle_ms: float, sigma: float
) -> Window:
    sigma = min(max(sigma, LEAST_SIGMA), MOST_SIGMA)
    text = f"{{lognormal: {{median: {duration_text(middle_ms)}, sigma: {number_text(sigma)}}}}}"
    return Window(how(text, because), middle_ms, sigma, how is not assumed)
