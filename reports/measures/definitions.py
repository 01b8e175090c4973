"""The definition of every measure, once: what it counts, and how it is called and explained.

Transactions submitted before the end of the warm-up are left out of every measure, and so are
jobs whose last transaction was; goodput and costs of a month look at the instant of the end
instead, because throughput is counted where work leaves the system.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from whitecap.engine.recorded import Measure, RecordedOutcome, Unit
from whitecap.reports.measures import counting
from whitecap.reports.measures.sample import MeasureSample
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
    definition in words, and `tally` counts it, as a tally of this `kind`."""

    measure: Measure
    title: str
    axis: str
    meaning: str
    kind: type[MeasureTally]
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


_ALL = (
    Definition(
        Measure.CONFLICT_RATE,
        "Conflict rate",
        "failed checks per attempt to commit",
        "Failed conflict checks per attempt to commit: transactions aborted with one of Delta's "
        "seven conflict exceptions, divided by all puts of a commit file.",
        CountedShare,
        counting.conflicts,
    ),
    Definition(
        Measure.RETRY_RATE,
        "Retry rate",
        "retries per attempt to commit",
        "Retries per attempt to commit: puts after the first one of a transaction (the version "
        "was taken, no check failed), divided by all puts of a commit file.",
        CountedShare,
        counting.retries,
    ),
    Definition(
        Measure.ABORT_RATE,
        "Abort rate",
        "aborted per ended transaction",
        "Aborted transactions, for whatever exception, divided by transactions that ended "
        "(committed, aborted or unknown).",
        CountedShare,
        counting.aborts,
    ),
    Definition(
        Measure.RERUN_RATE,
        "Rerun rate",
        "reruns per transaction",
        "Transactions that run an aborted command again, divided by all transactions submitted.",
        CountedShare,
        counting.reruns,
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
        PerMinute,
        counting.goodput,
    ),
    Definition(
        Measure.JOB_SUCCESS_RATE,
        "Job success rate",
        "committed per ended job",
        "Jobs that committed, divided by jobs that ended: committed or given up, for a refusal or "
        "for an outcome that was never learned. Jobs still under way at the end are left out.",
        CountedShare,
        counting.successes,
    ),
    Definition(
        Measure.LATENCY_P50_MS,
        "Latency, median",
        "from first submission to commit",
        "Median time from a job's first submission to its commit, reruns and their waits "
        "included. Only jobs that committed have one.",
        Latencies,
        counting.latency_of(Measure.LATENCY_P50_MS),
    ),
    Definition(
        Measure.LATENCY_P95_MS,
        "Latency, 95th percentile",
        "from first submission to commit",
        "95th percentile of the time from a job's first submission to its commit.",
        Latencies,
        counting.latency_of(Measure.LATENCY_P95_MS),
    ),
    Definition(
        Measure.LATENCY_P99_MS,
        "Latency, 99th percentile",
        "from first submission to commit",
        "99th percentile of the time from a job's first submission to its commit.",
        Latencies,
        counting.latency_of(Measure.LATENCY_P99_MS),
    ),
    Definition(
        Measure.LATENCY_P99_9_MS,
        "Latency, 99.9th percentile",
        "from first submission to commit",
        "99.9th percentile of the time from a job's first submission to its commit: one commit in "
        "a thousand takes longer, so it takes 10,000 of them for 10 to lie beyond.",
        Latencies,
        counting.latency_of(Measure.LATENCY_P99_9_MS),
    ),
    Definition(
        Measure.WASTED_COMPUTE_SHARE,
        "Wasted compute",
        "aborted share of compute time",
        "Compute time of aborted transactions, divided by that of all transactions that ended.",
        WeightedShare,
        counting.wasted,
    ),
    Definition(
        Measure.SUBMITTED,
        "Submitted",
        "transactions submitted",
        "Transactions submitted, each rerun counted as one.",
        Count,
        lambda sample: Count(len(sample.rows)),
    ),
    Definition(
        Measure.COMMITTED,
        "Committed",
        "transactions committed",
        "Transactions that committed, those that found nothing to do included.",
        Count,
        counting.count_of(RecordedOutcome.COMMITTED),
    ),
    Definition(
        Measure.ABORTED,
        "Aborted",
        "transactions aborted",
        "Transactions aborted, for whatever exception.",
        Count,
        counting.count_of(RecordedOutcome.ABORTED),
    ),
    Definition(
        Measure.UNKNOWN,
        "Unknown",
        "transactions of unknown outcome",
        "Transactions whose writer never learned whether they committed.",
        Count,
        counting.count_of(RecordedOutcome.UNKNOWN),
    ),
    Definition(
        Measure.IN_FLIGHT,
        "In flight",
        "transactions under way at the end",
        "Transactions submitted and not ended when the run was.",
        Count,
        counting.count_of(RecordedOutcome.IN_FLIGHT),
    ),
    Definition(
        Measure.GIVEN_UP,
        "Given up",
        "jobs given up",
        "Jobs that were not run again after a refusal, or after an outcome never learned.",
        Count,
        lambda sample: Count(int(sample.jobs.is_given_up.sum())),
    ),
    Definition(
        Measure.HALF_DONE,
        "Half done",
        "jobs given up after a commit",
        "Jobs of several statements that were given up when a statement of theirs had committed a "
        "version: it stays, and what should have followed is missing.",
        Count,
        lambda sample: Count(int(sample.jobs.is_half_done.sum())),
    ),
    Definition(
        Measure.RERUNS,
        "Reruns",
        "transactions that are reruns",
        "Transactions that run an aborted command again.",
        Count,
        lambda sample: Count(int(sample.rows.is_rerun.sum())),
    ),
    Definition(
        Measure.ATTEMPTS,
        "Attempts",
        "puts of a commit file",
        "Puts of a commit file, lost ones included.",
        Count,
        lambda sample: Count(sample.attempts),
    ),
    Definition(
        Measure.LOST_COMMITS,
        "Lost commits",
        "commits written over by others",
        "Commits that took effect, and that another writer's took the place of: their writers may "
        "believe in them, and their rows are gone.",
        Count,
        lambda sample: Count(sample.left.lost_commits),
    ),
    Definition(
        Measure.DOUBLED_COMMITS,
        "Doubled commits",
        "commits made once more",
        "Versions of the log that hold a transaction which an earlier version holds already.",
        Count,
        lambda sample: Count(sample.left.doubled_commits),
    ),
    Definition(
        Measure.FINDINGS,
        "Findings",
        "things that the oracles find wrong",
        "What is wrong with the table or its log by the oracles, which share no rule with the "
        "engine's conflict check; known where an expectation or an objective asks for it.",
        Count,
        lambda sample: Count(sample.left.findings),
    ),
    Definition(
        Measure.LIVE_ROWS,
        "Live rows",
        "rows of the table in the end",
        "Rows that the table holds when the run ends.",
        Count,
        lambda sample: Count(sample.left.live_rows),
    ),
    Definition(
        Measure.SLOT_HOURS_PER_MONTH,
        "Slot-hours per month",
        "hours of a slot in 730 hours",
        "Compute time of the transactions that ended after the warm-up, each in a slot of its own, "
        "as a month of 730 hours at this pace takes it. The time that a driver waits for the log "
        "is not in it.",
        PerMonth,
        counting.slot_hours,
    ),
    Definition(
        Measure.COST_PER_MONTH,
        "Cost per month",
        "money for slot-hours in 730 hours",
        "Slot-hours per month times the price of one; in the currency of the price.",
        PerMonth,
        counting.cost,
    ),
    Definition(
        Measure.WASTED_COST_PER_MONTH,
        "Wasted per month",
        "money for aborted transactions in 730 hours",
        "What of the cost per month is for aborted transactions: all that is run again, and what "
        "was given up.",
        PerMonth,
        counting.wasted_cost,
    ),
    Definition(
        Measure.COST_PER_JOB,
        "Cost per job that brings data",
        "money per committed job that brings data",
        "Price of the slot-hours of all transactions that ended, divided by jobs that brought "
        "data: that committed, and of which an INSERT, UPDATE, DELETE, MERGE or batch of a stream "
        "left a version. What maintenance (OPTIMIZE, REORG, VACUUM, ...) and idle jobs take is in "
        "the price, and they are no jobs to divide it among.",
        PerJob,
        counting.cost_per_job,
    ),
    Definition(
        Measure.REQUEST_COST_PER_MONTH,
        "Requests per month",
        "money for requests in 730 hours",
        "Requests for the log at list prices, warm-up included, as a month of 730 hours at this "
        "pace takes them. Requests of Spark's jobs for data files are not in it.",
        PerMonth,
        counting.request_cost,
    ),
)

MEASURES = {definition.name: definition for definition in _ALL}
"""Every measure's definition by its name, in the order of the tables."""

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
