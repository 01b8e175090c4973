"""What a statement's transactions read and commit, in the words of one line each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from tests.commands.sql_database import Database
from whitecap.engine.commands import Table, run_statement
from whitecap.engine.conflicts.read_set import ReadEntry
from whitecap.engine.log.actions import (
    AddCDCFile,
    AddFile,
    AnyAction,
    CommitInfo,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
)
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.outcomes import Committed, Outcome
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.storage.memory import run
from whitecap.engine.storage.requests import Row, Steps
from whitecap.engine.transaction.entries import PredicateEntry
from whitecap.engine.transaction.transaction import Transaction


@dataclass(slots=True, eq=False)
class Watched(Table):
    """A client that remembers the transactions it began."""

    transactions: list[Transaction] = field(default_factory=list)

    def transaction(self, snapshot: Snapshot, txn_id: str) -> Transaction:
        txn = Table.transaction(self, snapshot, txn_id)
        self.transactions.append(txn)
        return txn


@dataclass(frozen=True)
class Seen:
    """One transaction: its read set, and its commit.

    `reads` are the entries, partition part and data part; `files` how many files of the snapshot
    were read; `does` the actions, with the sign of dataChange for those on files.
    """

    reads: tuple[str, ...] = ()
    files: int = 0
    whole_table: bool = False
    applications: tuple[str, ...] = ()
    operation: str | None = None
    does: str = ""
    is_blind: bool | None = None
    level: str | None = None
    tags: Mapping[str, str | None] = field(default_factory=dict)


def observed(db: Database, text: str, table: str = "t") -> list[Seen]:
    """Run a statement; what each of its transactions did."""
    return watched(db, lambda client: run_statement(parse_statement(text), client), table)


def watched(
    db: Database, steps: Callable[[dict[str, Table]], Steps[Outcome]], table: str = "t"
) -> list[Seen]:
    """The same for any steps, given the client's tables."""
    client = db.client()
    original = client[table]
    mine = Watched(table, original.shared, original.settings, original.dialect, root=original.root)
    client[table] = mine
    run(steps(client), db.store)
    done = [txn for txn in mine.transactions if txn._committed]
    left = [_seen(txn, None) for txn in mine.transactions if not txn._committed]
    return [_seen(txn, end) for txn, end in zip(done, mine.outcomes, strict=True)] or left


def _seen(txn: Transaction, outcome: Outcome | None) -> Seen:
    reads = txn.read_set
    reading = {
        "reads": tuple(_entry(entry) for entry in reads.entries),
        "files": sum(reads.file_read_at(f.path) is not None for f in txn.snapshot.all_files()),
        "whole_table": reads.whole_table,
        "applications": tuple(sorted(reads.app_ids)),
    }
    if not isinstance(outcome, Committed):
        return Seen(**reading)  # type: ignore[arg-type]
    info = outcome.commit_info
    return Seen(
        **reading,  # type: ignore[arg-type]
        operation=info.operation,
        does=shown(outcome.actions),
        is_blind=info.is_blind_append,
        level=info.isolation_level,
        tags=info.tags or {},
    )


def _entry(entry: ReadEntry) -> str:
    if isinstance(entry, PredicateEntry) and entry.data_predicates:
        data = " AND ".join(predicate.sql for predicate in entry.data_predicates)
        return f"{entry.text} | {data}"
    return entry.text


def shown(actions: Iterable[AnyAction]) -> str:
    """Actions other than commitInfo, counted by kind: `2 add+, 1 remove+`."""
    counts = Counter(_kind(action) for action in actions if not isinstance(action, CommitInfo))
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))


def _kind(action: AnyAction) -> str:
    match action:
        case AddFile() | RemoveFile():
            name = "add" if isinstance(action, AddFile) else "remove"
            vector = " dv" if action.deletion_vector is not None else ""
            return name + ("+" if action.data_change else "-") + vector
        case AddCDCFile():
            return "cdc"
        case Metadata():
            return "metaData"
        case Protocol():
            return "protocol"
        case DomainMetadata(removed=True):
            return f"no {action.domain}"
        case DomainMetadata():
            return action.domain
    return "txn"


SERIALIZABLE, SNAPSHOT = "Serializable", "SnapshotIsolation"
DV = {"enableDeletionVectors": "true"}
FEED = {"enableChangeDataFeed": "true"}
MAPPED = {"columnMapping.mode": "name"}

_FILES = {1: (range(6), range(100, 106)), 2: (range(6), range(10, 16)), 3: (range(6),)}


def database(**properties: str) -> Database:
    """The table `t` in five files: two where x is 1, two where it is 2, one where it is 3.

    The source `s` holds one row that the table has, and one that it lacks.
    """
    db = Database()
    db.create("t", "x INT, v BIGINT", "x", **properties)
    for x, files in _FILES.items():
        for values in files:
            rows: list[Row] = [(x, v) for v in values]
            db.sql("INSERT INTO t VALUES :rows", rows=rows)
    db.create("s", "x INT, v BIGINT")
    db.sql("INSERT INTO s VALUES (1, 3), (9, 9)")
    return db


def appends(*reads: str, files: int = 0, does: str = "1 add+") -> Seen:
    """A write: blind if it reads nothing."""
    return Seen(reads, files, False, (), "WRITE", does, not reads, SERIALIZABLE)


def changes(operation: str, read: str, files: int, does: str) -> Seen:
    """A command that changes rows."""
    return Seen((read,), files, False, (), operation, does, False, SERIALIZABLE)


def rearranges(operation: str, read: str, files: int, does: str) -> Seen:
    """A command that only moves rows."""
    return Seen((read,), files, False, (), operation, does, False, SNAPSHOT)


def alters(operation: str, does: str = "1 metaData") -> Seen:
    """A command that reads nothing."""
    return Seen((), 0, False, (), operation, does, True, SERIALIZABLE)
