"""A run that has not begun, as the simulator would have it.

A scenario in the public format is made of the measured durations: windows become compute times, all
else think times.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.freerun.measured_cycles import (
    CyclesApart,
    Durations,
    drawn_anew,
    durations_of,
    job_times_of,
    quantiles,
)
from whitecap.sim.freerun.statements import warm_up_of
from whitecap.sim.freerun.workloads import ROWS_PER_PARTITION, WORKLOAD_SCHEMA, ThreadWorkload
from whitecap.sim.loading import scenario_of
from whitecap.sim.run import run_scenario

ROOM = 1.3
"""How many times as long as expected a simulated run is at first."""

LONG = 5
"""How many times as long as the real run the one is that tells how long statements are open."""

ROWS_PER_TABLE_FILE = 1_000_000
"""One file per partition, as in the real table."""


class UpcomingRun(Struct, frozen=True):
    """The run together of a workload that was measured apart, of so many statements that count."""

    workload: ThreadWorkload
    calibration: CyclesApart
    statements: int
    seed: int

    def document(self) -> dict[str, Any]:
        """The run as a scenario.

        The store takes no time, except for what depends on others: jobs that read the log where a
        checksum is missing, and the time until a checksum is there. After a refusal the think time
        is the same.
        """
        durations = durations_of(self.calibration)
        return {
            "name": self.workload.name,
            "description": f"{self.workload.title}, by durations measured without conflicts.",
            "seed": self.seed,
            "duration": f"{self._expected_ms(durations) / 1000:.0f} s",
            "store": _store(self.calibration),
            "table": _table(self.workload.partitions),
            "writers": {
                name: {
                    "count": self.workload.threads_of(name),
                    **kind.in_scenario(),
                    **_cycle(durations[name]),
                }
                for name, kind in self.workload.kinds.items()
            },
        }

    def refusals(self, replication: int) -> Counter[str]:
        """The refusals by exception among the statements of one simulated run.

        Each replication is of a calibration drawn anew.
        """
        random = np.random.default_rng([self.seed, replication])
        drawn = replace(self, calibration=drawn_anew(self.calibration, random))
        counted = drawn._simulated(replication)
        return Counter(row["exception"] for row in counted if row["exception"] is not None)

    def window_share(self) -> float:
        """For which share of the time statements are open, from one snapshot of a writer to the
        next, in a longer run.

        The store decides at once, so that a window ends where its commit begins.
        """
        longer = replace(self, statements=LONG * self.statements)
        by_writer: dict[str, list[dict[str, Any]]] = {}
        for row in longer._simulated(replication=0):
            by_writer.setdefault(row["writer"], []).append(row)
        windows_ms = passed_ms = 0.0
        for rows in by_writer.values():
            passed_ms += rows[-1]["snapshot_at_ms"] - rows[0]["snapshot_at_ms"]
            windows_ms += sum(_window_ms(row) for row in rows[:-1])
        return windows_ms / passed_ms

    def _simulated(self, replication: int) -> list[dict[str, Any]]:
        """The transactions of one run that count, without the warm-up."""
        scenario = scenario_of(self.document())
        until_ms = scenario.duration
        while True:
            run = run_scenario(scenario, replication=replication, until_ms=until_ms)
            ended = _ended(run.recording.transactions.to_pylist(), self._warm_up + self.statements)
            if ended is not None:
                return ended[self._warm_up :]
            until_ms *= 2

    @property
    def _warm_up(self) -> int:
        return warm_up_of(len(self.workload.hands))

    def _expected_ms(self, durations: dict[str, Durations]) -> float:
        """How long the simulated run is at first."""
        cycle_ms = max(each.cycle_ms for each in durations.values())
        per_thread = (self.statements + self._warm_up) / len(self.workload.hands)
        return ROOM * cycle_ms * per_thread


def _store(calibration: CyclesApart) -> dict[str, Any]:
    times = job_times_of(calibration)
    return {
        "profile": "instant",
        "effect": {"share": 1},
        "put": {"latency": f"{times.file:.3f} ms"},
        "spark": {
            "job": f"{times.state:.3f} ms",
            "metadata_job": f"{times.metadata:.3f} ms",
        },
    }


def _table(partitions: int) -> dict[str, Any]:
    return {
        "schema": WORKLOAD_SCHEMA,
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


def _window_ms(row: dict[str, Any]) -> float:
    """How long a statement was open; 0 if there was nothing to commit."""
    decided_ms = row["commit_started_at_ms"] if row["exception"] is None else row["ended_at_ms"]
    return 0.0 if decided_ms is None else float(decided_ms - row["snapshot_at_ms"])


def _ended(rows: list[dict[str, Any]], count: int) -> list[dict[str, Any]] | None:
    """The first `count` transactions, if all of them have ended."""
    first = sorted(rows, key=lambda row: row["submitted_at_ms"])[:count]
    if len(first) < count or any(row["outcome"] == RecordedOutcome.IN_FLIGHT for row in first):
        return None
    return first
