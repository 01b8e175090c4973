"""Where the beginning of a series stops being different from its rest: MSER-5 (White 1997).

Of all places to cut the one is taken after which the mean of the rest has the smallest standard
error, as if its values were independent: cutting a transient lowers the scatter, cutting more only
lowers the number of values. A cut beyond the half is none: the series is then too short to say
where it settles (White, Cobb and Spratt 2000). As Welch (1983) does, replications are averaged
first: here by bringing the batches of all of them together in the order of their instants.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

import numpy as np
from msgspec import Struct
from scipy.special import stdtrit

from whitecap.reports.arrays import FloatArray

BATCH = 5
"""Values of a batch: MSER-5."""

MOST_BATCHES = 1_000
"""Of a run: longer ones have larger batches, since a thousandth of a run is as near as one asks."""

FEWEST_BATCHES = 20
"""Of fewer nothing can be said: half of them would be ten numbers."""

_LEFT_OUT_AT_END = 5
"""The last cuts leave so few batches that these can agree by chance (Hoad and others 2010)."""

_LEVEL = 0.001
"""At which what is cut must differ from what stays, to be called a transient. MSER cuts somewhere
in any series; how often this lets a cut pass that is none: `docs/statistics.md`."""

_FEWEST_RUNS = 5
"""So many replications are asked themselves whether they all differ."""


class SeriesCourse(Struct, frozen=True):
    """One run's series as means of batches, each with the instant of its first value in ms."""

    started_ms: FloatArray
    values: FloatArray

    @classmethod
    def of(cls, instants_ms: FloatArray, values: FloatArray) -> Self:
        """From single values in any order; a last batch that is not full is left out."""
        order = np.argsort(instants_ms, kind="stable")
        size = BATCH * max(math.ceil(len(order) / (BATCH * MOST_BATCHES)), 1)
        count = len(order) // size
        kept = order[: count * size].reshape(count, size)
        return cls(instants_ms[kept[:, 0]], values[kept].mean(axis=1))


def settles_at_ms(courses: Sequence[SeriesCourse]) -> float | None:
    """The instant at which the runs of a cell have settled: 0 if they do not begin otherwise than
    they go on; infinite if not in their first half; `None` where there is too little to say."""
    together = _together(courses)
    if len(together.values) < FEWEST_BATCHES:
        return None
    cut, half = int(np.argmin(_mser(together.values))), len(together.values) // 2
    if cut == 0 or not _is_transient(together, min(cut, half), courses):
        return 0.0
    return float(together.started_ms[cut]) if cut <= half else math.inf


def _together(courses: Sequence[SeriesCourse]) -> SeriesCourse:
    """The mean of all runs: as many batches of each as follow each other are averaged."""
    runs = max(len(courses), 1)
    started = np.concatenate([each.started_ms for each in courses] or [np.empty(0)])
    values = np.concatenate([each.values for each in courses] or [np.empty(0)])
    order = np.argsort(started, kind="stable")
    count = len(order) // runs
    kept = order[: count * runs].reshape(count, runs)
    return SeriesCourse(started[kept[:, 0]], values[kept].mean(axis=1))


def _mser(batches: FloatArray) -> FloatArray:
    """The statistic of every cut: squared deviations of the rest over its number squared."""
    count = np.arange(len(batches), 0, -1, dtype=float)
    centred = batches - batches.mean()
    total = np.cumsum(centred[::-1])[::-1]
    squares = np.cumsum(np.square(centred)[::-1])[::-1]
    statistic: FloatArray = (squares - np.square(total) / count) / np.square(count)
    return statistic[: len(batches) - _LEFT_OUT_AT_END]


def _is_transient(together: SeriesCourse, cut: int, courses: Sequence[SeriesCourse]) -> bool:
    """Whether what is cut, at most half, differs from what stays by more than chance, in the mean
    of all runs or in the runs one by one."""
    first, rest = together.values[:cut], together.values[cut:]
    gap = abs(float(first.mean() - rest.mean()))
    error = math.sqrt(_long_run_variance(rest) * (1 / len(first) + 1 / len(rest)))
    limit = -float(stdtrit(_STRETCHES - 1, _LEVEL / 2))
    return gap > limit * error or _differ_one_by_one(float(together.started_ms[cut]), courses)


def _differ_one_by_one(instant_ms: float, courses: Sequence[SeriesCourse]) -> bool:
    """Student's t on the replications' own differences, which are independent of each other."""
    gaps = [
        float(each.values[is_before].mean() - each.values[~is_before].mean())
        for each in courses
        for is_before in [each.started_ms < instant_ms]
        if is_before.any() and not is_before.all()
    ]
    if len(gaps) < _FEWEST_RUNS:
        return False
    limit = -float(stdtrit(len(gaps) - 1, _LEVEL / 2))
    return abs(float(np.mean(gaps))) > limit * float(np.std(gaps, ddof=1)) / math.sqrt(len(gaps))


_STRETCHES = 10
"""Ours: how seldom they take chance for a warm-up is tabulated in docs/statistics.md."""


def _long_run_variance(values: FloatArray) -> float:
    """The variance of a mean of these values, times their number: neighbours are alike, so it is
    told from stretches of a tenth, but it is never less than that of independent values."""
    length = len(values) // _STRETCHES
    stretches = values[: length * _STRETCHES].reshape(_STRETCHES, length).mean(axis=1)
    return max(float(values.var(ddof=1)), length * float(stretches.var(ddof=1)))
