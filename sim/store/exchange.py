"""One request and its answer: the way out, the effect, the way back.

Whether a request is throttled and tried again, unanswered, late, or cut off by a crash, this is its
whole story. What it does happens at the instant of its effect; only where others could see that, or
it them, the process arrives there with the world. Each request draws at addresses of its own
(`sim/store/tape.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from whitecap.engine.storage.requests import PutResult
from whitecap.sim.recording.recorder import (
    AttemptRecord,
    Recorder,
    RequestRecord,
    TransactionRecord,
)
from whitecap.sim.scenario.store import Client as ClientOptions
from whitecap.sim.store.cluster import Life
from whitecap.sim.store.faults import Sending, WriterFaults
from whitecap.sim.store.kinds import Kind
from whitecap.sim.store.limits import Throttle
from whitecap.sim.store.log_directory import Moment
from whitecap.sim.store.tape import Tape
from whitecap.sim.time.kernel import Kernel, Waiting


class StoreRefused(Exception):
    """The store throttled one request more often than the client tries again."""


class Answer(msgspec.Struct, frozen=True):
    """What a request came to: a value, its name in recordings, and its size.

    `size` is in bytes, for a listing in keys; it takes time on the way back. `taken`: a
    put-if-absent found its key there.
    """

    value: Any = None
    result: str = "done"
    size: int = 0
    taken: bool = False


DONE = Answer()
THROTTLED = Answer(result="throttled")
NO_REPLY = Answer(PutResult.UNKNOWN, result="unknown")

Effect = Callable[[Moment], Answer]
"""What a request does at the moment that it takes effect."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request: `effect` is what it does, at an instant that is `shared` with others or not."""

    kind: Kind
    number: int
    key: str
    effect: Effect
    size_bytes: int = 0
    shared: bool = False
    attempt: AttemptRecord | None = None


@dataclass(frozen=True, slots=True)
class Sender:
    """Whose requests these are, and what can happen to them."""

    kernel: Kernel
    throttle: Throttle
    options: ClientOptions
    recorder: Recorder
    record: TransactionRecord
    faults: WriterFaults
    tape: Tape
    life: Life

    def answer(self, ask: Ask) -> Waiting[Answer]:
        """Send until there is an answer. Raises `StoreRefused`, `WriterCrashed`.

        A write without a reply is not sent again: nobody knows what came of it.
        """
        repeat = throttled = 0
        while True:
            now_ms = self.life.clock.now_ms
            sending = Sending(self.tape, ask.kind, ask.number, repeat, now_ms)
            answer = yield from self._send(ask, sending)
            if answer is THROTTLED:
                yield from self._back_off(sending, throttled)
                throttled += 1
            elif answer is not NO_REPLY or ask.kind.writes:
                return answer
            repeat += 1

    def _back_off(self, sending: Sending, throttled: int) -> Waiting[None]:
        """Wait after a refusal. Raises `StoreRefused` when there were too many."""
        if throttled == self.options.throttle_retries:
            raise StoreRefused(f"{sending.kind.label} was throttled {throttled + 1} times")
        doubled_ms = self.options.backoff_base * 2.0 ** min(throttled, 62)
        share = self.tape.backoff(sending.kind, sending.number, sending.repeat)
        wait_ms = min(self.options.backoff_cap, doubled_ms) * share
        yield from self.life.reach(self.life.clock.now_ms + wait_ms)

    def _send(self, ask: Ask, sending: Sending) -> Waiting[Answer]:
        """One sending: the way out, the effect, the way back."""
        life, clock = self.life, self.life.clock
        out_ms, back_ms, lost_back_ms = self.tape.legs(ask.kind, ask.number, sending.repeat)
        latency = self.tape.latencies[ask.kind]
        request_record = self.recorder.request(
            self.record, ask.kind.label, ask.key, ask.size_bytes, sending.sent_ms
        )
        takes_effect = self._effect(ask, request_record)
        gives_up_ms = sending.sent_ms + self.options.timeout
        was_in_doubt = self.record.put_in_doubt
        self.record.put_in_doubt |= ask.attempt is not None
        late_ms = self.faults.late_by(sending)
        if late_ms is not None:
            self._happens_alone(gives_up_ms + late_ms, takes_effect)
            yield from life.reach(gives_up_ms)
            return NO_REPLY
        effect_ms = latency.arrival(sending.sent_ms, out_ms, ask.size_bytes)
        if effect_ms >= life.crash_ms:
            self._happens_alone(effect_ms, takes_effect)
        yield from life.reach(effect_ms)
        if ask.shared and not self.kernel.patient:
            yield clock.arrive()
        answer = self._arrives(ask, sending, takes_effect)
        if self.faults.loses_reply(sending):
            yield from life.reach(max(gives_up_ms, effect_ms))
            return NO_REPLY
        if answer is THROTTLED:
            self.record.put_in_doubt = was_in_doubt
        reply_ms = latency.reply(effect_ms, lost_back_ms if answer.taken else back_ms, answer.size)
        yield from life.reach(reply_ms)
        if request_record is not None:
            request_record.ends(answer.result, answer.size or None, reply_ms)
        return answer

    def _happens_alone(self, instant_ms: float, takes_effect: Callable[[float], Answer]) -> None:
        """The effect comes whether or not anyone still waits for it."""
        order = self.life.clock.order
        self.record.effects_until_ms = max(self.record.effects_until_ms, instant_ms)
        self.kernel.call_at(instant_ms, order, partial(takes_effect, instant_ms))

    def _arrives(
        self, ask: Ask, sending: Sending, takes_effect: Callable[[float], Answer]
    ) -> Answer:
        now_ms = self.life.clock.now_ms
        refused = self.throttle.refuses(ask.kind, now_ms)
        if self.faults.throttles(sending) or refused:
            return THROTTLED
        return takes_effect(now_ms)

    def _effect(self, ask: Ask, request_record: RequestRecord | None) -> Callable[[float], Answer]:
        """What the request does at an instant, noted in its records."""
        order, attempt = self.life.clock.order, ask.attempt

        def takes_effect(now_ms: float) -> Answer:
            if attempt is not None:
                attempt.effect_at_ms = now_ms
            if request_record is not None:
                request_record.effect_at_ms = now_ms
            return ask.effect((now_ms, order))

        return takes_effect
