"""The draws of one transaction, by the kind of request and its number within the transaction.

The usual ones come with the row of the transaction's job (`sim/time/draws.py`), further ones when
they are asked for. What a request draws besides (sent again, made to wait, hit by a fault) has
addresses of its own, so that it moves nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from whitecap.sim.quantities.distributions import Distribution
from whitecap.sim.store.requests.kinds import RequestKind
from whitecap.sim.store.requests.latency import NO_LATENCY, Latency
from whitecap.sim.time.draws import DrawnColumns, DrawTable
from whitecap.sim.time.random_streams import RERUN_BITS, RandomSource, row_of

USUAL = {
    RequestKind.LIST: 32,
    RequestKind.GET: 24,
    RequestKind.HEAD: 20,
    RequestKind.PUT: 4,
    RequestKind.PUT_IF_ABSENT: 4,
    RequestKind.COPY: 1,
    RequestKind.DELETE: 1,
    RequestKind.RENAME: 1,
    RequestKind.GET_ITEM: 2,
    RequestKind.QUERY: 4,
    RequestKind.PUT_ITEM: 4,
    RequestKind.GET_COMMITS: 4,
    RequestKind.RATIFY: 2,
}
"""Requests of each kind whose draws are made with those of the job: 97 of 100 transactions make no
more. The number matters for speed alone."""

BLOCK = 64
"""Draws of further requests are made for so many at once, which costs little more than one."""

_COMPUTE = 8
_SERVICE_LATENCY = 9
_BACKOFF = 16
_TIME_AT_KEY = 32
_DATA_WAIT = 48
"""Purposes of draws beside the latencies of the store's requests, which stand at their kinds (0 to
7): the time of a job; latencies of services beside the store; waits after a refusal and times at a
key, by the kind of the request, so that 16 places are theirs each; waits for data files. Other
numbers would be other recordings."""

BESIDE = 1 << 19
"""Added to the number of a rerun: draws of the driver's threads beside the transaction are there.
"""


RequestLegs = tuple[float, float, float]
"""Milliseconds: the way out, the way back, and that where a put-if-absent found the key taken."""


class Stretches(Struct, frozen=True):
    """Where the usual draws of each kind of request stand in a row, in the order of kinds.

    Those of request n begin at `firsts + n * widths`; there are some up to `ends`.
    """

    firsts: list[int]
    widths: list[int]
    ends: list[int]


Piece = tuple[list[float], int, int]
"""Draws, and from where to where in them."""


def place(purpose: int, number: int = 0, part: int = 0) -> int:
    """Where a draw stands in its row: by its purpose, and its number and part there."""
    return (purpose << 24 | number) << 24 | part


@lru_cache(maxsize=256)
def _block_places(kind: RequestKind, block: int, sending: int, ranks: int) -> NDArray[np.uint64]:
    """Where the draws of `BLOCK` requests stand, the same for all writers and jobs."""
    parts = range(sending * ranks, (sending + 1) * ranks)
    numbers = range(block * BLOCK, (block + 1) * BLOCK)
    purpose = _purpose(kind)
    return np.array([place(purpose, n, part) for n in numbers for part in parts], np.uint64)


def _purpose(kind: RequestKind) -> int:
    """What the latencies of a kind of request stand under."""
    return kind if kind.is_of_the_store else _SERVICE_LATENCY + kind - RequestKind.GET_ITEM


@dataclass(slots=True)
class Tapes:
    """Makes the tapes of one writer's transactions; `latencies` are in the order of kinds."""

    source: RandomSource
    latencies: Sequence[Latency]
    compute: Distribution
    stretches: Stretches = field(init=False)
    _table: DrawTable = field(init=False)
    _tables_beyond: dict[tuple[RequestKind, int], DrawTable] = field(default_factory=dict)
    _last_beyond: dict[tuple[RequestKind, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        columns = [DrawnColumns([place(_COMPUTE)], self.compute.quantile)]
        firsts: list[int] = []
        at = 1
        for kind in RequestKind:
            latency = self.latencies[kind]
            count = 0 if latency is NO_LATENCY else USUAL[kind]
            purpose, ranks = _purpose(kind), range(latency.ranks)
            if count:
                places = [place(purpose, n, part) for n in range(count) for part in ranks]
                columns.append(DrawnColumns(places, latency.drawn))
            firsts.append(at)
            at += count * latency.legs
        widths = [latency.legs for latency in self.latencies]
        self.stretches = Stretches(firsts, widths, [*firsts[1:], at])
        self._table = DrawTable(self.source, columns)

    def of(self, job: int, rerun: int) -> Tape:
        """The tape of one run of a job."""
        return Tape(self, row_of(job, rerun), self._table.row(job, rerun))

    def beyond(self, row: int, kind: RequestKind, block: int, sending: int) -> list[float]:
        """The legs of `BLOCK` requests of one run of a job.

        Where the job before asked for the same, several jobs' are drawn at once: the longer a log
        grows, the more pages every transaction lists.
        """
        latency = self.latencies[kind]
        places = _block_places(kind, block, sending, latency.ranks)
        job, rerun = row >> RERUN_BITS, row % (1 << RERUN_BITS)
        if sending or rerun or not self._is_usual_now(job, kind, block):
            legs: list[float] = latency.drawn(self.source.uniforms([row], places))[0].tolist()
            return legs
        table = self._tables_beyond.get((kind, block))
        if table is None:
            columns = [DrawnColumns(places.tolist(), latency.drawn)]
            table = self._tables_beyond[kind, block] = DrawTable(self.source, columns)
        return table.row(job)

    def _is_usual_now(self, job: int, kind: RequestKind, block: int) -> bool:
        """Whether the job before asked for the same block."""
        last = self._last_beyond.get((kind, block))
        self._last_beyond[kind, block] = job
        return last == job - 1


class Tape:
    """What one transaction draws.

    Its usual draws are in `drawn`, in `stretches` by the kind of request; `cursors` says where
    those of the next request of each kind begin, or would begin if they were usual ones.
    """

    __slots__ = ("_more", "_tapes", "cursors", "drawn", "row", "stretches")

    def __init__(self, tapes: Tapes, row: int, drawn: list[float]) -> None:
        self._tapes = tapes
        self.row = row
        self.drawn = drawn
        self.stretches = tapes.stretches
        self.cursors = self.stretches.firsts.copy()
        self._more: dict[tuple[int, int, int], list[float]] = {}

    def beside(self) -> Tape:
        """The tape of what goes on beside this transaction, and after it."""
        job, rerun = self.row >> RERUN_BITS, self.row % (1 << RERUN_BITS)
        return self._tapes.of(job, rerun + BESIDE)

    @property
    def job(self) -> int:
        """The number of its job among those of its writer, from 0 on."""
        return self.row >> RERUN_BITS

    @property
    def compute_ms(self) -> float:
        """The time of its job."""
        return self.drawn[0]

    @property
    def latencies(self) -> Sequence[Latency]:
        """How long requests take, in the order of `RequestKind`."""
        return self._tapes.latencies

    def next_number(self, kind: RequestKind, count: int = 1) -> int:
        """The number of a request that is made now, among those of its kind.

        Of several that are made at once it is the first one's.
        """
        number = self.made(kind)
        self.cursors[kind] += count * self.stretches.widths[kind]
        return number

    def made(self, kind: RequestKind) -> int:
        """How many requests of a kind there were."""
        stretches = self.stretches
        return (self.cursors[kind] - stretches.firsts[kind]) // stretches.widths[kind]

    def next_legs(self, kind: RequestKind) -> RequestLegs:
        """The legs of a request that is made now."""
        cursors, stretches = self.cursors, self.stretches
        at = cursors[kind]
        if at >= stretches.ends[kind]:
            return self.legs(kind, self.next_number(kind))
        cursors[kind] = until = at + stretches.widths[kind]
        drawn = self.drawn
        return drawn[at], drawn[at + 1], drawn[until - 1]

    def legs(self, kind: RequestKind, number: int, sending: int = 0) -> RequestLegs:
        """The way out, the way back, and the way back where a put-if-absent found the key taken.

        `sending` counts how often the request was sent before.
        """
        stretches = self.stretches
        width = stretches.widths[kind]
        drawn, at = self.drawn, stretches.firsts[kind] + number * width
        if sending or at >= stretches.ends[kind]:
            drawn, at = self._beyond(kind, number // BLOCK, sending), number % BLOCK * width
        return drawn[at], drawn[at + 1], drawn[at + width - 1]

    def repeated(
        self, kind: RequestKind, first: int, count: int, sent_ms: float, size: int
    ) -> float:
        """The reply to the last of some requests, each sent when the one before was answered.

        It is what `Latency.arrival` and `Latency.reply` come to, one by one and in their order.
        """
        back_for_size = size * self._tapes.latencies[kind].per_unit_back
        width, now_ms = self.stretches.widths[kind], sent_ms
        for drawn, begin, end in self._in_pieces(kind, first, count):
            for at in range(begin, end, width):
                now_ms = now_ms + drawn[at] + drawn[at + 1] + back_for_size
        return now_ms

    def successive_legs(
        self, kind: RequestKind, first: int, count: int
    ) -> list[tuple[float, float]]:
        """The ways out and back of some requests, from the one of this number on."""
        width = self.stretches.widths[kind]
        return [
            (drawn[at], drawn[at + 1])
            for drawn, begin, end in self._in_pieces(kind, first, count)
            for at in range(begin, end, width)
        ]

    def _in_pieces(self, kind: RequestKind, first: int, count: int) -> list[Piece]:
        """The draws of some requests: the usual ones, then block by block."""
        stretches = self.stretches
        begin, width = stretches.firsts[kind], stretches.widths[kind]
        usual = (stretches.ends[kind] - begin) // width
        end = first + count
        pieces: list[Piece] = []
        if first < usual:
            pieces.append((self.drawn, begin + first * width, begin + min(end, usual) * width))
            first = usual
        while first < end:
            block, number = divmod(first, BLOCK)
            until = min(end - block * BLOCK, BLOCK)
            pieces.append((self._beyond(kind, block, 0), number * width, until * width))
            first = block * BLOCK + until
        return pieces

    def backoff(self, kind: RequestKind, number: int, sending: int) -> float:
        """A uniform number for the wait after a refusal."""
        return self.uniform(self._tapes.source, _BACKOFF + kind, number, sending)

    def data_backoff(self, pulse: int, refused: int) -> float:
        """A uniform number for the wait after requests for data files were refused."""
        return self.uniform(self._tapes.source, _DATA_WAIT, pulse, refused)

    def service(self, kind: RequestKind, number: int, sending: int = 0) -> float:
        """The rank of the time for which a request is served at its key."""
        return self.uniform(self._tapes.source, _TIME_AT_KEY + kind, number, sending)

    def uniform(self, source: RandomSource, purpose: int, number: int, sending: int = 0) -> float:
        """A number of any source, at the address of one of this transaction's requests."""
        return source.uniform(self.row, place(purpose, number, sending))

    def _beyond(self, kind: RequestKind, block: int, sending: int) -> list[float]:
        """The legs of `BLOCK` requests."""
        drawn = self._more.get((kind, block, sending))
        if drawn is None:
            drawn = self._tapes.beyond(self.row, kind, block, sending)
            self._more[kind, block, sending] = drawn
        return drawn
