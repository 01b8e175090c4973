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
    Body,
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
from whitecap.sim.cluster import Cluster
from whitecap.sim.kernel import Waiting
from whitecap.sim.recorder import AttemptRecord, TransactionRecord
from whitecap.sim.sending import Sending
from whitecap.sim.store import StoreRequest, StoreResponse

GIB = 1024.0**3
MILLION = 1e6


@dataclass(slots=True)
class Client:
    """Answers the requests of one transaction."""

    cluster: Cluster
    record: TransactionRecord
    at_once: dict[type, Callable[[Any], Response]] = field(init=False)
    _computed: bool = False

    def __post_init__(self) -> None:
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
        return self.cluster.store.epoch_ms + int(self.cluster.kernel.now_ms)

    def _id(self, _: NewId) -> str:
        return self.cluster.new_id()

    def _read_rows(self, request: ReadRows) -> RowsOf | Gone:
        return self.cluster.store.read_rows(request)

    def _list_tree(self, request: ListTree) -> Listing:
        return self.cluster.store.list_tree(request.below)

    def _delete(self, request: Delete) -> None:
        self.cluster.store.delete(request.keys)

    def _write_rows(self, request: WriteRows) -> Written:
        size_bytes = self.cluster.store.write_rows(request, self.cluster.kernel.now_ms)
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
            spent_ms += self.cluster.compute_time()
        began_ms = self.cluster.kernel.now_ms
        try:
            yield from self.cluster.pause(spent_ms)
        finally:
            self.record.compute_ms += self.cluster.kernel.now_ms - began_ms
        return None

    def _put_if_absent(self, request: PutIfAbsent) -> Waiting[Response]:
        """A put of a commit file is an attempt of the transaction, and recorded as such."""
        version = version_of_key(request.key)
        if version is None:
            return (yield from self._exchange(request, None))
        self.record.last_body = request.body
        attempt = self.cluster.recorder.attempt(self.record, version, self.cluster.kernel.now_ms)
        answer = yield from self._exchange(request, attempt)
        assert isinstance(answer, PutResult)
        attempt.result = answer.value
        if answer is not PutResult.UNKNOWN:
            attempt.reply_at_ms = self.cluster.kernel.now_ms
            self.record.put_in_doubt = False
        return answer

    def _exchange(
        self, request: StoreRequest, attempt: AttemptRecord | None
    ) -> Waiting[StoreResponse]:
        """Out, effect, back: as `Sending` does it, for requests that nothing can hit."""
        cluster = self.cluster
        if cluster.may_be_hit or cluster.recorder.with_requests or not cluster.store.exclusive:
            return (yield from Sending(cluster, self.record, request, attempt).until_answered())
        kernel, latencies = cluster.kernel, cluster.latencies
        if type(request) is PutIfAbsent:
            success_ms = latencies.success() + len(request.body) * latencies.put_per_byte
            loss_ms = latencies.loss()
            outward_ms = latencies.effect_share * min(success_ms, loss_ms)
        else:
            success_ms = latencies.of_kind[type(request)]()
            outward_ms = latencies.effect_share * success_ms
        yield kernel.wait(outward_ms)
        now_ms = kernel.now_ms
        if cluster.store.throttles(request, now_ms):
            return (yield from self._throttled(request, attempt, success_ms - outward_ms))
        if attempt is not None:
            attempt.effect_at_ms = now_ms
        answer = cluster.store.take_effect(request, now_ms, self.record.transaction_id)
        if answer is PutResult.ALREADY_EXISTS:
            success_ms = loss_ms
        elif type(answer) is Body:
            success_ms += len(answer.content) * latencies.get_per_byte
        yield kernel.wait(success_ms - outward_ms)
        return answer

    def _throttled(
        self, request: StoreRequest, attempt: AttemptRecord | None, back_ms: float
    ) -> Waiting[StoreResponse]:
        """Learn of the refusal, and go on as under a fault."""
        yield self.cluster.kernel.wait(back_ms)
        sending = Sending(self.cluster, self.record, request, attempt)
        yield from sending.back_off()
        return (yield from sending.until_answered())
