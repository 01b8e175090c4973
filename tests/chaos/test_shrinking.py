"""A scenario that goes wrong is made small without running anything: the test says what fails."""

from __future__ import annotations

from tests.sim.sim_worlds import document
from whitecap.sim.chaos.examining import Examined
from whitecap.sim.chaos.explaining import explanation
from whitecap.sim.chaos.one_run import ChaosRun
from whitecap.sim.chaos.shrinking import shrink
from whitecap.sim.loading import scenario_of
from whitecap.sim.oracles.finding import Anomaly, Finding, Oracle
from whitecap.sim.scenario.model import Scenario
from whitecap.terminal.campaign import small_scenario

LOST = {"lost_reply": {"probability": 0.1}}
THROTTLED = {"throttling": {"probability": 0.1}}


def big() -> Scenario:
    return scenario_of(document(faults=[THROTTLED, LOST], dialect="databricks-14.3"))


def loses_replies(scenario: Scenario) -> bool:
    return any(fault.lost_reply for fault in scenario.faults)


def test_only_what_is_needed_stays() -> None:
    smallest = shrink(big(), loses_replies).scenario
    assert [fault.chosen_names() for fault in smallest.faults] == [["lost_reply"]]
    assert len(smallest.writers) == 1
    assert all(group.count == 1 for group in smallest.writers.values())
    assert smallest.all_tables[0].initial.rows == 0
    assert "dialect" not in smallest.document


def test_what_is_needed_together_stays_together() -> None:
    def both(scenario: Scenario) -> bool:
        return len(scenario.faults) == 2 and len(scenario.writers) == 2

    smallest = shrink(big(), both).scenario
    assert both(smallest)
    assert smallest.all_tables[0].initial.rows == 0


def test_a_scenario_that_nothing_smaller_is_like_stays_as_it_is() -> None:
    scenario = big()
    shrunk = shrink(scenario, lambda smaller: False)
    assert shrunk.scenario is scenario
    assert shrunk.tried > 5


def test_no_more_are_tried_than_are_allowed() -> None:
    assert shrink(big(), lambda smaller: True, most=3).tried == 3


def test_a_finding_that_is_gone_without_a_fault_is_explained_by_it() -> None:
    assert explanation(big(), loses_replies) == "the fault lost_reply"


def test_a_finding_that_takes_any_of_two_faults_is_explained_by_both() -> None:
    cause = explanation(big(), lambda scenario: bool(scenario.faults))
    assert cause == "the faults throttling and lost_reply together"


def test_a_finding_of_one_dialect_is_explained_by_it() -> None:
    of_delta_rs = scenario_of({**big().document, "dialect": "delta-rs-1.6.6"})
    cause = explanation(of_delta_rs, lambda scenario: scenario.dialect == "delta-rs-1.6.6")
    assert cause == "the dialect delta-rs-1.6.6"


def test_a_finding_that_stays_is_unexplained() -> None:
    assert explanation(big(), lambda scenario: True) is None


def test_a_finding_that_is_gone_on_a_store_that_excludes_is_explained_by_the_store() -> None:
    loose = scenario_of(document(store={"profile": "s3", "put_if_absent": {"exclusive": False}}))
    cause = explanation(loose, lambda scenario: not scenario.is_exclusive)
    assert cause == "a store without put-if-absent"


def test_the_small_scenario_says_what_is_wrong_with_itself() -> None:
    """Not what was wrong with the large one, whose transactions it does not have."""

    def of_its_size(scenario: Scenario) -> bool | Finding:
        if not loses_replies(scenario):
            return False
        said = f"{len(scenario.faults)} faults"
        return Finding(oracle=Oracle.LOG, anomaly=Anomaly.LOST_COMMIT, sentence=said)

    shrunk = shrink(big(), of_its_size)
    assert shrunk.finding is not None
    assert shrunk.finding.sentence == "1 faults"
    large = Finding(oracle=Oracle.LOG, anomaly=Anomaly.LOST_COMMIT, sentence="2 faults")
    run = ChaosRun(0, "big", "", "", findings=(large,))
    text = small_scenario(Examined(run, None, shrunk), "whitecap chaos")
    assert text.startswith("# lost commit: 1 faults\n")
