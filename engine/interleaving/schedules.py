"""All schedules of a race, each distinguishable one played once.

A generator cannot be copied, so each schedule is played from the start. Of schedules that differ
only in the order of steps that do not touch each other, one is played: depth-first search with
sleep sets (P. Godefroid, Partial-Order Methods for the Verification of Concurrent Systems, 1996).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from engine.errors import InvariantViolated
from engine.interleaving.race import Played, Race, Start, Touch
from engine.interleaving.world import World

Sleep = frozenset[int]
"""Contenders whose next step would only repeat a schedule that is played elsewhere."""

MAX_STEPS = 400
"""More steps than any two statements of a race can take; a race that goes on is a fault of ours."""


def schedules(world: World, starts: Sequence[Start], prune: bool = True) -> Iterator[Played]:
    """Play every schedule; without `prune` also those that cannot be told apart.

    Schedules come in order: first those where the first contender runs ahead.
    """
    pending: list[tuple[tuple[int, ...], Sleep]] = [((), frozenset())]
    while pending:
        prefix, sleep = pending.pop()
        race = Race(world, starts)
        for who in prefix:
            race.step(who)
        played = _play_on(race, prefix, sleep, pending, prune)
        if played is not None:
            yield played


def _play_on(
    race: Race,
    prefix: tuple[int, ...],
    sleep: Sleep,
    pending: list[tuple[tuple[int, ...], Sleep]],
    prune: bool,
) -> Played | None:
    """Play to the end, noting the other choices on the way; `None` if all would be repetition."""
    turns: list[tuple[tuple[int, ...], Sleep]] = []
    while touches := race.touches:
        if len(prefix) > MAX_STEPS:
            raise InvariantViolated(f"a race does not end: {prefix}")
        awake = [who for who in touches if who not in sleep]
        if not awake:
            pending.extend(turns)
            return None
        first, *others = awake
        tried = sleep | {first}
        for other in others:
            turns.append(((*prefix, other), _still_asleep(tried, other, touches, prune)))
            tried |= {other}
        sleep = _still_asleep(sleep, first, touches, prune)
        race.step(first)
        prefix = (*prefix, first)
    pending.extend(turns)
    return race.played(prefix)


def _still_asleep(sleep: Sleep, chosen: int, touches: Mapping[int, Touch], prune: bool) -> Sleep:
    if not prune:
        return frozenset()
    return frozenset(
        who for who in sleep if who in touches and touches[who].commutes_with(touches[chosen])
    )
