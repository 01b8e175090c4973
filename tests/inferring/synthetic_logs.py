"""Commits made up for tests of inference, and logs of them on disk."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from whitecap.engine.log.schema import parse_ddl, schema_string
from whitecap.sim.inferring.log.observed import CommitOrigin, ObservedCommit

HOUR_MS = 3_600_000
MONDAY_MS = 1_768_176_000_000
"""2026-01-12 00:00 UTC."""

DELTA = "Apache-Spark/4.2.0 Delta-Lake/4.4.0"


def commits_at(instants: Iterable[float], **more: Any) -> list[ObservedCommit]:
    """One commit at each instant, from version 1 on, each reading the one before it."""
    return [
        ObservedCommit(number, int(at), "UPDATE", read_version=number - 1, **more)
        for number, at in enumerate(instants, start=1)
    ]


def of(engine: str | None, count: int) -> list[ObservedCommit]:
    """Commits of an engine."""
    return [ObservedCommit(n, 0, "WRITE", CommitOrigin(engine=engine)) for n in range(count)]


@dataclass(frozen=True)
class Workers:
    """Writers of a group, whose windows are lognormal; times in ms.

    A pausing one begins so long after its last commit; one with a queue takes jobs that come at
    such gaps, one after the other; one that never waits begins them all at once. Gaps and pauses
    are exponential with mean `gap_ms`; a timetable's are all `gap_ms`.
    """

    way: Literal["pausing", "queue", "never waits", "timetable"]
    writers: int
    gap_ms: float
    median_ms: float
    sigma: float

    def jobs(self, draws: np.random.Generator, span_ms: float) -> list[tuple[float, float]]:
        """Snapshot and commit of each job that committed in time."""
        jobs = (job for _ in range(self.writers) for job in self._of_one(draws, span_ms))
        return [(begun, ended) for begun, ended in jobs if ended <= span_ms]

    def _of_one(self, draws: np.random.Generator, span_ms: float) -> Iterator[tuple[float, float]]:
        due = ended = 0.0
        while max(due, ended) <= span_ms:
            is_timed = self.way == "timetable"
            gap_ms = self.gap_ms if is_timed else draws.exponential(self.gap_ms)
            due = (ended if self.way == "pausing" else due) + gap_ms
            begun = due if self.way == "never waits" else max(due, ended)
            ended = begun + math.exp(draws.normal(math.log(self.median_ms), self.sigma))
            yield begun, ended


def commits_of(
    workers: Workers, span_ms: float, others_every_ms: float, seed: int
) -> tuple[list[ObservedCommit], dict[int, int]]:
    """The group's commits, and when each version was committed: others' come by chance."""
    draws = np.random.default_rng(seed)
    jobs = sorted(workers.jobs(draws, span_ms), key=lambda job: job[1])
    others = draws.uniform(0, span_ms, draws.poisson(span_ms / others_every_ms))
    instants = np.sort(np.array([0.0, *others, *(ended for _, ended in jobs)]))
    commits = [
        ObservedCommit(
            int(np.searchsorted(instants, ended)),
            int(ended),
            "UPDATE",
            read_version=int(np.searchsorted(instants, begun, side="right")) - 1,
        )
        for begun, ended in jobs
    ]
    return commits, {version: int(instant) for version, instant in enumerate(instants)}


class LogOnDisk:
    """A `_delta_log` that is written line by line."""

    def __init__(
        self,
        folder: Path,
        ddl: str = "id BIGINT, day DATE, v DOUBLE",
        by: Sequence[str] = ("day",),
        properties: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.log = folder / "_delta_log"
        self.log.mkdir(parents=True)
        self.version = 0
        self._at_ms = MONDAY_MS
        metadata = {
            "id": "6d3fd9a2-4bd7-44c3-9d09-4e3a2bfdbd4f",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": schema_string(parse_ddl(ddl)),
            "partitionColumns": list(by),
            "configuration": dict(properties or {}),
        }
        protocol = {"minReaderVersion": 1, "minWriterVersion": 2}
        self.commit("CREATE TABLE", {"protocol": protocol}, {"metaData": metadata})

    def commit(self, operation: str, *actions: dict[str, Any], **info: Any) -> None:
        """The next version, a minute after the last one unless `timestamp` is given."""
        self._at_ms = info.pop("timestamp", self._at_ms + 60_000)
        commit_info = {
            "timestamp": self._at_ms,
            "operation": operation,
            "engineInfo": DELTA,
            **info,
        }
        lines = [json.dumps(each) for each in ({"commitInfo": commit_info}, *actions)]
        (self.log / f"{self.version:020d}.json").write_text("\n".join(lines) + "\n")
        self.version += 1

    def append(self, day: str, rows: int = 5, **info: Any) -> None:
        """A commit that adds one file."""
        add = {
            "path": f"day={day}/{self.version}.parquet",
            "partitionValues": {"day": day},
            "size": 100 * rows,
            "modificationTime": self._at_ms,
            "dataChange": True,
            "stats": json.dumps({"numRecords": rows}),
        }
        self.commit("WRITE", {"add": add}, **info)
