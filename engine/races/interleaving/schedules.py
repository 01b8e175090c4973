"""All schedules of a race, each distinguishable one played once.

Depth-first search over the moments of a race; schedules that begin alike share those moments. Of
schedules that differ only in the order of steps that do not touch each other, one is played: sleep
sets (P. Godefroid, Partial-Order Methods for the Verification of Concurrent Systems, 1996).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from whitecap.engine.errors import InvariantViolated
from whitecap.engine.races.interleaving.contender import Contender, Start, Touch
from whitecap.engine.races.interleaving.race import Played, Race
from whitecap.engine.races.interleaving.world import World

Sleep = frozenset[int]
"""Contenders whose next step would only repeat a schedule that is played elsewhere."""

MAX_STEPS = 400
"""More steps than any two statements of a race can take; a race that goes on is a fault of ours."""


def schedules(world: World, starts: Sequence[Start], prune: bool = True) -> Iterator[Played]:
    """Play every schedule; without `prune` also those that cannot be told apart.

    Schedules come in order: first those where the first contender runs ahead.
    """
    contenders = [Contender(world, who, start) for who, start in enumerate(starts)]
    return schedules_of(world, contenders, prune)


def schedules_of(
    world: World, contenders: Sequence[Contender], prune: bool = True, settled: bool = True
) -> Iterator[Played]:
    """The same of contenders that may have raced others before.

    Without `settled`, a schedule ends as soon as nobody can be aborted any more, for instance
    because one begins when the other has ended; it is left out if nobody was aborted.
    """
    pending: list[tuple[Race, Sleep]] = [(Race.of(world, contenders), frozenset())]
    while pending:
        race, sleep = pending.pop()
        if len(race.schedule) > MAX_STEPS:
            raise InvariantViolated(f"a race does not end: {race.schedule}")
        is_over = not settled and race.is_settled
        if not race.touches or (is_over and race.has_conflict):
            yield race.played()
        elif not is_over:
            pending.extend(reversed(list(_turns(race, sleep, prune))))


def _turns(race: Race, sleep: Sleep, prune: bool) -> Iterator[tuple[Race, Sleep]]:
    """The moments that may come next; none if all of them are played elsewhere."""
    for who in race.touches:
        if who not in sleep:
            yield race.after(who), _still_asleep(sleep, who, race.touches, prune)
            sleep |= {who}


def _still_asleep(sleep: Sleep, chosen: int, touches: Mapping[int, Touch], prune: bool) -> Sleep:
    if not prune:
        return frozenset()
    return frozenset(
        who for who in sleep if who in touches and touches[who].commutes_with(touches[chosen])
    )
