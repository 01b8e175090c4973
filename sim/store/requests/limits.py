"""The store's limits: how many requests per second it serves before it throttles.

A token bucket must see requests in order of time. Processes that run ahead of the kernel do not
send them in that order, so their requests are only noted, and counted from time to time in spans
of half a second. A bucket holds a second's worth of tokens: as long as no span has more requests
than tokens flow in meanwhile, it would refuse nobody, whatever the order. Where a span has more,
the run is made again with processes that wait at every request.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from whitecap.sim.scenario.store import Limits
from whitecap.sim.store.requests.kinds import RequestKind

SPAN_MS = 500.0
"""The time over which requests are counted: a bucket holds what flows in during a second."""


_NO_JOBS = np.zeros((0, 3))


class LimitsBite(Exception):
    """A request might be refused, which depends on the order of all requests."""


class TokenBucket:
    """Admits `per_s` requests per second on average, at most a second's worth at once."""

    def __init__(self, per_s: float) -> None:
        self._per_ms = per_s / 1000
        self._size = max(1.0, per_s)
        self._tokens = self._size
        self._at_ms = 0.0
        self.has_refused = False

    def refuses(self, count: int, now_ms: float) -> int:
        """How many of some requests may not pass now; the others are counted."""
        refilled = self._tokens + (now_ms - self._at_ms) * self._per_ms
        self._tokens = min(self._size, refilled)
        self._at_ms = now_ms
        passed = min(count, int(self._tokens))
        self._tokens -= passed
        if passed < count:
            self.has_refused = True
        return count - passed


class Counter:
    """Notes requests that pass in any order; tells later whether a bucket might have refused one.

    `passes` notes a request at an instant, which may be ahead of the kernel.
    """

    def __init__(self, per_s: float, now_ms: Callable[[], float]) -> None:
        self._most = int(per_s * SPAN_MS / 1000)
        self._now_ms = now_ms
        self._instants = array("d")
        self._of_jobs: list[tuple[int, float, float]] = []
        self._spans = self._counts = np.zeros(0, np.int64)
        self._others = 0  # how many requests there are besides `_instants`
        self.passes: Callable[[float], None] = self._instants.append

    def refuses(self, count: int, now_ms: float) -> int:
        """Note requests at an instant; none is refused."""
        self.passes_evenly(count, now_ms, 0.0)
        return 0

    def passes_evenly(self, count: int, began_ms: float, spent_ms: float) -> None:
        """Note requests spread evenly over some time, as pulses would pass one by one."""
        self._of_jobs.append((count, began_ms, spent_ms))
        self._others += count

    def settle(self) -> None:
        """Raises `LimitsBite` where a bucket might have refused a request that was noted."""
        if len(self._instants) + self._others > self._most:
            self._count()

    def _count(self) -> None:
        instants, counts = self._noted()
        spans = np.concatenate([self._spans, (instants / SPAN_MS).astype(np.int64)])
        self._spans, place = np.unique(spans, return_inverse=True)
        self._counts = np.bincount(place, np.concatenate([self._counts, counts])).astype(np.int64)
        if self._counts.max(initial=0) > self._most:
            raise LimitsBite
        goes_on = self._spans >= int(self._now_ms() / SPAN_MS)
        self._spans, self._counts = self._spans[goes_on], self._counts[goes_on]
        self._others = int(self._counts.sum())

    def _noted(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """When requests came since the last time, and how many at each instant; forgets them."""
        single = np.array(self._instants)
        counts, began_ms, spent_ms = np.array(self._of_jobs or _NO_JOBS).T
        job, after_ms, parts = _evenly(counts.astype(np.int64), spent_ms)
        del self._instants[:], self._of_jobs[:]
        instants = np.concatenate([single, began_ms[job] + after_ms])
        return instants, np.concatenate([np.ones(len(single), np.int64), parts])


RequestBucket = TokenBucket | Counter


@dataclass(slots=True)
class Throttle:
    """The limits of one store; `now_ms` tells the kernel's time.

    `in_order`: requests come in the order of their instants. Otherwise `settle` is to be called
    before anything of the run is believed.
    """

    limits: Limits
    in_order: bool
    now_ms: Callable[[], float]
    buckets: list[RequestBucket | None] = field(init=False)
    """The buckets of requests for the log, by kind; all reads share one, and all writes."""
    passes: list[Callable[[float], None] | None] = field(init=False)
    """By kind, what notes a request for the log that passes in any order, where it has a limit."""
    _counters: list[Counter] = field(init=False, default_factory=list)
    _of_data: dict[str, list[RequestBucket | None]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.buckets = self._new_buckets()
        self.passes = [
            bucket.passes if isinstance(bucket, Counter) else None for bucket in self.buckets
        ]

    def settle(self) -> None:
        """Raises `LimitsBite` where requests that passed in any order might have been refused."""
        for counter in self._counters:
            counter.settle()

    def refuses(self, kind: RequestKind, now_ms: float) -> bool:
        """Whether the store refuses this request, as far as that is known yet."""
        bucket = self.buckets[kind]
        return bucket is not None and bucket.refuses(1, now_ms) > 0

    @property
    def is_limited(self) -> bool:
        """Whether any request can be refused at all."""
        return any(bucket is not None for bucket in self.buckets)

    @property
    def has_refused(self) -> bool:
        """Whether the limits have refused any request: only who comes in order can be refused."""
        buckets = (bucket for kinds in (self.buckets, *self._of_data.values()) for bucket in kinds)
        return any(isinstance(bucket, TokenBucket) and bucket.has_refused for bucket in buckets)

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
        if self.in_order:
            return TokenBucket(left)
        self._counters.append(Counter(left, self.now_ms))
        return self._counters[-1]


class Pulse(NamedTuple):
    """Several requests for data files at once, `after_ms` of their job's time."""

    after_ms: float
    bucket: RequestBucket
    requests: int


class DataRequests(Struct, frozen=True):
    """The requests of jobs for data files: those that `read` a file, and those that `write` one."""

    throttle: Throttle
    read: tuple[RequestKind, ...]
    write: tuple[RequestKind, ...]

    def pulses(self, read: Iterable[str], written: Iterable[str], spent_ms: float) -> list[Pulse]:
        """The requests of a job for some files, spread evenly over its time, in order of time."""
        counts = self._counts(read, written)
        each = np.array([count for _, count in counts], np.int64)
        spread = _evenly(each, np.full(len(counts), spent_ms))
        pulses = [
            Pulse(after_ms, counts[place][0], part)
            for place, after_ms, part in zip(*(of.tolist() for of in spread), strict=True)
        ]
        return sorted(pulses, key=lambda pulse: pulse.after_ms)

    def pass_ahead(
        self, read: Iterable[str], written: Iterable[str], began_ms: float, spent_ms: float
    ) -> None:
        """Note the requests of a job, whatever the order they come in."""
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


def _evenly(
    counts: NDArray[np.int64], spent_ms: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.int64]]:
    """Spread the requests of jobs over their times: whose come after how long, and how many.

    They come in as many pieces as there are spans in which requests are counted.
    """
    pieces = np.minimum(counts, np.maximum(1, np.ceil(spent_ms / SPAN_MS))).astype(np.int64)
    job = np.repeat(np.arange(len(counts)), pieces)
    piece = np.arange(len(job)) - np.repeat(pieces.cumsum() - pieces, pieces)
    count, of = counts[job], pieces[job]
    parts = count * (piece + 1) // of - count * piece // of
    return job, spent_ms[job] * (piece + 0.5) / of, parts
