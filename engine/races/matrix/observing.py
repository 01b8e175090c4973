"""Racing every pair of commands on one table of the family, and noting who aborted whom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations_with_replacement, product

from msgspec import Struct

from whitecap.engine.dialects import Dialect
from whitecap.engine.outcomes import Aborted, Verdict
from whitecap.engine.races.interleaving.race import Played
from whitecap.engine.races.interleaving.schedules import Exploration
from whitecap.engine.races.interleaving.story import NAMES, Line, story
from whitecap.engine.races.matrix.catalogue import Command, Target
from whitecap.engine.races.matrix.contenders import Contenders, before_race
from whitecap.engine.races.matrix.family import FIRST_ID, Situation, Variant
from whitecap.engine.settings import Settings


class Witness(Struct, frozen=True):
    """One schedule that ends in a conflict: everything needed to see why, as plain values.

    `statements` are those of A and B; `loser` is the name of the one that is aborted. `before` ran
    on the table before the race.
    """

    variant: Variant
    situation: Situation
    statements: tuple[str, str]
    before: tuple[str, ...]
    loser: str
    lines: tuple[Line, ...]
    verdict: Verdict


class Observation(Struct, frozen=True):
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


class Observed(Struct, frozen=True):
    """Everything observed on one table, and how many schedules that took."""

    observations: tuple[Observation, ...]
    schedules: int


Pair = tuple[Command, Command]
Texts = tuple[str, str]
Raced = dict[Texts, tuple[Played, ...]]
"""The schedules played so far, by the texts of the two statements."""
VariantSituation = tuple[Variant, Situation]


def pairs_of(commands: Sequence[Command]) -> Iterable[Pair]:
    """Every two commands, and each with itself."""
    return combinations_with_replacement(commands, 2)


def ordered_pairs_of(commands: Sequence[Command]) -> Iterable[Pair]:
    """The same in both orders, for two dialects of which one runs the first command."""
    return product(commands, commands)


def observe(
    variant: Variant,
    dialect: Dialect,
    pairs: Iterable[Pair],
    settings: Settings,
    exploration: Exploration = Exploration.CONFLICTING,
    against: Dialect | None = None,
) -> Observed:
    """Race pairs of commands in every situation on one table; both are each other's winner.

    With `against` the first command of a pair is run by that dialect, and only the second is looked
    at: whether the first aborts it. The table is then made by the one that is Delta's, if one is.
    """
    first = against or dialect
    maker = dialect if dialect.describes_commits else first
    world = variant.world(maker, settings, states_level=against is not None)
    contenders = Contenders(world, exploration, (first, dialect))
    losers = (0, 1) if against is None else (1,)
    observations: list[Observation] = []
    count = 0
    for pair in pairs:
        raced: Raced = {}
        for situation in variant.situations:
            texts = _race(contenders, pair, situation, variant, raced)
            observations.extend(
                _observations(raced[texts], texts, pair, (variant, situation), losers)
            )
        count += sum(len(played) for played in raced.values())
    return Observed(tuple(observations), count)


def _race(
    contenders: Contenders,
    pair: Pair,
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
    pair: Pair,
    place: VariantSituation,
    losers: Iterable[int],
) -> Iterator[Observation]:
    for loser in losers:
        lost = [schedule for schedule in played if isinstance(schedule.endings[loser], Aborted)]
        witness = None
        if lost:
            shortest = min(lost, key=lambda schedule: len(schedule.events))
            witness = _witness(shortest, loser, texts, pair, place)
        yield Observation(
            *place,
            pair[loser].name,
            pair[1 - loser].name,
            frozenset(_exception(schedule, loser) for schedule in lost),
            witness,
        )


def _exception(played: Played, who: int) -> str:
    ending = played.endings[who]
    assert isinstance(ending, Aborted)
    return ending.verdict.exception.value


def _witness(
    played: Played, loser: int, texts: Texts, pair: Pair, place: VariantSituation
) -> Witness:
    ending = played.endings[loser]
    assert isinstance(ending, Aborted)
    lines = tuple(story(played, NAMES))
    before = before_race(pair)
    return Witness(*place, texts, before, NAMES[loser], lines, ending.verdict)
