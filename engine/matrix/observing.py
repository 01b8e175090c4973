"""Racing every pair of commands on one table of the family, and noting who aborted whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from engine.dialects import Dialect
from engine.interleaving.contender import Contender
from engine.interleaving.race import Played
from engine.interleaving.schedules import schedules_of
from engine.interleaving.story import Line, story
from engine.interleaving.world import World
from engine.matrix.catalogue import Command, Target
from engine.matrix.family import FIRST_ID, Situation, Variant
from engine.outcomes import Aborted, Verdict
from engine.settings import Settings

NAMES = ("A", "B")


@dataclass(frozen=True, slots=True)
class Witness:
    """One schedule that ends in a conflict: everything needed to see why, as plain values.

    `statements` are those of A and B; `loser` is the name of the one that is aborted.
    """

    variant: Variant
    situation: Situation
    statements: tuple[str, str]
    loser: str
    lines: tuple[Line, ...]
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Observation:
    """Whether `winner` ever aborts `loser` on one table in one situation, over all schedules.

    `exceptions` are those seen, `witness` the shortest schedule with one.
    """

    variant: Variant
    situation: Situation
    loser: str
    winner: str
    exceptions: frozenset[str]
    witness: Witness | None

    @property
    def conflicts(self) -> bool:
        return bool(self.exceptions)


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything observed on one table, and how many schedules that took."""

    observations: tuple[Observation, ...]
    schedules: int


Texts = tuple[str, str]
Raced = dict[Texts, tuple[Played, ...]]
"""The schedules played so far, by the texts of the two statements."""


class _Contenders:
    """The statements that race on one table, each planned once for all of its races."""

    def __init__(self, world: World, reduced: bool) -> None:
        self._world = world
        self._reduced = reduced
        self._known: dict[tuple[int, str], Contender] = {}

    def race(self, both: Sequence[tuple[Command, Target]]) -> tuple[Played, ...]:
        """The schedules of two commands about their targets."""
        racing = [self._of(who, *one) for who, one in enumerate(both)]
        reduced = self._reduced
        return tuple(schedules_of(self._world, racing, prune=reduced, serial=not reduced))

    def _of(self, who: int, command: Command, target: Target) -> Contender:
        """A command about a target, as the first or second of a race."""
        key = who, command.sql(target)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Contender(self._world, who, command.start(target))
        return found


def observe(
    variant: Variant,
    dialect: Dialect,
    commands: Sequence[Command],
    settings: Settings,
    reduced: bool = True,
) -> Observed:
    """Race every pair of commands in every situation on one table; both are each other's winner.

    Without `reduced` also in schedules that cannot be told apart from others, and in those where
    the second begins after the end of the first.
    """
    contenders = _Contenders(variant.world(dialect, settings), reduced)
    found: list[Observation] = []
    count = 0
    for pair in combinations_with_replacement(commands, 2):
        raced: Raced = {}
        for situation in variant.situations:
            texts = _race(contenders, pair, situation, variant, raced)
            found.extend(_observations(raced[texts], texts, pair, situation, variant))
        count += sum(len(played) for played in raced.values())
    return Observed(tuple(found), count)


def _race(
    contenders: _Contenders,
    pair: tuple[Command, Command],
    situation: Situation,
    variant: Variant,
    raced: Raced,
) -> Texts:
    """Race two commands, unless the same statements were raced before; returns their texts."""
    ids = (FIRST_ID, situation.relation.value)
    targets = [
        Target(row_id, situation.names_day, variant.layout, who)
        for row_id, who in zip(ids, NAMES, strict=True)
    ]
    both = list(zip(pair, targets, strict=True))
    texts = (both[0][0].sql(both[0][1]), both[1][0].sql(both[1][1]))
    if texts not in raced:
        raced[texts] = contenders.race(both)
    return texts


def _observations(
    played: Sequence[Played],
    texts: Texts,
    pair: tuple[Command, Command],
    situation: Situation,
    variant: Variant,
) -> Iterator[Observation]:
    for loser in (0, 1):
        lost = [one for one in played if isinstance(one.endings[loser], Aborted)]
        witness = None
        if lost:
            shortest = min(lost, key=lambda one: len(one.events))
            witness = _witness(shortest, loser, texts, situation, variant)
        yield Observation(
            variant,
            situation,
            pair[loser].name,
            pair[1 - loser].name,
            frozenset(_exception(one, loser) for one in lost),
            witness,
        )


def _exception(played: Played, who: int) -> str:
    ending = played.endings[who]
    assert isinstance(ending, Aborted)
    return ending.verdict.exception.value


def _witness(
    played: Played, loser: int, texts: tuple[str, str], situation: Situation, variant: Variant
) -> Witness:
    ending = played.endings[loser]
    assert isinstance(ending, Aborted)
    lines = tuple(story(played, NAMES))
    return Witness(variant, situation, texts, NAMES[loser], lines, ending.verdict)
