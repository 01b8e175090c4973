"""A table that nobody can write any more though nothing fails: planted, and told from bad luck."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracles.hand_made import ABORTED, HandMade
from tests.sim.sim_worlds import INSERT, scenario
from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.oracles.finding import Anomaly, Finding
from whitecap.sim.oracles.history import Promise
from whitecap.sim.oracles.runs.of_run import history_of, judge
from whitecap.sim.run import run_scenario
from whitecap.sim.store.contents.commit_table import CommitItem
from whitecap.sim.store.exchange import StoreRefused
from whitecap.sim.store.protocols.dynamodb import ByDynamoDB
from whitecap.sim.time.kernel import Waiting

INSERTED = "INSERT INTO t VALUES (3, 30)"


def after_faults(*failures: dict[str, Any], **more: Any) -> HandMade:
    """Faults end at 100 ms, one transaction committed before, and these fail after."""
    table = HandMade(promise=Promise(faults_stop=100.0), more=more)
    table.appends("b", [(3, 30)])
    table.did("early", INSERTED, 0, 1, began=10.0, ended=20.0)
    for number, given in enumerate(failures):
        failure = {"acknowledged": (), "began": 150.0, "ended": 160.0, "outcome": ABORTED, **given}
        table.did(f"late-{number}", INSERTED, 1, **failure)
    return table


def unwritable(table: HandMade) -> list[Finding]:
    return [each for each in table.findings() if each.anomaly is Anomaly.UNWRITABLE]


def test_a_table_that_refuses_everybody_after_the_last_fault_is_unwritable() -> None:
    refused = {"exception": "StoreRefused"}
    [finding] = unwritable(after_faults(refused, {"outcome": RecordedOutcome.UNKNOWN}))
    assert finding.transactions == ("late-0", "late-1")
    assert "2 transactions began after the last fault (100 ms) and failed" in finding.sentence
    assert "StoreRefused, unknown" in finding.sentence
    assert "after version 1 the table takes no commit" in finding.sentence


def test_what_was_never_finished_beside_the_log_is_named() -> None:
    [finding] = unwritable(after_faults({"exception": "StoreRefused"}, unfinished=(1,)))
    assert finding.sentence.endswith("version 1 is decided beside the log and was never finished")


def test_a_conflict_without_a_winner_is_one_with_the_table() -> None:
    conflict = {"exception": "ConcurrentAppendException"}
    [finding] = unwritable(after_faults(conflict))
    assert "late-0 began after the last fault" in finding.sentence
    assert "neither the log nor what is decided beside it shows why" in finding.sentence


@pytest.mark.parametrize(
    "failure",
    [
        {"exception": "AnalysisException"},
        {"exception": "StoreRefused", "began": 90.0},
        {"exception": "DeadlinePassed"},
        {},
    ],
)
def test_a_statement_of_no_use_and_one_under_faults_say_nothing(failure: dict[str, Any]) -> None:
    assert not unwritable(after_faults(failure))


def test_who_is_refused_because_another_committed_does_not_count() -> None:
    table = after_faults({"exception": "ConcurrentAppendException"})
    table.appends("c", [(4, 40)])
    table.did("late-too", "INSERT INTO t VALUES (4, 40)", 1, 2, began=140.0, ended=155.0)
    assert not unwritable(table)


def test_without_an_end_of_faults_nobody_knows() -> None:
    table = after_faults({"exception": "StoreRefused"})
    table.promise = Promise()
    assert not unwritable(table)


def test_a_store_at_its_own_limits_says_nothing_of_the_table() -> None:
    table = after_faults({"exception": "StoreRefused"})
    table.promise = Promise(faults_stop=100.0, limits=True)
    assert not unwritable(table)
    conflict = after_faults({"exception": "ConcurrentAppendException"})
    conflict.promise = Promise(faults_stop=100.0, limits=True)
    assert len(unwritable(conflict)) == 1


def test_writers_that_only_the_limits_refuse_leave_a_sound_table() -> None:
    limits = {"reads_per_s": 10, "writes_per_s": 1}
    store = {"profile": "s3", "limits": limits, "client": {"throttle_retries": 0}}
    loader = {**INSERT, "count": 15, "arrival": {"schedule": {"every": "2 min"}}, "compute": "2 s"}
    run = run_scenario(scenario(store=store, writers={"loader": loader}, duration="3 min"))
    assert "StoreRefused" in run.recording.transactions["exception"].to_pylist()
    assert history_of(run).promise.limits
    assert not judge(run).findings


def test_limits_that_nobody_reaches_excuse_nobody() -> None:
    run = run_scenario(scenario(store="s3", duration="1 min"))
    assert not history_of(run).promise.limits


def _cannot(*_: ByDynamoDB | CommitItem) -> Waiting[None]:
    """As a log store that finds no temporary file to finish another's commit with."""
    raise StoreRefused
    yield from ()


def test_an_item_that_nobody_can_finish_makes_a_run_unwritable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A driver dies between its item and the copy; planted: nobody else can copy either."""
    dies = {"requests": ["put"], "files": ["commit"], "nth": 3, "when": "before", "restart": "5 s"}
    faults = [{"crash_at_request": dies, "writers": ["loader-1"], "between": ["0 s", "2 min"]}]
    planned = scenario(store="s3-dynamodb", faults=faults, writers={"loader": INSERT})
    assert not judge(run_scenario(planned)).findings
    monkeypatch.setattr(ByDynamoDB, "_recover", _cannot)
    findings = judge(run_scenario(planned)).findings
    assert [finding.anomaly for finding in findings] == [Anomaly.UNWRITABLE]
    assert "is decided beside the log and was never finished" in findings[0].sentence
