"""A writer's way to the object store: latency, throttling, lost replies, crashes.

Every request is sent, takes effect, and is replied to, at three instants; the store is read and
changed at the second only. What can go wrong ends up as a response (`PutResult.UNKNOWN`), as a
longer wait, or as one of the two exceptions below, which end the transaction from outside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from engine.log.commit_file import version_of_key
from engine.storage.requests import (
    Body,
    Compute,
    Get,
    ListFrom,
    Listing,
    Missing,
    NewId,
    Put,
    PutIfAbsent,
    PutResult,
    ReadClock,
    ReadRows,
    Request,
    Response,
    RowsOf,
    WriteRows,
    Written,
)
from sim.faults import KINDS, WriterFaults
from sim.kernel import Kernel, Waiting
from sim.random_streams import NextDraw, RandomStreams
from sim.recorder import AttemptRecord, Recorder, RequestRecord, TransactionRecord
from sim.scenario.store import Measured, Store
from sim.scenario.writers import Compute as ComputeTime
from sim.store import FakeStore, StoreRequest, StoreResponse

MIB = 1024.0**2
GIB = 1024.0**3
MILLION = 1e6


class WriterCrashed(Exception):
    """The writer's driver died while its transaction waited."""


class StoreRefused(Exception):
    """The store throttled one request more often than the client tries again."""


class _Signal:
    """What a sending can come to other than a response."""


THROTTLED = _Signal()
NO_REPLY = _Signal()


@dataclass(slots=True)
class Latencies:
    """The latency streams of one writer, milliseconds from sent to reply."""

    success: NextDraw
    loss: NextDraw
    of_kind: Mapping[type, NextDraw]
    per_byte: Mapping[type, float]
    effect_share: float

    @classmethod
    def of(cls, store: Store, writer: str, streams: RandomStreams) -> Latencies:
        """The streams of `writer`."""

        def stream(name: str, measured: Measured) -> NextDraw:
            return measured.latency.sampler(streams.generator(f"latency {name}", writer))

        kinds: dict[type, Measured] = {Get: store.get, ListFrom: store.list, Put: store.put}
        return cls(
            stream("put_if_absent success", store.put_if_absent.success),
            stream("put_if_absent loss", store.put_if_absent.loss),
            {kind: stream(KINDS[kind], measured) for kind, measured in kinds.items()},
            {kind: measured.per_mib / MIB for kind, measured in kinds.items()}
            | {PutIfAbsent: store.put_if_absent.success.per_mib / MIB},
            store.effect.share,
        )


@dataclass(slots=True)
class Cluster:
    """One writer's Spark cluster: everything that its transactions share."""

    kernel: Kernel
    store: FakeStore
    profile: Store
    recorder: Recorder
    latencies: Latencies
    compute: ComputeTime
    compute_time: NextDraw
    backoff: Callable[[], float]
    new_id: Callable[[], str]
    faults: WriterFaults
    crash_at_ms: float = math.inf
    down_until_ms: float = 0.0
    _restart: NextDraw | None = None

    def __post_init__(self) -> None:
        self._plan_next_crash(0.0)

    def is_up(self) -> Waiting[None]:
        """Wait until the driver is up. Crashes strike only while a transaction runs."""
        now_ms = self.kernel.now_ms
        if now_ms < self.down_until_ms:
            yield self.kernel.wait(self.down_until_ms - now_ms)
        elif self.crash_at_ms <= now_ms:
            self._plan_next_crash(now_ms)

    def crashed(self) -> None:
        """The driver died just now; all of its transactions report it, the first one counts."""
        now_ms = self.kernel.now_ms
        if now_ms >= self.crash_at_ms and self._restart is not None:
            self.down_until_ms = now_ms + self._restart()
            self._plan_next_crash(self.down_until_ms)

    def _plan_next_crash(self, now_ms: float) -> None:
        plans = [(crashes.next_after(now_ms), crashes) for crashes in self.faults.crashes]
        instant_ms, cause = min(plans, key=lambda plan: plan[0], default=(math.inf, None))
        self.crash_at_ms = instant_ms
        self._restart = None if cause is None else cause.restart


@dataclass(slots=True)
class Client:
    """Answers the requests of one transaction."""

    cluster: Cluster
    record: TransactionRecord
    at_once: Mapping[type, Callable[[Any], Response]] = field(init=False)
    _computed: bool = False

    def __post_init__(self) -> None:
        self.at_once = MappingProxyType(
            {
                ReadClock: self._clock,
                NewId: self._id,
                ReadRows: self._read_rows,
                WriteRows: self._write_rows,
            }
        )

    def perform(self, request: Request) -> Waiting[Response]:
        """Answer a request that takes time."""
        if isinstance(request, Compute):
            return self._compute(request)
        assert isinstance(request, ListFrom | Get | PutIfAbsent | Put)
        return self._exchange(request)

    # Requests that take no time: data files are part of the job's compute time ------------------

    def _clock(self, _: ReadClock) -> int:
        return self.cluster.store.epoch_ms + int(self.cluster.kernel.now_ms)

    def _id(self, _: NewId) -> str:
        return self.cluster.new_id()

    def _read_rows(self, request: ReadRows) -> RowsOf:
        return self.cluster.store.read_rows(request.keys)

    def _write_rows(self, request: WriteRows) -> Written:
        size_bytes = self.cluster.store.write_rows(request)
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
            yield from self._pause(spent_ms)
        finally:
            self.record.compute_ms += self.cluster.kernel.now_ms - began_ms
        return None

    def _exchange(self, request: StoreRequest) -> Waiting[Response]:
        """Send until there is an answer, or until the client's patience is at its end."""
        attempt = self._attempt_of(request)
        throttled = 0
        while True:
            answer = yield from self._send(request, attempt)
            if answer is THROTTLED:
                if throttled == self.cluster.profile.client.throttle_retries:
                    raise StoreRefused(f"{KINDS[type(request)]} was throttled {throttled} times")
                throttled += 1
                yield from self._pause(self._backoff_ms(throttled))
            elif answer is NO_REPLY:
                if isinstance(request, PutIfAbsent | Put):
                    self._no_answer(attempt)
                    return PutResult.UNKNOWN
            else:
                assert not isinstance(answer, _Signal)
                if attempt is not None and isinstance(answer, PutResult):
                    self._answered(attempt, answer)
                return answer

    def _attempt_of(self, request: StoreRequest) -> AttemptRecord | None:
        if not isinstance(request, PutIfAbsent):
            return None
        version = version_of_key(request.key)
        if version is None:
            return None
        self.record.last_body = request.body
        return self.cluster.recorder.attempt(self.record, version, self.cluster.kernel.now_ms)

    def _answered(self, attempt: AttemptRecord, answer: PutResult) -> None:
        attempt.reply_at_ms = self.cluster.kernel.now_ms
        attempt.result = answer.value
        self.record.put_in_doubt = False

    def _no_answer(self, attempt: AttemptRecord | None) -> None:
        if attempt is not None:
            attempt.result = PutResult.UNKNOWN.value

    def _backoff_ms(self, throttled: int) -> float:
        client = self.cluster.profile.client
        longest = min(client.backoff_cap, client.backoff_base * 2.0 ** min(throttled - 1, 62))
        return longest * self.cluster.backoff()

    def _send(
        self, request: StoreRequest, attempt: AttemptRecord | None
    ) -> Waiting[StoreResponse | _Signal]:
        """One sending: the way out, the effect, the way back."""
        cluster, kernel = self.cluster, self.cluster.kernel
        kind = type(request)
        sent_ms = kernel.now_ms
        success_ms, loss_ms = self._latency_ms(request)
        outward_ms = cluster.latencies.effect_share * min(success_ms, loss_ms)
        told = self._told(request, sent_ms)
        if attempt is not None:
            self.record.put_in_doubt = True
        late_ms = cluster.faults.late_by(kind, sent_ms) if cluster.faults.touch_requests else None
        if late_ms is not None:
            timeout_ms = cluster.profile.client.timeout
            kernel.call_after(timeout_ms + late_ms, self._effect(request, attempt, told))
            yield from self._pause(timeout_ms)
            return NO_REPLY
        if sent_ms + outward_ms >= cluster.crash_at_ms:
            kernel.call_after(outward_ms, self._effect(request, attempt, told))
        yield from self._pause(outward_ms)
        answer = self._arrives(request, attempt, told)
        if cluster.faults.touch_requests and cluster.faults.loses_reply(kind, sent_ms):
            yield from self._pause(sent_ms + cluster.profile.client.timeout - kernel.now_ms)
            return NO_REPLY
        total_ms = loss_ms if answer is PutResult.ALREADY_EXISTS else success_ms
        if isinstance(answer, Body):
            total_ms += len(answer.content) * cluster.latencies.per_byte[Get]
        yield from self._pause(max(0.0, total_ms - outward_ms))
        self._replied(told, answer)
        return answer

    def _latency_ms(self, request: StoreRequest) -> tuple[float, float]:
        """From sent to reply, if it succeeds and if it finds the key taken."""
        latencies = self.cluster.latencies
        if isinstance(request, PutIfAbsent):
            size_ms = len(request.body) * latencies.per_byte[PutIfAbsent]
            return latencies.success() + size_ms, latencies.loss()
        latency_ms = latencies.of_kind[type(request)]()
        if isinstance(request, Put):
            latency_ms += len(request.body) * latencies.per_byte[Put]
        return latency_ms, latency_ms

    def _arrives(
        self, request: StoreRequest, attempt: AttemptRecord | None, told: RequestRecord | None
    ) -> StoreResponse | _Signal:
        cluster, now_ms = self.cluster, self.cluster.kernel.now_ms
        refused = cluster.store.throttles(request, now_ms)
        if refused or (
            cluster.faults.touch_requests and cluster.faults.throttles(type(request), now_ms)
        ):
            self.record.put_in_doubt = False
            return THROTTLED
        return self._takes_effect(request, attempt, told)

    def _takes_effect(
        self, request: StoreRequest, attempt: AttemptRecord | None, told: RequestRecord | None
    ) -> StoreResponse:
        now_ms = self.cluster.kernel.now_ms
        if attempt is not None:
            attempt.effect_at_ms = now_ms
        if told is not None:
            told.effect_at_ms = now_ms
        return self.cluster.store.take_effect(request, now_ms, self.record.transaction_id)

    def _effect(
        self, request: StoreRequest, attempt: AttemptRecord | None, told: RequestRecord | None
    ) -> Callable[[], None]:
        """The effect as something that happens by itself, whether or not anyone still waits."""

        def happens() -> None:
            self._takes_effect(request, attempt, told)

        return happens

    def _told(self, request: StoreRequest, sent_ms: float) -> RequestRecord | None:
        """The record of this sending, if requests are recorded."""
        recorder = self.cluster.recorder
        if not recorder.with_requests:
            return None
        key = request.start if isinstance(request, ListFrom) else request.key
        kind = KINDS[type(request)]
        told = RequestRecord(self.record.transaction_id, kind, key, sent_ms)
        if isinstance(request, PutIfAbsent | Put):
            told.size_bytes = len(request.body)
        recorder.requests.append(told)
        return told

    def _replied(self, told: RequestRecord | None, answer: StoreResponse | _Signal) -> None:
        if told is None:
            return
        told.reply_at_ms = self.cluster.kernel.now_ms
        match answer:
            case PutResult():
                told.result = answer.value
            case Body(content):
                told.result, told.size_bytes = "found", len(content)
            case Missing():
                told.result = "missing"
            case Listing(entries):
                told.result, told.size_bytes = "listed", len(entries)
            case _:
                told.result = "throttled"

    def _pause(self, delay_ms: float) -> Waiting[None]:
        """Let time pass, unless the driver dies before."""
        kernel, crash_at_ms = self.cluster.kernel, self.cluster.crash_at_ms
        if kernel.now_ms + delay_ms < crash_at_ms:
            yield kernel.wait(delay_ms)
            return
        yield kernel.wait(max(0.0, crash_at_ms - kernel.now_ms))
        raise WriterCrashed
