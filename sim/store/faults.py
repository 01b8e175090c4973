"""What goes wrong for one writer: each fault draws numbers of its own.

Whether a fault strikes a request follows from one number at the request's address, so that neither
its rate nor any other fault moves a draw, and the same requests are hit in every variant of a
scenario. Sources are named by the fault's kind and its position among the faults of that kind.
Crashes fall at instants that do not depend on what the writer does; they strike what then runs.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field

from whitecap.sim.quantities.distributions import Distribution
from whitecap.sim.scenario.faults import Fault, LateEffect, LostReply, Throttling, WriterCrash
from whitecap.sim.store.kinds import KIND_NAMED, Kind
from whitecap.sim.store.tape import Tape
from whitecap.sim.time.random_streams import RandomStreams, Source


@dataclass(frozen=True, slots=True)
class Window:
    """When a fault can strike, in simulated milliseconds."""

    begins_ms: float = 0.0
    ends_ms: float = math.inf

    def holds(self, now_ms: float) -> bool:
        return self.begins_ms <= now_ms < self.ends_ms


@dataclass(frozen=True, slots=True)
class Sending:
    """One sending of one request: whose it is, of which kind, the how manieth of that kind in its
    transaction, how often it was sent before, when it is sent, and whether it decides a commit."""

    tape: Tape
    kind: Kind
    number: int
    repeat: int
    sent_ms: float
    decides: bool = False

    def is_among(self, kinds: Set[Kind]) -> bool:
        """Whether it is meant by some kinds: what decides a commit stands for a put-if-absent."""
        return self.kind in kinds or (self.decides and Kind.PUT_IF_ABSENT in kinds)

    def service(self) -> float:
        """The rank of the time for which the request is served at its key."""
        return self.tape.service(self.kind, self.number, self.repeat)


@dataclass(frozen=True, slots=True)
class Chance:
    """Strikes requests of some kinds with a probability; `delay` is that of a late effect."""

    kinds: frozenset[Kind]
    probability: float
    window: Window
    source: Source
    delay: Distribution | None = None

    def strikes(self, sending: Sending) -> bool:
        """Whether the fault hits this request."""
        if not sending.is_among(self.kinds) or not self.window.holds(sending.sent_ms):
            return False
        return self._uniform(sending, 0) < self.probability

    def late_ms(self, sending: Sending) -> float:
        """How late the effect of a request is that it has struck."""
        assert self.delay is not None
        return self.delay.at(self._uniform(sending, 1))

    def _uniform(self, sending: Sending, part: int) -> float:
        place = 2 * sending.repeat + part
        return sending.tape.uniform(self.source, sending.kind, sending.number, place)


@dataclass(slots=True)
class Crashes:
    """When a driver dies, and how long until it is back: a Poisson process inside a window."""

    mean_gap_ms: float
    window: Window
    source: Source
    restart: Distribution
    _instants: list[float] = field(default_factory=list)

    def next_after(self, now_ms: float) -> tuple[float, int]:
        """The instant of the first crash after `now_ms` and its number; infinite without one."""
        number = bisect_right(self._instants, now_ms)
        while (instant_ms := self._instant(number)) <= now_ms:
            number += 1
        return instant_ms, number

    def restart_ms(self, number: int) -> float:
        """How long the driver is down after a crash."""
        return self.restart.at(self.source.uniform(number, 1))

    def _instant(self, number: int) -> float:
        while number >= len(self._instants):
            before_ms = self._instants[-1] if self._instants else self.window.begins_ms
            gap_ms = -self.mean_gap_ms * math.log1p(-self.source.uniform(len(self._instants), 0))
            instant_ms = before_ms + gap_ms
            self._instants.append(instant_ms if self.window.holds(instant_ms) else math.inf)
        return self._instants[number]


@dataclass(frozen=True, slots=True)
class WriterFaults:
    """All faults that can strike the requests of one writer."""

    lost_replies: Sequence[Chance] = ()
    late_effects: Sequence[Chance] = ()
    throttlings: Sequence[Chance] = ()

    @property
    def are_possible(self) -> bool:
        """Whether any request can be hit at all."""
        return bool(self.lost_replies or self.late_effects or self.throttlings)

    def throttles(self, sending: Sending) -> bool:
        """Whether a throttling fault refuses this request."""
        return any(fault.strikes(sending) for fault in self.throttlings)

    def loses_reply(self, sending: Sending) -> bool:
        """Whether the reply to this request never arrives."""
        return any(fault.strikes(sending) for fault in self.lost_replies)

    def late_by(self, sending: Sending) -> float | None:
        """How long after the client's timeout this write takes effect, `None` if in time."""
        delays = [fault.late_ms(sending) for fault in self.late_effects if fault.strikes(sending)]
        return max(delays, default=None)


def next_crash(crashes: Sequence[Crashes], now_ms: float) -> tuple[float, float]:
    """The instant of a driver's next crash, infinite without one, and when it is back."""
    plans = [(*each.next_after(now_ms), each) for each in crashes]
    plans = [plan for plan in plans if plan[0] < math.inf]
    if not plans:
        return math.inf, math.inf
    crash_ms, number, cause = min(plans, key=lambda plan: plan[0])
    return crash_ms, crash_ms + cause.restart_ms(number)


def faults_of(
    faults: Sequence[Fault], group: str, writer: str, streams: RandomStreams
) -> WriterFaults:
    """The faults that can strike requests of `writer` of `group`."""
    hitting = [(fault, streams.source(name, writer)) for fault, name in _hitting(faults, {group})]
    return WriterFaults(
        [_chance(f, f.lost_reply, source) for f, source in hitting if f.lost_reply],
        [_chance(f, f.late_effect, source) for f, source in hitting if f.late_effect],
        [_chance(f, f.throttling, source) for f, source in hitting if f.throttling],
    )


def crashes_of(
    faults: Sequence[Fault], groups: Set[str], cluster: str, streams: RandomStreams
) -> list[Crashes]:
    """The crashes of a cluster's driver, which one of its groups is enough to bring."""
    return [
        _crashes(fault, fault.writer_crash, streams.source(name, cluster))
        for fault, name in _hitting(faults, groups)
        if fault.writer_crash
    ]


def _hitting(faults: Sequence[Fault], groups: Set[str]) -> Iterator[tuple[Fault, str]]:
    """The faults that can strike one of the groups, with the names of their sources."""
    for fault, name in _named(faults):
        if fault.writers is None or groups & set(fault.writers):
            yield fault, name


def _named(faults: Sequence[Fault]) -> Iterator[tuple[Fault, str]]:
    """Each fault with the name of its source: its kind and its number among those of its kind."""
    seen: dict[str, int] = {}
    for fault in faults:
        kind = fault.chosen_names()[0]
        seen[kind] = seen.get(kind, 0) + 1
        yield fault, f"fault {kind} {seen[kind]}"


def _window(fault: Fault) -> Window:
    return Window() if fault.between is None else Window(*fault.between)


def _chance(fault: Fault, options: LostReply | LateEffect | Throttling, source: Source) -> Chance:
    kinds = frozenset(KIND_NAMED[name] for name in options.requests)
    delay = options.delay if isinstance(options, LateEffect) else None
    return Chance(kinds, options.probability, _window(fault), source, delay)


def _crashes(fault: Fault, options: WriterCrash, source: Source) -> Crashes:
    return Crashes(1 / options.rate, _window(fault), source, options.restart)
