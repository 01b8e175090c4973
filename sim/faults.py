"""What goes wrong for one writer: each fault draws from a stream of its own.

A fault decides with one number per request that it could strike, whether it strikes or not, so
that raising one fault's rate moves no draw of another. Adding a fault moves none either: streams
are named by the fault's kind and its position among the faults of that kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from whitecap.engine.storage.requests import Get, ListFrom, Put, PutIfAbsent
from whitecap.sim.random_streams import NextDraw, RandomStreams
from whitecap.sim.scenario.faults import Fault, LateEffect, LostReply, Throttling, WriterCrash

KINDS: dict[type, str] = {
    PutIfAbsent: "put_if_absent",
    Put: "put",
    Get: "get",
    ListFrom: "list",
}
"""Request types by the name that scenarios give them."""


@dataclass(frozen=True, slots=True)
class Window:
    """When a fault can strike, in simulated milliseconds."""

    begins_ms: float = 0.0
    ends_ms: float = math.inf

    def holds(self, now_ms: float) -> bool:
        return self.begins_ms <= now_ms < self.ends_ms


@dataclass(frozen=True, slots=True)
class Chance:
    """Strikes requests of some kinds with a probability; `delay` is that of a late effect."""

    kinds: frozenset[type]
    probability: float
    window: Window
    uniform: Callable[[], float]
    delay: NextDraw | None = None

    def strikes(self, kind: type, now_ms: float) -> bool:
        """Whether the fault hits this request."""
        if kind not in self.kinds or not self.window.holds(now_ms):
            return False
        return self.uniform() < self.probability


@dataclass(frozen=True, slots=True)
class Crashes:
    """When a writer's driver dies next, and how long until it is back."""

    mean_gap_ms: float
    window: Window
    uniform: Callable[[], float]
    restart: NextDraw

    def next_after(self, now_ms: float) -> float:
        """The instant of the next crash, infinite if there is none."""
        gap_ms = -self.mean_gap_ms * math.log1p(-self.uniform())
        instant_ms = max(now_ms, self.window.begins_ms) + gap_ms
        return instant_ms if self.window.holds(instant_ms) else math.inf


@dataclass(frozen=True, slots=True)
class WriterFaults:
    """All faults that can strike one writer."""

    lost_replies: Sequence[Chance] = ()
    late_effects: Sequence[Chance] = ()
    throttlings: Sequence[Chance] = ()
    crashes: Sequence[Crashes] = ()

    @property
    def touch_requests(self) -> bool:
        """Whether any request can be hit at all."""
        return bool(self.lost_replies or self.late_effects or self.throttlings)

    def throttles(self, kind: type, now_ms: float) -> bool:
        """Whether a throttling fault refuses this request."""
        return _any_strikes(self.throttlings, kind, now_ms)

    def loses_reply(self, kind: type, now_ms: float) -> bool:
        """Whether the reply to this request never arrives."""
        return _any_strikes(self.lost_replies, kind, now_ms)

    def late_by(self, kind: type, now_ms: float) -> float | None:
        """How long after the client's timeout this write takes effect, `None` if in time."""
        struck = [fault for fault in self.late_effects if fault.strikes(kind, now_ms)]
        delays = [fault.delay() for fault in struck if fault.delay is not None]
        return max(delays) if delays else None


def faults_of(
    faults: Sequence[Fault], group: str, writer: str, streams: RandomStreams
) -> WriterFaults:
    """The faults that can strike `writer` of `group`."""
    hitting = [
        (fault, stream)
        for fault, stream in _named(faults)
        if fault.writers is None or group in fault.writers
    ]
    return WriterFaults(
        [_chance(f, f.lost_reply, s, writer, streams) for f, s in hitting if f.lost_reply],
        [_chance(f, f.late_effect, s, writer, streams) for f, s in hitting if f.late_effect],
        [_chance(f, f.throttling, s, writer, streams) for f, s in hitting if f.throttling],
        [_crashes(f, f.writer_crash, s, writer, streams) for f, s in hitting if f.writer_crash],
    )


def _named(faults: Sequence[Fault]) -> Iterator[tuple[Fault, str]]:
    """Each fault with the name of its streams: its kind and its number among those of its kind."""
    seen: dict[str, int] = {}
    for fault in faults:
        kind = fault.chosen_names()[0]
        seen[kind] = seen.get(kind, 0) + 1
        yield fault, f"fault {kind} {seen[kind]}"


def _any_strikes(faults: Sequence[Chance], kind: type, now_ms: float) -> bool:
    """Every fault draws, whether or not an earlier one struck."""
    struck = [fault for fault in faults if fault.strikes(kind, now_ms)]
    return bool(struck)


def _window(fault: Fault) -> Window:
    return Window() if fault.between is None else Window(*fault.between)


def _chance(
    fault: Fault,
    options: LostReply | LateEffect | Throttling,
    stream: str,
    writer: str,
    streams: RandomStreams,
) -> Chance:
    delay = None
    if isinstance(options, LateEffect):
        delay = options.delay.sampler(streams.generator(f"{stream} delay", writer))
    kinds = frozenset(kind for kind, name in KINDS.items() if name in options.requests)
    uniform = streams.uniforms(stream, writer)
    return Chance(kinds, options.probability, _window(fault), uniform, delay)


def _crashes(
    fault: Fault, options: WriterCrash, stream: str, writer: str, streams: RandomStreams
) -> Crashes:
    restart = options.restart.sampler(streams.generator(f"{stream} restart", writer))
    uniform = streams.uniforms(stream, writer)
    return Crashes(1 / options.rate, _window(fault), uniform, restart)
