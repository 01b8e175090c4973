"""A client's handle on one table: its log, its data files, its configuration.

Clients in one process share what never changes once it is read: parsed commits (`CommitCache`) and
the rows of data files (`DataFiles`). Sharing saves work, not requests: what a client asks of the
store for its log is what it would ask alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from engine.commands.data_files import DataFiles
from engine.commands.row_index import RowIndex
from engine.dialects import DELTA_OSS_4_4, Dialect
from engine.errors import InvalidInput, Problem
from engine.log.snapshot import Snapshot
from engine.log.table_log import CommitCache, TableLog
from engine.settings import Settings
from engine.sql.predicates import session_of
from engine.sql.scope import nearest
from engine.sql.types import Session
from engine.storage.requests import (
    Entry,
    Get,
    ListFrom,
    Listing,
    Put,
    PutIfAbsent,
    ReadRows,
    Request,
    Steps,
    WriteRows,
)
from engine.transaction.lost_reply import LostReply
from engine.transaction.transaction import Transaction

T = TypeVar("T")


class SharedTable:
    """What all clients of one table in a process may share.

    With `index_rows`, conditions that pin a column to values find their files by an index rather
    than by reading every file that statistics leave: the same files, at a cost that does not grow
    with the table. Building it reads the whole table once, so it is for long runs.
    """

    def __init__(self, index_rows: bool = False) -> None:
        self.commits = CommitCache()
        self.data_files = DataFiles()
        self.row_index = RowIndex(self.commits, self.data_files) if index_rows else None


@dataclass(slots=True, weakref_slot=True, eq=False)
class Table:
    """One client of one table.

    `root` is put before every storage key, for stores that hold several tables; storage keys are
    relative to the table otherwise.
    """

    name: str
    shared: SharedTable = dataclasses.field(default_factory=SharedTable)
    settings: Settings = dataclasses.field(default_factory=Settings)
    dialect: Dialect = DELTA_OSS_4_4
    lost_reply: LostReply = LostReply.RESEND
    root: str = ""
    log: TableLog = dataclasses.field(init=False)
    reading: int | None = None
    """The version that a running statement reads, `None` between statements."""

    def __post_init__(self) -> None:
        self.log = TableLog(self.shared.commits)
        if self.shared.row_index is not None:
            self.shared.row_index.watch(self)

    @property
    def data_files(self) -> DataFiles:
        """The rows of the table's files, as far as someone read or wrote them."""
        return self.shared.data_files

    @property
    def session(self) -> Session:
        """What casts depend on."""
        return session_of(self.settings)

    def start(self) -> Steps[Transaction]:
        """Begin a transaction on the newest version."""
        if self.reading is None:
            self.reading = self.log.snapshot.version
        txn = yield from Transaction.start(
            self.log, self.settings, self.dialect, self.name, self.lost_reply
        )
        self.reading = txn.read_version
        txn.row_files = self.data_files
        return txn

    def latest(self) -> Steps[Snapshot]:
        """The newest snapshot, outside any transaction.

        Raises `InvalidInput` if there is no table.
        """
        snapshot = yield from self.log.update()
        if snapshot.version < 0:
            raise InvalidInput([Problem(self.name, "there is no such table")])
        return snapshot

    def as_of(self, version: int) -> Steps[Snapshot]:
        """The table at an earlier version. Raises `InvalidInput` if it never had it."""
        log = TableLog(self.shared.commits)
        commits = yield from log.commits_after(-1)
        if not 0 <= version < len(commits):
            newest = len(commits) - 1
            raise InvalidInput([Problem(self.name, f"has versions 0 to {newest}, not {version}")])
        for commit in commits[: version + 1]:
            log.accept(commit)
        return log.snapshot

    def at_root(self, steps: Steps[T]) -> Steps[T]:
        """The same steps, with storage keys below this table's root."""
        return rooted(steps, self.root) if self.root else steps


Tables = Mapping[str, Table]
"""The tables that a statement may name, by lower-case name."""


def table_named(tables: Tables, name: str) -> Table:
    """The table of a name. Raises `InvalidInput` with the nearest one there is."""
    found = tables.get(name.lower()) or tables.get(name)
    if found is None:
        raise InvalidInput([Problem(name, "no such table", nearest(name, tables))])
    return found


def rooted(steps: Steps[T], root: str) -> Steps[T]:
    """Steps whose storage keys are put below `root`; listings are shown without it."""
    try:
        request = next(steps)
        while True:
            answer = yield _below(request, root)
            request = steps.send(_above(answer, root))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def _below(request: Request, root: str) -> Request:
    match request:
        case ListFrom(start):
            return ListFrom(root + start)
        case ReadRows(keys):
            return dataclasses.replace(request, keys=tuple(root + key for key in keys))
        case Get() | Put() | PutIfAbsent() | WriteRows():
            return dataclasses.replace(request, key=root + request.key)
    return request


def _above(answer: Any, root: str) -> Any:
    if not isinstance(answer, Listing):
        return answer
    return Listing(
        tuple(
            Entry(entry.key.removeprefix(root), entry.size_bytes, entry.modified_at_ms)
            for entry in answer.entries
        )
    )
