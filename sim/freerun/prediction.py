"""What the simulator says of a run that has not begun.

A scenario in the public format is made of the measured durations and run as often as
`REPLICATIONS` says, for as many statements as the real run will have, each time from a calibration
drawn anew. The shares that come out vary by both: what was measured and what chance does in a run
of that length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.freerun.calibration import (
    CyclesApart,
    Durations,
    JobTimes,
    drawn_anew,
    durations_of,
    job_times_of,
    quantiles,
)
from whitecap.sim.freerun.statements import warm_up_of
from whitecap.sim.freerun.workloads import ROWS_PER_PARTITION, SCHEMA, ThreadWorkload
from whitecap.sim.loading import scenario_of
from whitecap.sim.machine.processes import Processes
from whitecap.sim.run import run_scenario

REPLICATIONS = 200
"""Simulated runs behind each range: the error of its ends is then 5 % of its width."""

CONFIDENCE = 0.95
"""That all ranges of an experiment hold together (Bonferroni)."""

ABORTS, OTHERS = "aborts", "other exceptions"

ROOM = 1.3
"""How many times as long as expected a simulated run is at first."""

LONG = 5
"""How many times as long as the real run the one is that tells how long statements are open."""

ROWS_PER_TABLE_FILE = 1_000_000
"""One file per partition, as in the real table."""


class PredictedShare(msgspec.Struct, frozen=True):
    """What was predicted of one share of all statements: its mean and its simultaneous range."""

    quantity: str
    mean: float
    low: float
    high: float

    @property
    def reach(self) -> float:
        """The wider of its two sides."""
        return max(self.mean - self.low, self.high - self.mean)


class Prediction(msgspec.Struct, frozen=True):
    """What was predicted of a run of so many `statements`, and when, before it began.

    The ranges hold together with those of the whole experiment, `comparisons` in all.
    `window_share` is for which share of their time statements will be open.
    """

    predicted_at: str
    statements: int
    replications: int
    confidence: float
    comparisons: int
    ranges: Sequence[PredictedShare]
    window_share: float


def quantities_of(workload: ThreadWorkload) -> list[str]:
    """The shares that are compared: all aborts, those by each class, those by any other."""
    return [ABORTS, *(each.value for each in workload.exceptions), OTHERS]


def scenario_document(
    workload: ThreadWorkload,
    durations: dict[str, Durations],
    times: JobTimes,
    statements: int,
    seed: int,
) -> dict[str, Any]:
    """The run together as a scenario: windows become compute times, all else think times.

    The store takes no time, except for what depends on others: jobs that read the log where a
    checksum is missing, and the time until a checksum is there. After a refusal the think time is
    the same.
    """
    expected_ms = max(each.cycle_ms for each in durations.values())
    per_thread = (statements + warm_up_of(len(workload.hands))) / len(workload.hands)
    return {
        "name": workload.name,
        "description": f"{workload.title}, by durations measured without conflicts.",
        "seed": seed,
        "duration": f"{ROOM * expected_ms * per_thread / 1000:.0f} s",
        "store": {
            "profile": "instant",
            "effect": {"share": 1},
            "put": {"latency": f"{times.file:.3f} ms"},
            "spark": {
                "job": f"{times.state:.3f} ms",
                "metadata_job": f"{times.metadata:.3f} ms",
            },
        },
        "table": _table(workload.partitions),
        "writers": {
            name: {
                "count": workload.threads_of(name),
                **kind.in_scenario(),
                **_cycle(durations[name]),
            }
            for name, kind in workload.kinds.items()
        },
    }


def _table(partitions: int) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "key": "k",
        "partition_by": ["part"],
        "values": {"part": list(range(partitions))},
        "initial": {
            "rows": partitions * ROWS_PER_PARTITION,
            "rows_per_file": ROWS_PER_TABLE_FILE,
        },
    }


def _cycle(durations: Durations) -> dict[str, Any]:
    """When a writer begins its statements, and how long they take."""
    return {
        "arrival": {"closed": {"think": {"quantiles": quantiles(durations.gap)}}},
        "compute": {"quantiles": quantiles(durations.window)},
        "rerun": {"fixed": {"wait": f"{durations.gap.mean():.3f} ms", "budget": 1_000_000}},
    }


def predicted_ranges(
    workload: ThreadWorkload,
    calibration: CyclesApart,
    statements: int,
    seed: int,
    comparisons: int,
    *,
    jobs: int,
    replications: int = REPLICATIONS,
    watch: Callable[[int], None],
) -> list[PredictedShare]:
    """Run the simulator and say between what each share will lie, `comparisons` in all at once."""
    refusals_of_run = partial(refusals_of, workload, calibration, statements, seed)
    counts = []
    with Processes(jobs) as processes:
        for count in processes.map(refusals_of_run, range(replications)):
            counts.append(count)
            watch(len(counts))
    return [
        range_of(quantity, _shares(quantity, workload, counts, statements), statements, comparisons)
        for quantity in quantities_of(workload)
    ]


def refusals_of(
    workload: ThreadWorkload, calibration: CyclesApart, statements: int, seed: int, replication: int
) -> Counter[str]:
    """The refusals by exception among the statements of one simulated run."""
    drawn = drawn_anew(calibration, np.random.default_rng([seed, replication]))
    counted = _simulated(workload, drawn, statements, seed, replication)
    return Counter(row["exception"] for row in counted if row["exception"] is not None)


def predicted_window_share(
    workload: ThreadWorkload, calibration: CyclesApart, statements: int, seed: int
) -> float:
    """For which share of the time statements are open, from one snapshot of a writer to the next.

    The store decides at once, so that a window ends where its commit begins.
    """
    by_writer: dict[str, list[dict[str, Any]]] = {}
    for row in _simulated(workload, calibration, LONG * statements, seed, replication=0):
        by_writer.setdefault(row["writer"], []).append(row)
    windows_ms = passed_ms = 0.0
    for rows in by_writer.values():
        passed_ms += rows[-1]["snapshot_at_ms"] - rows[0]["snapshot_at_ms"]
        windows_ms += sum(_window_ms(row) for row in rows[:-1])
    return windows_ms / passed_ms


def _window_ms(row: dict[str, Any]) -> float:
    """How long a statement was open; 0 if there was nothing to commit."""
    decided_ms = row["commit_started_at_ms"] if row["exception"] is None else row["ended_at_ms"]
    return 0.0 if decided_ms is None else float(decided_ms - row["snapshot_at_ms"])


def _simulated(
    workload: ThreadWorkload, calibration: CyclesApart, statements: int, seed: int, replication: int
) -> list[dict[str, Any]]:
    """The transactions of one run that count, without the warm-up."""
    times = job_times_of(calibration)
    document = scenario_document(workload, durations_of(calibration), times, statements, seed)
    warm_up = warm_up_of(len(workload.hands))
    scenario = scenario_of(document)
    until_ms = scenario.duration
    while True:
        rows = run_scenario(scenario, replication=replication, until_ms=until_ms)
        ended = _ended(rows.recording.transactions.to_pylist(), warm_up + statements)
        if ended is not None:
            return ended[warm_up:]
        until_ms *= 2


def _ended(rows: list[dict[str, Any]], count: int) -> list[dict[str, Any]] | None:
    """The first `count` transactions, if all of them have ended."""
    first = sorted(rows, key=lambda row: row["submitted_at_ms"])[:count]
    if len(first) < count or any(row["outcome"] == RecordedOutcome.IN_FLIGHT for row in first):
        return None
    return first


def _shares(
    quantity: str, workload: ThreadWorkload, counts: Sequence[Counter[str]], statements: int
) -> NDArray[np.float64]:
    return np.array([count_of(quantity, workload, each) / statements for each in counts])


def count_of(quantity: str, workload: ThreadWorkload, refusals: Counter[str]) -> int:
    """How many statements of a run a quantity counts."""
    match quantity:
        case "aborts":
            return refusals.total()
        case "other exceptions":
            return sum(n for name, n in refusals.items() if name not in workload.exceptions)
        case exception:
            return refusals[exception]


def range_of(
    quantity: str, shares: NDArray[np.float64], statements: int, comparisons: int
) -> PredictedShare:
    """Between what a share of one more run lies, by the beta distribution that varies as much.

    The range is one of `comparisons` that hold together; its ends are rounded outwards to counts,
    which a real share has. A share that never varied has no width: it follows from the rules.
    """
    mean, variance = float(shares.mean()), float(shares.var(ddof=1)) * (1 + 1 / len(shares))
    if variance == 0.0:
        return PredictedShare(quantity, mean, mean, mean)
    common = max(mean * (1 - mean) / variance - 1, 1e-6)
    tail = (1 - CONFIDENCE) / comparisons / 2
    low, high = beta.ppf([tail, 1 - tail], mean * common, (1 - mean) * common)
    return PredictedShare(
        quantity, mean, float(np.floor(low * statements) / statements),
        float(np.ceil(high * statements) / statements),
    )  # fmt: skip
