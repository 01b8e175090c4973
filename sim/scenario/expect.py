"""The `expect:` of a scenario: thresholds on what a run recorded, for regression tests."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from engine.outcomes import ConflictException
from sim.section import Section


class Measure(StrEnum):
    """What can be expected of a run. Durations are milliseconds, shares lie in [0, 1]."""

    SUBMITTED = "submitted"
    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"
    IN_FLIGHT = "in_flight"
    GIVEN_UP = "given_up"
    RERUNS = "reruns"
    COMMIT_SHARE = "commit_share"
    ABORT_SHARE = "abort_share"
    ATTEMPTS_PER_TRANSACTION = "attempts_per_transaction"
    COMMITS_PER_MIN = "commits_per_min"
    LATENCY_P50_MS = "latency_p50_ms"
    LATENCY_P95_MS = "latency_p95_ms"
    LATENCY_P99_MS = "latency_p99_ms"
    COMPUTE_WASTED_SHARE = "compute_wasted_share"


class Expectation(Section):
    """A threshold on a measure, over all transactions or those of a writer group or command.

    With `exception`, only aborts of that class count (for `aborted` and `abort_share`).
    """

    measure: Measure
    writer: str | None = None
    command: str | None = None
    exception: ConflictException | None = None
    at_least: float | None = None
    at_most: float | None = None
    equals: float | None = None
    because: str = Field(default="")

    @model_validator(mode="after")
    def _has_a_threshold(self) -> Self:
        if self.at_least is None and self.at_most is None and self.equals is None:
            raise ValueError("give at_least, at_most or equals")
        if self.exception and self.measure not in (Measure.ABORTED, Measure.ABORT_SHARE):
            raise ValueError("exception goes with the measures aborted and abort_share")
        return self
