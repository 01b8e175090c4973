"""The contract of a recording: what who writes one and who reads it must call alike.

Outcome names, the columns that reports read, and the exceptions of the simulator's own.
"""

from __future__ import annotations

from enum import StrEnum


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


class Interruption(StrEnum):
    """Exceptions of the simulator's own: what ends a transaction from outside of Delta."""

    WRITER_CRASH = "WriterCrash"
    STORE_REFUSED = "StoreRefused"
