"""Runs transaction cases on this engine: a table in memory, one transaction, its winners.

The found values carry the same names as the keys under `expect`, see `case.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.dialects import DIALECTS, Dialect
from whitecap.engine.errors import DeltaError, InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.log.actions import AddFile, AnyAction
from whitecap.engine.log.clients.stored_log import StoredLog
from whitecap.engine.log.commit_file import Commit, decode_action, encode_action, log_key
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.outcomes import Aborted, Committed, NothingToCommit, Outcome, Unknown
from whitecap.engine.races.conformance.case import (
    CaseResult,
    CommitKind,
    JsonLine,
    TransactionCase,
    TransactionRead,
)
from whitecap.engine.races.conformance.compare import failed, judge, skipped
from whitecap.engine.settings import Settings
from whitecap.engine.sql.predicates.predicate import Predicate, parse_predicate
from whitecap.engine.storage.memory import MemoryStore, run
from whitecap.engine.storage.requests import Steps
from whitecap.engine.transaction.file_scan import Form
from whitecap.engine.transaction.transaction import Transaction

TABLE_NAME = "delta.`/conformance`"

ObservedValues = dict[str, Any]


def run_case(case: TransactionCase) -> CaseResult:
    """Run one case. A dialect or feature that this engine lacks makes it skipped, with the reason.

    A setting that is not modelled fails the case: ignoring it would answer another question.
    Raises `InvalidInput` for a case that cannot be meant as written.
    """
    dialect = DIALECTS.get(case.dialect)
    if dialect is None:
        return skipped(case, f"dialect {case.dialect} is not there")
    try:
        settings = dialect.settings_of(case.settings)
    except UnsupportedFeature as lacking:
        return failed(case, "settings", case.settings, str(lacking))
    try:
        return judge(case, _Race(case, settings, dialect).run())
    except UnsupportedFeature as lacking:
        return skipped(case, str(lacking))


class _Race:
    """One case under way: a fresh store, the current transaction, and what was found."""

    def __init__(self, case: TransactionCase, settings: Settings, dialect: Dialect) -> None:
        self._case = case
        self._current = case.current
        self._settings = settings
        self._dialect = dialect
        self._store = MemoryStore()
        self._log = StoredLog()
        self._read_files: set[str] = set()

    def run(self) -> ObservedValues:
        """Race, and report what came of it by the names used under `expect`."""
        self._append(self._case.setup_log)
        transaction = self._start()
        try:
            outcome = self._race(transaction)
        except DeltaError as error:
            observed = _observed_error(error)
        else:
            observed = _observed_outcome(outcome)
        observed["read_files"] = sorted(self._read_files)
        return {**self._observed_after(), **observed}

    def _start(self) -> Transaction:
        return run(
            Transaction.start(self._log, self._settings, self._dialect, TABLE_NAME), self._store
        )

    def _race(self, transaction: Transaction) -> Outcome | None:
        late = self._current.reads_after_winner
        if not late:
            self._perform_reads(transaction)
        self._append(self._case.winners)
        if late:
            self._perform_reads(transaction)
        for progress in self._current.set_transactions:
            transaction.update_set_transaction(
                progress.app_id, progress.version, progress.last_updated
            )
        return self._commit(transaction)

    def _append(self, commits: Iterable[list[JsonLine]]) -> None:
        """Put commits after those that are there, line by line as the case gives them."""
        version = len(self._store.keys)
        for number, lines in enumerate(commits, start=version):
            body = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
            self._store.put(log_key(number), body)

    def _perform_reads(self, transaction: Transaction) -> None:
        for read in self._current.reads:
            self._read_files.update([file.path for file in _perform(read, transaction)])

    def _commit(self, transaction: Transaction) -> Outcome | None:
        actions = [_action(line) for line in self._current.actions]
        named = self._current.operation
        operation = Operation(named.name, named.parameters)
        match self._current.commit:
            case CommitKind.COMMIT:
                steps = transaction.commit(actions, operation, self._current.tags)
            case CommitKind.COMMIT_IF_NEEDED:
                steps = transaction.commit_if_needed(actions, operation, self._current.tags)
            case CommitKind.COMMIT_LARGE:
                steps = transaction.commit_large(actions, operation)
            case CommitKind.NONE:
                return None
        return run(steps, self._store)

    def _observed_after(self) -> ObservedValues:
        snapshot = run(StoredLog().update(), self._store)
        observed: ObservedValues = {
            "active_files": [file.path for file in snapshot.all_files()],
            "transactions": snapshot.set_transactions,
            "row_id_high_watermark": snapshot.row_id_high_watermark,
            "table_version": snapshot.version,
        }
        if snapshot.version >= 0:
            observed.update(self._observed_last_commit(snapshot))
        return observed

    def _observed_last_commit(self, snapshot: Snapshot) -> ObservedValues:
        """What the newest commit says: the current transaction's, if it committed."""
        last, *before = run(self._newest_commits(snapshot.version), self._store)
        commit_info = last.commit_info
        observed: ObservedValues = {
            "adds": {add.path: _fields(add) for add in last.adds},
            "action_counts": Counter(_action_name(action) for action in last.actions),
        }
        if commit_info is not None:
            observed.update(
                isolation_level=commit_info.isolation_level,
                is_blind_append=commit_info.is_blind_append,
                read_version=commit_info.read_version,
                tags=commit_info.tags or {},
                in_commit_timestamp_after_winner=_is_after(last, before),
            )
        return observed

    def _newest_commits(self, version: int) -> Steps[list[Commit]]:
        """The last commit and the one before it, newest first."""
        commits = yield from StoredLog().commits_after(max(version - 2, -1))
        return list(reversed(commits))


def _perform(read: TransactionRead, transaction: Transaction) -> Iterable[AddFile]:
    """Do one read; returns the files that it returns, where it returns any."""
    match read.kind:
        case "filter_files":
            form = Form.ANALYZED if read.resolved else Form.PARSED
            return transaction.filter_files(_predicates(read), form)
        case "filter_files_by_partitions_of":
            adds = [_action(line) for line in read.adds]
            return transaction.filter_files_by_partitions_of(
                [add for add in adds if isinstance(add, AddFile)]
            )
        case "whole_table":
            transaction.read_whole_table()
        case "txn_version":
            transaction.txn_version(read.app_id or "")
        case "metadata":
            _ = transaction.metadata
        case "track_files_read":
            transaction.track_files_read(_files(read.paths, transaction.snapshot))
        case "track_read_predicates":
            transaction.track_read_predicates(_predicates(read), read.resolved)
        case other:
            raise InvalidInput([Problem("current.reads", f"unknown kind {other!r}")])
    return ()


def _predicates(read: TransactionRead) -> list[Predicate]:
    return [parse_predicate(text) for text in read.predicates]


def _files(paths: Iterable[str], snapshot: Snapshot) -> list[AddFile]:
    lookups = [(path, snapshot.file_at(path)) for path in paths]
    missing = [path for path, file in lookups if file is None]
    if missing:
        raise InvalidInput([Problem("current.reads", f"no live file {path!r}") for path in missing])
    return [file for _, file in lookups if file is not None]


def _action(line: JsonLine) -> AnyAction:
    action = decode_action(msgspec.json.encode(line))
    if action is None:
        raise InvalidInput([Problem("current.actions", f"unknown action {next(iter(line), '')!r}")])
    return action


def _observed_error(error: DeltaError) -> ObservedValues:
    return {
        "result": error.exception,
        "error_class": error.error_class,
        "message": error.message,
        "version": None,
    }


def _observed_outcome(outcome: Outcome | None) -> ObservedValues:
    match outcome:
        case None:
            return {"result": "read"}
        case Committed():
            return {"result": "committed", "version": outcome.version}
        case NothingToCommit():
            return {"result": "committed", "version": None}
        case Aborted(verdict):
            return {
                "result": verdict.exception.value,
                "error_class": verdict.error_class or None,
                "message": verdict.message,
                "message_parameters": verdict.message_parameters,
                "version": None,
            }
        case Unknown():
            return {"result": "unknown", "version": outcome.version}


def _fields(add: AddFile) -> ObservedValues:
    """Every field by its name in the log, absent ones as null."""
    names = {field.encode_name: None for field in msgspec.structs.fields(AddFile)}
    return {**names, **msgspec.to_builtins(add)}


def _action_name(action: AnyAction) -> str:
    return encode_action(action).split(b'"', 2)[1].decode()


def _is_after(last: Commit, before: Iterable[Commit]) -> bool:
    commit_info = last.commit_info
    own_ms = None if commit_info is None else commit_info.in_commit_timestamp
    return own_ms is not None and all(own_ms > commit.timestamp_ms for commit in before)
