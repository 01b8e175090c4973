"""What is measured in a run: every measure's name, unit and exact meaning, in one place.

The aggregation computes these, the figures label them, and the report prints their meaning.
Transactions submitted before the end of the warm-up are left out of every measure, and so are
jobs whose last transaction was; goodput looks at the instant of success instead, because
throughput is counted where work leaves the system.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from whitecap.engine.outcomes import ConflictException


class Unit(StrEnum):
    """How the values of a measure are to be read."""

    SHARE = "share"
    PER_MINUTE = "per minute"
    MILLISECONDS = "ms"


@dataclass(frozen=True, slots=True)
class Measure:
    """One number per run. `title` heads a figure, `meaning` is its definition."""

    name: str
    title: str
    unit: Unit
    higher_is_better: bool
    meaning: str


_ALL = (
    Measure(
        "conflict_rate",
        "Conflict rate",
        Unit.SHARE,
        False,
        "Failed conflict checks per attempt to commit: transactions aborted with one of Delta's "
        "seven conflict exceptions, divided by all puts of a commit file.",
    ),
    Measure(
        "retry_rate",
        "Retry rate",
        Unit.SHARE,
        False,
        "Retries per attempt to commit: puts after the first one of a transaction (the version "
        "was taken, no check failed), divided by all puts of a commit file.",
    ),
    Measure(
        "abort_rate",
        "Abort rate",
        Unit.SHARE,
        False,
        "Aborted transactions, for whatever exception, divided by transactions that ended "
        "(committed, aborted or unknown).",
    ),
    Measure(
        "rerun_rate",
        "Rerun rate",
        Unit.SHARE,
        False,
        "Transactions that run an aborted command again, divided by all transactions submitted.",
    ),
    Measure(
        "goodput_per_minute",
        "Goodput",
        Unit.PER_MINUTE,
        True,
        "Jobs that committed a version, per minute of simulated time after the warm-up. A job is "
        "a transaction with all its reruns; one that found nothing to do is not counted.",
    ),
    Measure(
        "job_success_rate",
        "Job success rate",
        Unit.SHARE,
        True,
        "Jobs that committed, divided by jobs that ended: committed or given up, for a refusal or "
        "for an outcome that was never learned. Jobs still under way at the end are left out.",
    ),
    Measure(
        "latency_p50_ms",
        "Latency, median",
        Unit.MILLISECONDS,
        False,
        "Median time from a job's first submission to its commit, reruns and their waits included.",
    ),
    Measure(
        "latency_p95_ms",
        "Latency, 95th percentile",
        Unit.MILLISECONDS,
        False,
        "95th percentile of the time from a job's first submission to its commit.",
    ),
    Measure(
        "latency_p99_ms",
        "Latency, 99th percentile",
        Unit.MILLISECONDS,
        False,
        "99th percentile of the time from a job's first submission to its commit.",
    ),
    Measure(
        "wasted_compute_share",
        "Wasted compute",
        Unit.SHARE,
        False,
        "Compute time of aborted transactions, divided by that of all transactions that ended.",
    ),
)

MEASURES = {measure.name: measure for measure in _ALL}
"""Every measure by name, in the order of the report."""

CONFLICTS = tuple(exception.value for exception in ConflictException)
"""Delta's conflict exceptions; any other exception of an aborted transaction is not a conflict."""


def written(value: float, unit: Unit, digits: int = 3) -> str:
    """A value as people read it: shares in percent, durations in the unit that fits."""
    if math.isnan(value):
        return "n/a"
    match unit:
        case Unit.SHARE:
            return f"{_significant(100 * value, digits)} %"
        case Unit.PER_MINUTE:
            return f"{_significant(value, digits)} / min"
        case Unit.MILLISECONDS:
            return duration(value, digits)


_DURATIONS = ((3_600_000, "h"), (60_000, "min"), (1_000, "s"))


def duration(milliseconds: float, digits: int = 3) -> str:
    """Milliseconds as `250 ms`, `12.3 s`, `4.5 min` or `2.1 h`."""
    for size, name in _DURATIONS:
        if abs(milliseconds) >= size:
            return f"{_significant(milliseconds / size, digits)} {name}"
    return f"{_significant(milliseconds, digits)} ms"


def tick(value: float, unit: Unit) -> str:
    """A round value beside an axis, without digits that say nothing."""
    match unit:
        case Unit.SHARE:
            return f"{100 * value:g} %"
        case Unit.PER_MINUTE:
            return f"{value:g}"
        case Unit.MILLISECONDS:
            return round_duration(value)


def round_duration(milliseconds: float) -> str:
    """A round number of milliseconds in the largest unit that fits, for axes."""
    for size, name in _DURATIONS:
        if abs(milliseconds) >= size:
            return f"{milliseconds / size:g} {name}"
    return f"{milliseconds:g} ms"


_MOST_DECIMALS = 2


def _significant(value: float, digits: int) -> str:
    """`value` with about that many significant digits and never in scientific notation."""
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(decimals, _MOST_DECIMALS)}f}"
