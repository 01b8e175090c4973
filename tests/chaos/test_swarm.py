"""What a campaign draws."""

from __future__ import annotations

import pytest

from tests.sim.sim_worlds import INSERT, UPDATE, document
from whitecap.sim.chaos.dice import Dice
from whitecap.sim.chaos.sites import SITES, drawn_faults
from whitecap.sim.chaos.swarm import FAULTS_END, QUIET_MS, DrawnVariation, drawn
from whitecap.sim.loading import scenario_of
from whitecap.sim.scenario.faults import Fault
from whitecap.sim.scenario.model import Scenario

NUMBERS = range(40)


def base() -> Scenario:
    axes = {"size": {"one": {}, "two": {"writers.loader.count": 2}}}
    return scenario_of(document(sweep={"axes": axes}), cells=False)


@pytest.fixture(scope="module")
def variations() -> list[DrawnVariation]:
    return [drawn(base(), 7, number) for number in NUMBERS]


def test_the_same_number_of_the_same_seed_is_the_same_variation(
    variations: list[DrawnVariation],
) -> None:
    again = [drawn(base(), 7, number) for number in NUMBERS]
    assert [each.scenario.document for each in again] == [
        each.scenario.document for each in variations
    ]


def test_another_seed_draws_other_variations(variations: list[DrawnVariation]) -> None:
    other = drawn(base(), 8, 0)
    assert other.scenario.document != variations[0].scenario.document


def test_what_one_choice_draws_moves_no_other() -> None:
    assert Dice(3, 4).uniform("store") == Dice(3, 4).uniform("store")
    assert Dice(3, 4).uniform("store") != Dice(3, 4).uniform("dialect")
    assert Dice(3, 4).uniform("store") != Dice(3, 5).uniform("store")


def test_every_site_is_touched_in_some_runs_and_left_alone_in_others() -> None:
    for site in SITES:
        touched = {Dice(1, number).chance(f"touch {site.name}", 0.6) for number in NUMBERS}
        assert touched == {True, False}


def test_every_kind_of_fault_is_drawn(variations: list[DrawnVariation]) -> None:
    kinds = {fault.chosen_names()[0] for each in variations for fault in each.scenario.faults}
    assert kinds == set(Fault.alternatives())


def _calm_ms(each: DrawnVariation) -> float:
    """When the quiet phase of a variation begins."""
    return each.scenario.duration - QUIET_MS


def test_some_runs_have_no_fault_and_some_have_several() -> None:
    counts = {len(list(drawn_faults(Dice(1, number), 1000.0))) for number in range(100)}
    assert 0 in counts
    assert max(counts) > 1


def test_faults_end_and_nothing_is_begun_when_the_quiet_phase_begins(
    variations: list[DrawnVariation],
) -> None:
    for each in variations:
        ends = {fault.between[1] for fault in each.scenario.faults if fault.between}
        assert all(end == pytest.approx(FAULTS_END * _calm_ms(each), rel=1e-3) for end in ends)
        assert all(
            group.stops is not None and group.stops <= group.starts + _calm_ms(each)
            for group in each.scenario.writers.values()
        )
        assert _calm_ms(each) > 0


def test_the_faults_of_the_scenario_itself_end_with_those_that_are_drawn() -> None:
    late = {"throttling": {"probability": 0.1}, "between": ["1000 d", "1001 d"]}
    own = ["lost-reply", late]
    each = drawn(scenario_of(document(store="s3", faults=own)), 7, 0)
    mine = each.scenario.document["faults"][0]
    assert mine["use"] == "lost-reply"
    between: object = each.scenario.faults[0].between
    assert between == (0.0, pytest.approx(FAULTS_END * _calm_ms(each)))
    assert not any(fault.between and fault.between[0] > 0 for fault in each.scenario.faults)


def test_what_cannot_be_is_dropped_and_named() -> None:
    """Only one dialect has the setting of this scenario."""
    settings = {"spark.databricks.delta.featureEnablement.conflictResolution.enabled": "false"}
    only_here = scenario_of(document(settings=settings))
    variations = [drawn(only_here, 7, number) for number in range(10)]
    assert {each.scenario.dialect for each in variations} == {"delta-oss-4.4"}
    assert any("dialect" in each.in_vain for each in variations)


def test_groups_that_begin_after_the_quiet_phase_are_left_out_unless_there_are_no_others() -> None:
    late = {**UPDATE, "starts": "1 h"}
    writers = {"early": INSERT, "late": late}
    both = [drawn(scenario_of(document(writers=writers)), 7, number) for number in NUMBERS]
    assert any(set(each.scenario.writers) == {"early"} for each in both)
    assert not any({"early", "late"} <= set(each.scenario.writers) for each in both)
    alone = drawn(scenario_of(document(writers={"late": late})), 7, 0).scenario.writers["late"]
    assert alone.stops is not None
    assert alone.stops > alone.starts


def test_who_stops_early_does_so_in_proportion_in_a_longer_variation() -> None:
    hourly = {**INSERT, "arrival": {"schedule": {"every": "1 min"}}, "stops": "9 min"}
    each = drawn(scenario_of(document(writers={"loader": hourly}, duration="10 min")), 7, 0)
    assert _calm_ms(each) > 2 * 600_000.0
    stops = each.scenario.writers["loader"].stops
    assert stops == pytest.approx(0.9 * _calm_ms(each), abs=1000)


def test_a_cluster_goes_with_the_last_writer_that_runs_on_it() -> None:
    shared = {"etl": {"slots": 2}}
    writers = {"loader": {**INSERT, "cluster": "etl"}, "corrector": UPDATE}
    base = scenario_of(document(writers=writers, clusters=shared))
    each = [drawn(base, 7, number).scenario for number in NUMBERS]
    assert {"etl" in scenario.clusters for scenario in each} == {True, False}


def test_jobs_at_listed_instants_come_again_until_it_is_calm() -> None:
    once = {**INSERT, "arrival": {"schedule": {"at": ["90 s", "1 min"]}}}
    each = drawn(scenario_of(document(writers={"loader": once}, duration="10 min")), 7, 0)
    schedule = each.scenario.writers["loader"].arrival.schedule
    assert schedule is not None
    assert schedule.at is not None
    assert schedule.at[:5] == [60_000.0, 90_000.0, 660_000.0, 690_000.0, 1_260_000.0]
    assert _calm_ms(each) - 600_000.0 < schedule.at[-1] < _calm_ms(each)


def test_a_longer_variation_is_the_same_one_with_more_jobs() -> None:
    short, longer = drawn(base(), 7, 3), drawn(base(), 7, 3, length=4.0)
    assert _calm_ms(longer) == pytest.approx(4 * _calm_ms(short), abs=4000)
    assert longer.choices == short.choices
    assert longer.scenario.seed == short.scenario.seed


def test_a_kind_of_fault_that_is_left_out_moves_nothing_else() -> None:
    own = [{"throttling": {"probability": 0.1}}, {"use": "lost-reply"}]
    scenario = scenario_of(document(store="s3", faults=own))
    for number in NUMBERS:
        whole = drawn(scenario, 7, number).scenario.document
        left = drawn(scenario, 7, number, frozenset({"throttling"})).scenario.document
        kept = [fault for fault in whole["faults"] if "throttling" not in fault]
        assert left == {**whole, "faults": kept}
    assert "lost-reply" in {fault.get("use") for fault in left["faults"]}
