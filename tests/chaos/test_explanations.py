"""What a scenario says of itself and is warned of explains what follows from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.sim.sim_worlds import INSERT, UPDATE, document
from whitecap.sim.chaos.explaining import explanation
from whitecap.sim.loading import load_scenario, scenario_of
from whitecap.sim.scenario.model import Scenario

AT_WEAK = {"isolation": "WriteSerializable"}
VACUUM = {
    "statement": "VACUUM events RETAIN 0 HOURS",
    "arrival": {"schedule": {"every": "1 min"}},
}


def of_writer(group: dict[str, Any], **parts: Any) -> Scenario:
    return scenario_of(document(writers={"loader": INSERT, "other": group}, **parts))


def test_the_dialect_of_one_writer_is_to_blame() -> None:
    mixed = of_writer({**UPDATE, "dialect": "delta-rs-1.6.6"})
    cause = explanation(mixed, lambda s: "delta-rs-1.6.6" in s.dialects)
    assert cause == "the dialect delta-rs-1.6.6"


def _dialects(scenario: Scenario) -> set[str]:
    return {scenario.dialect_of(group).name for group in scenario.writers.values()}


def test_dialects_that_only_both_do_without_are_to_blame_together() -> None:
    mixed = of_writer({**UPDATE, "dialect": "delta-rs-1.6.6"}, dialect="delta-rs-1.6.3")
    cause = explanation(mixed, lambda s: _dialects(s) != {"delta-oss-4.4"})
    assert cause == "the dialects delta-rs-1.6.3 and delta-rs-1.6.6 together"


def test_a_dialect_that_resolves_what_delta_refuses_is_no_excuse() -> None:
    by_rows = of_writer(UPDATE, dialect="databricks-14.3")
    assert explanation(by_rows, lambda s: _dialects(s) == {"databricks-14.3"}) is None


def test_a_level_explains_a_cycle_in_which_only_inserts_were_missed_and_nothing_else() -> None:
    weak = of_writer(UPDATE)
    weak = scenario_of({**weak.document, "table": {**weak.document["table"], **AT_WEAK}})

    def is_weak(scenario: Scenario) -> bool:
        (table,) = scenario.all_tables
        return "WriteSerializable" in table.configuration().values()

    cause = explanation(weak, is_weak, only_inserts_missed=True)
    assert cause == "WriteSerializable, which lets an INSERT be missed by one and seen by another"
    assert explanation(weak, is_weak) is None


def test_a_short_retention_of_vacuum_is_to_blame() -> None:
    unchecked = {"spark.databricks.delta.retentionDurationCheck.enabled": False}
    hasty = of_writer(VACUUM, settings=unchecked)
    cause = explanation(hasty, lambda s: "RETAIN" in (s.writers["other"].statement or ""))
    assert cause == "a VACUUM that retains for less than the table"


def test_a_wrong_clock_is_to_blame() -> None:
    ahead = of_writer({**UPDATE, "clock_skew": "8 d"})
    cause = explanation(ahead, lambda s: s.writers["other"].clock_skew is not None)
    assert cause == "a clock that is wrong"


def test_items_that_go_too_early_are_to_blame() -> None:
    store = {"profile": "s3-dynamodb", "dynamodb": {"ttl": "30 s"}}

    def is_short(scenario: Scenario) -> bool:
        return scenario.store.dynamodb is not None and scenario.store.dynamodb.ttl < 60_000

    cause = explanation(scenario_of(document(store=store)), is_short)
    assert cause == "items of DynamoDB that go too early"


@pytest.mark.parametrize(
    ("name", "key", "cause"),
    [
        ("f15-batch-for-two-tables", "foreach_batch", "batches without txnAppId and txnVersion"),
        ("two-tables", "restart", "jobs of several statements that are started again"),
    ],
)
def test_what_repeats_statements_that_are_done_is_to_blame(name: str, key: str, cause: str) -> None:
    again = {"writers.pipeline.restart": {"fixed": {"wait": "5 s", "budget": 2}}}
    scenario = load_scenario(name, again if key == "restart" else None, cells=False)

    def repeats(judged: Scenario) -> bool:
        parts = [getattr(group, key) for group in judged.writers.values()]
        return any(part and not getattr(part, "idempotent", False) for part in parts)

    assert explanation(scenario_of(scenario.document), repeats) == cause


def test_what_needs_no_fault_is_explained_without_looking_at_each_fault() -> None:
    kinds = [{"throttling": {"probability": 0.01}}, {"pause": {"nth": 3, "lasts": "1 s"}}]
    open_to_all_puts = {"profile": "s3", "put_if_absent": {"exclusive": False}}
    open_to_all = scenario_of(document(store=open_to_all_puts, faults=kinds * 3))
    tries: list[Scenario] = []

    def fails(tried: Scenario) -> bool:
        tries.append(tried)
        return not tried.is_exclusive

    assert explanation(open_to_all, fails) == "a store without put-if-absent"
    assert [len(tried.faults) for tried in tries] == [0, 6]


def test_a_fault_that_does_it_alone_is_preferred_to_one_that_lets_it_happen() -> None:
    kinds = [{"throttling": {"probability": 0.01}}, {"pause": {"nth": 3, "lasts": "1 s"}}]
    both = scenario_of(document(faults=kinds))

    def needs(*wanted: str) -> Callable[[Scenario], bool]:
        return lambda s: {*wanted} <= {fault.chosen_names()[0] for fault in s.faults}

    assert explanation(both, needs("pause")) == "the fault pause"
    together = needs("throttling", "pause")
    assert explanation(both, together) == "the faults throttling and pause together"
    more = scenario_of(document(faults=[*kinds, {"lost_reply": {"probability": 0.01}}, kinds[0]]))
    cause = explanation(more, lambda s: len(s.faults) == 4)
    assert cause == "the faults 2 x throttling, pause and lost_reply together"
