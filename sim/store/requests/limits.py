"""The store's limits: how many requests per second it serves before it throttles.

A token bucket must see requests in order of time. Processes that run ahead of the kernel do not
send them in that order, so their requests are only counted, in spans of half a second. A bucket
holds a second's worth of tokens: as long as no span has more requests than tokens flow in
meanwhile, it would refuse nobody, whatever the order. Where a span has more, the run is made again
with processes that wait at every request.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from whitecap.sim.scenario.store import Limits
from whitecap.sim.store.requests.kinds import RequestKind

SPAN_MS = 500.0
"""The time over which requests are counted: a bucket holds what flows in during a second."""

_SPANS_BETWEEN_CLEANINGS = 1000
"""How seldom counts of spans that are over are dropped. It matters for speed and memory alone."""


class LimitsBite(Exception):
    """A request might be refused, which depends on the order of all requests."""


class TokenBucket:
    """Admits `per_s` requests per second on average, at most a second's worth at once."""

    def __init__(self, per_s: float) -> None:
        self._per_ms = per_s / 1000
        self._size = max(1.0, per_s)
        self._tokens = self._size
        self._at_ms = 0.0

    def refuses(self, count: int, now_ms: float) -> int:
        """How many of some requests may not pass now; the others are counted."""
        refilled = self._tokens + (now_ms - self._at_ms) * self._per_ms
        self._tokens = min(self._size, refilled)
        self._at_ms = now_ms
        passed = min(count, int(self._tokens))
        self._tokens -= passed
        return count - passed


class Counter:
    """Counts requests that pass in any order; raises `LimitsBite` where a bucket might refuse."""

    def __init__(self, per_s: float, now_ms: Callable[[], float]) -> None:
        self._most = int(per_s * SPAN_MS / 1000)
        self._counts: dict[int, int] = {}
        self._now_ms = now_ms

    def refuses(self, count: int, now_ms: float) -> int:
        """Count requests at an instant, which may be ahead of the kernel; none is refused."""
        span = int(now_ms / SPAN_MS)
        before = self._counts.get(span, 0)
        self._counts[span] = before + count
        if before + count > self._most:
            raise LimitsBite
        if not before and not span % _SPANS_BETWEEN_CLEANINGS:
            self._forget_what_is_over()
        return 0

    def passes_evenly(self, count: int, began_ms: float, spent_ms: float) -> None:
        """Count requests spread evenly over some time, as pulses would pass one by one."""
        counts, is_first = self._counts, False
        for after_ms, part in _evenly(count, spent_ms):
            span = int((began_ms + after_ms) / SPAN_MS)
            before = counts.get(span, 0)
            counts[span] = before + part
            if before + part > self._most:
                raise LimitsBite
            is_first |= not before and not span % _SPANS_BETWEEN_CLEANINGS
        if is_first:
            self._forget_what_is_over()

    def _forget_what_is_over(self) -> None:
        current = int(self._now_ms() / SPAN_MS)
        self._counts = {at: n for at, n in self._counts.items() if at >= current}


RequestBucket = TokenBucket | Counter


@dataclass(slots=True)
class Throttle:
    """The limits of one store; `now_ms` tells the kernel's time.

    `in_order`: requests come in the order of their instants.
    """

    limits: Limits
    in_order: bool
    now_ms: Callable[[], float]
    buckets: list[RequestBucket | None] = field(init=False)
    """The buckets of requests for the log, by kind; all reads share one, and all writes."""
    _of_data: dict[str, list[RequestBucket | None]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.buckets = self._new_buckets()

    def refuses(self, kind: RequestKind, now_ms: float) -> bool:
        """Whether the store refuses this request. Raises `LimitsBite` where that cannot be told."""
        bucket = self.buckets[kind]
        return bucket is not None and bucket.refuses(1, now_ms) > 0

    @property
    def is_limited(self) -> bool:
        """Whether any request can be refused at all."""
        return any(bucket is not None for bucket in self.buckets)

    def of_data(self, directory: str, kind: RequestKind) -> RequestBucket | None:
        """The bucket of requests for data files: the log's, or each directory's own."""
        if self.limits.of_each == "account":
            return self.buckets[kind]
        if directory not in self._of_data:
            self._of_data[directory] = self._new_buckets()
        return self._of_data[directory][kind]

    def _new_buckets(self) -> list[RequestBucket | None]:
        limits = self.limits
        if limits.requests_per_s is not None:
            reads = writes = self._bucket(limits.requests_per_s)
        else:
            reads, writes = self._bucket(limits.reads_per_s), self._bucket(limits.writes_per_s)
        of_the_store = [
            writes if kind.writes else reads for kind in RequestKind if kind.is_of_the_store
        ]
        return of_the_store + [None] * (len(RequestKind) - len(of_the_store))

    def _bucket(self, per_s: float | None) -> RequestBucket | None:
        if per_s is None:
            return None
        left = per_s - self.limits.others_per_s
        return TokenBucket(left) if self.in_order else Counter(left, self.now_ms)


class Pulse(NamedTuple):
    """Several requests for data files at once, `after_ms` of their job's time."""

    after_ms: float
    bucket: RequestBucket
    requests: int


@dataclass(frozen=True, slots=True)
class DataRequests:
    """The requests of jobs for data files: those that `read` a file, and those that `write` one."""

    throttle: Throttle
    read: tuple[RequestKind, ...]
    write: tuple[RequestKind, ...]

    def pulses(self, read: Iterable[str], written: Iterable[str], spent_ms: float) -> list[Pulse]:
        """The requests of a job for some files, spread evenly over its time, in order of time."""
        pulses = [
            Pulse(after_ms, bucket, part)
            for bucket, count in self._counts(read, written)
            for after_ms, part in _evenly(count, spent_ms)
        ]
        return sorted(pulses, key=lambda pulse: pulse.after_ms)

    def pass_ahead(
        self, read: Iterable[str], written: Iterable[str], began_ms: float, spent_ms: float
    ) -> None:
        """Count the requests of a job, whatever the order they come in. Raises `LimitsBite`."""
        for bucket, count in self._counts(read, written):
            assert isinstance(bucket, Counter)
            bucket.passes_evenly(count, began_ms, spent_ms)

    def _counts(
        self, read: Iterable[str], written: Iterable[str]
    ) -> list[tuple[RequestBucket, int]]:
        """How many requests come to each bucket, by directory and kind."""
        counts: dict[tuple[str, RequestKind], int] = {}
        for paths, kinds in ((read, self.read), (written, self.write)):
            for directory, files in _by_directory(paths).items():
                for kind in kinds:
                    counts[directory, kind] = counts.get((directory, kind), 0) + files
        buckets = ((self.throttle.of_data(*place), count) for place, count in counts.items())
        return [(bucket, count) for bucket, count in buckets if bucket is not None]


def _by_directory(paths: Iterable[str]) -> dict[str, int]:
    """How many of some files lie in each directory."""
    files: dict[str, int] = {}
    for path in paths:
        directory = path.rpartition("/")[0]
        files[directory] = files.get(directory, 0) + 1
    return files


def _evenly(count: int, spent_ms: float) -> Iterator[tuple[float, int]]:
    """Spread requests over some time: after how many milliseconds how many of them come.

    They come in as many pieces as there are spans in which requests are counted.
    """
    pieces = min(count, max(1, math.ceil(spent_ms / SPAN_MS)))
    for piece in range(pieces):
        part = count * (piece + 1) // pieces - count * piece // pieces
        yield spent_ms * (piece + 0.5) / pieces, part
