"""Retries, reruns, restarts and deadlines: each costs what it repeats, and ends where it should."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sim.sim_worlds import document, rows
from whitecap.engine.errors import InvalidInput
from whitecap.engine.recorded import Interruption, RecordedOutcome
from whitecap.scenarios import SCENARIOS
from whitecap.sim.loading import scenario_of
from whitecap.sim.run import run_scenario
from whitecap.sim.scenario.writers import Rerun, Restart
from whitecap.sim.scenario.yaml.text import read_yaml
from whitecap.sim.writers.rerun import JobTries

TOUCH_ALL = "UPDATE events SET amount = 0.5"
OFTEN = {"statement": TOUCH_ALL, "compute": "1 s", "arrival": {"schedule": {"every": "2 s"}}}


def victim(**more: Any) -> list[dict[str, Any]]:
    """The transactions of one job of ten seconds, while another writer commits every two."""
    job = {"statement": TOUCH_ALL, "compute": "10 s", "arrival": {"schedule": {"at": ["1 s"]}}}
    writers = {"often": {**OFTEN, "stops": "60 s"}, "victim": {**job, **more}}
    run = run_scenario(scenario_of(document(store="instant", writers=writers)), requests=True)
    return [row for row in rows(run) if row["writer_group"] == "victim"]


def begins(transactions: list[dict[str, Any]]) -> list[float]:
    return [row["submitted_at_ms"] for row in transactions]


def test_what_its_application_gives_up_is_started_anew_with_reruns_of_its_own() -> None:
    transactions = victim(
        rerun={"fixed": {"wait": "1 s", "budget": 1}},
        restart={"fixed": {"wait": "5 s", "budget": 2}, "takes": "4 s"},
    )
    first, rerun, restart = 1_000, 10_000 + 1_000, 10_000 + 5_000 + 4_000
    expected = [first]
    for wait in (rerun, restart, rerun, restart, rerun):
        expected.append(expected[-1] + wait)
    assert begins(transactions) == [each for each in expected if each < expected[0] + 70_000]
    assert [row["rerun_number"] for row in transactions] == list(range(len(transactions)))
    assert transactions[-1]["outcome"] == RecordedOutcome.COMMITTED


def test_a_restart_costs_compute_again_and_a_retry_of_the_commit_does_not() -> None:
    transactions = victim(restart={"fixed": {"wait": "1 s", "budget": 9}, "takes": "30 s"})
    assert [row["compute_ms"] for row in transactions] == [10_000] * len(transactions)
    append = {
        "statement": "INSERT INTO events VALUES (1, DATE'2026-01-14', 'DE', 1.0)",
        "compute": "5 s",
        "count": 8,
        "arrival": {"schedule": {"at": ["1 s"]}},
    }
    run = run_scenario(scenario_of(document(store="s3", writers={"w": append})))
    assert sum(row["attempts"] for row in rows(run)) > 8
    assert [row["compute_ms"] for row in rows(run)] == [5_000] * 8


def test_a_restarted_driver_knows_nothing_of_the_log_any_more() -> None:
    """Of a young log it asks for more than one that has only to look for news."""

    def requests(**more: Any) -> int:
        job = {"statement": TOUCH_ALL, "compute": "10 s", "arrival": {"schedule": {"at": ["1 s"]}}}
        writers = {"often": {**OFTEN, "stops": "10 s"}, "victim": {**job, **more}}
        run = run_scenario(scenario_of(document(store="instant", writers=writers)), requests=True)
        again = [row["transaction_id"] for row in rows(run) if row["rerun_number"] == 1]
        return sum(row["transaction_id"] in again for row in rows(run, "requests"))

    policy = {"fixed": {"wait": "5 s", "budget": 1}}
    assert requests(restart=policy) > requests(rerun=policy)
    shared = {"cluster": "etl", "count": 2}
    assert requests(restart=policy, **shared) == requests(rerun=policy, **shared)


def test_a_job_is_given_up_at_its_deadline_whatever_it_does() -> None:
    (row,) = victim(deadline="4 s")
    assert row["outcome"] == RecordedOutcome.ABORTED
    assert row["exception"] == Interruption.DEADLINE_PASSED
    assert row["rule"] == "deadline"
    assert row["given_up"]
    assert row["ended_at_ms"] == 5_000
    assert row["compute_ms"] == 4_000


def test_no_rerun_begins_that_would_come_after_the_deadline() -> None:
    transactions = victim(deadline="20 s", rerun={"fixed": {"wait": "15 s", "budget": 9}})
    assert [row["exception"] for row in transactions] == ["ConcurrentAppendException"]
    assert transactions[0]["given_up"]


def test_a_deadline_counts_from_when_a_job_was_due_and_ends_its_waiting() -> None:
    writer = {
        "statement": TOUCH_ALL,
        "compute": "10 s",
        "cluster": "etl",
        "arrival": {"trace": {"text": "at_s\n1\n2\n3\n3\n"}},
        "deadline": "25 s",
    }
    given = document(store="instant", writers={"w": writer}, clusters={"etl": {"slots": 1}})
    transactions = rows(run_scenario(scenario_of(given)))
    assert [row["ended_at_ms"] for row in transactions] == [11_000, 21_000, 28_000, 28_000]
    outcomes = [row["outcome"] for row in transactions]
    assert outcomes == ["committed", "committed", "aborted", "aborted"]
    assert [row["compute_ms"] for row in transactions] == [10_000, 10_000, 7_000, 0]
    assert [row["given_up"] for row in transactions] == [False, False, True, True]


def test_a_deadline_ends_the_waiting_for_a_lock_of_the_driver() -> None:
    """Both look at the log at once; one does so for 10 s, with the lock of their JVM."""
    job = {"statement": TOUCH_ALL, "cluster": "etl", "arrival": {"schedule": {"at": ["1 s"]}}}
    writers = {"a": job, "b": {**job, "deadline": "5 s"}}
    store = {"profile": "instant", "list": {"latency": "10 s"}}
    transactions = rows(run_scenario(scenario_of(document(store=store, writers=writers))))
    assert transactions[1]["exception"] == Interruption.DEADLINE_PASSED
    assert transactions[1]["ended_at_ms"] == 6_000


def test_a_put_that_may_have_landed_at_the_deadline_is_unknown() -> None:
    store = {
        "profile": "instant",
        "put_if_absent": {"success": {"latency": "4 s"}, "loss": {"latency": "4 s"}},
    }
    job = {"statement": TOUCH_ALL, "compute": "1 s", "arrival": {"schedule": {"at": ["0 s"]}}}
    given = document(store=store, writers={"w": {**job, "deadline": "2 s"}})
    run = run_scenario(scenario_of(given))
    (row,) = rows(run)
    assert (row["outcome"], row["given_up"]) == (RecordedOutcome.UNKNOWN, True)
    assert [commit["transaction_id"] for commit in rows(run, "commits")][-1] == 0


def _waits(restart: Any, count: int, draw: float) -> list[float]:
    tries = JobTries(
        Rerun.model_validate("none"), Restart.model_validate(restart), lambda _: 0.0, lambda _: draw
    )
    made = (tries.next_run(is_unknown=False) for _ in range(count))
    return [each.wait_ms / 60_000 for each in made if each is not None]


def _preset(name: str, **more: Any) -> Any:
    chosen = read_yaml(SCENARIOS / "restarts.yaml").content[name]
    return chosen | {kind: chosen[kind] | options for kind, options in more.items()}


def test_the_presets_do_what_is_published_of_them() -> None:
    assert _waits(_preset("airflow"), 3, 0.5) == []
    assert _waits(_preset("airflow", fixed={"budget": 2}), 3, 0.5) == [5, 5]
    exponential = _preset("airflow-exponential", exponential={"budget": 9})
    assert _waits(exponential, 4, 0.0) == [5, 10, 20, 40]
    assert _waits(exponential, 4, 1.0) == [10, 20, 40, 80]
    assert max(_waits(exponential, 9, 1.0)) == 24 * 60
    assert _waits(_preset("databricks-job"), 3, 0.5) == []
    assert _waits(_preset("spark-streaming"), 3, 0.5) == [0, 0, 0]
    assert _waits(_preset("databricks-continuous"), 7, 0.5) == [1, 2, 4, 8, 16, 30, 30]


@pytest.mark.parametrize("name", list(read_yaml(SCENARIOS / "restarts.yaml").content))
def test_every_preset_can_be_named_and_says_where_it_comes_from(name: str) -> None:
    given = document(writers={"w": {**OFTEN, "restart": name}})
    restart = scenario_of(given).writers["w"].restart
    assert restart is not None
    assert restart.preset == name
    assert "2026" in restart.source


def test_options_of_a_preset_can_be_overridden() -> None:
    chosen = {"preset": "airflow", "fixed": {"budget": 3}, "takes": "90 s"}
    restart = (
        scenario_of(document(writers={"w": {**OFTEN, "restart": chosen}})).writers["w"].restart
    )
    assert restart is not None
    assert restart.fixed is not None
    assert (restart.fixed.wait, restart.fixed.budget, restart.takes) == (300_000, 3, 90_000)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (
            {"restart": "airflo"},
            "there is no preset 'airflo' (did you mean 'airflow'?)",
        ),
        ({"restart": {"takes": "3 s"}}, "give exactly one of fixed, exponential"),
        ({"restart": {"fixed": {"wait": "3 s"}, "take": "3 s"}}, "unknown key"),
        ({"deadline": "0 s"}, "must be more than 0"),
    ],
)
def test_what_cannot_be_meant_is_told(more: dict[str, Any], expected: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        scenario_of(document(writers={"w": {**OFTEN, **more}}))
    assert expected in str(raised.value)
