"""Did a recorded run meet the thresholds of its scenario's `expect:`? Evaluates, runs nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from whitecap.sim.measures import Row, Sample, value_of
from whitecap.sim.recording import Recording
from whitecap.sim.scenario.expect import Expectation


@dataclass(frozen=True, slots=True)
class ExpectationResult:
    """One expectation, and what the run had. `missed` says by which threshold, `None` if met."""

    expectation: Expectation
    found: float
    missed: str | None

    @property
    def is_met(self) -> bool:
        """Whether the run is as expected."""
        return self.missed is None

    def __str__(self) -> str:
        verdict = "met" if self.missed is None else f"missed, expected {self.missed}"
        return f"{subject(self.expectation)} is {self.found:g}: {verdict}"


def evaluate(expectations: Sequence[Expectation], recording: Recording) -> list[ExpectationResult]:
    """Hold every expectation against a recording, in order."""
    manifest = recording.manifest
    times = manifest["warm_up_ms"], manifest["duration_ms"]
    sample = Sample.of(recording.transactions, *times, manifest.get("live_rows"))
    return [_result(expectation, sample) for expectation in expectations]


def subject(expectation: Expectation) -> str:
    """What an expectation is about, in words: `aborted (loader, MERGE)`."""
    narrowed = (expectation.writer, expectation.command, expectation.exception)
    inside = ", ".join(part for part in narrowed if part)
    return f"{expectation.measure}" + (f" ({inside})" if inside else "")


def _result(expectation: Expectation, sample: Sample) -> ExpectationResult:
    chosen = sample.where(lambda row: _is_about(expectation, row))
    found = value_of(expectation.measure, chosen, expectation.exception)
    return ExpectationResult(expectation, found, _missed(expectation, found))


def _is_about(expectation: Expectation, row: Row) -> bool:
    return expectation.writer in (None, row["writer_group"], row["writer"]) and (
        expectation.command in (None, row["command"])
    )


def _missed(expectation: Expectation, found: float) -> str | None:
    """The first threshold that is not met. What could not be measured meets none."""
    e = expectation
    if e.equals is not None and found != e.equals:
        return f"{e.equals:g}"
    if e.at_least is not None and not found >= e.at_least:
        return f"at least {e.at_least:g}"
    if e.at_most is not None and not found <= e.at_most:
        return f"at most {e.at_most:g}"
    return "a value" if math.isnan(found) else None
