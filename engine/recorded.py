"""The contract of a recording: what who writes one and who reads it must call alike.

Outcome names, names of runs, the columns that reports read, the measures with their units, and the
exceptions that an aborted transaction can be recorded with. What a measure means stands with the
reports (`reports/measures/definitions.py`); here is only what may be asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Self

from msgspec import Struct

from whitecap.engine.rules import ConflictException

RECORDING_FORMAT = 2
"""Of a run's manifest and tables; rises when what an older one says would be read wrongly."""

SWEEP_FORMAT = 1
"""Of a sweep's definition."""

MADE_ANEW = "it can be made anew from the scenario that it holds"
"""What to do with an older recording: the same scenario and seed give the same runs."""

SINGLE_CELL = "run"
"""The name of the only cell where one run is reported on its own, or replicated without a sweep."""

RunName = tuple[str, int]
"""Cell and replication, by which a sweep's runs are told apart."""


class RecordedOutcome(StrEnum):
    """How a recorded transaction ended; none is dropped, so one may still be under way."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"
    IN_FLIGHT = "in_flight"


STREAMING = "STREAMING"
"""The command name of streaming appends in recordings."""

BRINGING_DATA = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", STREAMING})
"""Commands whose jobs come from outside: each is work that somebody wants done."""

AUTO_WARM_UP = "auto"
"""A warm-up that is left to be found: in a scenario, and in the manifest beside `warm_up_ms`."""


class Arrivals(StrEnum):
    """By which rule a writer's jobs fall due; the keys of `arrival:` in a scenario."""

    CLOSED = "closed"
    OPEN = "open"
    SCHEDULE = "schedule"
    TRACE = "trace"


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

COLUMNS_TELLING_APART: dict[str, tuple[str, ...]] = {
    "transactions": ("table_name", "statement_number", "ends_job", "app_id"),
    "commits": ("table_name",),
    "writers": ("table_name", "statement_number", "ends_job"),
}
"""Columns that are read besides where a recording is of several tables, or of jobs of several
statements; its manifest then names the `TABLES`. All but `app_id` are there in these alone."""

COMPACTED_IN_NO_TIME = "compactions_in_no_time"
"""The key of a manifest for auto compactions without a time of their own, by writer group."""

TABLES = "table_names"


def columns_read(manifest: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The columns that measures and refusals of a recording are made of."""
    if TABLES not in manifest:
        return COLUMNS_READ
    return {n: (*own, *COLUMNS_TELLING_APART.get(n, ())) for n, own in COLUMNS_READ.items()}


class Unit(StrEnum):
    """How the values of a measure are to be read."""

    COUNT = "count"
    SHARE = "share"
    PER_MINUTE = "per minute"
    MILLISECONDS = "ms"
    ROWS = "rows"
    SLOT_HOURS = "slot-hours"
    MONEY = "money"

    @property
    def is_counted(self) -> bool:
        """Whether it is a whole number that a run simply has, rather than estimates."""
        return self in (Unit.COUNT, Unit.ROWS)


class Direction(StrEnum):
    """On which side of a threshold a value should lie."""

    AT_LEAST = "at_least"
    AT_MOST = "at_most"

    @property
    def sign(self) -> str:
        """As an objective writes it."""
        return ">=" if self is Direction.AT_LEAST else "<="


_MORE, _LESS = Direction.AT_LEAST, Direction.AT_MOST


class Measure(StrEnum):
    """What can be asked of a run, with its unit. A job is a transaction with all its reruns, or
    those of several statements.

    `better`: the direction in which it gets better, if either is better in itself.
    """

    unit: Unit
    better: Direction | None

    def __new__(cls, name: str, unit: Unit, better: Direction | None = None) -> Self:
        """A name that carries its unit and direction."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.unit = unit
        member.better = better
        return member

    @classmethod
    def named(cls, name: str) -> Self:
        """The measure of that name. Raises `KeyError`."""
        return cls[name.upper()]

    CONFLICT_RATE = "conflict_rate", Unit.SHARE, _LESS
    RETRY_RATE = "retry_rate", Unit.SHARE, _LESS
    ABORT_RATE = "abort_rate", Unit.SHARE, _LESS
    RERUN_RATE = "rerun_rate", Unit.SHARE, _LESS
    GOODPUT_PER_MINUTE = "goodput_per_minute", Unit.PER_MINUTE, _MORE
    JOB_SUCCESS_RATE = "job_success_rate", Unit.SHARE, _MORE
    LATENCY_P50_MS = "latency_p50_ms", Unit.MILLISECONDS, _LESS
    LATENCY_P95_MS = "latency_p95_ms", Unit.MILLISECONDS, _LESS
    LATENCY_P99_MS = "latency_p99_ms", Unit.MILLISECONDS, _LESS
    LATENCY_P99_9_MS = "latency_p99_9_ms", Unit.MILLISECONDS, _LESS
    WASTED_COMPUTE_SHARE = "wasted_compute_share", Unit.SHARE, _LESS
    SUBMITTED = "submitted", Unit.COUNT
    COMMITTED = "committed", Unit.COUNT, _MORE
    ABORTED = "aborted", Unit.COUNT, _LESS
    UNKNOWN = "unknown", Unit.COUNT, _LESS
    IN_FLIGHT = "in_flight", Unit.COUNT, _LESS
    GIVEN_UP = "given_up", Unit.COUNT, _LESS
    HALF_DONE = "half_done", Unit.COUNT, _LESS
    RERUNS = "reruns", Unit.COUNT, _LESS
    ATTEMPTS = "attempts", Unit.COUNT
    LOST_COMMITS = "lost_commits", Unit.COUNT, _LESS
    DOUBLED_COMMITS = "doubled_commits", Unit.COUNT, _LESS
    FINDINGS = "findings", Unit.COUNT, _LESS
    LIVE_ROWS = "live_rows", Unit.ROWS
    SLOT_HOURS_PER_MONTH = "slot_hours_per_month", Unit.SLOT_HOURS, _LESS
    COST_PER_MONTH = "cost_per_month", Unit.MONEY, _LESS
    WASTED_COST_PER_MONTH = "wasted_cost_per_month", Unit.MONEY, _LESS
    COST_PER_JOB = "cost_per_job", Unit.MONEY, _LESS
    REQUEST_COST_PER_MONTH = "request_cost_per_month", Unit.MONEY, _LESS


OF_ABORTS = frozenset({Measure.ABORTED, Measure.ABORT_RATE, Measure.CONFLICT_RATE})
"""Measures that can be narrowed to one exception: they count aborted transactions."""

OF_THE_TABLE = frozenset(
    {Measure.LOST_COMMITS, Measure.DOUBLED_COMMITS, Measure.FINDINGS, Measure.LIVE_ROWS}
)
"""Measures of what the run leaves as a whole: of no writer or command by itself."""

OF_A_PRICE = frozenset(
    {
        Measure.COST_PER_MONTH,
        Measure.WASTED_COST_PER_MONTH,
        Measure.COST_PER_JOB,
        Measure.REQUEST_COST_PER_MONTH,
    }
)
"""Measures that a run has only where a price was stated."""

PRICE = "price"
"""The key of a manifest, where a price was stated: `per_slot_hour`, `currency`, and where they are
priced of `requests` the `costs` by writer group and command over the whole run."""

ALL_WRITERS = "all"
"""What an objective is of if it is of all writers together."""


class Objective(Struct, frozen=True):
    """What a configuration is chosen by: a measure with the threshold that it must keep.

    `of` a writer group, of all writers together (`ALL_WRITERS`), or without it of every writer
    group by itself that has no objective of its own for the measure. The threshold has the
    measure's unit: shares lie between 0 and 1.
    """

    measure: Measure
    direction: Direction
    threshold: float
    of: str | None = None

    def as_row(self) -> dict[str, Any]:
        """As manifests and sweep definitions hold it."""
        return {
            "measure": self.measure.value,
            "of": self.of,
            "direction": self.direction.value,
            "threshold": self.threshold,
        }

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Self:
        """Back from `as_row`."""
        direction = Direction(row["direction"])
        return cls(Measure.named(row["measure"]), direction, float(row["threshold"]), row["of"])


class AxisRole(StrEnum):
    """What an axis of a sweep varies: the work that is offered, or something to be chosen."""

    LOAD = "load"
    DESIGN = "design"


CONFLICTS = tuple(exception.value for exception in ConflictException)
"""Delta's conflict exceptions; any other exception of an aborted transaction is not a conflict."""


class Interruption(StrEnum):
    """Exceptions of the simulator's own: what ends a transaction from outside of Delta.

    `rule`: what a recording names as having decided it. `happened`: the same in words.
    """

    rule: str
    happened: str

    def __new__(cls, exception: str, rule: str, happened: str) -> Self:
        """An exception that carries its rule and its words."""
        member = str.__new__(cls, exception)
        member._value_ = exception
        member.rule = rule
        member.happened = happened
        return member

    @classmethod
    def of_rule(cls, rule: str | None) -> Self | None:
        """The one that a recorded rule means, `None` if it means none."""
        return next((each for each in cls if each.rule == rule), None)

    @property
    def not_replayed(self) -> str:
        """Why a transaction that ended so cannot be repeated in reality: no commit decided it."""
        return f"{self.happened}, which is not replayed"

    WRITER_CRASH = "WriterCrash", "writer_crash", "its writer crashed"
    STORE_REFUSED = "StoreRefused", "store_refused", "the simulated store refused a request"
    DEADLINE_PASSED = "DeadlinePassed", "deadline", "its job's deadline passed"


REFUSED_BY_DELTA = "delta_error"
"""The rule of a transaction that Delta refused other than by a conflict."""


OTHER_REFUSALS = frozenset(
    {
        "CommitFailedError",
        "AnalysisException", "AssertionError", "CannotReplaceMissingTableException",
        "ColumnMappingException", "ColumnMappingUnsupportedException", "DeltaAnalysisException",
        "DeltaArithmeticException", "DeltaColumnMappingUnsupportedException",
        "DeltaCommandUnsupportedWithDeletionVectorsException", "DeltaIllegalArgumentException",
        "DeltaIllegalStateException", "DeltaInvariantViolationException", "DeltaRuntimeException",
        "DeltaTableFeatureException", "DeltaTablePropertyValidationFailedException",
        "DeltaUnsupportedOperationException", "DeltaUnsupportedTableFeatureException",
        "ExecutionException", "ExtendedAnalysisException",
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
