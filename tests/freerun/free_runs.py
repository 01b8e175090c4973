"""Free runs that never were, by a model of a few lines: durations by lot, and one lock."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from whitecap.sim.freerun.statements import Observed, Statement, warm_up_of
from whitecap.sim.freerun.workloads import Workload

Draw = Callable[[random.Random], float]

TAIL_MS, HOLD_MS = 100.0, 80.0
"""What a statement takes after its commit, and for how long a commit keeps the lock."""


@dataclass
class _Thread:
    own: list[int]
    part: int = 0
    rerun: int = 0
    marks: list[float] = field(default_factory=list)


def made_up(
    workload: Workload,
    statements: int,
    work: Draw,
    lead: Draw,
    *,
    apart: bool,
    seed: int = 1,
    slower: float = 1.0,
) -> Observed:
    """Threads that update a partition each time; after half of it all is `slower`.

    Snapshots and commits wait for the lock. A statement is refused if another one committed to its
    partition since its snapshot; it is then begun again at once, without what follows a commit.
    """
    chance = random.Random(seed)
    count = statements + warm_up_of(len(workload.hands))
    threads = [_Thread(list(h.own) if apart else [*range(workload.partitions)])
               for h in workload.hands]  # fmt: skip
    events = [(1000 * chance.random(), n, "begin", n) for n in range(len(threads))]
    committed_ms: dict[int, float] = {}
    made: list[Statement] = []
    free_ms, turn = 0.0, len(threads)
    while len(made) < count:
        now_ms, order, step, number = heapq.heappop(events)
        thread, hand = threads[number], workload.hands[number]
        factor = slower if len(made) > count / 2 else 1.0
        following, at_ms = "", now_ms
        if step in ("snapshot", "attempt") and now_ms < free_ms:
            heapq.heappush(events, (free_ms, order, step, number))
            if step == "attempt" and len(thread.marks) == 3:
                thread.marks.append(now_ms)
            continue
        match step:
            case "begin":
                thread.part = thread.part if thread.rerun else chance.choice(thread.own)
                asked_ms = now_ms + factor * lead(chance)
                thread.marks = [now_ms, asked_ms]
                following, at_ms = "snapshot", asked_ms
            case "snapshot":
                thread.marks.append(now_ms)
                following, at_ms = "attempt", now_ms + factor * work(chance)
            case _:
                thread.marks += [now_ms] if len(thread.marks) == 3 else []
                begun_ms, asked_ms, snapshot_ms, attempt_ms = thread.marks
                refused = committed_ms.get(thread.part, -1.0) > snapshot_ms
                decided_ms = now_ms if refused else now_ms + factor * HOLD_MS
                at_ms = decided_ms if refused else decided_ms + factor * TAIL_MS
                made.append(
                    Statement(
                        hand.name, hand.kind.name, thread.rerun, begun_ms, at_ms, asked_ms,
                        snapshot_ms, attempt_ms, decided_ms, None if refused else len(made),
                        None, "ConcurrentAppendException" if refused else None,
                    )
                )  # fmt: skip
                thread.rerun = thread.rerun + 1 if refused else 0
                if not refused:
                    committed_ms[thread.part] = free_ms = decided_ms
                following = "begin"
        turn += 1
        heapq.heappush(events, (at_ms, turn, following, number))
    made.sort(key=lambda each: each.begun_ms)
    return Observed("2026-01-01T00:00:00.000", warm_up_of(len(threads)), made)
