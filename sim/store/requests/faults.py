"""What goes wrong for one writer: each fault draws numbers of its own.

Whether a fault strikes a request by chance follows from one number at the request's address, so
that neither its rate nor any other fault moves a draw, and the same requests are hit in every
variant of a scenario. A planned one counts the requests that it is about. Sources are named by the
fault's kind and its position among the faults of that kind.
Crashes fall at instants that do not depend on what the writer does; they strike any driver that is
up then.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence, Set
from functools import partial
from itertools import count

from msgspec import Struct, field
from msgspec.structs import replace

from whitecap.engine.log.checkpoints.checkpoint import LAST_CHECKPOINT_KEY
from whitecap.engine.log.commit_file import LOG_DIRECTORY
from whitecap.sim.quantities.distributions import Distribution
from whitecap.sim.scenario.faults import (
    Conflict409,
    CrashAtRequest,
    DuplicateDelivery,
    Fault,
    LateEffect,
    LogFile,
    LostReplySection,
    Pause,
    StaleListing,
    Strike,
    Throttling,
    WriterCrash,
)
from whitecap.sim.store.contents.log_directory import STAGED_COMMITS_KEY
from whitecap.sim.store.requests.kinds import KIND_NAMED, RequestKind
from whitecap.sim.store.requests.tape import Tape
from whitecap.sim.time.random_streams import RandomSource, RandomStreams


class FaultWindow(Struct, frozen=True):
    """When a fault can strike, in simulated milliseconds."""

    begins_ms: float = 0.0
    ends_ms: float = math.inf

    def holds(self, now_ms: float) -> bool:
        return self.begins_ms <= now_ms < self.ends_ms


class Sending(Struct, frozen=True):
    """One sending of one request: what a fault may look at to decide whether it strikes.

    `tape` is that of the transaction, `number` counts its requests of this `kind` before this one,
    `repeat` how often this one was sent before. `decides`: its effect is a commit. `key` is the
    object that it is for.
    """

    tape: Tape
    kind: RequestKind
    number: int
    repeat: int
    sent_ms: float
    decides: bool = False
    key: str = ""

    def is_among(self, kinds: Set[RequestKind]) -> bool:
        """Whether it is of these kinds; what decides a commit counts as a put-if-absent."""
        return self.kind in kinds or (self.decides and RequestKind.PUT_IF_ABSENT in kinds)

    def service(self) -> float:
        """The rank of the time for which the request is served at its key."""
        return self.tape.service(self.kind, self.number, self.repeat)


class Crash(Struct, frozen=True):
    """A driver dies at a request, and is back after `restart_ms`."""

    when: str
    restart_ms: float


class Struck(Struct, frozen=True):
    """What befalls one sending of a request. `names`: the kinds of the faults that do it."""

    names: tuple[str, ...] = ()
    is_throttled: bool = False
    is_conflicting: bool = False
    loses_reply: bool = False
    late_ms: float | None = None
    """How long after the client's timeout it takes effect, `None` if in time."""
    again_ms: float | None = None
    """How long after its effect that happens once more, `None` if it does not."""
    pause_ms: float = 0.0
    """How long its writer stands still before it sends it."""
    crash: Crash | None = None


UNHARMED = Struck()


class FaultPlan(Struct, frozen=True):
    """Which requests of one writer a fault strikes.

    With a probability, by a number at each sending's address; without one, by their `ordinals`
    among the requests that the fault is about. `source_of` makes the source of those numbers for an
    entity. `name`: the fault's kind, as scenarios call it.
    """

    name: str
    strike: Strike
    kinds: frozenset[RequestKind]
    window: FaultWindow
    source_of: Callable[[str], RandomSource]
    source: RandomSource
    ordinals: Iterator[int]

    @classmethod
    def of(
        cls, fault: Fault, strike: Strike, source_of: Callable[[str], RandomSource], writer: str
    ) -> FaultPlan:
        """The plan of a scenario's fault for one writer."""
        kinds = frozenset(KIND_NAMED[kind] for kind in strike.kinds)
        name = fault.chosen_names()[0]
        return cls(name, strike, kinds, _window(fault), source_of, source_of(writer), count(1))

    def drawn_for(self, entity: str) -> FaultPlan:
        """The same plan with draws of its own for an entity; ordinals go on together."""
        return replace(self, source=self.source_of(entity))

    def strikes(self, sending: Sending) -> bool:
        """Whether the fault strikes this sending. It counts sendings, so ask once for each."""
        if not self._is_about(sending):
            return False
        if self.strike.nth is None:
            assert self.strike.probability is not None
            return self._uniform(sending, 0) < self.strike.probability
        return next(self.ordinals) in self.strike.nth

    def size_ms(self, sending: Sending, distribution: Distribution) -> float:
        """How long an effect of the fault lasts on a sending that it has struck."""
        return distribution.at(self._uniform(sending, 1))

    def _is_about(self, sending: Sending) -> bool:
        strike, files = self.strike, self.strike.log_files
        return (
            sending.is_among(self.kinds)
            and self.window.holds(sending.sent_ms)
            and (files is None or file_named(sending.key) in files)
            and (strike.of_jobs is None or sending.tape.job + 1 in strike.of_jobs)
        )

    def _uniform(self, sending: Sending, part: int) -> float:
        place = 2 * sending.repeat + part
        return sending.tape.uniform(self.source, sending.kind, sending.number, place)


def file_named(key: str) -> LogFile | None:
    """Which of the log's files a key names; `None` for the log itself and for anything else."""
    if key.startswith(STAGED_COMMITS_KEY):
        return "staged"
    if not key.startswith(LOG_DIRECTORY):
        return None
    if key == LAST_CHECKPOINT_KEY:
        return "pointer"
    for ending, file in _ENDINGS.items():
        if key.endswith(ending):
            return file
    return None


_ENDINGS: dict[str, LogFile] = {
    ".tmp": "temporary",
    ".crc": "checksum",
    ".checkpoint.parquet": "checkpoint",
    ".json": "commit",
}


class Crashes(Struct):
    """When a driver dies, and how long until it is back: a Poisson process inside a window."""

    mean_gap_ms: float
    window: FaultWindow
    source: RandomSource
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


class WriterFaults(Struct, frozen=True):
    """All faults that can strike the requests of one writer."""

    plans: Sequence[FaultPlan] = ()
    listings: Sequence[FaultPlan] = ()
    """The plans that strike a listing of the log as a whole."""

    @property
    def are_possible(self) -> bool:
        """Whether any request can be hit at all."""
        return bool(self.plans)

    def drawn_for(self, entity: str) -> WriterFaults:
        """The faults for one of the writer's statements: own draws, but common counts."""
        return WriterFaults(
            [plan.drawn_for(entity) for plan in self.plans],
            [plan.drawn_for(entity) for plan in self.listings],
        )

    def befall(self, sending: Sending) -> Struck:
        """What all faults together do to a sending. They count sendings, so ask once for each."""
        struck = UNHARMED
        for plan in self.plans:
            if plan.strikes(sending):
                struck = _besides(struck, plan, sending)
        return struck if struck.late_ms is None else _not_too_late(struck)


def _not_too_late(struck: Struck) -> Struck:
    """What is refused has no effect that could come late; who dies after an effect had it in time.

    So it is with a real store under fire (`sim/under_fire/service.py`).
    """
    dies_after = struck.crash is not None and struck.crash.when == "after"
    if struck.is_throttled or struck.is_conflicting or dies_after:
        return replace(struck, late_ms=None)
    return struck


def missed_by(listings: Sequence[FaultPlan], sending: Sending) -> int:
    """How many of the newest versions a listing of the log misses."""
    struck = [plan.strike for plan in listings if plan.strikes(sending)]
    return max((strike.misses for strike in struck if isinstance(strike, StaleListing)), default=0)


def _besides(struck: Struck, plan: FaultPlan, sending: Sending) -> Struck:
    """What befalls a sending, with what one more fault does to it."""
    if plan.name not in struck.names:
        struck = replace(struck, names=(*struck.names, plan.name))
    match plan.strike:
        case Throttling():
            return replace(struck, is_throttled=True)
        case Conflict409():
            return replace(struck, is_conflicting=True)
        case LostReplySection():
            return replace(struck, loses_reply=True)
        case LateEffect(delay=delay):
            late_ms = max(plan.size_ms(sending, delay), struck.late_ms or 0.0)
            return replace(struck, late_ms=late_ms)
        case DuplicateDelivery(delay=delay):
            return replace(struck, again_ms=plan.size_ms(sending, delay))
        case Pause(lasts=lasts):
            return replace(struck, pause_ms=struck.pause_ms + plan.size_ms(sending, lasts))
        case CrashAtRequest(when=when, restart=restart):
            return replace(struck, crash=Crash(when, plan.size_ms(sending, restart)))
    raise AssertionError(plan.strike)


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
    plans = [
        FaultPlan.of(fault, fault.strike, partial(streams.source, name), writer)
        for fault, name in _hitting(faults, {group, writer})
        if fault.strike is not None
    ]
    return WriterFaults(
        [plan for plan in plans if not isinstance(plan.strike, StaleListing)],
        [plan for plan in plans if isinstance(plan.strike, StaleListing)],
    )


def crashes_of(
    faults: Sequence[Fault], names: Set[str], cluster: str, streams: RandomStreams
) -> list[Crashes]:
    """The crashes of a cluster's driver, from faults that name any of its groups or writers."""
    return [
        _crashes(fault, fault.writer_crash, streams.source(name, cluster))
        for fault, name in _hitting(faults, names)
        if fault.writer_crash
    ]


def _hitting(faults: Sequence[Fault], names: Set[str]) -> Iterator[tuple[Fault, str]]:
    """The faults that can strike these groups or writers, with their sources' names."""
    for fault, name in _named(faults):
        if fault.writers is None or names & set(fault.writers):
            yield fault, name


def _named(faults: Sequence[Fault]) -> Iterator[tuple[Fault, str]]:
    """Each fault with the name of its source: its kind and its number among those of its kind."""
    seen: dict[str, int] = {}
    for fault in faults:
        kind = fault.chosen_names()[0]
        seen[kind] = seen.get(kind, 0) + 1
        yield fault, f"fault {kind} {seen[kind]}"


def _window(fault: Fault) -> FaultWindow:
    return FaultWindow() if fault.between is None else FaultWindow(*fault.between)


def _crashes(fault: Fault, options: WriterCrash, source: RandomSource) -> Crashes:
    return Crashes(1 / options.rate, _window(fault), source, options.restart)
