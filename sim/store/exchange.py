"""One request and its answer: the way out, the effect, the way back.

Whether a request is throttled and tried again, unanswered, late, or cut off by a crash, this is its
whole story; the store is read and changed at the instant of the effect only. Each request draws at
addresses of its own (`sim/store/tape.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from whitecap.engine.storage.requests import (
    Body,
    ListFrom,
    Listing,
    Missing,
    Put,
    PutIfAbsent,
    PutResult,
)
from whitecap.sim.recording.recorder import AttemptRecord, RequestRecord, TransactionRecord
from whitecap.sim.store.cluster import Cluster, Life
from whitecap.sim.store.faults import Sending
from whitecap.sim.store.kinds import KIND_OF
from whitecap.sim.store.objects import StoreRequest, StoreResponse
from whitecap.sim.store.tape import Tape
from whitecap.sim.time.kernel import Waiting


class StoreRefused(Exception):
    """The store throttled one request more often than the client tries again."""


class Signal:
    """What a sending can come to other than a response."""


THROTTLED = Signal()
NO_REPLY = Signal()


@dataclass(slots=True)
class Exchange:
    """One request of one transaction, sent as often as it takes."""

    cluster: Cluster
    record: TransactionRecord
    life: Life
    tape: Tape
    request: StoreRequest
    attempt: AttemptRecord | None = None
    _throttled: int = 0

    def answer(self) -> Waiting[StoreResponse]:
        """Send until there is an answer. Raises `StoreRefused`, `WriterCrashed`."""
        kind = KIND_OF[type(self.request)]
        number, repeat = self.tape.next_number(kind), 0
        while True:
            sending = Sending(self.tape, kind, number, repeat, self.life.clock.now_ms)
            answer = yield from self._send(sending)
            if answer is THROTTLED:
                yield from self._back_off(sending)
            elif answer is not NO_REPLY:
                assert not isinstance(answer, Signal)
                return answer
            elif kind.writes:
                return PutResult.UNKNOWN
            repeat += 1

    def _back_off(self, sending: Sending) -> Waiting[None]:
        """Wait after a refusal. Raises `StoreRefused` when there were too many."""
        client = self.cluster.profile.client
        if self._throttled == client.throttle_retries:
            raise StoreRefused(f"{sending.kind.label} was throttled {self._throttled + 1} times")
        doubled = client.backoff_base * 2.0 ** min(self._throttled, 62)
        self._throttled += 1
        share = self.tape.backoff(sending.kind, sending.number, sending.repeat)
        waits_ms = min(client.backoff_cap, doubled) * share
        yield from self.life.until(self.life.clock.now_ms + waits_ms)

    def _send(self, sending: Sending) -> Waiting[StoreResponse | Signal]:
        """One sending: the way out, the effect, the way back."""
        cluster, life, sent_ms = self.cluster, self.life, sending.sent_ms
        out_ms, back_ms, lost_back_ms = self.tape.legs(sending.kind, sending.number, sending.repeat)
        latency = self.tape.latency(sending.kind)
        request_record = self._record_of(sending)
        sent = cluster.store.as_sent(self.request)
        takes_effect = self._effect(sent, request_record)
        was_in_doubt = self.record.put_in_doubt
        self.record.put_in_doubt |= self.attempt is not None
        gives_up_ms = sent_ms + cluster.profile.client.timeout
        late_ms = cluster.faults.late_by(sending)
        if late_ms is not None:
            cluster.kernel.call_at(gives_up_ms + late_ms, life.clock.order, takes_effect)
            yield from life.until(gives_up_ms)
            return NO_REPLY
        effect_ms = sent_ms + out_ms + _bytes_out(self.request) * latency.per_byte_out
        if effect_ms >= life.crash_ms:
            cluster.kernel.call_at(effect_ms, life.clock.order, takes_effect)
        yield from life.until(effect_ms)
        answer = self._arrives(sending, takes_effect)
        if cluster.faults.loses_reply(sending):
            yield from life.until(max(gives_up_ms, effect_ms))
            return NO_REPLY
        if answer is THROTTLED:
            self.record.put_in_doubt = was_in_doubt
        taken = answer is PutResult.ALREADY_EXISTS
        reply_ms = effect_ms + (lost_back_ms if taken else back_ms)
        if isinstance(answer, Body):
            reply_ms += len(answer.content) * latency.per_byte_back
        yield from life.until(reply_ms)
        _note_reply(request_record, answer, reply_ms)
        return answer

    def _arrives(
        self, sending: Sending, takes_effect: Callable[[], StoreResponse]
    ) -> StoreResponse | Signal:
        refused = self.cluster.store.throttles(self.request, self.life.clock.now_ms)
        if self.cluster.faults.throttles(sending) or refused:
            return THROTTLED
        return takes_effect()

    def _effect(
        self, sent: StoreRequest, request_record: RequestRecord | None
    ) -> Callable[[], StoreResponse]:
        """The effect, which happens whether or not anyone still waits for it."""
        cluster, attempt, transaction_id = self.cluster, self.attempt, self.record.transaction_id

        def takes_effect() -> StoreResponse:
            now_ms = cluster.kernel.now_ms
            if attempt is not None:
                attempt.effect_at_ms = now_ms
            if request_record is not None:
                request_record.effect_at_ms = now_ms
            return cluster.store.take_effect(sent, now_ms, transaction_id)

        return takes_effect

    def _record_of(self, sending: Sending) -> RequestRecord | None:
        if not self.cluster.recorder.with_requests:
            return None
        request = self.request
        key = request.start if isinstance(request, ListFrom) else request.key
        label, sent_ms = sending.kind.label, sending.sent_ms
        record = RequestRecord(self.record.transaction_id, label, key, sent_ms)
        record.size_bytes = _bytes_out(request)
        self.cluster.recorder.requests.append(record)
        return record


def _bytes_out(request: StoreRequest) -> int:
    return len(request.body) if isinstance(request, PutIfAbsent | Put) else 0


def _note_reply(
    record: RequestRecord | None, answer: StoreResponse | Signal, reply_ms: float
) -> None:
    if record is None:
        return
    record.reply_at_ms = reply_ms
    match answer:
        case PutResult():
            record.result = answer.value
        case Body(content):
            record.result, record.size_bytes = "found", len(content)
        case Missing():
            record.result = "missing"
        case Listing(entries):
            record.result, record.size_bytes = "listed", len(entries)
        case _:
            record.result = "throttled"
