"""A recording as a history, and which part of it is worth replaying."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from whitecap.engine.errors import InvalidInput
from whitecap.sim.recording.recording import SCHEMAS, Recording, table_of
from whitecap.sim.replay.history.recorded import Recorded, recorded_transactions
from whitecap.sim.replay.history.window import (
    Window,
    best_window,
    check_window,
    members,
    parse_window,
)
from whitecap.sim.replay.playing.script import CommandPart, End, TransactionResult

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


def _row(number: int, outcome: str, read: int, **fields: Any) -> tuple[Any, ...]:
    values = {**PLAIN, "transaction_id": number, "job_id": number, "outcome": outcome}
    values |= {"read_version": read, "ended_at_ms": 1000.0} | fields
    return tuple(values.get(name) for name in SCHEMAS["transactions"].names)


Tried = tuple[int, int, str]
"""An attempt: the transaction, the version, the result."""


def _recording(rows: list[tuple[Any, ...]], landed: dict[int, int], *attempts: Tried) -> Recording:
    """Versions land every ten milliseconds; who made one is told so, unless `attempts` say more."""
    commits = [
        (version, number, version * 10.0, "UPDATE", 1, 1, 1, 1)
        for version, number in sorted(landed.items())
    ]
    tried = attempts or [(number, version, "created") for version, number in landed.items()]
    numbered = [
        (number, at, version, 0.0, 0.0, 0.0, result)
        for at, (number, version, result) in enumerate(tried)
    ]
    tables = {
        "transactions": table_of("transactions", rows),
        "attempts": table_of("attempts", numbered),
        "commits": table_of("commits", [(0, None, 0.0, "CREATE", 0, 0, 0, 0), *commits]),
    }
    return Recording.of({}, "", tables)


def _aborted(number: int, read: int, winner: int, **fields: Any) -> tuple[Any, ...]:
    raised = {"exception": "ConcurrentAppendException", "winning_version": winner}
    return _row(number, "aborted", read, **{**raised, **fields})


def test_a_commit_is_decided_at_the_version_before_it_and_an_abort_at_its_winner() -> None:
    rows = [_row(1, "committed", 0, committed_version=3), _aborted(2, 0, 2)]
    tried = [(1, 1, "already_exists"), (1, 3, "created"), (2, 1, "already_exists")]
    committed, aborted = recorded_transactions(_recording(rows, {3: 1}, *tried))
    assert (committed.parts, committed.complete_at) == ((CommandPart(0, 2, 3),), 3)
    assert (aborted.parts, aborted.complete_at) == ((CommandPart(0, 2),), 2)


def test_an_optimize_is_decided_at_the_newest_version_since_it_looks_again() -> None:
    rows = [_aborted(1, 0, 1, command="OPTIMIZE", ended_at_ms=35.0)]
    tried = (1, 1, "already_exists")
    (optimize,) = recorded_transactions(_recording(rows, {1: 7, 2: 8, 3: 9, 4: 10}, tried))
    assert optimize.parts == (CommandPart(0, 3),)


def test_an_optimize_that_was_refused_twice_starts_again_at_the_snapshot_of_its_verdict() -> None:
    rows = [_aborted(1, 2, 4, command="OPTIMIZE", ended_at_ms=45.0)]
    tried = [(1, 1, "already_exists"), (1, 3, "already_exists")]
    (optimize,) = recorded_transactions(_recording(rows, {1: 7, 2: 8, 3: 9, 4: 10}, *tried))
    assert optimize.parts == (CommandPart(0, 2), CommandPart(2, 4))


def test_the_first_attempt_tells_the_first_snapshot_of_a_command_that_retried() -> None:
    rows = [_row(1, "committed", 4, committed_version=5, command="OPTIMIZE")]
    tried = [(1, 3, "already_exists"), (1, 5, "created")]
    (optimize,) = recorded_transactions(_recording(rows, {5: 1}, *tried))
    assert optimize.read_version == 2


def test_a_commit_whose_writer_did_not_learn_of_it_is_replayed_with_a_note() -> None:
    rows = [_row(1, "unknown", 0), _row(2, "unknown", 0), _row(3, "in_flight", 0)]
    tried = [(1, 1, "unknown"), (2, 1, "unknown")]
    landed, unknown, in_flight = recorded_transactions(_recording(rows, {1: 1}, *tried))
    assert (landed.result, landed.left_out) == (TransactionResult(End.COMMITTED, 1), None)
    assert landed.note == "its writer saw it as unknown: a reply was lost"
    assert unknown.left_out == "its outcome is unknown, and it left no commit"
    assert in_flight.left_out == "it was in flight when the run ended"


def test_a_commit_that_is_found_in_its_own_way_is_two_commands() -> None:
    """The put landed, its reply was lost, and sent again it came upon itself."""
    rows = [_aborted(1, 0, 1)]
    tried = [(1, 1, "unknown"), (1, 1, "already_exists")]
    put, itself = recorded_transactions(_recording(rows, {1: 1}, *tried))
    assert (put.name, put.result) == (
        "w-1 #1 (its put whose reply was lost)",
        TransactionResult(End.COMMITTED, 1),
    )
    assert (put.parts, itself.parts) == ((CommandPart(0, 0, 1),), (CommandPart(0, 1),))
    assert itself.result.end is End.ABORTED


def test_a_commit_that_was_made_twice_is_two_commands() -> None:
    rows = [_row(1, "committed", 0, committed_version=2)]
    tried = [(1, 1, "unknown"), (1, 1, "already_exists"), (1, 2, "created")]
    put, itself = recorded_transactions(_recording(rows, {1: 1, 2: 1}, *tried))
    assert (put.parts, put.left_out) == ((CommandPart(0, 0, 1),), None)
    assert (itself.parts, itself.result) == (
        (CommandPart(0, 1, 2),),
        TransactionResult(End.COMMITTED, 2),
    )


def test_a_writer_that_knows_its_own_commit_made_it_once() -> None:
    rows = [_row(1, "committed", 0, committed_version=1)]
    tried = [(1, 1, "unknown"), (1, 1, "already_exists")]
    recording = _recording(rows, {1: 1}, *tried)
    (whole,) = recorded_transactions(recording, knows_its_own=True)
    assert whole.parts == (CommandPart(0, 0, 1),)


def test_the_commits_of_one_statement_are_parts_of_one_command() -> None:
    rows = [_row(1, "committed", 1, committed_version=3, command="VACUUM")]
    tried = [(1, 1, "created"), (1, 2, "already_exists"), (1, 3, "created")]
    (vacuum,) = recorded_transactions(_recording(rows, {1: 1, 2: 5, 3: 1}, *tried))
    assert vacuum.parts == (CommandPart(0, 0, 1), CommandPart(1, 2, 3))


def test_the_compaction_after_a_commit_is_not_played() -> None:
    """What a phase lock held is followed by none on real Delta Lake."""
    rows = [_row(1, "committed", 0, committed_version=1, command="INSERT")]
    (insert,) = recorded_transactions(_recording(rows, {1: 1, 2: 1}))
    assert insert.parts == (CommandPart(0, 0, 1),)


def test_a_statement_stopped_between_its_commits_is_left_out() -> None:
    rows = [_row(1, "unknown", 0, command="VACUUM")]
    (vacuum,) = recorded_transactions(_recording(rows, {1: 1}, (1, 1, "unknown")))
    assert vacuum.left_out == "it was stopped between its commits, which is not replayed"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (_row(1, "aborted", 0, rule="writer_crash"), "its writer crashed"),
        (_row(1, "aborted", 0, rule="store_refused"), "the simulated store refused"),
        (_row(1, "aborted", 0, rule="deadline"), "its job's deadline passed"),
        (_row(1, "aborted", 0, statement="DELETE FROM t WHERE d < now()"), "asks for the time"),
        (_row(1, "committed", 0, committed_version=1), "its commit was overwritten"),
        (
            _row(1, "aborted", 0, error_class="DELTA_MAX_COMMIT_RETRIES_EXCEEDED"),
            "lost the race for 1 versions",
        ),
        (_row(1, "committed", -1, committed_version=None), "before there was a table"),
    ],
    ids=["crash", "refused", "deadline", "time", "overwritten", "attempts", "no table"],
)
def test_what_reality_cannot_repeat_is_left_out_with_the_reason(
    row: tuple[Any, ...], reason: str
) -> None:
    (left_out,) = recorded_transactions(_recording([row], {1: 7}, (7, 1, "created")))
    assert reason in (left_out.left_out or "")


def test_a_no_op_is_expected_to_leave_nothing() -> None:
    (no_op,) = recorded_transactions(_recording([_row(1, "committed", 2)], {}))
    assert (no_op.result, no_op.parts) == (
        TransactionResult(End.NOTHING_TO_COMMIT),
        (CommandPart(2, 2),),
    )


def _history(*made: tuple[int, int | None, int, str | None]) -> list[Recorded]:
    """(read version, version, decided at, exception) per transaction."""
    base = recorded_transactions(_recording([_row(0, "committed", 0)], {}))[0]
    return [
        replace(
            base,
            transaction_id=number,
            parts=(CommandPart(read, decided, version),),
            decided_at=decided,
            result=TransactionResult(End.ABORTED, exception=raised)
            if raised
            else TransactionResult(End.COMMITTED),
        )
        for number, (read, version, decided, raised) in enumerate(made)
    ]


def test_the_window_with_most_exception_classes_and_conflicts_is_taken() -> None:
    quiet = [(version, version + 1, version, None) for version in range(10)]
    busy = [(20, 21, 20, None), (20, None, 21, "A"), (20, None, 21, "B"), (20, None, 21, "B")]
    between = [(version, version + 1, version, None) for version in range(10, 20)]
    window = best_window(_history(*quiet, *between, *busy), first_version=0, limit=4)
    assert window == Window(20, 21)


def test_the_members_of_a_window_are_those_decided_in_it_whenever_they_began() -> None:
    history = _history((0, 5, 4, None), (4, 6, 5, None), (4, None, 7, "A"), (3, None, 5, "B"))
    chosen = [each.transaction_id for each in members(history, Window(4, 6))]
    assert chosen == [0, 1, 3]


def test_what_ended_before_the_window_is_no_member() -> None:
    history = _history((1, None, 4, "A"), (4, None, 4, None), (3, 4, 3, None))
    chosen = [each.transaction_id for each in members(history, Window(4, 6))]
    assert chosen == [1]


def test_what_has_a_commit_outside_of_the_window_is_left_out() -> None:
    (vacuum,) = _history((0, 1, 0, None))
    both = replace(vacuum, parts=(CommandPart(0, 0, 1), CommandPart(1, 4, 5)))
    (member,) = members([both], Window(3, 6))
    assert member.left_out == "it has commits outside of the window, too"


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
    with pytest.raises(InvalidInput, match="no commit after version 1, at which a replay"):
        best_window([], first_version=1)


def test_what_is_neither_a_run_nor_a_sweep_is_refused(tmp_path: Path) -> None:
    from whitecap.sim.recording.dataset.local import LocalPlace
    from whitecap.sim.replay.choice import choose_run

    with pytest.raises(InvalidInput, match="neither a run's directory nor a sweep's"):
        choose_run(LocalPlace(tmp_path), tmp_path)
