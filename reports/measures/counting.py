"""What of one run each measure is counted from; what the counts mean is said where they are named
(`reports/measures/definitions.py`)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from whitecap.engine.recorded import Measure, RecordedOutcome
from whitecap.reports.measures.sample import MONTH_MS, MeasureSample
from whitecap.reports.measures.tally import (
    Count,
    CountedShare,
    Latencies,
    PerJob,
    PerMinute,
    PerMonth,
    WeightedShare,
)


def conflicts(sample: MeasureSample) -> CountedShare:
    return CountedShare(int(sample.rows.is_conflict.sum()), sample.attempts)


def retries(sample: MeasureSample) -> CountedShare:
    return CountedShare(int(np.maximum(sample.rows.attempts - 1, 0).sum()), sample.attempts)


def aborts(sample: MeasureSample) -> CountedShare:
    return CountedShare(sample.count(RecordedOutcome.ABORTED), sample.ended)


def reruns(sample: MeasureSample) -> CountedShare:
    return CountedShare(int(sample.rows.is_rerun.sum()), len(sample.rows))


def goodput(sample: MeasureSample) -> PerMinute:
    if not sample.has_jobs:
        return PerMinute(math.nan, math.nan)
    rows = sample.all_rows
    through = rows.has_brought_data if sample.brings_data else rows.is_effective
    counted = through & (rows.ended_ms >= sample.warm_up_ms)
    return PerMinute(int(counted.sum()), sample.minutes)


def successes(sample: MeasureSample) -> CountedShare:
    done = int(sample.jobs.is_done.sum())
    return CountedShare(done, done + int(sample.jobs.is_given_up.sum()))


def wasted(sample: MeasureSample) -> WeightedShare:
    rows = sample.rows
    computed = ~rows.ended(RecordedOutcome.IN_FLIGHT) & (rows.compute_ms > 0)
    aborted = rows.ended(RecordedOutcome.ABORTED) & computed
    wasted_ms, spent_ms = (float(rows.compute_ms[mask].sum()) for mask in (aborted, computed))
    return WeightedShare(wasted_ms, spent_ms, int(aborted.sum()), int(computed.sum()))


def slot_hours(sample: MeasureSample) -> PerMonth:
    return PerMonth(sample.slot_hours(), sample.months)


def cost(sample: MeasureSample) -> PerMonth:
    return PerMonth(sample.slot_hours() * sample.per_slot_hour, sample.months)


def wasted_cost(sample: MeasureSample) -> PerMonth:
    wasted = sample.slot_hours(RecordedOutcome.ABORTED)
    return PerMonth(wasted * sample.per_slot_hour, sample.months)


def cost_per_job(sample: MeasureSample) -> PerJob:
    brought = int(sample.jobs.has_brought_data.sum())
    return PerJob(sample.slot_hours_of_jobs() * sample.per_slot_hour, brought)


def request_cost(sample: MeasureSample) -> PerMonth:
    return PerMonth(sample.request_cost, sample.duration_ms / MONTH_MS)


PERCENTILES = {
    Measure.LATENCY_P50_MS: 50.0,
    Measure.LATENCY_P95_MS: 95.0,
    Measure.LATENCY_P99_MS: 99.0,
    Measure.LATENCY_P99_9_MS: 99.9,
}
"""Which percentile of the latencies a measure is."""


def latency_of(measure: Measure) -> Callable[[MeasureSample], Latencies]:
    return lambda sample: Latencies(sample.latencies_ms, PERCENTILES[measure])


def count_of(outcome: RecordedOutcome) -> Callable[[MeasureSample], Count]:
    return lambda sample: Count(sample.count(outcome))
