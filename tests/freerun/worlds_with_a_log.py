"""Threads that never were, with a log: a missing checksum costs jobs, a model of a few lines."""

from __future__ import annotations

import heapq
import random
from collections.abc import Generator
from dataclasses import dataclass, field

from whitecap.sim.freerun.statements import ObservedRun, TimedStatement, warm_up_of
from whitecap.sim.freerun.workloads import ThreadWorkload

THREADS = 4
LEAD_MS, METADATA_MS, STATE_MS, CHECKSUM_MS, CLOSING_MS = 30.0, 140.0, 420.0, 50.0, 20.0
CHECKPOINTS_EVERY = 10


@dataclass
class LogWorld:
    """Threads that update partitions of their own, or by lot where there are `partitions`."""

    partitions: int | None
    seed: int = 1
    decided_ms: list[float] = field(default_factory=lambda: [0.0])
    checksum_ms: list[float] = field(default_factory=lambda: [0.0])
    changed: list[int] = field(default_factory=lambda: [-1])
    statements: list[TimedStatement] = field(default_factory=list)
    chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def run(self, count: int) -> list[TimedStatement]:
        """The first statements, in the order in which they began."""
        threads = [self._thread(number) for number in range(THREADS)]
        steps = [(1000 * self.chance.random(), number) for number in range(THREADS)]
        heapq.heapify(steps)
        for thread in threads:
            next(thread)
        while len(self.statements) < count + THREADS:
            now_ms, number = heapq.heappop(steps)
            heapq.heappush(steps, (threads[number].send(now_ms), number))
        return sorted(self.statements, key=lambda each: each.begun_ms)[:count]

    def _thread(self, number: int) -> Generator[float, float]:
        """Asks for instants, and is sent each when it has come."""
        begun_ms = yield 0.0
        own, part, rerun = -1, self._part(number), 0
        while True:
            newest = len(self.decided_ms) - 1
            is_missing = newest != own and self.checksum_ms[newest] > begun_ms
            snapshot_ms = yield begun_ms + LEAD_MS + is_missing * METADATA_MS
            read = len(self.decided_ms) - 1
            decided_ms = yield snapshot_ms + STATE_MS + self.chance.uniform(200, 700)
            version = checksum_ms = exception = None
            ended_ms = decided_ms + CLOSING_MS
            if part in self.changed[read + 1 :]:
                exception = "ConcurrentAppendException"
            else:
                own = version = len(self.decided_ms)
                ended_ms += self._commit(version, read, part, decided_ms)
                checksum_ms = self.checksum_ms[version]
            self.statements.append(
                TimedStatement(
                    f"update-{number}", "update", rerun, begun_ms, ended_ms, snapshot_ms,
                    decided_ms, version, read, exception, checksum_ms,
                )
            )  # fmt: skip
            part, rerun = (self._part(number), 0) if exception is None else (part, rerun + 1)
            begun_ms = yield ended_ms

    def _part(self, number: int) -> int:
        return number if self.partitions is None else self.chance.randrange(self.partitions)

    def _commit(self, version: int, read: int, part: int, decided_ms: float) -> float:
        """Returns how long the thread is busy with the log."""
        is_derived = read == version - 1 or self.checksum_ms[version - 1] <= decided_ms
        there_ms = CHECKSUM_MS + (0 if is_derived else METADATA_MS + STATE_MS)
        self.decided_ms.append(decided_ms)
        self.checksum_ms.append(decided_ms + there_ms)
        self.changed.append(part)
        if version % CHECKPOINTS_EVERY:
            return there_ms
        return there_ms + 2 * CHECKSUM_MS + STATE_MS * (1 + is_derived)


def apart_with_a_log(workload: ThreadWorkload, statements: int) -> ObservedRun:
    """Threads that meet nobody, but for the log."""
    warm_up = warm_up_of(len(workload.hands))
    made = LogWorld(None).run(statements + warm_up)
    return ObservedRun("2026-01-01T00:00:00.000", warm_up, made)


def together_with_a_log(workload: ThreadWorkload, statements: int) -> ObservedRun:
    """The same threads on the partitions of a workload."""
    warm_up = warm_up_of(len(workload.hands))
    made = LogWorld(workload.partitions, seed=2).run(statements + warm_up)
    return ObservedRun("2026-01-01T00:00:00.000", warm_up, made)
