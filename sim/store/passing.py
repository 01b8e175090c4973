"""Requests with which nothing can go wrong, and of which nobody wants a record.

All that is left of such a request is the time it takes there and back
(`sim/store/requests/latency.py`). A process "passes" it: it adds that time to its own clock,
without a word to the kernel, and waits only where others can see what it does. `Connection` sends
all other requests; both come to the same instants, draw by draw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from whitecap.sim.recording.records import AttemptRecord
from whitecap.sim.store.contents.key_queue import InLine, Turn
from whitecap.sim.store.contents.log_directory import Moment
from whitecap.sim.store.exchange import Effect, Reply, Sender
from whitecap.sim.store.requests.kinds import RequestKind
from whitecap.sim.store.requests.tape import RequestLegs
from whitecap.sim.time.kernel import Waiting, Wakeup

Effects = Mapping[int, Effect]
"""What some of a series of requests do, by their positions in the series."""

NO_EFFECTS: Effects = {}

_NO_LEGS: RequestLegs = (0.0, 0.0, 0.0)

_GET, _PUT, _PUT_IF_ABSENT = RequestKind.GET, RequestKind.PUT, RequestKind.PUT_IF_ABSENT
"""By names of their own, for speed: up to Python 3.11 an enumeration finds its members slowly."""


class Passing:
    """Passes the requests of one transaction."""

    __slots__ = ("_latencies", "_legs", "_passes", "_tape", "clock")

    def __init__(self, sender: Sender) -> None:
        self.clock = sender.life.clock
        self._tape = sender.tape
        self._latencies = sender.tape.latencies
        self._passes = sender.throttle.passes
        self._legs: RequestLegs = _NO_LEGS

    # The two ways of a request that others can see ----------------------------------------------

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
        if (passes := self._passes[kind]) is not None:
            passes(clock.now_ms)
        clock.now_ms = clock.now_ms + self._legs[1] + size * self._latencies[kind].per_unit_back

    def arrived_in_line(self, takes_turn: InLine) -> Turn:
        """Queue at the key with the put that was sent last, and go on to the instant of its effect.

        A put that loses knows so as soon as it arrives; one that wins takes effect when its turn
        comes.
        """
        kind, clock = _PUT_IF_ABSENT, self.clock
        if (passes := self._passes[kind]) is not None:
            passes(clock.now_ms)
        rank = partial(self._tape.service, kind, self._tape.made(kind) - 1)
        turn = takes_turn(clock.now_ms, rank)
        clock.now_ms = turn.effect_ms
        return turn

    def left_line(self, turn: Turn, taken: bool) -> None:
        """Take back the answer of the put of this turn, from when the server is free again."""
        self.clock.now_ms = turn.ends_ms + self._legs[2 if taken else 1]

    def ask(
        self,
        kind: RequestKind,
        number: int,
        effect: Effect,
        size_bytes: int,
        shared: bool,
        attempt: AttemptRecord | None,
    ) -> Waiting[Reply]:
        """What `Connection.ask` comes to; `number` is that among its kind."""
        clock, latency = self.clock, self._latencies[kind]
        out_ms, back_ms, lost_back_ms = self._tape.legs(kind, number)
        served_ms = clock.now_ms = clock.now_ms + out_ms + size_bytes * latency.per_byte_out
        if shared:
            yield clock.arrive()
        if (passes := self._passes[kind]) is not None:
            passes(served_ms)
        answer = effect((served_ms, clock.order))
        if attempt is not None:
            attempt.effect_at_ms = clock.now_ms
        back_ms = lost_back_ms if answer.taken else back_ms
        clock.now_ms = served_ms + back_ms + answer.size * latency.per_unit_back
        return answer

    # Requests that nobody else can see ----------------------------------------------------------

    def single(self, kind: RequestKind, effect: Effect) -> Reply:
        """Pass one request. Returns its answer."""
        clock = self.clock
        out_ms, back_ms, _ = self._tape.next_legs(kind)
        effect_ms = clock.now_ms + out_ms
        if (passes := self._passes[kind]) is not None:
            passes(effect_ms)
        answer = effect((effect_ms, clock.order))
        clock.now_ms = self._latencies[kind].reply(effect_ms, back_ms, answer.size)
        return answer

    def if_there(self, kinds: Sequence[RequestKind], appears: Moment, size_bytes: int) -> bool:
        """Whether an object that `appears` at a moment exists; if so it is read.

        The first of the requests looks for the object and, if it is a GET, brings it.
        """
        first, clock = kinds[0], self.clock
        out_ms, back_ms, _ = self._tape.next_legs(first)
        clock.now_ms += out_ms
        if (passes := self._passes[first]) is not None:
            passes(clock.now_ms)
        is_there = appears <= (clock.now_ms, clock.order)
        clock.now_ms += back_ms
        if is_there:
            if first is _GET:
                clock.now_ms += size_bytes * self._latencies[first].per_unit_back
            self.series(kinds[1:], size_bytes)
        return is_there

    def series(
        self,
        kinds: Sequence[RequestKind],
        size: int,
        effects: Effects = NO_EFFECTS,
        size_sent: int = 0,
    ) -> None:
        """Pass some requests one after the other.

        Each GET brings `size` bytes, each PUT sends `size_sent`. The clock then shows the reply to
        the last of them: the sum of what `Latency.arrival` and `Latency.reply` give one by one,
        added in the same order.
        """
        tape, limited, latencies = self._tape, self._passes, self._latencies
        cursors, drawn = tape.cursors, tape.drawn
        widths, ends = tape.stretches.widths, tape.stretches.ends
        now_ms = self.clock.now_ms
        for place, kind in enumerate(kinds):
            at = cursors[kind]
            if at < ends[kind]:
                cursors[kind] = at + widths[kind]
                out_ms, back_ms = drawn[at], drawn[at + 1]
            else:
                out_ms, back_ms, _ = tape.next_legs(kind)
            now_ms += out_ms
            if size_sent and kind is _PUT:
                now_ms += size_sent * latencies[kind].per_byte_out
            if (passes := limited[kind]) is not None:
                passes(now_ms)
            if place in effects:
                effects[place]((now_ms, self.clock.order))
            now_ms += back_ms
            if size and kind is _GET:
                now_ms += size * latencies[kind].per_unit_back
        self.clock.now_ms = now_ms

    def repeated(self, kind: RequestKind, size: int, count: int) -> None:
        """Pass the same request `count` times, one after the other; each answer has this `size`."""
        now_ms = self.clock.now_ms
        if self._passes[kind] is None:
            first = self._tape.next_number(kind, count)
            now_ms = self._tape.repeated(kind, first, count, now_ms, size)
        else:
            next_legs, reply_ms = self._tape.next_legs, self._reply_ms
            for _ in range(count):
                now_ms = reply_ms(kind, next_legs(kind), now_ms, size)
        self.clock.now_ms = now_ms

    def in_parallel(self, first: int, sizes: Sequence[int], tasks: int) -> None:
        """Pass GETs, numbered from `first`, that are dealt out in turn to tasks side by side."""
        passes, per_byte = self._passes[_GET], self._latencies[_GET].per_unit_back
        ends_ms = [self.clock.now_ms] * min(tasks, len(sizes))
        legs = self._tape.successive_legs(_GET, first, len(sizes))
        for at, (size, (out_ms, back_ms)) in enumerate(zip(sizes, legs, strict=True)):
            effect_ms = ends_ms[at % tasks] + out_ms
            if passes is not None:
                passes(effect_ms)
            ends_ms[at % tasks] = effect_ms + back_ms + size * per_byte
        self.clock.now_ms = max(ends_ms, default=self.clock.now_ms)

    def _reply_ms(self, kind: RequestKind, legs: RequestLegs, sent_ms: float, size: int) -> float:
        """The instant of the reply to a request that changes nothing."""
        out_ms, back_ms, _ = legs
        effect_ms = sent_ms + out_ms
        if (passes := self._passes[kind]) is not None:
            passes(effect_ms)
        return self._latencies[kind].reply(effect_ms, back_ms, size)
