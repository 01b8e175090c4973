"""Conformance cases: one race on one table each, with the outcome seen on a real Delta Lake.

Two forms: a transaction against log lines, and SQL statements against tables of rows. The same
files run on this engine and on a real Delta Lake; both report a `CaseResult`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem, nearest, unreadable
from whitecap.engine.races.row_tables import Strict, TableOf

JsonLine = dict[str, Any]
"""One line of a commit file as a JSON object, e.g. `{"add": {...}}`."""


class TransactionRead(Strict, frozen=True):
    """One read of the current transaction; `kind` says which of the other fields it has."""

    kind: str
    predicates: list[str] = msgspec.field(default_factory=list)
    resolved: bool = False
    adds: list[JsonLine] = msgspec.field(default_factory=list)
    app_id: str | None = None
    paths: list[str] = msgspec.field(default_factory=list)


class OperationOf(Strict, frozen=True):
    """Name and parameters of the operation that the current transaction records."""

    name: str
    parameters: dict[str, Any] = msgspec.field(default_factory=dict)


class AppTransaction(Strict, frozen=True):
    """An application transaction recorded through the transaction before its commit."""

    app_id: str
    version: int
    last_updated: int | None = None


class CommitKind(StrEnum):
    """How the current transaction commits."""

    COMMIT = "commit"
    COMMIT_IF_NEEDED = "commit_if_needed"
    COMMIT_LARGE = "commit_large"
    NONE = "none"


class CurrentOf(Strict, frozen=True):
    """What the current transaction reads, records and commits."""

    reads: list[TransactionRead]
    actions: list[JsonLine]
    operation: OperationOf
    tags: dict[str, str]
    commit: CommitKind
    set_transactions: list[AppTransaction] = msgspec.field(default_factory=list)
    reads_after_winner: bool = False


class TransactionCase(Strict, frozen=True):
    """A race at the level of the log."""

    id: str
    dialect: str
    setup_log: list[list[JsonLine]]
    winners: list[list[JsonLine]]
    current: CurrentOf
    expect: dict[str, Any]
    settings: dict[str, str] = msgspec.field(default_factory=dict)
    source: str = ""
    notes: str = ""


class NumberedWrite(Strict, frozen=True):
    """A write that its application numbers, so that the table knows it again.

    It is the statement `sql` of a session that says who writes, or without one a batch of a
    streaming query: `rows` with the columns of `schema` (DDL). `reads_table`: the query also reads
    the table that it writes. `complete`: its batch is the whole result, and replaces all rows.
    """

    app_id: str
    version: int
    sql: str | None = None
    schema: str = ""
    rows: list[dict[str, Any]] = msgspec.field(default_factory=list)
    reads_table: bool = False
    complete: bool = False


Entrant = str | NumberedWrite
"""What takes part in a race: a statement's text, or a write that is numbered."""


class StatementCase(Strict, frozen=True):
    """A race of SQL statements, and of batches of streams, on the table `target`.

    The winners run while the current statement waits before its commit. If it ends before it
    comes to a commit, there is no race: the winners do not run.

    `before`: statements that give the table a history; they end before anybody has a snapshot.
    `overlapping`: the winners too have their snapshots and files before any of them commits; they
    then commit in order. `waits_at`: which of its commits the current statement waits before, from
    1, where it has several. `rerun`: once all have ended, the current statement runs once more.
    `winner_dialect`: that of the winners, where another engine runs them.
    """

    id: str
    dialect: str
    tables: dict[str, TableOf]
    winner: Entrant | list[Entrant]
    current: Entrant
    expect: dict[str, Any]
    winner_dialect: str = ""
    before: list[Entrant] = msgspec.field(default_factory=list)
    overlapping: bool = False
    waits_at: int = 1
    rerun: bool = False
    settings: dict[str, str] = msgspec.field(default_factory=dict)
    source: str = ""
    notes: str = ""

    @property
    def winners(self) -> list[Entrant]:
        """The winning statements in order, also where the file names only one."""
        return self.winner if isinstance(self.winner, list) else [self.winner]


Case = TransactionCase | StatementCase

MIXED = "two engines race in it, and one of them is here"
"""Why a real engine leaves out a case whose winners have a dialect of their own."""

TRANSACTION_EXPECTATIONS = frozenset(
    {
        "result",
        "error_class",
        "version",
        "isolation_level",
        "is_blind_append",
        "read_version",
        "read_files",
        "active_files",
        "transactions",
        "tags",
        "adds",
        "action_counts",
        "row_id_high_watermark",
        "in_commit_timestamp_after_winner",
        "message_contains",
        "message_parameters",
        "table_version",
    }
)
STATEMENT_EXPECTATIONS = frozenset(
    {
        "current",
        "winner",
        "rerun",
        "rows",
        "error_class",
        "version",
        "isolation_level",
        "is_blind_append",
    }
)


class CaseStatus(StrEnum):
    """How a case ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class UnmetExpectation(Struct, frozen=True):
    """One key under `expect` that does not hold."""

    key: str
    expected: Any
    actual: Any


class CaseResult(Struct, frozen=True):
    """A case's end: the differences if it failed, the reason if it was skipped."""

    id: str
    status: CaseStatus
    differences: tuple[UnmetExpectation, ...] = ()
    reason: str = ""


def load_cases(path: Path) -> list[Case]:
    """Read a case file, whichever of the two forms each case has.

    Raises InvalidInput: not readable, not a list of cases, or a key that no case has.
    """
    try:
        entries = msgspec.json.decode(path.read_bytes(), type=list[dict[str, Any]])
    except OSError as error:
        raise unreadable(path, error) from error
    except msgspec.DecodeError as error:
        raise InvalidInput([Problem(str(path), f"not a list of cases: {error}")]) from error
    problems: list[Problem] = []
    cases = [_case(entry, f"{path}[{n}]", problems) for n, entry in enumerate(entries)]
    if problems:
        raise InvalidInput(problems)
    return [case for case in cases if case is not None]


def _case(entry: dict[str, Any], place: str, problems: list[Problem]) -> Case | None:
    is_of_statements = not _OF_STATEMENTS.isdisjoint(entry)
    form: type[Case] = StatementCase if is_of_statements else TransactionCase
    place = f"{place} ({entry.get('id', 'no id')})"
    wrong = [*_misfits(entry, form, place), *_misexpected(entry.get("expect"), form, place)]
    problems.extend(wrong)
    if wrong:
        return None
    try:
        return msgspec.convert(entry, type=form)
    except msgspec.ValidationError as error:
        problems.append(Problem(place, str(error)))
        return None


_OF_STATEMENTS = frozenset({"tables", "winner"})
"""Keys that a case of log lines has not."""


def _misfits(entry: dict[str, Any], form: type[Case], place: str) -> Iterator[Problem]:
    """Keys that a case has not, with the nearest that it may have, and those that it needs."""
    keys = _keys_of(form)
    yield from _unknown(entry, keys, place)
    for key, is_required in keys.items():
        if is_required and key not in entry:
            yield Problem(place, f"{key} is missing")


@cache
def _keys_of(form: type[Case]) -> Mapping[str, bool]:
    """The keys of a case, and whether it needs them."""
    return {each.name: each.required for each in msgspec.structs.fields(form)}


def _misexpected(expect: Any, form: type[Case], place: str) -> Iterator[Problem]:
    valid = STATEMENT_EXPECTATIONS if form is StatementCase else TRANSACTION_EXPECTATIONS
    if isinstance(expect, dict):
        yield from _unknown(expect, sorted(valid), f"{place}.expect")


def _unknown(given: Iterable[str], valid: Collection[str], place: str) -> Iterator[Problem]:
    for key in given:
        if key not in valid:
            yield Problem(place, f"unknown key {key!r}", nearest(key, valid))
