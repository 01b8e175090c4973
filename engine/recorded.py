"""The contract of a recording: what who writes one and who reads it must call alike.

Outcome names, the columns that reports read, the measures with their units, and the exceptions
that an aborted transaction can be recorded with. What a measure means stands with the reports
(`reports/measures/definitions.py`); here is only what may be asked for.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from whitecap.engine.outcomes import ConflictException


class RecordedOutcome(StrEnum):
    """How a recorded transaction ended; none is dropped, so one may still be under way."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"
    IN_FLIGHT = "in_flight"


class Arrivals(StrEnum):
    """By which rule a writer's jobs fall due; the keys of `arrival:` in a scenario."""

    CLOSED = "closed"
    OPEN = "open"
    SCHEDULE = "schedule"


COLUMNS_READ: dict[str, tuple[str, ...]] = {
    "transactions": (
        "transaction_id", "job_id", "rerun_number", "writer", "writer_group", "command",
        "submitted_at_ms", "ended_at_ms", "outcome", "committed_version", "exception",
        "winning_version", "attempts", "compute_ms", "given_up",
    ),
    "commits": ("version", "transaction_id"),
    "writers": ("writer", "writer_group", "command", "arrival", "jobs_due", "jobs_not_begun"),
}  # fmt: skip
"""Table of a recording -> the columns that measures and refusals are made of."""


class Unit(StrEnum):
    """How the values of a measure are to be read."""

    COUNT = "count"
    SHARE = "share"
    PER_MINUTE = "per minute"
    MILLISECONDS = "ms"
    ROWS = "rows"

    @property
    def is_counted(self) -> bool:
        """Whether it is a whole number that a run simply has, rather than estimates."""
        return self in (Unit.COUNT, Unit.ROWS)


class Measure(StrEnum):
    """What can be asked of a run, with its unit. A job is a transaction with all its reruns."""

    unit: Unit

    def __new__(cls, name: str, unit: Unit) -> Self:
        """A name that carries its unit."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.unit = unit
        return member

    CONFLICT_RATE = "conflict_rate", Unit.SHARE
    RETRY_RATE = "retry_rate", Unit.SHARE
    ABORT_RATE = "abort_rate", Unit.SHARE
    RERUN_RATE = "rerun_rate", Unit.SHARE
    GOODPUT_PER_MINUTE = "goodput_per_minute", Unit.PER_MINUTE
    JOB_SUCCESS_RATE = "job_success_rate", Unit.SHARE
    LATENCY_P50_MS = "latency_p50_ms", Unit.MILLISECONDS
    LATENCY_P95_MS = "latency_p95_ms", Unit.MILLISECONDS
    LATENCY_P99_MS = "latency_p99_ms", Unit.MILLISECONDS
    WASTED_COMPUTE_SHARE = "wasted_compute_share", Unit.SHARE
    SUBMITTED = "submitted", Unit.COUNT
    COMMITTED = "committed", Unit.COUNT
    ABORTED = "aborted", Unit.COUNT
    UNKNOWN = "unknown", Unit.COUNT
    IN_FLIGHT = "in_flight", Unit.COUNT
    GIVEN_UP = "given_up", Unit.COUNT
    RERUNS = "reruns", Unit.COUNT
    ATTEMPTS = "attempts", Unit.COUNT
    LIVE_ROWS = "live_rows", Unit.ROWS


OF_ABORTS = frozenset({Measure.ABORTED, Measure.ABORT_RATE, Measure.CONFLICT_RATE})
"""Measures that can be narrowed to one exception: they count aborted transactions."""

CONFLICTS = tuple(exception.value for exception in ConflictException)
"""Delta's conflict exceptions; any other exception of an aborted transaction is not a conflict."""


class Interruption(StrEnum):
    """Exceptions of the simulator's own: what ends a transaction from outside of Delta."""

    WRITER_CRASH = "WriterCrash"
    STORE_REFUSED = "StoreRefused"


OTHER_REFUSALS = frozenset(
    {
        "AnalysisException", "AssertionError", "CannotReplaceMissingTableException",
        "ColumnMappingException", "ColumnMappingUnsupportedException", "DeltaAnalysisException",
        "DeltaArithmeticException", "DeltaColumnMappingUnsupportedException",
        "DeltaCommandUnsupportedWithDeletionVectorsException", "DeltaIllegalArgumentException",
        "DeltaIllegalStateException", "DeltaInvariantViolationException", "DeltaRuntimeException",
        "DeltaTableFeatureException", "DeltaUnsupportedOperationException",
        "DeltaUnsupportedTableFeatureException", "ExtendedAnalysisException",
        "IllegalArgumentException", "IllegalStateException", "InvalidProtocolVersionException",
        "ParseException", "ProtocolDowngradeException", "SparkArithmeticException",
        "SparkDateTimeException", "SparkException", "SparkIllegalArgumentException",
        "SparkNumberFormatException", "SparkRuntimeException", "TableAlreadyExistsException",
        "UnsupportedOperationException", "VersionNotFoundException",
    }
)  # fmt: skip
"""Delta's and Spark's exceptions, conflicts apart, with which the engine refuses a statement."""

EXCEPTIONS = frozenset({*CONFLICTS, *Interruption, *OTHER_REFUSALS})
"""Every exception that an aborted transaction can be recorded with."""
