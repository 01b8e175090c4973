"""A store without put-if-absent loses commits, and the recording says whose."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sim.sim_worlds import INSERT, UPDATE, ran, rows
from whitecap.engine.errors import InvariantViolated
from whitecap.sim.history.conservation import WalkedLog, check_conservation
from whitecap.sim.run import FinishedRun

LAST_ONE_WINS = {"profile": "s3", "put_if_absent": {"exclusive": False}}
TOGETHER = {"schedule": {"every": "5 s"}}


def _ran(store: Any = LAST_ONE_WINS, **writer: Any) -> FinishedRun:
    loader = {**INSERT, "count": 2, "arrival": TOGETHER, "compute": "1 s", **writer}
    return ran(store=store, duration="1 min", writers={"loader": loader})


def test_overwritten_commits_belong_to_transactions_that_believe_in_them() -> None:
    run = _ran()
    lost = {(one.transaction_id, one.version) for one in run.world.store.overwritten}
    owners = {row["version"]: row["transaction_id"] for row in rows(run, "commits")}
    believed = {
        (row["transaction_id"], row["committed_version"])
        for row in rows(run)
        if row["outcome"] == "committed"
    }
    assert lost
    assert lost <= believed
    assert all(owners[version] != transaction for transaction, version in lost)


def test_their_rows_are_gone_and_no_other() -> None:
    run = _ran()
    committed = run.recording.manifest["counts"]["committed"]
    kept = committed - len(run.world.store.overwritten)
    assert run.recording.manifest["live_rows"] == 120 + 4 * kept


def test_with_put_if_absent_nothing_is_lost() -> None:
    run = _ran(store={"profile": "s3"})
    committed = run.recording.manifest["counts"]["committed"]
    assert not run.world.store.overwritten
    assert run.recording.manifest["live_rows"] == 120 + 4 * committed


def test_who_finds_the_version_taken_when_sending_goes_on_to_the_next() -> None:
    loader = {**INSERT, "arrival": TOGETHER}
    writers = {"quick": {**loader, "compute": "1 s"}, "slow": {**loader, "compute": "2 s"}}
    run = ran(store=LAST_ONE_WINS, duration="1 min", writers=writers)
    assert not run.world.store.overwritten
    assert run.recording.manifest["counts"]["aborted"] == 0


def test_a_put_that_takes_effect_late_overwrites_what_came_meanwhile() -> None:
    late = {"late_effect": {"probability": 0.5, "delay": "1 s"}}
    store = {**LAST_ONE_WINS, "client": {"timeout": "3 s"}}
    loader = {**INSERT, "count": 3, "compute": "1 s", "arrival": {"closed": {"think": "1 s"}}}
    run = ran(store=store, duration="2 min", writers={"loader": loader}, faults=[late])
    outcomes = {row["transaction_id"]: row["outcome"] for row in rows(run)}
    assert {outcomes[one.transaction_id or 0] for one in run.world.store.overwritten} >= {
        "committed"
    }


def test_an_update_can_be_lost_too() -> None:
    corrector = {**UPDATE, "count": 2, "arrival": TOGETHER, "compute": "1 s"}
    run = ran(store=LAST_ONE_WINS, duration="1 min", writers={"corrector": corrector})
    assert run.world.store.overwritten
    assert run.recording.manifest["live_rows"] == 120


def test_a_lost_commit_that_nobody_accounts_for_is_a_broken_rule() -> None:
    run = _ran()
    with pytest.raises(InvariantViolated, match="which is not its own"):
        check_conservation(run.recording.tables, [WalkedLog("events", None)], "again")
