"""A transaction's way to the world: requests in, answers out, each in its time.

A request to the store is sent, takes effect, and is replied to, at three instants; the store is
read and changed at the second only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from whitecap.engine.log.commit_file import version_of_key
from whitecap.engine.storage.requests import (
    Compute,
    Delete,
    Gone,
    Listing,
    ListTree,
    NewId,
    PutIfAbsent,
    PutResult,
    ReadClock,
    ReadRows,
    Response,
    RowsOf,
    WriteRows,
    Written,
)
from whitecap.sim.recording.recorder import AttemptRecord, TransactionRecord
from whitecap.sim.store.cluster import Cluster, Life, WriterCrashed
from whitecap.sim.store.exchange import Exchange
from whitecap.sim.store.objects import StoreRequest, StoreResponse
from whitecap.sim.store.tape import Tape
from whitecap.sim.time.kernel import Clock, Waiting

GIB = 1024.0**3
MILLION = 1e6


@dataclass(slots=True)
class Client:
    """Answers the requests of one transaction."""

    cluster: Cluster
    record: TransactionRecord
    clock: Clock
    tape: Tape
    new_id: Callable[[], str]
    life: Life = field(init=False)
    at_once: dict[type, Callable[[Any], Response]] = field(init=False)
    _computed: bool = False

    def __post_init__(self) -> None:
        self.life = Life(self.cluster, self.clock)
        self.at_once = {
            ReadClock: self._clock,
            NewId: self._id,
            ReadRows: self._read_rows,
            WriteRows: self._write_rows,
            ListTree: self._list_tree,
            Delete: self._delete,
        }

    def perform(self, request: Any) -> Waiting[Response]:
        """Answer a request that takes time. Raises `StoreRefused`, `WriterCrashed`."""
        kind = type(request)
        if kind is Compute:
            return self._compute(request)
        if kind is PutIfAbsent:
            return self._put_if_absent(request)
        return self._exchange(request, None)

    # Requests that take no time: data files are part of the job's compute time ------------------

    def _clock(self, _: ReadClock) -> int:
        return self.cluster.store.epoch_ms + int(self.clock.now_ms)

    def _id(self, _: NewId) -> str:
        return self.new_id()

    def _read_rows(self, request: ReadRows) -> RowsOf | Gone:
        return self.cluster.store.read_rows(request)

    def _list_tree(self, request: ListTree) -> Listing:
        return self.cluster.store.list_tree(request.below)

    def _delete(self, request: Delete) -> None:
        self.cluster.store.delete(request.keys)

    def _write_rows(self, request: WriteRows) -> Written:
        size_bytes = self.cluster.store.write_rows(request, self.clock.now_ms)
        self.record.bytes_written += size_bytes
        return Written(size_bytes)

    # Requests that take time --------------------------------------------------------------------

    def _compute(self, request: Compute) -> Waiting[Response]:
        """The drawn time once per transaction, and time in proportion to rows and bytes."""
        compute = self.cluster.compute
        size_bytes = request.bytes_read + request.bytes_written
        spent_ms = compute.per_million_rows * request.rows_read / MILLION
        spent_ms += compute.per_gib * size_bytes / GIB
        if not self._computed:
            self._computed = True
            spent_ms += self.tape.compute_ms
        began_ms = self.clock.now_ms
        try:
            yield from self.life.until(began_ms + spent_ms)
        except WriterCrashed:
            self.record.compute_ms += self.clock.now_ms - began_ms
            raise
        self.record.compute_ms += spent_ms
        return None

    def _put_if_absent(self, request: PutIfAbsent) -> Waiting[Response]:
        """A put of a commit file is an attempt of the transaction, and recorded as such."""
        version = version_of_key(request.key)
        if version is None:
            return (yield from self._exchange(request, None))
        self.record.last_body = request.body
        attempt = self.cluster.recorder.attempt(self.record, version, self.clock.now_ms)
        answer = yield from self._exchange(request, attempt)
        assert isinstance(answer, PutResult)
        attempt.result = answer.value
        if answer is not PutResult.UNKNOWN:
            attempt.reply_at_ms = self.clock.now_ms
            self.record.put_in_doubt = False
        return answer

    def _exchange(
        self, request: StoreRequest, attempt: AttemptRecord | None
    ) -> Waiting[StoreResponse]:
        exchange = Exchange(self.cluster, self.record, self.life, self.tape, request, attempt)
        return (yield from exchange.answer())
