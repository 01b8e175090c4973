"""Recorded transactions as columns, ready to be counted: the input of every measure."""

from __future__ import annotations

import math
from typing import Self

import numpy as np
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import astuple

from whitecap.engine.recorded import BRINGING_DATA, CONFLICTS, RecordedOutcome
from whitecap.reports.arrays import Flags, FloatArray, IntArray
from whitecap.reports.measures.columns import coded, codes_in, flags_in, is_given, numbers_in

MINUTE_MS = 60_000.0
HOUR_MS = 60 * MINUTE_MS
MONTH_MS = 730 * HOUR_MS
"""A twelfth of a year of 365 days, as monthly prices of clouds are given."""

_OUTCOMES = list(RecordedOutcome)

NOT_RECORDED = "(none recorded)"
"""In the place of an exception that an aborted transaction lacks."""


class TransactionColumns(Struct, frozen=True):
    """Transactions, one entry per column each; instants and spans in milliseconds.

    `outcome` and `exception` are codes. `first_submitted_ms` is that of the job, `is_last` marks a
    job's last transaction, `job_made_version` those of a job of which some statement left a
    version, `job_brought_data` those of one of which a statement that brings data did, `ends_job`
    those of the last statement of their job. `statement` is a code of the writers' statement,
    `made_version` marks those that left a version, `is_numbered` those that bear their batch.
    """

    outcome: IntArray
    exception: IntArray
    submitted_ms: FloatArray
    ended_ms: FloatArray
    first_submitted_ms: FloatArray
    compute_ms: FloatArray
    attempts: IntArray
    is_conflict: Flags
    is_rerun: Flags
    is_given_up: Flags
    is_last: Flags
    job_made_version: Flags
    job_brought_data: Flags
    ends_job: Flags
    statement: IntArray
    made_version: Flags
    is_numbered: Flags

    @classmethod
    def of(cls, transactions: pa.Table) -> Self:
        """The columns of a recorded table."""
        exception, names = coded(transactions["exception"])
        conflicts = np.array([name in CONFLICTS for name in names] + [False])
        outcome = _outcomes(transactions)
        first_submitted_ms, is_last = _jobs(transactions)
        made_version = is_given(transactions["committed_version"])
        is_aborted = outcome == _OUTCOMES.index(RecordedOutcome.ABORTED)
        return cls(
            outcome=outcome,
            exception=exception,
            submitted_ms=numbers_in(transactions["submitted_at_ms"]),
            ended_ms=numbers_in(transactions["ended_at_ms"]),
            first_submitted_ms=first_submitted_ms,
            compute_ms=numbers_in(transactions["compute_ms"]),
            attempts=codes_in(transactions["attempts"]),
            is_conflict=is_aborted & conflicts[exception],
            is_rerun=codes_in(transactions["rerun_number"]) > 0,
            is_given_up=flags_in(transactions["given_up"]),
            is_last=is_last,
            job_made_version=_of_jobs_with(transactions, made_version),
            job_brought_data=_of_jobs_with(transactions, made_version & _brings_data(transactions)),
            ends_job=_ends_job(transactions),
            statement=_statements(transactions),
            made_version=made_version,
            is_numbered=_is_numbered(transactions),
        )

    def __len__(self) -> int:
        return len(self.outcome)

    def take(self, chosen: Flags | IntArray | slice) -> TransactionColumns:
        """Those rows, in that order."""
        return TransactionColumns(*(column[chosen] for column in astuple(self)))

    def ended(self, outcome: RecordedOutcome) -> Flags:
        """Which of them ended so."""
        flags: Flags = self.outcome == _OUTCOMES.index(outcome)
        return flags

    @property
    def is_done(self) -> Flags:
        """Which of them are a job's success."""
        return self.ended(RecordedOutcome.COMMITTED) & self.ends_job

    @property
    def is_half_done(self) -> Flags:
        """Which of them end a job that was given up when some statement had left a version."""
        return self.is_given_up & self.job_made_version

    @property
    def is_effective(self) -> Flags:
        """Which of them are the success of a job of which some statement left a version."""
        return self.is_done & self.job_made_version

    @property
    def has_brought_data(self) -> Flags:
        """Which of them are the success of a job that brought data, and was no maintenance."""
        return self.is_done & self.job_brought_data

    @property
    def is_without_effect(self) -> Flags:
        """Which of them succeeded, as one of a statement that never left a version."""
        effective = np.isin(self.statement, self.statement[self.made_version])
        return self.ended(RecordedOutcome.COMMITTED) & ~effective

    @property
    def is_idle(self) -> Flags:
        """Which of them are the success of a job that found nothing to do."""
        return self.is_done & ~self.job_made_version


class LeftByRun(Struct, frozen=True):
    """What a run leaves of its tables and their logs; not a number where that is not known, or
    where some writers are meant and not the run."""

    live_rows: float = math.nan
    lost_commits: float = math.nan
    doubled_commits: float = math.nan
    findings: float = math.nan
    """Of the oracles, where somebody asked them."""


NOTHING_KNOWN = LeftByRun()
"""Of some writers, to whom no table or log belongs."""


class MeasureSample(Struct, frozen=True):
    """What a measure is counted from: transactions of all writers of a run, or of some.

    `rows` are those submitted after the warm-up, `all_rows` all of them. `jobs` are the last
    transactions of jobs, submitted after the warm-up: a job of several statements is counted with
    the writers of its last one, and `has_jobs` is false of those of the statements before it.
    `brings_data`: some of these writers have jobs that do, whether any of these was due or not.
    `latencies_ms`, sorted, are from a job's first submission to its commit. `per_slot_hour`: the
    price, `request_cost` that of all requests of the run, not a number where none was stated.
    """

    rows: TransactionColumns
    all_rows: TransactionColumns
    jobs: TransactionColumns
    latencies_ms: FloatArray
    warm_up_ms: float
    duration_ms: float
    left: LeftByRun = NOTHING_KNOWN
    per_slot_hour: float = math.nan
    request_cost: float = math.nan
    has_jobs: bool = True
    brings_data: bool = False

    @classmethod
    def of(
        cls,
        rows: TransactionColumns,
        warm_up_ms: float,
        duration_ms: float,
        left: LeftByRun = NOTHING_KNOWN,
        per_slot_hour: float = math.nan,
        ends: TransactionColumns | None = None,
    ) -> Self:
        """All transactions of a run, or of some writers, whose jobs have other `ends` then."""
        counted = rows.take(rows.submitted_ms >= warm_up_ms)
        ends = rows if ends is None else ends
        jobs = ends.take(ends.is_last & (ends.submitted_ms >= warm_up_ms))
        done = jobs.take(jobs.is_done)
        latencies_ms = np.sort(done.ended_ms - done.first_submitted_ms)
        return cls(counted, rows, jobs, latencies_ms, warm_up_ms, duration_ms, left, per_slot_hour)

    def where(self, chosen: IntArray | slice, jobs: IntArray | slice) -> MeasureSample:
        """A part of `all_rows`, and those with which its jobs end, other rows perhaps."""
        rows, ends = self.all_rows.take(chosen), self.all_rows.take(jobs)
        price = self.per_slot_hour
        return MeasureSample.of(
            rows, self.warm_up_ms, self.duration_ms, per_slot_hour=price, ends=ends
        )

    @property
    def minutes(self) -> float:
        """The simulated time after the warm-up."""
        return (self.duration_ms - self.warm_up_ms) / MINUTE_MS

    @property
    def months(self) -> float:
        """The same in months."""
        return (self.duration_ms - self.warm_up_ms) / MONTH_MS

    def slot_hours(self, outcome: RecordedOutcome | None = None) -> float:
        """Compute time of transactions that ended after the warm-up, all or those that ended so,
        each in a slot: as with goodput, those under way when it begins stand for those at the end.
        """
        rows = self.all_rows
        ended = rows.ended_ms >= self.warm_up_ms
        chosen = ended if outcome is None else ended & rows.ended(outcome)
        return float(rows.compute_ms[chosen].sum()) / HOUR_MS

    def slot_hours_of_jobs(self) -> float:
        """The same of those submitted after the warm-up, which are those of the jobs that count."""
        ended = ~self.rows.ended(RecordedOutcome.IN_FLIGHT)
        return float(self.rows.compute_ms[ended].sum()) / HOUR_MS

    def count(self, outcome: RecordedOutcome) -> int:
        """How many ended so."""
        return int(self.rows.ended(outcome).sum())

    @property
    def ended(self) -> int:
        """How many were no longer under way when the run ended."""
        return len(self.rows) - self.count(RecordedOutcome.IN_FLIGHT)

    @property
    def attempts(self) -> int:
        """Puts of a commit file."""
        return int(self.rows.attempts.sum())


def _outcomes(transactions: pa.Table) -> IntArray:
    outcomes, names = coded(transactions["outcome"])
    return np.array([_OUTCOMES.index(RecordedOutcome(name)) for name in names], np.int64)[outcomes]


def _ends_job(transactions: pa.Table) -> Flags:
    """Which are of the last statement of their job: all where a job has one."""
    if "ends_job" not in transactions.column_names:
        return np.ones(transactions.num_rows, dtype=bool)
    return flags_in(transactions["ends_job"])


def _statements(transactions: pa.Table) -> IntArray:
    """Of each transaction a code of the statement of its writers."""
    group, _ = coded(transactions["writer_group"])
    if "statement_number" not in transactions.column_names:
        return group
    number = codes_in(transactions["statement_number"])
    codes: IntArray = group * (number.max(initial=0) + 1) + number
    return codes


def _is_numbered(transactions: pa.Table) -> Flags:
    """Which bear the batch that they write; asked of jobs of several statements alone."""
    if "app_id" not in transactions.column_names:
        return np.zeros(transactions.num_rows, dtype=bool)
    return is_given(transactions["app_id"])


def _brings_data(transactions: pa.Table) -> Flags:
    """Which are of a command whose jobs come from outside."""
    commands, names = coded(transactions["command"])
    return np.array([name in BRINGING_DATA for name in names], dtype=bool)[commands]


def _of_jobs_with(transactions: pa.Table, some: Flags) -> Flags:
    """Which are of a job that some of these are of."""
    job = codes_in(transactions["job_id"])
    return np.isin(job, job[some])


def _jobs(transactions: pa.Table) -> tuple[FloatArray, Flags]:
    """Of each transaction's job the first submission, and whether the job ended with it."""
    job = codes_in(transactions["job_id"])
    submitted_ms = numbers_in(transactions["submitted_at_ms"])
    order = np.lexsort((codes_in(transactions["transaction_id"]), job))
    changes = np.flatnonzero(np.diff(job[order]))
    starts = np.concatenate(([0], changes + 1)) if len(job) else changes
    lengths = np.diff(np.append(starts, len(job)))
    first_ms = np.empty(len(job))
    first_ms[order] = np.repeat(submitted_ms[order][starts], lengths)
    is_last = np.zeros(len(job), dtype=bool)
    is_last[order[starts + lengths - 1]] = True
    return first_ms, is_last
