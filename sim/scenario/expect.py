"""The `expect:` of a scenario: thresholds on what a run recorded, for regression tests."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from whitecap.sim.section import Section
from whitecap.sim.units import Number


class Measure(StrEnum):
    """What can be expected of a run: counts, rates in [0, 1], milliseconds, rows of the table.

    A job is a transaction with all its reruns. Definitions: `sim/measures.py`.
    """

    SUBMITTED = "submitted"
    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"
    IN_FLIGHT = "in_flight"
    GIVEN_UP = "given_up"
    RERUNS = "reruns"
    ATTEMPTS = "attempts"
    CONFLICT_RATE = "conflict_rate"
    RETRY_RATE = "retry_rate"
    ABORT_RATE = "abort_rate"
    RERUN_RATE = "rerun_rate"
    GOODPUT_PER_MINUTE = "goodput_per_minute"
    JOB_SUCCESS_RATE = "job_success_rate"
    LATENCY_P50_MS = "latency_p50_ms"
    LATENCY_P95_MS = "latency_p95_ms"
    LATENCY_P99_MS = "latency_p99_ms"
    WASTED_COMPUTE_SHARE = "wasted_compute_share"
    LIVE_ROWS = "live_rows"


OF_ABORTS = frozenset({Measure.ABORTED, Measure.ABORT_RATE, Measure.CONFLICT_RATE})
"""Measures that can be narrowed to one exception class."""


class Expectation(Section):
    """A threshold on a measure, over all transactions or those of a writer group or command.

    With `exception`, only aborts by that class count (for `aborted` and the rates of aborts and
    conflicts). `when` names variants of the scenario's sweep, axis by axis: what is expected of
    their cells; without it, of every cell.
    """

    measure: Measure
    writer: str | None = None
    command: str | None = None
    exception: str | None = None
    at_least: Number | None = None
    at_most: Number | None = None
    equals: Number | None = None
    because: str = Field(default="")
    when: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_a_threshold(self) -> Self:
        if self.at_least is None and self.at_most is None and self.equals is None:
            raise ValueError("give at_least, at_most or equals")
        return self

    @field_validator("exception")
    @classmethod
    def _is_of_aborts(cls, exception: str | None, others: ValidationInfo) -> str | None:
        if exception and others.data.get("measure", Measure.ABORTED) not in OF_ABORTS:
            names = ", ".join(sorted(OF_ABORTS))
            raise ValueError(f"exception goes only with the measures {names}")
        return exception
