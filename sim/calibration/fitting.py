"""From samples to what a profile says: quantiles with the samples' mean, and time per byte."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

_Floats = NDArray[np.float64]

FEWEST = 20
"""Samples of one kind; of fewer nothing is said."""

RANKS = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
"""Quantiles to begin with. There is nothing beyond the longest that was seen."""

SHORTEST_MS = 1e-6
"""A clock may tell that no time has passed."""

MOST_POINTS = 40
"""Quantiles that a distribution has at most, however little lines between them fit. Ours."""

CLOSE = 0.01
"""How far lines between quantiles may be off, as a share of the mean: until then the interval that
is off most is cut in two, so that a gap between two modes ends up between neighbours."""


def ms_per_unit(units: Sequence[float], latencies_ms: Sequence[float]) -> float:
    """The slope of the line through latencies, by the bytes or keys of each request.

    By least squares of relative errors, so that small objects count as much as large ones, through
    the median of each size, since tails are heavy; no part of the line is negative. With a single
    size there is no line, and nothing is the slope's.
    """
    sizes, taken = np.array(units, float), np.array(latencies_ms, float)
    distinct = np.unique(sizes)
    if len(distinct) < 2:
        return 0.0
    medians = np.array([max(SHORTEST_MS, np.median(taken[sizes == size])) for size in distinct])
    relative = np.column_stack([np.ones(len(distinct)), distinct]) / medians[:, None]
    (_, slope_ms), _ = nnls(relative, np.ones(len(distinct)))
    return float(slope_ms)


def distribution_of(latencies_ms: Sequence[float]) -> dict[str, Any]:
    """A profile's distribution: quantiles whose mean is that of the samples, within a percent."""
    ordered = np.sort(np.maximum(0.0, np.array(latencies_ms, float)))
    if ordered[0] == ordered[-1]:
        return {"constant": written(float(ordered[0]))}
    ranks = _enough_ranks(ordered)
    points = {f"p{100 * rank:.6g}": written(_at(ordered, rank)) for rank in ranks}
    return {"quantiles": points}


def _enough_ranks(ordered: _Floats) -> list[float]:
    ranks = list(RANKS)
    while len(ranks) < MOST_POINTS:
        errors = [_error(ordered, low, high) for low, high in pairwise(ranks)]
        if sum(map(abs, errors)) <= CLOSE * float(ordered.mean()):
            break
        worst = int(np.argmax(np.abs(errors)))
        middle = (ranks[worst] + ranks[worst + 1]) / 2
        if ranks[worst + 1] - ranks[worst] < 0.1 / len(ordered):
            break
        ranks.insert(worst + 1, middle)
    return ranks


def _error(ordered: _Floats, low: float, high: float) -> float:
    """How much of the mean a straight line between two ranks adds to that of the samples."""
    ranks = _ranks_of(ordered)
    between = np.concatenate([[low], ranks[(ranks > low) & (ranks < high)], [high]])
    taken = np.interp(between, ranks, ordered)
    straight = (high - low) * (taken[0] + taken[-1]) / 2
    return float(straight - np.trapezoid(taken, between))


def _at(ordered: _Floats, rank: float) -> float:
    return float(np.interp(rank, _ranks_of(ordered), ordered))


def _ranks_of(ordered: _Floats) -> _Floats:
    """Each sample in the middle of its share, so that lines have the mean of the samples."""
    ranks: _Floats = (np.arange(len(ordered)) + 0.5) / len(ordered)
    return ranks


def written(duration_ms: float) -> str:
    """A duration as profiles write it, in five digits."""
    digits = f"{float(f'{max(0.0, duration_ms):.5g}'):.9f}"
    return f"{digits.rstrip('0').rstrip('.')} ms"
