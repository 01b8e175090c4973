"""Scenarios drawn at random, recorded and replayed on a real Delta Lake."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.replay.drawn_scenarios import FAULTS, KINDS, LAYOUTS, PROPERTIES, drawn_scenario
from whitecap.sim.loading import scenario_of
from whitecap.sim.replay.agreement import Comparison
from whitecap.sim.replay.choice import named_run
from whitecap.sim.replay.plan import plan_replay
from whitecap.sim.replay.replay import replay
from whitecap.sim.run import run_scenario

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAIT_S = 150.0


def test_a_scenario_depends_on_its_seed_alone() -> None:
    assert drawn_scenario(3) == drawn_scenario(3)
    assert drawn_scenario(3) != drawn_scenario(4)


def test_drawn_are_all_commands_layouts_and_faults() -> None:
    drawn = [drawn_scenario(seed) for seed in range(150)]
    tables = [document["table"] for document in drawn]
    assert all(any(table.items() >= layout.items() for table in tables) for layout in LAYOUTS)
    properties = {key for table in tables for key in table["properties"]}
    assert properties == {key for each in PROPERTIES for key in each}
    faults = [fault for document in drawn for fault in document["faults"]]
    assert all(fault in faults for fault in FAULTS)
    texts = [w.get("statement", "") for document in drawn for w in document["writers"].values()]
    words = {text.partition(" ")[0] for text in texts}
    assert words >= {"", "INSERT", "UPDATE", "DELETE", "MERGE", "OPTIMIZE", "VACUUM", "ALTER"}
    assert len(KINDS) == 10


@pytest.mark.parametrize("seed", [1, 14])
def test_what_is_played_of_a_drawn_scenario_is_most_of_it(seed: int, tmp_path: Path) -> None:
    run_scenario(scenario_of(drawn_scenario(seed)), out=tmp_path / "run")
    plan = plan_replay(named_run(tmp_path / "run"), limit=12)
    assert len(plan.played) > len(plan.transactions) / 3
    assert all(each.left_out for each in plan.transactions if each not in plan.played)


@pytest.mark.spark
@pytest.mark.parametrize("seed", [16, 20, 65])
def test_real_delta_agrees_with_a_drawn_scenario(
    spark: SparkSession, seed: int, tmp_path: Path
) -> None:
    """Vectors and lost replies; rows replaced by a condition; several commands that rewrite."""
    run_scenario(scenario_of(drawn_scenario(seed)), out=tmp_path / "run")
    agreement = replay(plan_replay(named_run(tmp_path / "run"), limit=8), spark, timeout_s=WAIT_S)
    wrong = [each for each in agreement.compared if each.comparison is Comparison.MISMATCH]
    assert wrong == []
    assert agreement.holds
