"""The definition of every measure, once: what it counts, and how it is called and explained.

Transactions submitted before the end of the warm-up are left out of every measure, and so are
jobs whose last transaction was; goodput and costs of a month look at the instant of the end
instead, because throughput is counted where work leaves the system.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from msgspec import Struct

from whitecap.engine.recorded import Measure, RecordedOutcome, Unit
from whitecap.reports.measures.sample import MONTH_MS, MeasureSample
from whitecap.reports.measures.tally import (
    Count,
    CountedShare,
    Latencies,
    MeasureTally,
    PerJob,
    PerMinute,
    PerMonth,
    WeightedShare,
)


class Definition(Struct, frozen=True):
    """A measure: `title` heads a figure, `axis` says what its numbers count, `meaning` is the
    definition in words, and `tally` counts it."""

    measure: Measure
    title: str
    axis: str
    meaning: str
    tally: Callable[[MeasureSample], MeasureTally]

    @property
    def name(self) -> str:
        """As tables and scenarios call it."""
        return self.measure.value

    @property
    def unit(self) -> Unit:
        """How its values are to be read."""
        return self.measure.unit

    @property
    def called(self) -> str:
        """Within a sentence: `job success rate`, `p95 latency`."""
        return _CALLED.get(self.measure, self.title.lower())


_CALLED = {
    Measure.LATENCY_P50_MS: "median latency",
    Measure.LATENCY_P95_MS: "p95 latency",
    Measure.LATENCY_P99_MS: "p99 latency",
    Measure.LATENCY_P99_9_MS: "p99.9 latency",
}
"""Measures whose titles make no good sentence."""


def _conflicts(sample: MeasureSample) -> MeasureTally:
    return CountedShare(int(sample.rows.is_conflict.sum()), sample.attempts)


def _retries(sample: MeasureSample) -> MeasureTally:
    return CountedShare(int(np.maximum(sample.rows.attempts - 1, 0).sum()), sample.attempts)


def _aborts(sample: MeasureSample) -> MeasureTally:
    return CountedShare(sample.count(RecordedOutcome.ABORTED), sample.ended)


def _reruns(sample: MeasureSample) -> MeasureTally:
    return CountedShare(int(sample.rows.is_rerun.sum()), len(sample.rows))


def _goodput(sample: MeasureSample) -> MeasureTally:
    if not sample.has_jobs:
        return PerMinute(math.nan, math.nan)
    rows = sample.all_rows
    through = rows.has_brought_data if sample.brings_data else rows.is_effective
    counted = through & (rows.ended_ms >= sample.warm_up_ms)
    return PerMinute(int(counted.sum()), sample.minutes)


def _successes(sample: MeasureSample) -> MeasureTally:
    done = int(sample.jobs.is_done.sum())
    return CountedShare(done, done + int(sample.jobs.is_given_up.sum()))


def _wasted(sample: MeasureSample) -> MeasureTally:
    rows = sample.rows
    computed = ~rows.ended(RecordedOutcome.IN_FLIGHT) & (rows.compute_ms > 0)
    aborted = rows.ended(RecordedOutcome.ABORTED) & computed
    wasted_ms, spent_ms = (float(rows.compute_ms[mask].sum()) for mask in (aborted, computed))
    return WeightedShare(wasted_ms, spent_ms, int(aborted.sum()), int(computed.sum()))


def _slot_hours(sample: MeasureSample) -> MeasureTally:
    return PerMonth(sample.slot_hours(), sample.months)


def _cost(sample: MeasureSample) -> MeasureTally:
    return PerMonth(sample.slot_hours() * sample.per_slot_hour, sample.months)


def _wasted_cost(sample: MeasureSample) -> MeasureTally:
    wasted = sample.slot_hours(RecordedOutcome.ABORTED)
    return PerMonth(wasted * sample.per_slot_hour, sample.months)


def _cost_per_job(sample: MeasureSample) -> MeasureTally:
    brought = int(sample.jobs.has_brought_data.sum())
    return PerJob(sample.slot_hours_of_jobs() * sample.per_slot_hour, brought)


def _request_cost(sample: MeasureSample) -> MeasureTally:
    return PerMonth(sample.request_cost, sample.duration_ms / MONTH_MS)


PERCENTILES = {
    Measure.LATENCY_P50_MS: 50.0,
    Measure.LATENCY_P95_MS: 95.0,
    Measure.LATENCY_P99_MS: 99.0,
    Measure.LATENCY_P99_9_MS: 99.9,
}
"""Which percentile of the latencies a measure is."""


def _latency(measure: Measure) -> Callable[[MeasureSample], MeasureTally]:
    return lambda sample: Latencies(sample.latencies_ms, PERCENTILES[measure])


def _counted(outcome: RecordedOutcome) -> Callable[[MeasureSample], MeasureTally]:
    return lambda sample: Count(sample.count(outcome))


_ALL = (
    Definition(
        Measure.CONFLICT_RATE,
        "Conflict rate",
        "failed checks per attempt to commit",
        "Failed conflict checks per attempt to commit: transactions aborted with one of Delta's "
        "seven conflict exceptions, divided by all puts of a commit file.",
        _conflicts,
    ),
    Definition(
        Measure.RETRY_RATE,
        "Retry rate",
        "retries per attempt to commit",
        "Retries per attempt to commit: puts after the first one of a transaction (the version "
        "was taken, no check failed), divided by all puts of a commit file.",
        _retries,
    ),
    Definition(
        Measure.ABORT_RATE,
        "Abort rate",
        "aborted per ended transaction",
        "Aborted transactions, for whatever exception, divided by transactions that ended "
        "(committed, aborted or unknown).",
        _aborts,
    ),
    Definition(
        Measure.RERUN_RATE,
        "Rerun rate",
        "reruns per transaction",
        "Transactions that run an aborted command again, divided by all transactions submitted.",
        _reruns,
    ),
    Definition(
        Measure.GOODPUT_PER_MINUTE,
        "Goodput",
        "committed jobs per minute",
        "Jobs that brought data, per minute of simulated time after the warm-up: that committed, "
        "and of which an INSERT, UPDATE, DELETE, MERGE or batch of a stream left a version. A job "
        "is a transaction with all its reruns, or those of several statements, of which the last "
        "must have committed and any may have left the version. Of writers of whom none brings "
        "data (a compactor alone) it is of jobs that left a version. Statements before a job's "
        "last one have none.",
        _goodput,
    ),
    Definition(
        Measure.JOB_SUCCESS_RATE,
        "Job success rate",
        "committed per ended job",
        "Jobs that committed, divided by jobs that ended: committed or given up, for a refusal or "
        "for an outcome that was never learned. Jobs still under way at the end are left out.",
        _successes,
    ),
    Definition(
        Measure.LATENCY_P50_MS,
        "Latency, median",
        "from first submission to commit",
        "Median time from a job's first submission to its commit, reruns and their waits "
        "included. Only jobs that committed have one.",
        _latency(Measure.LATENCY_P50_MS),
    ),
    Definition(
        Measure.LATENCY_P95_MS,
        "Latency, 95th percentile",
        "from first submission to commit",
        "95th percentile of the time from a job's first submission to its commit.",
        _latency(Measure.LATENCY_P95_MS),
    ),
    Definition(
        Measure.LATENCY_P99_MS,
        "Latency, 99th percentile",
        "from first submission to commit",
        "99th percentile of the time from a job's first submission to its commit.",
        _latency(Measure.LATENCY_P99_MS),
    ),
    Definition(
        Measure.LATENCY_P99_9_MS,
        "Latency, 99.9th percentile",
        "from first submission to commit",
        "99.9th percentile of the time from a job's first submission to its commit: one commit in "
        "a thousand takes longer, so it takes 10,000 of them for 10 to lie beyond.",
        _latency(Measure.LATENCY_P99_9_MS),
    ),
    Definition(
        Measure.WASTED_COMPUTE_SHARE,
        "Wasted compute",
        "aborted share of compute time",
        "Compute time of aborted transactions, divided by that of all transactions that ended.",
        _wasted,
    ),
    Definition(
        Measure.SUBMITTED,
        "Submitted",
        "transactions submitted",
        "Transactions submitted, each rerun counted as one.",
        lambda sample: Count(len(sample.rows)),
    ),
    Definition(
        Measure.COMMITTED,
        "Committed",
        "transactions committed",
        "Transactions that committed, those that found nothing to do included.",
        _counted(RecordedOutcome.COMMITTED),
    ),
    Definition(
        Measure.ABORTED,
        "Aborted",
        "transactions aborted",
        "Transactions aborted, for whatever exception.",
        _counted(RecordedOutcome.ABORTED),
    ),
    Definition(
        Measure.UNKNOWN,
        "Unknown",
        "transactions of unknown outcome",
        "Transactions whose writer never learned whether they committed.",
        _counted(RecordedOutcome.UNKNOWN),
    ),
    Definition(
        Measure.IN_FLIGHT,
        "In flight",
        "transactions under way at the end",
        "Transactions submitted and not ended when the run was.",
        _counted(RecordedOutcome.IN_FLIGHT),
    ),
    Definition(
        Measure.GIVEN_UP,
        "Given up",
        "jobs given up",
        "Jobs that were not run again after a refusal, or after an outcome never learned.",
        lambda sample: Count(int(sample.jobs.is_given_up.sum())),
    ),
    Definition(
        Measure.HALF_DONE,
        "Half done",
        "jobs given up after a commit",
        "Jobs of several statements that were given up when a statement of theirs had committed a "
        "version: it stays, and what should have followed is missing.",
        lambda sample: Count(int(sample.jobs.is_half_done.sum())),
    ),
    Definition(
        Measure.RERUNS,
        "Reruns",
        "transactions that are reruns",
        "Transactions that run an aborted command again.",
        lambda sample: Count(int(sample.rows.is_rerun.sum())),
    ),
    Definition(
        Measure.ATTEMPTS,
        "Attempts",
        "puts of a commit file",
        "Puts of a commit file, lost ones included.",
        lambda sample: Count(sample.attempts),
    ),
    Definition(
        Measure.LOST_COMMITS,
        "Lost commits",
        "commits written over by others",
        "Commits that took effect, and that another writer's took the place of: their writers may "
        "believe in them, and their rows are gone.",
        lambda sample: Count(sample.left.lost_commits),
    ),
    Definition(
        Measure.DOUBLED_COMMITS,
        "Doubled commits",
        "commits made once more",
        "Versions of the log that hold a transaction which an earlier version holds already.",
        lambda sample: Count(sample.left.doubled_commits),
    ),
    Definition(
        Measure.FINDINGS,
        "Findings",
        "things that the oracles find wrong",
        "What is wrong with the table or its log by the oracles, which share no rule with the "
        "engine's conflict check; known where an expectation or an objective asks for it.",
        lambda sample: Count(sample.left.findings),
    ),
    Definition(
        Measure.LIVE_ROWS,
        "Live rows",
        "rows of the table in the end",
        "Rows that the table holds when the run ends.",
        lambda sample: Count(sample.left.live_rows),
    ),
    Definition(
        Measure.SLOT_HOURS_PER_MONTH,
        "Slot-hours per month",
        "hours of a slot in 730 hours",
        "Compute time of the transactions that ended after the warm-up, each in a slot of its own, "
        "as a month of 730 hours at this pace takes it. The time that a driver waits for the log "
        "is not in it.",
        _slot_hours,
    ),
    Definition(
        Measure.COST_PER_MONTH,
        "Cost per month",
        "money for slot-hours in 730 hours",
        "Slot-hours per month times the price of one; in the currency of the price.",
        _cost,
    ),
    Definition(
        Measure.WASTED_COST_PER_MONTH,
        "Wasted per month",
        "money for aborted transactions in 730 hours",
        "What of the cost per month is for aborted transactions: all that is run again, and what "
        "was given up.",
        _wasted_cost,
    ),
    Definition(
        Measure.COST_PER_JOB,
        "Cost per job that brings data",
        "money per committed job that brings data",
        "Price of the slot-hours of all transactions that ended, divided by jobs that brought "
        "data: that committed, and of which an INSERT, UPDATE, DELETE, MERGE or batch of a stream "
        "left a version. What maintenance (OPTIMIZE, REORG, VACUUM, ...) and idle jobs take is in "
        "the price, and they are no jobs to divide it among.",
        _cost_per_job,
    ),
    Definition(
        Measure.REQUEST_COST_PER_MONTH,
        "Requests per month",
        "money for requests in 730 hours",
        "Requests for the log at list prices, warm-up included, as a month of 730 hours at this "
        "pace takes them. Requests of Spark's jobs for data files are not in it.",
        _request_cost,
    ),
)

MEASURES = {definition.name: definition for definition in _ALL}
"""Every measure's definition by its name, in the order of the tables."""

OF_SUMS = frozenset({Measure.WASTED_COMPUTE_SHARE})
"""Shares of sums, not of counts."""

PER_JOB = frozenset({Measure.COST_PER_JOB})
"""Money for each job, where all other is for a month."""

PRICED = (
    Measure.SLOT_HOURS_PER_MONTH, Measure.COST_PER_MONTH, Measure.WASTED_COST_PER_MONTH,
    Measure.COST_PER_JOB, Measure.REQUEST_COST_PER_MONTH,
)  # fmt: skip
"""What a report shows besides where a price was stated."""

REPORTED = (
    Measure.JOB_SUCCESS_RATE, Measure.GOODPUT_PER_MINUTE, Measure.WASTED_COMPUTE_SHARE,
    Measure.LATENCY_P95_MS, Measure.CONFLICT_RATE, Measure.ABORT_RATE, Measure.RETRY_RATE,
    Measure.RERUN_RATE, Measure.LATENCY_P50_MS, Measure.LATENCY_P99_MS, Measure.LATENCY_P99_9_MS,
)  # fmt: skip
"""The measures that a report shows of every cell, those first by which one decides."""


def measures_shown(is_priced: bool) -> tuple[Measure, ...]:
    """What a report shows of every cell, costs where a price was stated."""
    return (*REPORTED, *PRICED) if is_priced else REPORTED
