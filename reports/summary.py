"""What happened in a run, as rows that a person can read: one per writer group and command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from whitecap.engine.recorded import Measure
from whitecap.reports.measures.measured_run import MeasuredPart, MeasuredRun
from whitecap.reports.measures.tally import Latencies
from whitecap.reports.measures.writing import duration, round_duration

EVERYONE = "all"
"""Where all writers of a run have a line of their own, in the place of a name."""


class SummaryLine(Struct, frozen=True):
    """One writer group's command, or all together. Latencies are milliseconds, of `latencies` jobs.

    `unfinished` jobs are in neither success nor latency, `not_begun` of the `jobs_due` in no
    number at all.
    """

    writer: str
    command: str
    submitted: int
    committed: int
    aborted: int
    unknown: int
    in_flight: int
    reasons: Mapping[str, int]
    reruns: int
    given_up: int
    unfinished: int
    jobs_due: int
    not_begun: int
    attempts: int
    job_success_rate: float
    latency_p50_ms: float
    latency_p95_ms: float
    latency_p99_ms: float
    latency_p99_9_ms: float
    latencies: int
    wasted_compute_share: float


def summary_of(run: MeasuredRun) -> list[SummaryLine]:
    """A line per writer group and command by their names, and one for all."""
    lines = [_line(*group, part, run.aborts(group)) for group, part in run.groups.items()]
    everyone = _line(EVERYONE, "", run.whole, run.aborts(*run.groups))
    return lines if len(lines) == 1 else [*lines, everyone]


def heading(manifest: Mapping[str, Any], warm_up_ms: float) -> Sequence[str]:
    """What was run: name and seed, simulated time, what is left out as warm-up."""
    seed = f"seed {manifest['seed']}"
    if manifest["replication"]:
        seed += f", replication {manifest['replication']}"
    simulated = f"{round_duration(manifest['duration_ms'])} simulated"
    if warm_up_ms:
        simulated += f", the first {_left_out(warm_up_ms)} left out below"
    return (manifest["scenario_name"], seed, simulated, manifest["dialect"])


def _left_out(warm_up_ms: float) -> str:
    """As round as somebody wrote it; what was found is about so long."""
    is_round = warm_up_ms == round(warm_up_ms, -2)
    return round_duration(warm_up_ms) if is_round else duration(warm_up_ms)


def _latencies(part: MeasuredPart) -> int:
    tally = part.tallies[Measure.LATENCY_P50_MS]
    assert isinstance(tally, Latencies)
    return len(tally.sorted_ms)


def _line(writer: str, command: str, part: MeasuredPart, aborts: Counter[str]) -> SummaryLine:
    def count(measure: Measure) -> int:
        return int(part.value(measure))

    return SummaryLine(
        writer=writer,
        command=command,
        submitted=count(Measure.SUBMITTED),
        committed=count(Measure.COMMITTED),
        aborted=count(Measure.ABORTED),
        unknown=count(Measure.UNKNOWN),
        in_flight=count(Measure.IN_FLIGHT),
        reasons=dict(aborts.most_common()),
        reruns=count(Measure.RERUNS),
        given_up=count(Measure.GIVEN_UP),
        unfinished=part.left_out.unfinished,
        jobs_due=part.left_out.due.jobs,
        not_begun=part.left_out.due.not_begun,
        attempts=count(Measure.ATTEMPTS),
        job_success_rate=part.value(Measure.JOB_SUCCESS_RATE),
        latency_p50_ms=part.value(Measure.LATENCY_P50_MS),
        latency_p95_ms=part.value(Measure.LATENCY_P95_MS),
        latency_p99_ms=part.value(Measure.LATENCY_P99_MS),
        latency_p99_9_ms=part.value(Measure.LATENCY_P99_9_MS),
        latencies=_latencies(part),
        wasted_compute_share=part.value(Measure.WASTED_COMPUTE_SHARE),
    )
