"""A request that may be hit: throttled and tried again, unanswered, late, or cut off by a crash.

This is the whole story of a request. Where nothing can hit it and nobody wants it recorded,
`sim/client.py` tells a shorter one with the same ending.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from whitecap.engine.storage.requests import (
    Body,
    Get,
    ListFrom,
    Listing,
    Missing,
    Put,
    PutIfAbsent,
    PutResult,
)
from whitecap.sim.cluster import Cluster
from whitecap.sim.faults import KINDS
from whitecap.sim.kernel import Waiting
from whitecap.sim.recorder import AttemptRecord, RequestRecord, TransactionRecord
from whitecap.sim.store import StoreRequest, StoreResponse


class StoreRefused(Exception):
    """The store throttled one request more often than the client tries again."""


class Signal:
    """What a sending can come to other than a response."""


THROTTLED = Signal()
NO_REPLY = Signal()


@dataclass(slots=True)
class Sending:
    """One request of one transaction, sent as often as it takes."""

    cluster: Cluster
    record: TransactionRecord
    request: StoreRequest
    attempt: AttemptRecord | None
    throttled: int = 0
    _told: RequestRecord | None = None
    _sent: StoreRequest | None = None

    def until_answered(self) -> Waiting[StoreResponse]:
        """Send until there is an answer. Raises `StoreRefused`, `WriterCrashed`."""
        while True:
            answer = yield from self._send()
            if answer is THROTTLED:
                yield from self.back_off()
            elif answer is not NO_REPLY:
                assert not isinstance(answer, Signal)
                return answer
            elif isinstance(self.request, PutIfAbsent | Put):
                return PutResult.UNKNOWN

    def back_off(self) -> Waiting[None]:
        """Wait after a refusal. Raises `StoreRefused` when there were too many."""
        client = self.cluster.profile.client
        if self.throttled == client.throttle_retries:
            kind = KINDS[type(self.request)]
            raise StoreRefused(f"{kind} was throttled {self.throttled + 1} times")
        doubled = client.backoff_base * 2.0 ** min(self.throttled, 62)
        self.throttled += 1
        yield from self.cluster.pause(min(client.backoff_cap, doubled) * self.cluster.backoff())

    def _send(self) -> Waiting[StoreResponse | Signal]:
        """One sending: the way out, the effect, the way back."""
        cluster, kernel = self.cluster, self.cluster.kernel
        kind, sent_ms = type(self.request), self.cluster.kernel.now_ms
        success_ms, loss_ms = latency_ms(cluster, self.request)
        outward_ms = cluster.latencies.effect_share * min(success_ms, loss_ms)
        self._told = self._record_of_sending(sent_ms)
        self._sent = cluster.store.as_sent(self.request)
        was_in_doubt = self.record.put_in_doubt
        self.record.put_in_doubt |= self.attempt is not None
        late_ms = cluster.faults.late_by(kind, sent_ms)
        if late_ms is not None:
            return (yield from self._gives_up_before_the_effect(late_ms))
        if sent_ms + outward_ms >= cluster.crash_at_ms:
            kernel.call_after(outward_ms, self._effect_alone())
        yield from cluster.pause(outward_ms)
        answer = self._arrives()
        if answer is THROTTLED:
            self.record.put_in_doubt = was_in_doubt
        if cluster.faults.loses_reply(kind, sent_ms):
            yield from cluster.pause(sent_ms + cluster.profile.client.timeout - kernel.now_ms)
            return NO_REPLY
        total_ms = loss_ms if answer is PutResult.ALREADY_EXISTS else success_ms
        if isinstance(answer, Body):
            total_ms += len(answer.content) * cluster.latencies.get_per_byte
        yield from cluster.pause(max(0.0, total_ms - outward_ms))
        self._replied(answer)
        return answer

    def _gives_up_before_the_effect(self, late_ms: float) -> Waiting[Signal]:
        timeout_ms = self.cluster.profile.client.timeout
        self.cluster.kernel.call_after(timeout_ms + late_ms, self._effect_alone())
        yield from self.cluster.pause(timeout_ms)
        return NO_REPLY

    def _arrives(self) -> StoreResponse | Signal:
        cluster, now_ms = self.cluster, self.cluster.kernel.now_ms
        refused = cluster.store.throttles(self.request, now_ms)
        if cluster.faults.throttles(type(self.request), now_ms) or refused:
            return THROTTLED
        return self._takes_effect(self._told, self._sent or self.request)

    def _takes_effect(self, told: RequestRecord | None, sent: StoreRequest) -> StoreResponse:
        now_ms = self.cluster.kernel.now_ms
        if self.attempt is not None:
            self.attempt.effect_at_ms = now_ms
        if told is not None:
            told.effect_at_ms = now_ms
        return self.cluster.store.take_effect(sent, now_ms, self.record.transaction_id)

    def _effect_alone(self) -> Callable[[], None]:
        """The effect as something that happens by itself, whether or not anyone still waits."""
        told, sent = self._told, self._sent or self.request

        def happens() -> None:
            self._takes_effect(told, sent)

        return happens

    def _record_of_sending(self, sent_ms: float) -> RequestRecord | None:
        if not self.cluster.recorder.with_requests:
            return None
        request = self.request
        key = request.start if isinstance(request, ListFrom) else request.key
        told = RequestRecord(self.record.transaction_id, KINDS[type(request)], key, sent_ms)
        if isinstance(request, PutIfAbsent | Put):
            told.size_bytes = len(request.body)
        self.cluster.recorder.requests.append(told)
        return told

    def _replied(self, answer: StoreResponse | Signal) -> None:
        told = self._told
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


def latency_ms(cluster: Cluster, request: StoreRequest) -> tuple[float, float]:
    """From sent to reply, if it succeeds, and if it finds the key taken."""
    latencies = cluster.latencies
    match request:
        case PutIfAbsent(_, body):
            return latencies.success() + len(body) * latencies.put_per_byte, latencies.loss()
        case Put(_, body):
            both_ms = latencies.of_kind[Put]() + len(body) * latencies.put_per_byte
        case Get() | ListFrom():
            both_ms = latencies.of_kind[type(request)]()
    return both_ms, both_ms
