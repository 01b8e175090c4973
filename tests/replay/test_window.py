"""A recording as a history, and which part of it is worth replaying."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from whitecap.engine.errors import InvalidInput
from whitecap.sim.recording import SCHEMAS, Recording, table_of
from whitecap.sim.replay.recorded import Recorded, recorded_transactions
from whitecap.sim.replay.script import End, Result
from whitecap.sim.replay.window import (
    Window,
    began_before,
    best_window,
    check_window,
    members,
    parse_window,
)

PLAIN: dict[str, Any] = {
    "rerun_number": 0,
    "writer": "w-1",
    "writer_group": "w",
    "command": "UPDATE",
    "statement": "UPDATE t SET v = 1",
    "submitted_at_ms": 0.0,
    "snapshot_at_ms": 1.0,
    "attempts": 1,
    "compute_ms": 0.0,
    "rows_inserted": 0,
    "files_added": 0,
    "files_removed": 0,
    "bytes_written": 0,
    "given_up": False,
}


def _row(number: int, outcome: str, read: int, **known: Any) -> tuple[Any, ...]:
    values = {**PLAIN, "transaction_id": number, "job_id": number, "outcome": outcome}
    values |= {"read_version": read, "ended_at_ms": 1000.0} | known
    return tuple(values.get(name) for name in SCHEMAS["transactions"].names)


def _recording(
    rows: list[tuple[Any, ...]],
    landed: dict[int, int],
    attempts: list[tuple[int, int]] | None = None,
) -> Recording:
    commits = [
        (version, number, version * 10.0, "UPDATE", 1, 1, 1, 1)
        for version, number in sorted(landed.items())
    ]
    tried = [(number, 1, version, 0.0, 0.0, 0.0, "created") for number, version in attempts or []]
    tables = {
        "transactions": table_of("transactions", rows),
        "attempts": table_of("attempts", tried),
        "commits": table_of("commits", [(0, None, 0.0, "CREATE", 0, 0, 0, 0), *commits]),
    }
    return Recording({}, "", tables)


def _aborted(number: int, read: int, winner: int, **known: Any) -> tuple[Any, ...]:
    raised = {"exception": "ConcurrentAppendException", "winning_version": winner}
    return _row(number, "aborted", read, **{**raised, **known})


def test_a_commit_is_decided_at_the_version_before_it_and_an_abort_at_its_winner() -> None:
    rows = [_row(1, "committed", 0, committed_version=3), _aborted(2, 0, 2)]
    committed, aborted = recorded_transactions(_recording(rows, {3: 1}))
    assert (committed.decided_at, committed.landed, committed.complete_at) == (2, 3, 3)
    assert (aborted.decided_at, aborted.landed, aborted.complete_at) == (2, None, 2)


def test_an_optimize_is_decided_at_the_newest_version_since_it_looks_again() -> None:
    rows = [_aborted(1, 0, 1, command="OPTIMIZE", ended_at_ms=35.0)]
    (optimize,) = recorded_transactions(_recording(rows, {1: 7, 2: 8, 3: 9, 4: 10}))
    assert optimize.decided_at == 3


def test_the_first_attempt_tells_the_first_snapshot_of_a_command_that_retried() -> None:
    rows = [_row(1, "committed", 4, committed_version=5, command="OPTIMIZE")]
    (optimize,) = recorded_transactions(_recording(rows, {5: 1}, attempts=[(1, 3)]))
    assert optimize.read_version == 2


def test_a_commit_whose_writer_did_not_learn_of_it_is_replayed_and_not_compared() -> None:
    rows = [_row(1, "unknown", 0), _row(2, "unknown", 0), _row(3, "in_flight", 0)]
    (landed,) = recorded_transactions(_recording(rows, {1: 1}))
    assert landed.result == Result(End.COMMITTED, 1)
    assert landed.excuse == "its commit landed, but its writer saw it as unknown: a reply was lost"


def test_a_crash_is_neither_played_nor_compared() -> None:
    rows = [_row(1, "aborted", 0, rule="writer_crash", exception="WriterCrash")]
    (crashed,) = recorded_transactions(_recording(rows, {}))
    assert crashed.excuse == "its writer crashed, which is not replayed"
    assert not crashed.can_be_played


def test_a_no_op_is_expected_to_leave_nothing() -> None:
    (no_op,) = recorded_transactions(_recording([_row(1, "committed", 2)], {}))
    assert (no_op.result, no_op.decided_at) == (Result(End.NOTHING_TO_COMMIT), 2)


def _history(*made: tuple[int, int | None, int, str | None]) -> list[Recorded]:
    """(read version, landed, decided at, exception) per transaction."""
    base = recorded_transactions(_recording([_row(0, "committed", 0)], {}))[0]
    return [
        dataclasses.replace(
            base,
            transaction_id=number,
            read_version=read,
            landed=landed,
            decided_at=decided,
            result=Result(End.ABORTED, exception=raised) if raised else Result(End.COMMITTED),
        )
        for number, (read, landed, decided, raised) in enumerate(made)
    ]


def test_the_window_with_most_exception_classes_and_conflicts_is_taken() -> None:
    quiet = [(version, version + 1, version, None) for version in range(10)]
    busy = [(20, 21, 20, None), (20, None, 21, "A"), (20, None, 21, "B"), (20, None, 21, "B")]
    between = [(version, version + 1, version, None) for version in range(10, 20)]
    window = best_window(_history(*quiet, *between, *busy), first_version=0, limit=4)
    assert window == Window(20, 21)


def test_a_window_that_begins_between_transactions_is_preferred() -> None:
    straddled = [(0, 1, 0, None), (0, 3, 2, None), (1, 2, 1, None), (2, None, 3, "A")]
    window = best_window(_history(*straddled), first_version=0, limit=10)
    assert window.first == 0
    assert not any(began_before(each, window) for each in members(_history(*straddled), window))


def test_the_members_of_a_window_are_those_decided_in_it() -> None:
    history = _history((0, 5, 4, None), (4, 6, 5, None), (4, None, 7, "A"), (3, None, 5, "B"))
    names = [each.transaction_id for each in members(history, Window(4, 6))]
    assert names == [0, 1]


@pytest.mark.parametrize(
    ("text", "reason"), [("5", "not of the form"), ("5..5", "holds no version"), ("a..b", "form")]
)
def test_a_window_that_cannot_be_meant_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        parse_window(text)


def test_a_window_outside_of_the_run_is_refused_with_what_there_is() -> None:
    history = _history((0, 1, 0, None))
    with pytest.raises(InvalidInput, match=r"4\.\.9 is not within the run's versions 0\.\.1"):
        check_window(history, parse_window("4..9"), first_version=0)


def test_a_run_without_commits_cannot_be_replayed() -> None:
    with pytest.raises(InvalidInput, match="no commit that could be replayed"):
        best_window([], first_version=0)


def test_what_is_neither_a_run_nor_a_sweep_is_refused(tmp_path: Path) -> None:
    from whitecap.sim.replay.choice import choose_run

    with pytest.raises(InvalidInput, match="neither a run's directory nor a sweep's"):
        choose_run(tmp_path)
