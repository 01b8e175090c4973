"""Measures of one recorded run, for summaries and expectations. Needs nothing but the recording.

The definitions are those of the reports, which compute the same over many runs with Spark
(`reports/measures.py`). Transactions submitted during the warm-up are left out; goodput looks at
the instant of success instead.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from whitecap.engine.recorded import CONFLICTS, Measure, RecordedOutcome

Row = dict[str, Any]

MINUTE_MS = 60_000.0

NEEDED = (
    "job_id", "rerun_number", "writer", "writer_group", "command", "submitted_at_ms",
    "ended_at_ms", "outcome", "exception", "committed_version", "attempts", "compute_ms",
    "given_up",
)  # fmt: skip
"""The columns of `transactions` that measures are made of."""


@dataclass(frozen=True)
class Sample:
    """Some transactions of a run, warm-up left out, with all of the run's for goodput.

    `live_rows` is what the table holds in the end, not a number where that is not known.
    """

    rows: Sequence[Row]
    all_rows: Sequence[Row]
    warm_up_ms: float
    duration_ms: float
    live_rows: float = math.nan

    @classmethod
    def of(
        cls,
        transactions: pa.Table,
        warm_up_ms: float,
        duration_ms: float,
        live_rows: float | None = None,
    ) -> Sample:
        """All transactions of a run."""
        every = transactions.select(list(NEEDED)).to_pylist()
        kept = [row for row in every if row["submitted_at_ms"] >= warm_up_ms]
        known = math.nan if live_rows is None else live_rows
        return cls(kept, every, warm_up_ms, duration_ms, known)

    def where(self, wanted: Callable[[Row], bool]) -> Sample:
        """Those transactions for which `wanted` holds."""
        rows = [row for row in self.rows if wanted(row)]
        every = [row for row in self.all_rows if wanted(row)]
        return Sample(rows, every, self.warm_up_ms, self.duration_ms, self.live_rows)

    def count(self, outcome: str) -> int:
        """How many ended so."""
        return sum(row["outcome"] == outcome for row in self.rows)

    def aborts(self, exception: str | None = None) -> int:
        """How many were aborted, by one exception if given."""
        return sum(
            row["outcome"] == RecordedOutcome.ABORTED and exception in (None, row["exception"])
            for row in self.rows
        )

    def aborts_by_exception(self) -> dict[str, int]:
        """How many were aborted by each exception, most frequent first."""
        found = Counter(
            row["exception"] for row in self.rows if row["outcome"] == RecordedOutcome.ABORTED
        )
        return dict(found.most_common())

    def latencies_ms(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """From a job's first submission to its commit, for jobs that committed."""
        first = {row["job_id"]: row["submitted_at_ms"] for row in reversed(self.all_rows)}
        done = (row for row in self.rows if row["outcome"] == RecordedOutcome.COMMITTED)
        return np.array([row["ended_at_ms"] - first[row["job_id"]] for row in done], dtype=float)

    def total(self, column: str) -> float:
        """The sum of a column."""
        return float(sum(row[column] for row in self.rows))


def value_of(measure: Measure, sample: Sample, exception: str | None = None) -> float:
    """A measure's value; not a number where nothing was there to be measured."""
    return float(_MEASURES[measure](sample, exception))


def _ended(sample: Sample) -> int:
    return sum(row["outcome"] != RecordedOutcome.IN_FLIGHT for row in sample.rows)


def _conflicts(sample: Sample, exception: str | None) -> int:
    names = {exception} & {*CONFLICTS} if exception else {*CONFLICTS}
    return sum(
        row["outcome"] == RecordedOutcome.ABORTED and row["exception"] in names
        for row in sample.rows
    )


def _retries(sample: Sample, _: str | None) -> float:
    retries = sum(max(0, row["attempts"] - 1) for row in sample.rows)
    return _ratio(retries, sample.total("attempts"))


def _goodput(sample: Sample, _: str | None) -> float:
    done = sum(
        row["outcome"] == RecordedOutcome.COMMITTED
        and row["committed_version"] is not None
        and row["ended_at_ms"] >= sample.warm_up_ms
        for row in sample.all_rows
    )
    return float(done) / ((sample.duration_ms - sample.warm_up_ms) / MINUTE_MS)


def _job_success(sample: Sample, _: str | None) -> float:
    committed = sample.count(RecordedOutcome.COMMITTED)
    return _ratio(committed, committed + sum(row["given_up"] for row in sample.rows))


def _wasted(sample: Sample, _: str | None) -> float:
    ended = [row for row in sample.rows if row["outcome"] != RecordedOutcome.IN_FLIGHT]
    wasted = sum(row["compute_ms"] for row in ended if row["outcome"] == RecordedOutcome.ABORTED)
    return _ratio(wasted, sum(row["compute_ms"] for row in ended))


def _latency(percentile: float) -> Callable[[Sample, str | None], float]:
    def measured(sample: Sample, _: str | None) -> float:
        latencies_ms = sample.latencies_ms()
        return float(np.percentile(latencies_ms, percentile)) if len(latencies_ms) else math.nan

    return measured


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def _counted(outcome: str) -> Callable[[Sample, str | None], float]:
    return lambda sample, _: sample.count(outcome)


_MEASURES: dict[Measure, Callable[[Sample, str | None], float]] = {
    Measure.SUBMITTED: lambda sample, _: len(sample.rows),
    Measure.COMMITTED: _counted(RecordedOutcome.COMMITTED),
    Measure.ABORTED: lambda sample, exception: sample.aborts(exception),
    Measure.UNKNOWN: _counted(RecordedOutcome.UNKNOWN),
    Measure.IN_FLIGHT: _counted(RecordedOutcome.IN_FLIGHT),
    Measure.GIVEN_UP: lambda sample, _: sample.total("given_up"),
    Measure.RERUNS: lambda sample, _: sum(row["rerun_number"] > 0 for row in sample.rows),
    Measure.ATTEMPTS: lambda sample, _: sample.total("attempts"),
    Measure.CONFLICT_RATE: lambda s, exc: _ratio(_conflicts(s, exc), s.total("attempts")),
    Measure.RETRY_RATE: _retries,
    Measure.ABORT_RATE: lambda s, exc: _ratio(s.aborts(exc), _ended(s)),
    Measure.RERUN_RATE: lambda s, _: _ratio(
        sum(row["rerun_number"] > 0 for row in s.rows), len(s.rows)
    ),
    Measure.GOODPUT_PER_MINUTE: _goodput,
    Measure.JOB_SUCCESS_RATE: _job_success,
    Measure.LATENCY_P50_MS: _latency(50),
    Measure.LATENCY_P95_MS: _latency(95),
    Measure.LATENCY_P99_MS: _latency(99),
    Measure.WASTED_COMPUTE_SHARE: _wasted,
    Measure.LIVE_ROWS: lambda sample, _: sample.live_rows,
}
