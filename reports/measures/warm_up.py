"""The warm-up of a run: what was stated, what is left out, and the series in which to look for it.

Two series are looked at, in the order of submission: whether a transaction is aborted, and how
long a job takes, as a logarithm, since one job that waits for hours would outweigh any beginning.
Both against the mean of their writer group, because groups differ far more from each other than a
beginning does from the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field

from whitecap.engine.recorded import AUTO_WARM_UP, RecordedOutcome
from whitecap.reports.arrays import Flags, FloatArray, IntArray
from whitecap.reports.measures.sample import TransactionColumns
from whitecap.reports.measures.truncation import SeriesCourse, settles_at_ms

ABORTS, LATENCIES = "aborts", "latencies"

Courses = Mapping[str, SeriesCourse]
"""A run's series by their names."""


class RunWarmUp(Struct, frozen=True):
    """What is left out of a run of `duration_ms`; `is_auto`: the scenario leaves it to be found."""

    used_ms: float = 0.0
    is_auto: bool = False
    duration_ms: float = 0.0
    courses: Courses = field(default_factory=dict)


def warm_up_of(manifest: Mapping[str, Any], courses: Courses, used_ms: float | None) -> RunWarmUp:
    """Of a run with this manifest. `used_ms` is what all runs that are compared have in common, for
    those that leave it to be found; else each finds its own."""
    duration_ms = float(manifest["duration_ms"])
    if not is_auto(manifest):
        return RunWarmUp(float(manifest["warm_up_ms"]), False, duration_ms, courses)
    found_ms = warm_up_in_common([[courses]], duration_ms) if used_ms is None else used_ms
    return RunWarmUp(min(found_ms, duration_ms / 2), True, duration_ms, courses)


def is_auto(manifest: Mapping[str, Any]) -> bool:
    """Whether the scenario leaves the warm-up to be found."""
    return manifest.get("warm_up") == AUTO_WARM_UP


def settled_ms(runs: Sequence[Courses]) -> float | None:
    """When all series of a cell's runs have settled; as `settles_at_ms`."""
    names = dict.fromkeys(name for run in runs for name in run)
    instants = [settles_at_ms([run[name] for run in runs if name in run]) for name in names]
    settled = [each for each in instants if each is not None]
    return max(settled) if settled else None


def warm_up_in_common(cells: Iterable[Sequence[Courses]], duration_ms: float) -> float:
    """What to leave out of all runs of these cells: until the last one has settled, but never more
    than half."""
    settled = [at_ms for at_ms in map(settled_ms, cells) if at_ms is not None]
    return min(max(settled, default=0.0), duration_ms / 2)


def courses_of(rows: TransactionColumns, groups: IntArray, duration_ms: float) -> Courses:
    """The series of all of a run's transactions, the warm-up's too; `groups` are their writers'."""
    ended = ~rows.ended(RecordedOutcome.IN_FLIGHT)
    aborted = rows.ended(RecordedOutcome.ABORTED).astype(float)
    latency_ms = rows.ended_ms - rows.first_submitted_ms
    done = _seen_through(rows, latency_ms, duration_ms)
    long = np.log(np.maximum(latency_ms, _LEAST_MS))
    return {
        ABORTS: SeriesCourse.of(
            rows.submitted_ms[ended], _less_mean(aborted[ended], groups[ended])
        ),
        LATENCIES: SeriesCourse.of(
            rows.first_submitted_ms[done], _less_mean(long[done], groups[done])
        ),
    }


def _seen_through(rows: TransactionColumns, latency_ms: FloatArray, duration_ms: float) -> Flags:
    """The jobs that committed, without those that began so late that only short ones could."""
    done = rows.ended(RecordedOutcome.COMMITTED)
    if not done.any():
        return done
    last_ms = max(duration_ms - float(np.percentile(latency_ms[done], _LONG)), duration_ms / 2)
    return done & (rows.first_submitted_ms <= last_ms)


_LONG = 95.0
"""The percentile of the latencies that is taken for a long one."""


_LEAST_MS = 1e-3
"""What a latency counts as at least, so that it has a logarithm. Ours."""


def _less_mean(values: FloatArray, groups: IntArray) -> FloatArray:
    result: FloatArray = values - _means(values, groups)[groups]
    return result


def _means(values: FloatArray, groups: IntArray) -> FloatArray:
    if not len(values):
        return np.empty(0)
    means: FloatArray = np.bincount(groups, values) / np.maximum(np.bincount(groups), 1)
    return means
