"""How a transaction sends its requests to the store.

Where nothing can go wrong with a request and nobody wants it recorded (`Connection.passes`), all
that is left of it is the time it takes there and back (`sim/store/latency.py`). A process then
"passes" it: it adds that time to its own clock, without a word to the kernel. All other requests
are sent by `sim/store/exchange.py`. Both ways come to the same instants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from whitecap.sim.recording.recorder import AttemptRecord
from whitecap.sim.store.cluster import WriterCrashed
from whitecap.sim.store.exchange import DONE, TAKEN, Ask, Effect, Reply, Sender, StoreRefused
from whitecap.sim.store.key_queue import InLine, Turn
from whitecap.sim.store.kinds import RequestKind
from whitecap.sim.store.log_directory import NEVER, Moment
from whitecap.sim.store.tape import RequestLegs
from whitecap.sim.time.kernel import Waiting, Wakeup

File = tuple[str, int]
"""An object's key and its size in bytes."""


_Effects = Mapping[int, Effect]
"""What some of a series of requests do, by their positions in the series."""

NO_EFFECTS: _Effects = {}

_NO_LEGS: RequestLegs = (0.0, 0.0, 0.0)


def _nothing(_: Moment) -> Reply:
    return DONE


def read_effect(size: int) -> Effect:
    """The effect of reading an object of this size, which exists."""
    answer = Reply(result="found", size=size)
    return lambda _: answer


class Connection:
    """Sends the requests of one transaction."""

    __slots__ = ("_buckets", "_latencies", "_legs", "_tape", "clock", "passes", "sender")

    passes: bool
    """Whether requests can be passed: nothing can strike them, none is recorded."""

    def __init__(self, sender: Sender) -> None:
        self.sender = sender
        self.clock = sender.life.clock
        self._tape = sender.tape
        self._latencies = sender.tape.latencies
        self._buckets = sender.throttle.buckets
        self.passes = not (
            sender.faults.are_possible
            or sender.recorder.with_requests
            or sender.kernel.patient
            or sender.life.can_end
        )
        self._legs: RequestLegs = _NO_LEGS

    # Where requests pass: the two ways of one that is shared ------------------------------------

    def sent(self, kind: RequestKind, size_bytes: int = 0) -> Wakeup:
        """Send a request that others can see. Returns the event of its arrival at the store.

        `answered` takes its answer back.
        """
        clock = self.clock
        self._legs = legs = self._tape.next_legs(kind)
        clock.now_ms = clock.now_ms + legs[0] + size_bytes * self._latencies[kind].per_byte_out
        return clock.arrive()

    def answered(self, kind: RequestKind, size: int = 0) -> None:
        """Take back the answer to the request that was sent last; the clock shows its effect."""
        clock = self.clock
        if (bucket := self._buckets[kind]) is not None:
            bucket.refuses(1, clock.now_ms)
        clock.now_ms = clock.now_ms + self._legs[1] + size * self._latencies[kind].per_unit_back

    def arrived_in_line(self, takes_turn: InLine) -> Turn:
        """Queue at the key with the put that was sent last, and go on to the instant of its effect.

        A put that loses knows so as soon as it arrives; one that wins takes effect when its turn
        comes.
        """
        kind, clock = RequestKind.PUT_IF_ABSENT, self.clock
        if (bucket := self._buckets[kind]) is not None:
            bucket.refuses(1, clock.now_ms)
        rank = partial(self._tape.service, kind, self._tape.numbers[kind] - 1)
        turn = takes_turn(clock.now_ms, rank)
        clock.now_ms = turn.effect_ms
        return turn

    def left_line(self, turn: Turn, taken: bool) -> None:
        """Take back the answer of the put of this turn, from when the server is free again."""
        self.clock.now_ms = turn.ends_ms + self._legs[2 if taken else 1]

    # Any request --------------------------------------------------------------------------------

    def ask(
        self,
        kind: RequestKind,
        key: str,
        effect: Effect,
        size_bytes: int = 0,
        shared: bool = True,
        attempt: AttemptRecord | None = None,
        in_line: InLine | None = None,
    ) -> Waiting[Reply]:
        """Send a request and return its answer.

        `shared`: others can see its effect, or it can see theirs, so that it must take effect in
        order with them. `in_line`: it may have to queue at its key. Its instants are what
        `Latency.arrival` and `Latency.reply` give.
        """
        tape = self._tape
        number = tape.numbers[kind]
        tape.numbers[kind] = number + 1
        if not self.passes:
            ask = Ask(kind, number, key, effect, size_bytes, shared, attempt, in_line)
            return (yield from self.sender.answer(ask))
        clock, latency = self.clock, self._latencies[kind]
        out_ms, back_ms, lost_back_ms = tape.legs(kind, number)
        served_ms = clock.now_ms = clock.now_ms + out_ms + size_bytes * latency.per_byte_out
        if shared:
            yield clock.arrive()
        if (bucket := self._buckets[kind]) is not None:
            bucket.refuses(1, served_ms)
        if in_line is None:
            answer = effect((served_ms, clock.order))
        else:
            turn = in_line(served_ms, partial(tape.service, kind, number))
            served_ms = turn.ends_ms
            answer = yield from self._has_its_turn(turn, effect)
        if attempt is not None:
            attempt.effect_at_ms = clock.now_ms
        back_ms = lost_back_ms if answer.taken else back_ms
        clock.now_ms = served_ms + back_ms + answer.size * latency.per_unit_back
        return answer

    def _has_its_turn(self, turn: Turn, effect: Effect) -> Waiting[Reply]:
        """Wait for the turn and take effect; a put that finds its key taken knows that already."""
        clock = self.clock
        clock.now_ms = turn.effect_ms
        if turn.taken:
            return TAKEN
        yield clock.arrive_first()
        return effect((clock.now_ms, clock.order))

    def is_there(
        self, kind: RequestKind, key: str, appears: Callable[[], Moment | None], size: int
    ) -> Waiting[bool]:
        """Whether an object exists that may have appeared by then, or not.

        `appears` gives the moment from which it exists, `None` as long as that is not decided: then
        the process has to wait for the kernel, and look.
        """

        def look(moment: Moment) -> Reply:
            visible = (appears() or NEVER) <= moment
            return Reply(visible, "found" if visible else "missing", size if visible else 0)

        is_decided = appears() is not None
        if is_decided and self.passes:
            return bool(self._unseen(kind, look).value)
        answer = yield from self.ask(kind, key, look, shared=not is_decided)
        return bool(answer.value)

    def _unseen(self, kind: RequestKind, effect: Effect) -> Reply:
        """Send a request that nobody else can see, and return its answer."""
        clock = self.clock
        out_ms, back_ms, _ = self._tape.next_legs(kind)
        effect_ms = clock.now_ms + out_ms
        if (bucket := self._buckets[kind]) is not None:
            bucket.refuses(1, effect_ms)
        answer = effect((effect_ms, clock.order))
        clock.now_ms = self._latencies[kind].reply(effect_ms, back_ms, answer.size)
        return answer

    def read(self, kinds: Sequence[RequestKind], key: str, size_bytes: int) -> Waiting[None]:
        """Read an object that exists, with one request or several; what a GET brings takes time."""
        if self.passes:
            self.passed(kinds, size_bytes)
            return
        for kind in kinds:
            size = size_bytes if kind is RequestKind.GET else 0
            yield from self.ask(kind, key, read_effect(size), shared=False)

    def repeat(self, kind: RequestKind, key: str, answer: Reply, count: int) -> Waiting[None]:
        """Send the same request `count` times, one after the other; it changes nothing."""
        if self.passes:
            self.passed_again(kind, answer.size, count)
            return
        for _ in range(count):
            yield from self.ask(kind, key, lambda _: answer, shared=False)

    def passed_again(self, kind: RequestKind, size: int, count: int) -> None:
        """`repeat` where requests are passed; each answer has this `size`."""
        now_ms = self.clock.now_ms
        if self._buckets[kind] is None:
            first = self._tape.next_number(kind, count)
            now_ms = self._tape.repeated(kind, first, count, now_ms, size)
        else:
            next_legs, passed = self._tape.next_legs, self._passed
            for _ in range(count):
                now_ms = passed(kind, next_legs(kind), now_ms, size)
        self.clock.now_ms = now_ms

    def ask_all(
        self,
        kinds: Sequence[RequestKind],
        key: str,
        effects: _Effects = NO_EFFECTS,
        size_bytes: int = 0,
    ) -> Waiting[None]:
        """Send some requests for one object, one after the other; a PUT sends `size_bytes`.

        What `effects` says some of them do, nobody else can see before its instant.
        """
        if self.passes:
            self.passed(kinds, 0, effects, size_bytes)
            return
        for place, kind in enumerate(kinds):
            is_put = kind is RequestKind.PUT
            effect = effects.get(place, _nothing if is_put else read_effect(0))
            yield from self.ask(kind, key, effect, size_bytes if is_put else 0, shared=False)

    def passed_if_there(
        self, kinds: Sequence[RequestKind], appears: Moment, size_bytes: int
    ) -> bool:
        """Whether an object that `appears` at a moment exists; if so it is read. Passes requests.

        The first of the requests looks for the object and, if it is a GET, brings it.
        """
        first, clock = kinds[0], self.clock
        out_ms, back_ms, _ = self._tape.next_legs(first)
        clock.now_ms += out_ms
        if (bucket := self._buckets[first]) is not None:
            bucket.refuses(1, clock.now_ms)
        is_there = appears <= (clock.now_ms, clock.order)
        clock.now_ms += back_ms
        if is_there:
            if first is RequestKind.GET:
                clock.now_ms += size_bytes * self._latencies[first].per_unit_back
            self.passed(kinds[1:], size_bytes)
        return is_there

    def passed(
        self,
        kinds: Sequence[RequestKind],
        size: int,
        effects: _Effects = NO_EFFECTS,
        size_sent: int = 0,
    ) -> None:
        """Pass some requests that nobody else can see, one after the other.

        Each GET brings `size` bytes, each PUT sends `size_sent`. The clock then shows the reply to
        the last of them: the sum of what `Latency.arrival` and `Latency.reply` give one by one,
        added in the same order.
        """
        tape, buckets, latencies = self._tape, self._buckets, self._latencies
        numbers, stretches, drawn = tape.numbers, tape.stretches, tape.drawn
        now_ms = self.clock.now_ms
        for place, kind in enumerate(kinds):
            number = numbers[kind]
            numbers[kind] = number + 1
            first, width, usual = stretches[kind]
            if number < usual:
                at = first + number * width
                out_ms, back_ms = drawn[at], drawn[at + 1]
            else:
                out_ms, back_ms, _ = tape.legs(kind, number)
            now_ms += out_ms
            if size_sent and kind is RequestKind.PUT:
                now_ms += size_sent * latencies[kind].per_byte_out
            if (bucket := buckets[kind]) is not None:
                bucket.refuses(1, now_ms)
            if place in effects:
                effects[place]((now_ms, self.clock.order))
            now_ms += back_ms
            if size and kind is RequestKind.GET:
                now_ms += size * latencies[kind].per_unit_back
        self.clock.now_ms = now_ms

    def read_in_parallel(self, files: Sequence[File], tasks: int) -> Waiting[None]:
        """Read files in parallel tasks, each of which reads its files one after the other."""
        first = self._tape.next_number(RequestKind.GET, len(files))
        numbered = [(first + n, *file) for n, file in enumerate(files)]
        lanes = [numbered[n::tasks] for n in range(min(tasks, len(files)))]
        if self.passes:
            began_ms = self.clock.now_ms
            self.clock.now_ms = max(
                (self._lane_ends(lane, began_ms) for lane in lanes), default=began_ms
            )
        else:
            yield from self._all_lanes(lanes)

    def _lane_ends(self, lane: Sequence[tuple[int, str, int]], now_ms: float) -> float:
        for number, _, size_bytes in lane:
            legs = self._tape.legs(RequestKind.GET, number)
            now_ms = self._passed(RequestKind.GET, legs, now_ms, size_bytes)
        return now_ms

    def _passed(self, kind: RequestKind, legs: RequestLegs, sent_ms: float, size: int) -> float:
        """The instant of the reply to a request that changes nothing."""
        out_ms, back_ms, _ = legs
        effect_ms = sent_ms + out_ms
        bucket = self._buckets[kind]
        if bucket is not None:
            bucket.refuses(1, effect_ms)
        return self._latencies[kind].reply(effect_ms, back_ms, size)

    def _all_lanes(self, lanes: Sequence[Sequence[tuple[int, str, int]]]) -> Waiting[None]:
        """Run each lane as a process of its own, so that the requests of all come in order.

        Raises `WriterCrashed` or `StoreRefused` if that ended one of them, after all have ended.
        """
        senders = [
            replace(self.sender, life=self.sender.life.of_task(n + 1)) for n in range(len(lanes))
        ]
        tasks = [_lane(sender, lane) for sender, lane in zip(senders, lanes, strict=True)]
        ended = yield from self.sender.kernel.together(tasks)
        self.clock.now_ms = max([self.clock.now_ms, *(s.life.clock.now_ms for s in senders)])
        for failure in (WriterCrashed, StoreRefused):
            for error in ended:
                if isinstance(error, failure):
                    raise error


def _lane(sender: Sender, lane: Sequence[tuple[int, str, int]]) -> Waiting[Exception | None]:
    try:
        for number, key, size_bytes in lane:
            yield from sender.answer(Ask(RequestKind.GET, number, key, read_effect(size_bytes)))
    except (WriterCrashed, StoreRefused) as error:
        return error
    return None
