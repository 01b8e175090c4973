"""Small tables and transactions to race on them, which tests of several rooms do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.log.actions import (
    AddFile,
    AnyAction,
    CommitInfo,
    Format,
    Metadata,
    Protocol,
    RemoveFile,
)
from whitecap.engine.log.clients.stored_log import StoredLog
from whitecap.engine.log.commit_file import encode_commit, log_key
from whitecap.engine.log.schema import parse_ddl, schema_string
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.outcomes import Aborted, Committed, Outcome
from whitecap.engine.settings import Settings
from whitecap.engine.sql.predicates.predicate import Predicate, parse_predicate
from whitecap.engine.storage.memory import MemoryStore, run
from whitecap.engine.transaction.transaction import Transaction

WRITE = Operation("WRITE", {"mode": "Append"})
DELETE = Operation("DELETE")
OPTIMIZE = Operation("OPTIMIZE")


def metadata(partitioned: bool = True, **configuration: str) -> Metadata:
    """A table of (x INT, v BIGINT), partitioned by x or not; `isolation` for its level."""
    properties = {f"delta.{name}": value for name, value in configuration.items()}
    return Metadata(
        id="11111111-1111-1111-1111-111111111111",
        format=Format(provider="parquet", options={}),
        partition_columns=["x"] if partitioned else [],
        configuration=properties,
        schema_string=schema_string(parse_ddl("x INT, v BIGINT")),
    )


def add(path: str, x: int | None = 1, data_change: bool = True, **fields: Any) -> AddFile:
    values = {"x": None if x is None else str(x)}
    return AddFile(
        path=path,
        partition_values=fields.pop("partition_values", values),
        size=1,
        modification_time=1,
        data_change=data_change,
        **fields,
    )


def remove(path: str, x: int | None = 1, data_change: bool = True, **fields: Any) -> RemoveFile:
    values = {"x": None if x is None else str(x)}
    return RemoveFile(
        path=path, data_change=data_change, partition_values=values, deletion_timestamp=1, **fields
    )


def where(*conditions: str) -> list[Predicate]:
    return [parse_predicate(condition) for condition in conditions]


class Table:
    """A table in memory: `commit` writes raw commits, `start` begins real transactions."""

    def __init__(self, *first: AnyAction, settings: Settings | None = None) -> None:
        self.store = MemoryStore()
        self.settings = settings or Settings()
        if first:
            self.commit(*first)

    @classmethod
    def of_files(
        cls, *files: AddFile, partitioned: bool = True, level: str = "Serializable"
    ) -> Table:
        first = metadata(partitioned, isolationLevel=level)
        return cls(first, Protocol(min_reader_version=1, min_writer_version=2), *files)

    @property
    def version(self) -> int:
        return len(self.store.keys) - 1

    def commit(self, *actions: AnyAction, blind: bool = False, operation: str = "WRITE") -> None:
        commit_info = CommitInfo(timestamp=5, operation=operation, is_blind_append=blind)
        self.commit_raw(commit_info, *actions)

    def commit_raw(self, *lines: AnyAction) -> None:
        self.store.put(log_key(self.version + 1), encode_commit(lines))

    def start(self, **options: Any) -> Transaction:
        return run(Transaction.start(StoredLog(), self.settings, **options), self.store)

    def end(
        self,
        transaction: Transaction,
        actions: Iterable[AnyAction] = (),
        operation: Operation = WRITE,
    ) -> Outcome:
        return run(transaction.commit(actions, operation), self.store)

    def snapshots(self) -> list[Snapshot]:
        """The table at every version."""
        log = StoredLog()
        return [log.accept(commit) for commit in run(log.commits_after(-1), self.store)]

    def paths(self) -> set[str]:
        """The live files now."""
        return {file.path for file in self.snapshots()[-1].all_files()}


def rule_of(outcome: Outcome) -> str:
    """What decided: the rule that refused, or `committed`."""
    match outcome:
        case Committed():
            return "committed"
        case Aborted(verdict):
            return verdict.rule
        case _:
            return type(outcome).__name__


def race(
    table: Table,
    reads: Sequence[str] = (),
    winner: Sequence[AnyAction] = (),
    actions: Sequence[AnyAction] = (),
    blind_winner: bool = False,
    operation: Operation = WRITE,
) -> Outcome:
    """One transaction with one read entry, one winner, then its commit."""
    transaction = table.start()
    if reads:
        transaction.filter_files(where(*reads))
    table.commit(*winner, blind=blind_winner)
    return table.end(transaction, actions, operation)
