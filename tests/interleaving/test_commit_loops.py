"""A commit loop that is begun anew shows what the whole statement shows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import pytest
from msgspec.structs import replace

from tests.interleaving.test_schedules import STATEMENTS, TWO_FILES, UPDATE, course_of, start
from whitecap.engine.dialects import DIALECTS, Dialect, dialect_named
from whitecap.engine.races.interleaving.contender import Beginning, Contender
from whitecap.engine.races.interleaving.race import Played
from whitecap.engine.races.interleaving.schedules import Exploration, schedules_of
from whitecap.engine.races.interleaving.walk import Walk
from whitecap.engine.races.interleaving.world import World
from whitecap.engine.races.matrix.catalogue import Command, Target, commands_named, commands_of
from whitecap.engine.races.matrix.choice import choice_of, variants
from whitecap.engine.races.matrix.contenders import Contenders
from whitecap.engine.races.matrix.family import Variant
from whitecap.engine.settings import Settings

PARTNERS = ("INSERT", "UPDATE", "OPTIMIZE", "ADD COLUMN", "VACUUM")
FEW = ("UPDATE", "MERGE", "OPTIMIZE", "VACUUM", "RESTORE", "ADD COLUMN", "REORG PURGE")
TABLES = [
    pytest.param(dialect, variant, id=f"{dialect.name}, {variant.text}")
    for dialect in map(dialect_named, DIALECTS)
    for variant in variants(dialect, choice_of(dialect))[::7]
]
Pair = tuple[Command, Command]
Shown = tuple[object, ...]


def shown(played: Played) -> Shown:
    """Everything that a schedule shows, with what was written and the evidence of each verdict."""
    return *course_of(played), repr(played.endings)


def commands(names: Sequence[str], dialect: Dialect) -> list[Command]:
    """Those of some commands that a dialect has."""
    offered = {command.name for command in commands_of(dialect)}
    return commands_named([name for name in names if name in offered], dialect)


def races(
    dialect: Dialect,
    variant: Variant,
    pairs: Sequence[Pair],
    exploration: Exploration,
    shortens: bool,
) -> Iterator[list[Shown]]:
    """What each pair shows in the first and the last situation of a table."""
    world = variant.world(dialect, Settings())
    contenders = Contenders(world, exploration, (dialect, dialect), shortens)
    for pair, situation in itertools.product(
        pairs, variant.situations[:: len(variant.situations) - 1]
    ):
        targets = [
            Target(row_id, situation.names_day, variant.layout, who)
            for row_id, who in ((1, "A"), (situation.relation.value, "B"))
        ]
        played = contenders.race(list(zip(pair, targets, strict=True)))
        yield [shown(schedule) for schedule in played]


def check_races(
    dialect: Dialect, variant: Variant, pairs: Sequence[Pair], exploration: Exploration
) -> None:
    shortened = races(dialect, variant, pairs, exploration, shortens=True)
    whole = races(dialect, variant, pairs, exploration, shortens=False)
    for of_loops, of_statements in zip(shortened, whole, strict=True):
        assert of_loops == of_statements


@pytest.mark.parametrize(("dialect", "variant"), TABLES)
def test_every_command_races_the_same(dialect: Dialect, variant: Variant) -> None:
    pairs = itertools.product(commands_of(dialect), commands(PARTNERS, dialect))
    by_turns = [(a, b) if at % 2 else (b, a) for at, (a, b) in enumerate(pairs)]
    check_races(dialect, variant, by_turns, Exploration.CONFLICTING)


@pytest.mark.parametrize(("dialect", "variant"), TABLES[::3])
def test_schedules_that_are_played_to_their_end_are_the_same(
    dialect: Dialect, variant: Variant
) -> None:
    pairs = itertools.combinations_with_replacement(commands(FEW, dialect), 2)
    check_races(dialect, variant, list(pairs), Exploration.EVERY)


def both_ways(world: World, statements: Sequence[str]) -> list[Shown]:
    """What statements show, the same whether their commit loops are begun anew or not."""
    of_loops, of_statements = (
        [Contender(world, who, start(sql), shortens) for who, sql in enumerate(statements)]
        for shortens in (True, False)
    )
    played = [shown(schedule) for schedule in schedules_of(world, of_loops)]
    assert played == [shown(schedule) for schedule in schedules_of(world, of_statements)]
    return played


@pytest.mark.parametrize(
    ("name", "vectors"),
    [("delta-oss-4.4", "true"), ("databricks-14.3", "true"), ("delta-rs-1.6.6", "false")],
)
def test_a_compaction_that_follows_a_commit_ends_no_statement(name: str, vectors: str) -> None:
    dialect = dialect_named(name)
    table = replace(TWO_FILES, properties={"delta.enableDeletionVectors": vectors})
    settings = dialect.adjusted(Settings(auto_compact=True, auto_compact_min_files=2))
    world = World.of_tables({"t": table}, dialect, settings)
    for pair in itertools.product((UPDATE, STATEMENTS[2], STATEMENTS[5]), repeat=2):
        both_ways(world, pair)


def test_three_statements_race_the_same() -> None:
    world = World.of_tables({"t": TWO_FILES})
    assert len(both_ways(world, (UPDATE, STATEMENTS[1], STATEMENTS[2]))) > 10


def test_a_statement_is_run_once_for_all_its_lost_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    walk, runs = Beginning.walk, []

    def noted(beginning: Beginning) -> Walk:
        runs.append(beginning.first_id)
        return walk(beginning)

    monkeypatch.setattr(Beginning, "walk", noted)
    world = World.of_tables({"t": TWO_FILES})
    update = Contender(world, 0, start(UPDATE))
    for sql in STATEMENTS[:2]:
        list(schedules_of(world, [update, Contender(world, 1, start(sql))]))
    assert runs.count(10 << 124) < 6
