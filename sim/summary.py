"""What happened in a run, as rows that a person can read: one per writer group and command."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.measures import Row, Sample, value_of
from whitecap.sim.recording import Recording
from whitecap.sim.scenario.expect import Measure
from whitecap.sim.units import show_duration

EVERYONE = "all"


@dataclass(frozen=True, slots=True)
class Line:
    """One writer group's command, or all together. Latencies are milliseconds."""

    writer: str
    command: str
    submitted: int
    committed: int
    aborted: int
    unknown: int
    in_flight: int
    reasons: dict[str, int]
    reruns: int
    given_up: int
    attempts: int
    latency_p50_ms: float
    latency_p95_ms: float
    latency_p99_ms: float
    wasted_compute_share: float


def summary_of(recording: Recording) -> list[Line]:
    """A line per writer group and command in order of appearance, and one for all."""
    manifest = recording.manifest
    sample = Sample.of(recording.transactions, manifest["warm_up_ms"], manifest["duration_ms"])
    groups = dict.fromkeys((row["writer_group"], row["command"]) for row in sample.rows)
    lines = [
        _line(writer, command, sample.where(_is(writer, command))) for writer, command in groups
    ]
    return lines if len(lines) == 1 else [*lines, _line(EVERYONE, "", sample)]


def shown_latency(latency_ms: float) -> str:
    """A latency with three digits at most, a dot where nothing was measured."""
    if math.isnan(latency_ms):
        return "·"
    if latency_ms >= 1000:
        return f"{latency_ms / 1000:.3g} s" if latency_ms < 1e6 else f"{latency_ms / 60e3:.0f} min"
    return f"{latency_ms:.3g} ms"


def heading(recording: Recording) -> Sequence[str]:
    """What was run: name and seed, simulated time, warm-up."""
    manifest = recording.manifest
    seed = f"seed {manifest['seed']}"
    if manifest["replication"]:
        seed += f", replication {manifest['replication']}"
    duration = f"{show_duration(manifest['duration_ms'])} simulated"
    if manifest["warm_up_ms"]:
        duration += f", the first {show_duration(manifest['warm_up_ms'])} left out below"
    return (manifest["scenario_name"], seed, duration, manifest["dialect"])


def _is(writer: str, command: str) -> Callable[[Row], bool]:
    return lambda row: row["writer_group"] == writer and row["command"] == command


def _line(writer: str, command: str, sample: Sample) -> Line:
    def count(measure: Measure) -> int:
        return int(value_of(measure, sample))

    return Line(
        writer=writer,
        command=command,
        submitted=len(sample.rows),
        committed=sample.count(RecordedOutcome.COMMITTED),
        aborted=sample.aborts(),
        unknown=sample.count(RecordedOutcome.UNKNOWN),
        in_flight=sample.count(RecordedOutcome.IN_FLIGHT),
        reasons=sample.aborts_by_exception(),
        reruns=count(Measure.RERUNS),
        given_up=count(Measure.GIVEN_UP),
        attempts=count(Measure.ATTEMPTS),
        latency_p50_ms=value_of(Measure.LATENCY_P50_MS, sample),
        latency_p95_ms=value_of(Measure.LATENCY_P95_MS, sample),
        latency_p99_ms=value_of(Measure.LATENCY_P99_MS, sample),
        wasted_compute_share=value_of(Measure.WASTED_COMPUTE_SHARE, sample),
    )
