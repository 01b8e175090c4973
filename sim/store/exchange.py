"""One request and its answer: the way to the store, the effect, the way back.

Everything that can befall a request is here: it is throttled and sent again, gets no reply, takes
effect late, or is cut off by a crash. What it does happens at the instant of its effect. Only where
others could see that, or it depends on what they do, does the process wait for the kernel there.
Each request draws at addresses of its own (`sim/store/requests/tape.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.storage.requests import PutResult
from whitecap.sim.recording.recorder import Recorder
from whitecap.sim.recording.records import AttemptRecord, RequestRecord, TransactionRecord
from whitecap.sim.scenario.store import ClientSection, On409, Sdk
from whitecap.sim.store.cluster import Life
from whitecap.sim.store.contents.key_queue import InLine, Turn
from whitecap.sim.store.contents.log_directory import Moment
from whitecap.sim.store.requests.faults import UNHARMED, Sending, Struck, WriterFaults
from whitecap.sim.store.requests.kinds import RequestKind
from whitecap.sim.store.requests.limits import Throttle
from whitecap.sim.store.requests.tape import Tape
from whitecap.sim.time.kernel import FIRST_OF_AN_INSTANT, Kernel, Waiting


class StoreRefused(Exception):
    """The store throttled one request more often than the client tries again."""


class Reply(Struct, frozen=True):
    """What a request came to: a value, its name in recordings, and its size.

    `size` is in bytes, for a listing in keys; it takes time on the way back. `taken`: a
    put-if-absent found its key there.
    """

    value: Any = None
    result: str = "done"
    size: int = 0
    taken: bool = False


DONE = Reply()
THROTTLED = Reply(result="throttled")
CONFLICTING = Reply(result="409")
NO_REPLY = Reply(PutResult.UNKNOWN, result="unknown")
TAKEN = Reply(PutResult.ALREADY_EXISTS, result=PutResult.ALREADY_EXISTS.value, taken=True)

Effect = Callable[[Moment], Reply]
"""What a request does at the moment that it takes effect."""


class Ask(Struct, frozen=True):
    """One request of a transaction.

    `effect` is what it does; `shared` says that others can see that, or that it depends on what
    others do. Where requests for one key queue, `in_line` gives it its turn.
    """

    kind: RequestKind
    number: int
    key: str
    effect: Effect
    size_bytes: int = 0
    shared: bool = False
    attempt: AttemptRecord | None = None
    in_line: InLine | None = None


class OnItsWay(Struct, frozen=True):
    """One sending of a request, as the store gets it: perhaps long after its sender gave it up."""

    ask: Ask
    sending: Sending
    record: RequestRecord | None
    order: int

    def joins(self, arrives_ms: float) -> Turn | None:
        """Its turn in the queue at its key; `None` if requests for that key do not queue."""
        if self.ask.in_line is None:
            return None
        turn = self.ask.in_line(arrives_ms, self.sending.service)
        if turn.taken:
            self.notes(turn.effect_ms)
        return turn

    def takes_effect(self, now_ms: float) -> Reply:
        """Do what is asked for, now."""
        self.notes(now_ms)
        return self.ask.effect((now_ms, self.order))

    def notes(self, effect_ms: float) -> None:
        """Record the instant of its effect."""
        if self.ask.attempt is not None:
            self.ask.attempt.effect_at_ms = effect_ms
        if self.record is not None:
            self.record.effect_at_ms = effect_ms


class Sender(Struct, frozen=True):
    """Sends the requests of one transaction, whatever befalls them."""

    kernel: Kernel
    throttle: Throttle
    options: ClientSection
    recorder: Recorder
    record: TransactionRecord
    faults: WriterFaults
    tape: Tape
    life: Life

    def answer(self, ask: Ask) -> Waiting[Reply]:
        """Send until there is an answer. Raises `StoreRefused`, `WriterCrashed`.

        A write without a reply is not sent again: nobody knows what came of it.
        """
        repeat = throttled = 0
        while True:
            now_ms = self.life.clock.now_ms
            decides = ask.attempt is not None
            sending = Sending(self.tape, ask.kind, ask.number, repeat, now_ms, decides, ask.key)
            answer = yield from self._send(ask, sending)
            if answer is CONFLICTING:
                answer = self._made_of_409(ask.kind)
            if answer is THROTTLED:
                yield from self._back_off(sending, throttled)
                throttled += 1
            elif answer is not NO_REPLY or ask.kind.writes:
                return answer
            repeat += 1

    def _made_of_409(self, kind: RequestKind) -> Reply:
        """What the client takes an answer 409 for, by its configuration. Raises `StoreRefused`."""
        match self.options.on_409:
            case On409.RESEND:
                return THROTTLED
            case On409.TAKEN:
                return TAKEN
            case On409.FAIL:
                raise StoreRefused(f"{kind.label} was answered 409")

    def _back_off(self, sending: Sending, throttled: int) -> Waiting[None]:
        """Wait after a refusal. Raises `StoreRefused` when there were too many."""
        share = self.tape.backoff(sending.kind, sending.number, sending.repeat)
        wait_ms = share * self.longest_wait_ms(throttled, sending.kind.label)
        yield from self.life.reach(self.life.clock.now_ms + wait_ms)

    def longest_wait_ms(self, throttled: int, what: str) -> float:
        """How long to wait at most after so many refusals. Raises `StoreRefused` after too many.

        The attempts of the vendor's library come first, then the file system client's own wait.
        """
        options: ClientSection | Sdk = self.options
        sdk, retry = self.options.sdk, throttled
        if sdk is not None:
            retry, attempt = divmod(throttled, sdk.attempts)
            if attempt < sdk.attempts - 1:
                options, retry = sdk, attempt
        if options is self.options and retry == self.options.throttle_retries:
            raise StoreRefused(f"{what} was throttled {throttled + 1} times")
        return min(options.backoff_cap, options.backoff_base * 2.0 ** min(retry, 62))

    def _send(self, ask: Ask, sending: Sending) -> Waiting[Reply]:
        """One sending: the way out, the effect, the way back."""
        life, clock = self.life, self.life.clock
        struck = self.faults.befall(sending)
        if struck is not UNHARMED:
            yield from self._before(struck)
        sent_ms = clock.now_ms
        out_ms, back_ms, lost_back_ms = self.tape.legs(ask.kind, ask.number, sending.repeat)
        latency = self.tape.latencies[ask.kind]
        request_record = self.recorder.request(
            self.record, ask.kind.label, ask.key, ask.size_bytes, sent_ms
        )
        request = OnItsWay(ask, sending, request_record, clock.order)
        gives_up_ms = sent_ms + self.options.timeout
        was_in_doubt = self.record.put_in_doubt
        self.record.put_in_doubt |= ask.attempt is not None
        if struck.late_ms is not None:
            self._arrives_alone(request, gives_up_ms + struck.late_ms)
            if struck.crash is not None:
                life.dies(struck.crash.restart_ms)
            yield from life.reach(gives_up_ms)
            return NO_REPLY
        effect_ms = latency.arrival(sent_ms, out_ms, ask.size_bytes)
        if struck.crash is not None and struck.crash.when == "during":
            life.dies(struck.crash.restart_ms)
        if effect_ms >= life.crash_ms:
            self._arrives_alone(request, effect_ms)
        yield from life.reach(effect_ms)
        if ask.shared and not self.kernel.patient:
            yield clock.arrive()
        answer, served_ms = yield from self._served(request, struck)
        was_refused = answer is THROTTLED or answer is CONFLICTING
        if struck is not UNHARMED:
            yield from self._after(struck, request, was_refused)
        if struck.loses_reply:
            yield from life.reach(max(gives_up_ms, served_ms))
            return NO_REPLY
        if was_refused:
            self.record.put_in_doubt = was_in_doubt
        reply_ms = latency.reply(served_ms, lost_back_ms if answer.taken else back_ms, answer.size)
        yield from life.reach(reply_ms)
        if request_record is not None:
            request_record.ends(answer.result, answer.size or None, reply_ms)
        return answer

    def _before(self, struck: Struck) -> Waiting[None]:
        """What strikes before the request is sent: a pause, a crash. Raises `WriterCrashed`."""
        life = self.life
        if struck.pause_ms:
            yield from life.reach(life.clock.now_ms + struck.pause_ms)
        if struck.crash is not None and struck.crash.when == "before":
            life.dies(struck.crash.restart_ms)
            yield from life.reach(life.clock.now_ms)

    def _after(self, struck: Struck, request: OnItsWay, was_refused: bool) -> Waiting[None]:
        """What strikes after the effect: a second delivery, a crash. Raises `WriterCrashed`."""
        life = self.life
        if struck.again_ms is not None and not was_refused:
            self._delivered_again(request, life.clock.now_ms + struck.again_ms)
        if struck.crash is not None:
            life.dies(struck.crash.restart_ms)
            yield from life.reach(life.clock.now_ms)

    def _delivered_again(self, request: OnItsWay, instant_ms: float) -> None:
        """Deliver the request a second time; nobody waits for that answer."""
        ask = request.ask
        record = self.recorder.request(
            self.record, ask.kind.label, ask.key, ask.size_bytes, instant_ms
        )
        again = OnItsWay(replace(ask, attempt=None), request.sending, record, request.order)
        self._arrives_alone(again, instant_ms)

    def _served(self, request: OnItsWay, struck: Struck) -> Waiting[tuple[Reply, float]]:
        """The answer to a request that has arrived, and the instant at which its way back begins.

        Raises `WriterCrashed` where its writer dies before it takes effect.
        """
        clock = self.life.clock
        now_ms = clock.now_ms
        refused = self.throttle.refuses(request.ask.kind, now_ms)
        if struck.is_throttled or refused:
            return THROTTLED, now_ms
        if struck.is_conflicting:
            return CONFLICTING, now_ms
        turn = request.joins(now_ms)
        if turn is None:
            return request.takes_effect(now_ms), now_ms
        if turn.taken:
            return TAKEN, turn.ends_ms
        if turn.effect_ms >= self.life.crash_ms:
            self._lands_alone(request, turn.effect_ms)
            yield from self.life.reach(turn.effect_ms)
        clock.now_ms = turn.effect_ms
        yield clock.arrive_first()
        return request.takes_effect(clock.now_ms), turn.ends_ms

    def _arrives_alone(self, request: OnItsWay, instant_ms: float) -> None:
        """Let the request arrive, even if its sender has given it up."""

        def arrives() -> None:
            turn = request.joins(instant_ms)
            if turn is None:
                request.takes_effect(instant_ms)
            elif not turn.taken:
                self._lands_alone(request, turn.effect_ms)

        self._alone(instant_ms, request.order, arrives)

    def _lands_alone(self, request: OnItsWay, instant_ms: float) -> None:
        """Let a queued put take effect at its turn, even if its sender has given it up."""
        self._alone(instant_ms, FIRST_OF_AN_INSTANT, partial(request.takes_effect, instant_ms))

    def _alone(self, instant_ms: float, order: int, happens: Callable[[], object]) -> None:
        """Let something happen to a request that its sender may have given up."""
        self.record.effects_until_ms = max(self.record.effects_until_ms, instant_ms)
        self.kernel.call_at(instant_ms, order, happens)
