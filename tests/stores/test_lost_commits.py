"""A store without put-if-absent loses commits, and the recording says whose."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sim.sim_worlds import INSERT, UPDATE, ran, rows, scenario
from whitecap.engine.errors import InvalidInput, InvariantViolated
from whitecap.sim.history.conservation import WalkedLog, check_conservation
from whitecap.sim.run import FinishedRun

LAST_ONE_WINS = {"profile": "s3", "put_if_absent": {"exclusive": False}}
TOGETHER = {"schedule": {"every": "5 s"}}


def _ran(store: Any = LAST_ONE_WINS, **writer: Any) -> FinishedRun:
    loader = {**INSERT, "count": 2, "arrival": TOGETHER, "compute": "1 s", **writer}
    return ran(store=store, duration="1 min", writers={"loader": loader})


def test_overwritten_commits_belong_to_transactions_that_believe_in_them() -> None:
    run = _ran()
    lost = {(commit.transaction_id, commit.version) for commit in run.world.store.overwritten}
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
    assert {outcomes[commit.transaction_id or 0] for commit in run.world.store.overwritten} >= {
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


def test_lost_and_doubled_commits_are_measured() -> None:
    run = _ran()
    manifest = run.recording.manifest
    assert manifest["lost_commits"] == len(run.world.store.overwritten)
    assert "doubled_commits" not in manifest
    lost = {"lost_reply": {"nth": 2}}
    store = {"profile": "s3", "client": {"on_lost_reply": "resend", "timeout": "1 s"}}
    doubled = ran(store=store, duration="1 min", writers={"loader": INSERT}, faults=[lost])
    assert doubled.recording.manifest["doubled_commits"] == 1
    assert "lost_commits" not in doubled.recording.manifest


def test_a_put_that_is_delivered_twice_brings_back_what_was_written_over() -> None:
    """Both rivals' commits are lost in turn: the second delivery undoes the second put."""
    twice = {"duplicate_delivery": {"probability": 1, "delay": "2 s"}, "writers": ["loader-1"]}
    loader = {**INSERT, "count": 2, "arrival": TOGETHER, "compute": "1 s"}

    def lost(faults: list[Any]) -> set[str]:
        run = ran(store=LAST_ONE_WINS, duration="1 min", writers={"loader": loader}, faults=faults)
        writers = {row["transaction_id"]: row["writer"] for row in rows(run)}
        return {writers[commit.transaction_id] for commit in run.world.store.overwritten}

    assert lost([twice]) == {"loader-1", "loader-2"}


@pytest.mark.parametrize("profile", ["s3", "s3-dynamodb"])
def test_one_driver_with_the_wrong_log_store_loses_commits_of_others(profile: str) -> None:
    loader = {**INSERT, "arrival": TOGETHER, "compute": "1 s"}
    wrong = {**loader, "log_store": "s3-single-driver"}
    run = ran(store=profile, duration="1 min", writers={"right": loader, "wrong": wrong})
    writers = {row["transaction_id"]: row["writer_group"] for row in rows(run)}
    assert "right" in {writers[commit.transaction_id] for commit in run.world.store.overwritten}
    kept = {row["transaction_id"] for row in rows(run, "commits")} - {None}
    assert run.recording.manifest["live_rows"] == 120 + 4 * len(kept)


@pytest.mark.parametrize(
    ("log_store", "store", "said"),
    [
        ("s3-singel-driver", "s3", "no store profile 's3-singel-driver'"),
        ("s3-dynamodb", "s3", "does not fit s3: .*needs dynamodb"),
        ("abfs", "s3", "does not fit s3: .*rename"),
    ],
)
def test_a_log_store_that_the_store_does_not_carry_is_refused(
    log_store: str, store: str, said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        scenario(store=store, writers={"wrong": {**INSERT, "log_store": log_store}})
