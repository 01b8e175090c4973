"""Runs of threads that never were: durations by lot, on a model of a few lines."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable

from whitecap.sim.freerun.statements import ObservedRun, TimedStatement, warm_up_of
from whitecap.sim.freerun.workloads import ThreadWorkload

Draw = Callable[[random.Random], float]

TAIL_MS = 100.0
"""What a statement takes after its commit."""


def apart(
    workload: ThreadWorkload,
    statements: int,
    window: Draw,
    lead: Draw,
    seed: int = 1,
    slower: float = 1,
) -> ObservedRun:
    """Threads that meet nobody; from the middle on everything takes `slower` times as long."""
    chance = random.Random(seed)
    warm_up = warm_up_of(len(workload.hands))
    per_thread = -(-(statements + warm_up) // len(workload.hands))
    made = []
    for hand in workload.hands:
        now_ms = 1000 * chance.random()
        for number in range(per_thread):
            factor = slower if number >= per_thread / 2 else 1.0
            snapshot_ms = now_ms + factor * lead(chance)
            decided_ms = snapshot_ms + factor * window(chance)
            ended_ms = decided_ms + factor * TAIL_MS
            kind = hand.kind.name
            made.append(
                TimedStatement(hand.name, kind, 0, now_ms, ended_ms, snapshot_ms, decided_ms)
            )
            now_ms = ended_ms
    made.sort(key=lambda each: each.begun_ms)
    return ObservedRun("2026-01-01T00:00:00.000", warm_up, made)


def refused_together(
    threads: int, partitions: int, statements: int, window: Draw, lead: Draw, seed: int = 1
) -> float:
    """The share of refused statements among threads that update partitions by lot.

    A statement is refused if another one committed to its partition since its snapshot. It is then
    begun again at once, without the tail that follows a commit.
    """
    chance = random.Random(seed)
    committed_ms = [-1.0] * partitions
    decisions = [(0.0, 0.0, thread, chance.randrange(partitions)) for thread in range(threads)]
    refused = ended = 0
    while ended < statements:
        decided_ms, snapshot_ms, thread, part = heapq.heappop(decisions)
        is_refused = committed_ms[part] > snapshot_ms
        refused += is_refused
        ended += 1
        if not is_refused:
            committed_ms[part] = decided_ms
            part, decided_ms = chance.randrange(partitions), decided_ms + TAIL_MS
        snapshot_ms = decided_ms + lead(chance)
        heapq.heappush(decisions, (snapshot_ms + window(chance), snapshot_ms, thread, part))
    return refused / ended
