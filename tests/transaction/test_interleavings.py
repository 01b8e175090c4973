"""All interleavings of a few small transactions keep what their isolation levels promise.

Nothing here knows the conflict rules: the promises are stated over the committed history alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, permutations

import pytest

from tests.races import DELETE, OPTIMIZE, WRITE, Table, add, remove, where
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.log.actions import AddFile, AnyAction, RemoveFile
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.outcomes import Aborted, Committed, Outcome
from whitecap.engine.sql.predicates.predicate import Predicate, parse_predicate
from whitecap.engine.transaction.transaction import Transaction

EVERYTHING = "true"


@dataclass(frozen=True)
class Program:
    """What one transaction reads (one condition or nothing) and then writes."""

    name: str
    reads: str | None
    appends: tuple[int, ...] = ()
    deletes: tuple[str, ...] = ()
    data_change: bool = True
    operation: Operation = WRITE

    def actions(self, number: int, snapshot: Snapshot) -> list[AnyAction]:
        """What it writes; only files that its own snapshot holds can be deleted."""
        live = [path for path in self.deletes if snapshot.file_at(path) is not None]
        removed = [remove(path, 1, self.data_change) for path in live]
        added = [add(f"t{number}-{x}", x, self.data_change) for x in self.appends]
        return [*removed, *added]


PROGRAMS = (
    Program("append", None, appends=(1,)),
    Program("append after reading", "x = 1", appends=(2,)),
    Program("append after reading all", EVERYTHING, appends=(1,)),
    Program("delete a", "x = 1", deletes=("a",), operation=DELETE),
    Program("rewrite a", "x = 1 AND v > 5", deletes=("a",), appends=(1,), operation=DELETE),
    Program("compact", None, (1,), ("a", "a2"), False, OPTIMIZE),
)


@dataclass(frozen=True)
class Played:
    """One transaction of a history: what it was, when it started, how it ended."""

    program: Program
    transaction: Transaction
    outcome: Outcome


def play(
    level: str, programs: tuple[Program, ...], order: tuple[int, ...]
) -> tuple[Table, list[Played]]:
    table = Table.of_files(add("a", 1), add("a2", 1), add("b", 2), level=level)
    running: dict[int, Transaction] = {}
    played: list[Played] = []
    for number in order:
        if number in running:
            transaction = running[number]
            program = programs[number]
            actions = program.actions(number, transaction.snapshot)
            outcome = table.end(transaction, actions, program.operation)
            played.append(Played(program, transaction, outcome))
        else:
            running[number] = _begin(table, programs[number])
    return table, played


def _begin(table: Table, program: Program) -> Transaction:
    transaction = table.start()
    if program.reads is not None:
        transaction.filter_files(where(program.reads))
    elif program.operation is OPTIMIZE:
        files = transaction.snapshot.all_files()
        transaction.track_files_read(file for file in files if file.path in program.deletes)
    return transaction


def _seen(program: Program, snapshot: Snapshot) -> set[str]:
    """The files that a program's read touches at some version, judged by partition alone."""
    condition = parse_predicate(program.reads or "false")
    parts = [part for part in condition.conjuncts() if part.is_over(["x"])]
    whole = not condition.is_over(["x"])  # one expression over both kinds of columns
    return {
        file.path
        for file in snapshot.all_files()
        if whole or all(_holds(part, file, snapshot) for part in parts)
    }


def _holds(part: Predicate, file: AddFile, snapshot: Snapshot) -> bool:
    values = file.partition_values or {}
    return part.evaluate_partition(values, snapshot.partition_schema) is True


def histories(level: str) -> Iterator[tuple[Table, list[Played]]]:
    """Every pair of programs, and every triple of those that touch the same partition."""
    for size, programs in ((2, PROGRAMS), (3, PROGRAMS[1:5])):
        for chosen in combinations_with_replacement(programs, size):
            for order in sorted(set(permutations([*range(size)] * 2))):
                yield play(level, chosen, order)


@pytest.mark.parametrize("level", ["Serializable", "WriteSerializable"])
def test_every_history_keeps_its_promises(level: str) -> None:
    aborted = 0
    for table, played in histories(level):
        snapshots = table.snapshots()
        committed = [p for p in played if isinstance(p.outcome, Committed)]
        aborted += len(played) - len(committed)
        versions = sorted(p.outcome.version for p in committed if isinstance(p.outcome, Committed))
        assert versions == list(range(1, table.version + 1))
        assert all(isinstance(p.outcome, Committed | Aborted) for p in played)
        for commit in committed:
            _holds_for(level, snapshots, commit, committed)
    assert aborted > 1000, "a check that never sees a conflict proves nothing"


def _holds_for(
    level: str, snapshots: list[Snapshot], commit: Played, committed: list[Played]
) -> None:
    assert isinstance(commit.outcome, Committed)
    before = snapshots[commit.outcome.version - 1]
    live = {file.path for file in before.all_files()}
    removed = {a.path for a in commit.outcome.actions if isinstance(a, RemoveFile)}
    assert removed <= live, "a file was deleted that was not there any more"
    if commit.outcome.commit_info.isolation_level == "SnapshotIsolation":
        return  # it changed nothing that anybody could see, so its reads need not be repeatable
    then = _seen(commit.program, commit.transaction.snapshot)
    now = _seen(commit.program, before)
    assert then <= now, "a file that was read is gone"
    assert now - then <= _allowed_news(level, committed), "a file appeared that was not read"


def _allowed_news(level: str, committed: list[Played]) -> set[str]:
    """What may appear under a reader's feet: blind appends, under WriteSerializable."""
    if level == "Serializable":
        return set()
    return {
        action.path
        for p in committed
        if isinstance(p.outcome, Committed) and p.outcome.commit_info.is_blind_append
        for action in p.outcome.actions
        if isinstance(action, AddFile)
    }
