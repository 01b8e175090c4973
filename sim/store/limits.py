"""The store's limits: how many requests per second it serves before it throttles.

A token bucket takes requests in order of time. Processes that go ahead of the kernel do not come
in that order, so for them requests are only counted: the bucket holds a second's worth, so where
half a second never has more of them than flow in meanwhile, it refuses nobody, in whatever order
they came. Where one has, the run is made again with processes that wait at every request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from whitecap.sim.scenario.store import Limits
from whitecap.sim.store.kinds import Kind

SPAN_MS = 500.0
"""The time over which requests are counted: a bucket holds what flows in during a second."""

_SPANS_BETWEEN_CLEANINGS = 1000


class LimitsBite(Exception):
    """A request might be refused: what happens then depends on the order of all of them."""


class TokenBucket:
    """Admits `per_s` requests per second on average, at most a second's worth at once."""

    def __init__(self, per_s: float) -> None:
        self._per_ms = per_s / 1000
        self._size = max(1.0, per_s)
        self._tokens = self._size
        self._at_ms = 0.0

    def admits(self, now_ms: float) -> bool:
        """Whether a request may pass now; if so it is counted."""
        refilled = self._tokens + (now_ms - self._at_ms) * self._per_ms
        self._tokens = min(self._size, refilled)
        self._at_ms = now_ms
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True


class Counter:
    """Counts requests that pass in any order; raises `LimitsBite` where a bucket might refuse."""

    def __init__(self, per_s: float, now_ms: Callable[[], float]) -> None:
        self._most = int(per_s * SPAN_MS / 1000)
        self._counts: dict[int, int] = {}
        self._now_ms = now_ms

    def admits(self, now_ms: float) -> bool:
        """A request passes at an instant, ahead of the kernel or not."""
        span = int(now_ms / SPAN_MS)
        count = self._counts[span] = self._counts.get(span, 0) + 1
        if count > self._most:
            raise LimitsBite
        if count == 1 and not span % _SPANS_BETWEEN_CLEANINGS:
            current = int(self._now_ms() / SPAN_MS)
            self._counts = {at: n for at, n in self._counts.items() if at >= current}
        return True


@dataclass(slots=True)
class Throttle:
    """The limits of one store; `now_ms` tells the kernel's time.

    `in_order`: requests come in the order of their instants.
    """

    limits: Limits
    in_order: bool
    now_ms: Callable[[], float]
    buckets: list[TokenBucket | Counter | None] = field(init=False)
    """By kind of request; all reads share one, and all writes."""

    def __post_init__(self) -> None:
        reads, writes = self._one(self.limits.reads_per_s), self._one(self.limits.writes_per_s)
        of_the_store = [writes if kind.writes else reads for kind in Kind if kind.is_of_the_store]
        self.buckets = of_the_store + [None] * (len(Kind) - len(of_the_store))

    def refuses(self, kind: Kind, now_ms: float) -> bool:
        """Whether the store refuses this request. Raises `LimitsBite` where that cannot be told."""
        bucket = self.buckets[kind]
        return bucket is not None and not bucket.admits(now_ms)

    def _one(self, per_s: float | None) -> TokenBucket | Counter | None:
        if per_s is None:
            return None
        return TokenBucket(per_s) if self.in_order else Counter(per_s, self.now_ms)
