"""The likelihood of windows of which a log shows the brackets: the versions around each snapshot.

Versions of others come independently of a snapshot; those of the same writers do not, since a
writer's next job begins after its last commit. Of one writer the others' versions alone are taken
for ends, and nothing need be known of when its jobs begin. Of several the log does not say whose a
commit is, and their jobs are a process:

- A job begins by chance, the less often the more of them are in flight: of n writers that pause,
  each that works lessens the rate by 1/n. Writers that never wait are the case of no influence. The
  log says how large it is. A job that takes `w` leaves that much less time for pauses, so that the
  lognormal is tilted by `exp(w / mean pause)` within its bracket. Pauses that are exponential have
  no memory; so it does not matter which writer a commit is of.
- Or it begins at once after a commit, where it had been waiting for its writer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import chisquare

from whitecap.sim.inferring.evidence.figures import NORMAL_95
from whitecap.sim.inferring.log.observed import ObservedCommit
from whitecap.sim.quantities.units import MS_PER

CommitInstants = Mapping[int, int]
"""When a version was committed, in epoch milliseconds."""

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]

LEAST_SIGMA, MOST_SIGMA = 0.05, 3.0
"""Between which sigmas the likeliest lognormal is looked for. Ours."""

START_SIGMA, START_INFLUENCE, START_WAITING = 0.4, 0.5, 0.1
"""Where the search begins."""

WORTH = 3.32
"""The log-likelihood that waiting jobs must bring to be believed: half of chi-square's at 1 %."""

MOST_ERROR = 1.0
"""The standard error where the brackets leave the location open: a factor of seven either way."""

COMMITS_A_PART = 10
"""Enough for a chi-square test of parts."""

UNSTEADY = 0.01
"""The level of that test."""

STEP = 0.05
"""How far the location is moved to see how much less likely the brackets become."""

REACH = 4.0
"""Standard deviations between which windows are looked for: all but one of 16,000."""

TAIL = 1.0
"""Standard deviations that are looked at of a bracket that lies beyond."""

MOST_ODDS = 300.0
"""The logarithm of odds that are as good as sure, and far from overflow."""

NODES, WEIGHTS = leggauss(16)
"""Gauss-Legendre quadrature: a normal distribution between `REACH` is exact to five digits."""

Bounds = Sequence[tuple[float, float]]

_NONE = (0.0, 0.0)
_LOCATION = (0.0, math.log(365 * MS_PER["d"]))
_SIGMA = (math.log(LEAST_SIGMA), math.log(MOST_SIGMA))
_ALONE: Bounds = [_LOCATION, _SIGMA, _NONE, _NONE, _NONE]
_PAUSING: Bounds = [_LOCATION, _SIGMA, (-3.0, 5.0), (0.0, 1.0), _NONE]
_QUEUED: Bounds = [*_PAUSING[:-1], (0.0, 0.99)]
"""Between which values a point is looked for, in the order of `_improbability`."""


class Brackets(Struct, frozen=True, eq=False):
    """Of a group's commits in the order of their snapshots, in ms, one row each.

    A window lies between `low` and `high`; `in_flight` of the group were running when it began.
    It read the group's own version of rank `follows`, or another's where that is beyond the last.
    The group was there for `span_ms`, and its commits are spread evenly over it, or not.
    """

    low: _Floats
    high: _Floats
    in_flight: _Rows
    follows: _Rows
    span_ms: float
    is_steady: bool

    @classmethod
    def of(cls, commits: Sequence[ObservedCommit], instants: CommitInstants) -> Brackets:
        """The brackets of the commits that say which version they read; one of them must."""
        rows = sorted(
            (commit.read_version, commit.version, *ends)
            for commit in commits
            if commit.read_version is not None and (ends := bracket(commit, instants)) is not None
        )
        read, versions, low, high = (np.array(column) for column in zip(*rows, strict=True))
        own = np.sort(versions)
        in_flight = np.arange(len(own)) - np.searchsorted(own, read, side="right")
        if not in_flight.any():
            high += _since_others(read, own, instants)
        follows = np.where(np.isin(read, own), np.searchsorted(own, read), len(own))
        span_ms = max(float(instants[int(own[-1])] - instants[int(read[0])]), 1.0)
        is_steady = _is_steady([instants[version] for version in own.tolist()])
        return cls(low, high, in_flight, follows, span_ms, is_steady)

    @property
    def are_told_apart(self) -> bool:
        """Whether pauses can be told from waiting, and from hours in which nobody works."""
        return self.is_steady or not self.in_flight.any()


def bracket(commit: ObservedCommit, instants: CommitInstants) -> tuple[float, float] | None:
    """Between which times its window lies; `None` where the log does not say what it read."""
    read = commit.read_version
    if read is None or read >= commit.version or read not in instants:
        return None
    edges = (instants[read], instants.get(read + 1, commit.timestamp_ms))
    low, high = sorted(max(float(commit.timestamp_ms - edge), 0.0) for edge in edges)
    return (low, max(high, low + 1)) if high > 0 else None


def _since_others(read: _Rows, own: _Rows, instants: CommitInstants) -> _Floats:
    """How long before the version that was read others committed; the first counts as theirs."""
    others = np.array(sorted({min(instants)} | set(instants) - set(own.tolist())))
    last = others[np.searchsorted(others, read, side="right") - 1]
    gaps = [instants[version] - instants[other] for version, other in zip(read, last, strict=True)]
    return np.array([max(gap, 0.0) for gap in gaps])


def _is_steady(times: Sequence[int]) -> bool:
    """Whether commits are as many in all parts of their time as chance makes them."""
    counts, _ = np.histogram(times, max(len(times) // COMMITS_A_PART, 2))
    return bool(chisquare(counts).pvalue >= UNSTEADY)


class Fit(Struct, frozen=True):
    """The likeliest lognormal of windows in ms; `low` to `high` is its location at 95 %."""

    location: float
    sigma: float
    low: float
    high: float
    improbability: float


def fitted_to(brackets: Brackets) -> Fit:
    """The likeliest lognormal; where jobs may have waited or not, the interval has both.

    In busy and quiet hours jobs follow each other as if they had waited: there none is taken to.
    """
    if not brackets.in_flight.any():
        return _fit(brackets, _ALONE, 0.0, 0.0)
    pausing = _fit(brackets, _PAUSING, START_INFLUENCE, 0.0)
    if not brackets.is_steady:
        return pausing
    queued = _fit(brackets, _QUEUED, START_INFLUENCE, START_WAITING)
    if pausing.improbability - queued.improbability > WORTH:
        return queued
    return replace(pausing, high=max(pausing.high, queued.high))


def _fit(brackets: Brackets, bounds: Bounds, influence: float, waiting: float) -> Fit:
    middle_ms = float(np.median((brackets.low + brackets.high) / 2))
    start = np.array([math.log(middle_ms), math.log(START_SIGMA), 0.0, influence, waiting])
    point, least = _likeliest(brackets, start, bounds)
    location = float(point[0])
    moved = 0.0
    for beside in (location - STEP, location + STEP):
        given = [(beside, beside), *bounds[1:]]
        moved += _likeliest(brackets, np.array([beside, *point[1:]]), given)[1]
    curvature = (moved - 2 * least) / STEP**2
    half = NORMAL_95 * min(MOST_ERROR, 1 / math.sqrt(max(curvature, 1e-9)))
    return Fit(location, math.exp(point[1]), location - half, location + half, least)


def _likeliest(brackets: Brackets, start: _Floats, bounds: Bounds) -> tuple[_Floats, float]:
    """The likeliest point within bounds, and how improbable it is."""
    solution = minimize(_improbability, start, (brackets,), "L-BFGS-B", bounds=bounds)
    return solution.x, float(solution.fun)


def _improbability(point: _Floats, brackets: Brackets) -> float:
    """Minus the log-likelihood.

    A point is the windows' location and log of sigma; the log of the rate at which jobs begin while
    none is in flight, in commits per their mean gap; how much of the largest possible influence
    those in flight have; and after which share of commits a job was waiting.
    """
    location, sigma = point[0], math.exp(point[1])
    rate = math.exp(point[2]) * len(brackets.low) / brackets.span_ms
    share = point[3] / (1 + int(brackets.in_flight.max()))
    idle_rate = np.log(rate * (1 - share * brackets.in_flight))
    by_chance = idle_rate + _log_masses(brackets, location, sigma, rate * share)
    at_once = _log_densities(brackets.high, location, sigma, rate * share)
    begun = _log_begun(brackets, at_once - by_chance, point[4])
    return float(rate * brackets.span_ms - by_chance.sum() - begun)


def _log_begun(brackets: Brackets, log_odds: _Floats, waiting: float) -> float:
    """What it adds that after each of the group's commits a job may have begun at once."""
    odds = np.exp(np.minimum(log_odds, MOST_ODDS))
    at_once = np.bincount(brackets.follows, odds, len(odds) + 1)[:-1]
    return float(np.log(1 - waiting + waiting * at_once).sum())


def _log_masses(brackets: Brackets, location: float, sigma: float, tilt: float) -> _Floats:
    """The mass of the tilted lognormal in each bracket, by Gauss-Legendre quadrature."""
    with np.errstate(divide="ignore"):
        low = (np.log(brackets.low) - location) / sigma
    high = (np.log(brackets.high) - location) / sigma
    low = np.maximum(low, np.minimum(-REACH, high - TAIL))
    high = np.minimum(high, np.maximum(REACH, low + TAIL))
    half = (high - low)[:, None] / 2
    at = low[:, None] + half * (1 + NODES)
    logs = tilt * np.exp(location + sigma * at) - at**2 / 2 + np.log(half * WEIGHTS)
    most: _Floats = logs.max(axis=1)
    masses: _Floats = np.exp(logs - most[:, None]).sum(axis=1)
    return most + np.log(masses) - math.log(2 * math.pi) / 2


def _log_densities(windows: _Floats, location: float, sigma: float, tilt: float) -> _Floats:
    """The density of the tilted lognormal at these windows."""
    at = (np.log(windows) - location) / sigma
    return tilt * windows - at**2 / 2 - np.log(windows * sigma) - math.log(2 * math.pi) / 2
