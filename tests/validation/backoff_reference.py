"""The same model once more, written for itself: an event queue and Python's random numbers.

For as many clients as one likes; the published code is Python 2 and knows multiples of ten.
"""

from __future__ import annotations

import heapq
import random
from itertools import count

BASE_MS, CAP_MS = 5.0, 2000.0


def reference(clients: int, algorithm: str, seed: int) -> tuple[int, float]:
    """Writes that the server was asked for, and the milliseconds until the last one has written."""
    draw, turn = random.Random(f"{seed} {clients} {algorithm}"), count()
    version = calls = 0
    last_ms = 0.0
    attempts, sleeps = [0] * clients, [BASE_MS] * clients
    queue: list[tuple[float, int, int, int | None]] = [
        (_hop(draw), next(turn), client, None) for client in range(clients)
    ]
    heapq.heapify(queue)
    while queue:
        now_ms, _, client, read = heapq.heappop(queue)
        if read is None:
            heapq.heappush(queue, (now_ms + _hop(draw) + _hop(draw), next(turn), client, version))
            continue
        calls += 1
        acknowledged_ms = now_ms + _hop(draw)
        if read == version:
            version += 1
            last_ms = max(last_ms, acknowledged_ms)
            continue
        attempts[client] += 1
        sleeps[client] = _sleep(algorithm, attempts[client], sleeps[client], draw)
        again_ms = acknowledged_ms + sleeps[client] + _hop(draw)
        heapq.heappush(queue, (again_ms, next(turn), client, None))
    return calls, last_ms


def _hop(draw: random.Random) -> float:
    return abs(draw.gauss(10, 2))


def _sleep(algorithm: str, attempt: int, last_ms: float, draw: random.Random) -> float:
    doubled = min(CAP_MS, BASE_MS * 2.0 ** min(attempt, 60))
    match algorithm:
        case "none":
            return 0.0
        case "exponential":
            return doubled
        case "equal jitter":
            return doubled / 2 + draw.uniform(0, doubled / 2)
        case "full jitter":
            return draw.uniform(0, doubled)
        case "decorrelated":
            return min(CAP_MS, draw.uniform(BASE_MS, 3 * last_ms))
    raise KeyError(algorithm)
