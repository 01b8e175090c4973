"""What a campaign draws of scenarios with several tables, and of writers that faults name."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sim.sim_worlds import INSERT, UPDATE, document
from whitecap.sim.chaos.parts import with_writers
from whitecap.sim.chaos.shrinking import shrink
from whitecap.sim.chaos.swarm import DrawnVariation, drawn
from whitecap.sim.loading import load_scenario, scenario_of
from whitecap.sim.scenario.model import Scenario

NUMBERS = range(40)


@pytest.fixture(scope="module")
def variations() -> list[DrawnVariation]:
    """Of a pipeline that writes silver, then gold, and of corrections of gold."""
    base = load_scenario("two-tables", cells=False)
    return [drawn(base, 7, number) for number in NUMBERS]


def test_each_table_is_laid_out_by_itself(variations: list[DrawnVariation]) -> None:
    both = [each.scenario.tables for each in variations if len(each.scenario.tables) == 2]
    layouts = {(tuple(t["silver"].partition_by), tuple(t["gold"].partition_by)) for t in both}
    assert {((), ("country",)), (("country",), ())} <= layouts
    rows = {(t["silver"].initial.rows, t["gold"].initial.rows) for t in both}
    assert any(silver < 2000 and gold < 400 and silver != gold for silver, gold in rows)
    levels = {(t["silver"].isolation, t["gold"].isolation) for t in both}
    assert ("Serializable", "WriteSerializable") in levels


def test_a_table_goes_with_the_last_writer_that_writes_it(variations: list[DrawnVariation]) -> None:
    written = {(tuple(each.scenario.writers), tuple(each.scenario.tables)) for each in variations}
    assert written == {
        (("pipeline", "corrections"), ("silver", "gold")),
        (("pipeline",), ("silver", "gold")),
        (("corrections",), ("gold",)),
    }


def test_a_catalog_gives_every_table_timestamps_of_its_commits(
    variations: list[DrawnVariation],
) -> None:
    managed = [e.scenario for e in variations if e.choices.get("store") == "catalog-managed"]
    assert managed
    for each in managed:
        for table in each.all_tables:
            assert table.properties["delta.enableInCommitTimestamps"] == "true"


def test_tables_and_statements_go_with_which_a_finding_does_without() -> None:
    def writes_gold(scenario: Scenario) -> bool:
        return "gold" in scenario.tables

    smallest = shrink(load_scenario("two-tables", cells=False), writes_gold).scenario
    assert list(smallest.tables) == ["gold"]
    assert smallest.tables["gold"].initial.rows == 0
    assert len(smallest.writers) == 1


def test_a_fault_of_a_writer_goes_with_it_and_one_of_several_strikes_the_others() -> None:
    writers: dict[str, Any] = {"loader": {**INSERT, "count": 2}, "corrector": UPDATE}
    crash = {"writer_crash": {"rate": "1 per h", "restart": "1 min"}}
    faults = [
        {**crash, "writers": ["corrector"]},
        {**crash, "writers": ["loader-2", "corrector"]},
        {"use": "lost-reply"},
    ]
    whole = document(writers=writers, faults=faults)
    alone = with_writers(whole, {"loader": writers["loader"]})
    assert alone["faults"] == [{**crash, "writers": ["loader-2"]}, {"use": "lost-reply"}]
    assert scenario_of(alone).faults


def test_a_scenario_with_such_a_fault_is_drawn_without_its_writer() -> None:
    base = load_scenario("f02-vacuum-under-a-writer", cells=False)
    named = {tuple(sorted(drawn(base, 7, number).scenario.writers)) for number in NUMBERS}
    assert any("loader" not in names for names in named)
