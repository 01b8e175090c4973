"""What the matrices do not play cannot change them: the cells are those of every schedule."""

from __future__ import annotations

import pytest

from whitecap.engine.dialects import dialect_named
from whitecap.engine.races.interleaving.schedules import Exploration
from whitecap.engine.races.matrix.catalogue import commands_named
from whitecap.engine.races.matrix.choice import choice_of, variants
from whitecap.engine.races.matrix.family import Variant
from whitecap.engine.races.matrix.observing import Observation, observe, pairs_of
from whitecap.engine.settings import Settings

DIALECT = dialect_named("databricks-14.3")
TABLES = variants(DIALECT, choice_of(DIALECT, None, None, None, None))
FEW = ("INSERT", "UPDATE", "MERGE", "OPTIMIZE", "REPLACE WHERE", "VACUUM", "RESTORE", "ADD COLUMN")


def outcome_of(seen: Observation) -> tuple[object, ...]:
    """What an observation says; a witness may be shorter where the rest is not played."""
    return seen.variant, seen.situation, seen.loser, seen.winner, seen.exceptions


@pytest.mark.parametrize("table", TABLES[::3], ids=lambda table: table.text)
def test_the_schedules_that_are_left_out_show_nothing_new(table: Variant) -> None:
    pairs = list(pairs_of(commands_named(FEW, DIALECT)))
    every = observe(table, DIALECT, pairs, Settings(), Exploration.EVERY)
    played = observe(table, DIALECT, pairs, Settings())
    assert list(map(outcome_of, played.observations)) == list(map(outcome_of, every.observations))
    assert played.schedules < every.schedules / 2
