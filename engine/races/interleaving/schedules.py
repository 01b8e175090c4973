"""The schedules of a race: all of them, or each distinguishable one once.

Depth-first search over the moments of a race; schedules that begin alike share those moments. Of
schedules that differ only in the order of steps that do not touch each other, one is played: sleep
sets (P. Godefroid, Partial-Order Methods for the Verification of Concurrent Systems, 1996).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, auto

from whitecap.engine.errors import InvariantViolated
from whitecap.engine.races.interleaving.contender import Contender, Start, Touch
from whitecap.engine.races.interleaving.race import Played, Race
from whitecap.engine.races.interleaving.world import World

Sleep = frozenset[int]
"""Contenders whose next step would only repeat a schedule that is played elsewhere."""

MAX_STEPS = 400
"""More steps than any two statements of a race can take; a race that goes on is a fault of ours."""


class Exploration(Enum):
    """Which schedules of a race are played."""

    EVERY = auto()
    """Also those that cannot be told apart."""
    DISTINCT = auto()
    """One of those that cannot be told apart."""
    CONFLICTING = auto()
    """Of these the ones in which somebody is aborted, as far as anybody can be.

    A schedule ends there, for instance because one begins when the other has ended.
    """


def schedules(
    world: World, starts: Sequence[Start], exploration: Exploration = Exploration.DISTINCT
) -> Iterator[Played]:
    """Play the schedules, in order: first those where the first contender runs ahead."""
    contenders = [Contender(world, who, start) for who, start in enumerate(starts)]
    return schedules_of(world, contenders, exploration)


def schedules_of(
    world: World,
    contenders: Sequence[Contender],
    exploration: Exploration = Exploration.DISTINCT,
) -> Iterator[Played]:
    """The same of contenders that may have raced others before."""
    pending: list[tuple[Race, Sleep]] = [(Race.of(world, contenders), frozenset())]
    while pending:
        race, sleep = pending.pop()
        if len(race.schedule) > MAX_STEPS:
            raise InvariantViolated(f"a race does not end: {race.schedule}")
        is_over = exploration is Exploration.CONFLICTING and race.is_settled
        if not race.touches or (is_over and race.has_conflict):
            yield race.played()
        elif not is_over:
            pending.extend(reversed(list(_turns(race, sleep, exploration))))


def _turns(race: Race, sleep: Sleep, exploration: Exploration) -> Iterator[tuple[Race, Sleep]]:
    """The moments that may come next; none if all of them are played elsewhere."""
    for who in race.touches:
        if who not in sleep:
            asleep = _still_asleep(sleep, who, race.touches)
            yield race.after(who), frozenset() if exploration is Exploration.EVERY else asleep
            sleep |= {who}


def _still_asleep(sleep: Sleep, chosen: int, touches: Mapping[int, Touch]) -> Sleep:
    return frozenset(
        who for who in sleep if who in touches and touches[who].commutes_with(touches[chosen])
    )
