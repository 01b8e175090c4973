"""A client's handle on one table: its log, its data files, its configuration.

Clients in one process share what never changes once it is read: parsed commits (`CommitCache`) and
the rows of data files (`DataFiles`). Sharing saves work, not requests: what a client asks of the
store for its log is what it would ask alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TypeVar

from whitecap.engine.dialects import DEFAULT_DIALECT, Dialect
from whitecap.engine.errors import InvalidInput, Problem, nearest
from whitecap.engine.log.clients.commit_cache import CommitCache
from whitecap.engine.log.clients.stored_log import StoredLog
from whitecap.engine.log.clients.table_log import TableLog
from whitecap.engine.log.commit_file import Commit
from whitecap.engine.log.file_counts import FileCounts
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.outcomes import Committed, Outcome
from whitecap.engine.packed.blocks import Shelf
from whitecap.engine.refusals import table_errors
from whitecap.engine.row_level.data_files import DataFiles
from whitecap.engine.session.retention import check_age
from whitecap.engine.session.rooted import rooted
from whitecap.engine.session.row_index import RowIndex
from whitecap.engine.settings import Settings
from whitecap.engine.sql.parsing.statements import place_of
from whitecap.engine.sql.predicates.predicate import session_of
from whitecap.engine.storage.paths import is_absolute, log_path
from whitecap.engine.storage.requests import NewId, ReadClock, Steps
from whitecap.engine.transaction.commit_loop import ReadyCommit
from whitecap.engine.transaction.lost_reply import LostReply
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.values.types import Session

T = TypeVar("T")

Hook = Callable[["Table", Transaction, Committed], Steps[None]]
"""What a client does after a commit, given its transaction and what was committed."""


class SharedTable:
    """What all clients of one table in a process may share.

    With `index_rows`, conditions that pin a column to values find their files by an index. These
    are the files that one would find by reading each that statistics leave, at a cost that does not
    grow with the table. Building the index reads the whole table once, so it is for long runs. What
    is seldom asked for goes to `shelf`, by default packed in memory.
    """

    def __init__(self, index_rows: bool = False, shelf: Shelf | None = None) -> None:
        self.commits = CommitCache()
        self.file_counts = FileCounts()
        self.data_files = DataFiles(by_column=index_rows, shelf=shelf)
        self.row_index = RowIndex(self.commits, self.data_files) if index_rows else None

    def branched(self, commits: CommitCache) -> SharedTable:
        """What is known here, without an index, for clients of a history of its own.

        `commits` are those of this table, shared with it or branched.
        """
        other = copy(self)
        other.commits = commits
        other.file_counts = self.file_counts.copy()
        other.data_files = self.data_files.branched()
        other.row_index = None
        return other


class ClientTransaction(Transaction):
    """A transaction of one client: its end is noted, and what follows a commit is done."""

    def __init__(self, client: Table, snapshot: Snapshot, txn_id: str) -> None:
        super().__init__(
            client.log,
            snapshot,
            txn_id,
            settings=client.settings,
            dialect=client.dialect,
            table_name=client.name,
            lost_reply=client.lost_reply,
            row_files=client.data_files,
        )
        self.client = client
        client.under_way += 1

    def before_attempts(self, ready: ReadyCommit) -> None:
        """The client's last commit is known while it is under way."""
        self.client.last_commit = None if self.is_outlived else ready

    def followed_up(self, steps: Steps[Outcome], is_large: bool = False) -> Steps[Outcome]:
        """As of any transaction; then the client notes the end, and does what follows a commit."""
        outcome = yield from super().followed_up(steps, is_large)
        self.client.last_commit = None
        self.client.under_way -= 1
        self.client.outcomes.append(outcome)
        if isinstance(outcome, Committed) and self.client.after_commit is not None:
            yield from self.client.after_commit(self.client, self, outcome)
        return outcome


@dataclass(slots=True, weakref_slot=True, eq=False)
class Table:
    """One client of one table.

    `root` is put before every storage key, for stores that hold several tables; storage keys are
    relative to the table otherwise. `location` is where the store is, for paths that must be
    absolute, such as those of a shallow clone.
    """

    name: str
    shared: SharedTable = dataclasses.field(default_factory=SharedTable)
    settings: Settings = dataclasses.field(default_factory=Settings)
    dialect: Dialect = DEFAULT_DIALECT
    lost_reply: LostReply = LostReply.RESEND
    root: str = ""
    location: str = ""
    log: TableLog = dataclasses.field(init=False)
    reading: int | None = None
    """The version that a running statement reads, `None` between statements."""
    outcomes: list[Outcome] = dataclasses.field(default_factory=list)
    """How the transactions of the last statement ended, in order: some open several."""
    after_commit: Hook | None = None
    under_way: int = 0
    """Transactions that were begun and have not ended. One that never commits stays counted."""
    last_commit: ReadyCommit | None = None
    """The commit under way, if its abort would end the statement."""

    def __post_init__(self) -> None:
        self.settings = self.dialect.adjusted(self.settings)
        self.log = StoredLog(self.shared.commits, file_counts=self.shared.file_counts)
        if self.shared.row_index is not None:
            self.shared.row_index.watch(self)

    @property
    def data_files(self) -> DataFiles:
        """The rows of the table's files, as far as someone read or wrote them."""
        return self.shared.data_files

    @property
    def session(self) -> Session:
        """The session settings that casts depend on."""
        return session_of(self.settings)

    @property
    def path(self) -> str:
        """The table's absolute path, with a slash at its end."""
        return f"{self.location}/{self.root}"

    def absolute(self, path: str) -> str:
        """A path of this table's log as the log of another table must write it."""
        return path if is_absolute(path) else log_path(self.path) + path

    def start(self, snapshot: Snapshot | None = None) -> Steps[Transaction]:
        """Begin a transaction on the newest version, or on a snapshot that is given."""
        if snapshot is not None:
            return self.transaction(snapshot, (yield NewId()))
        if self.reading is None:
            self.reading = self.log.snapshot.version
        newest = yield from self.log.update()
        txn = self.transaction(newest, (yield NewId()))
        self.reading = txn.read_version
        return txn

    def transaction(self, snapshot: Snapshot, txn_id: str) -> Transaction:
        """A transaction on a snapshot, with an id that it was given."""
        return ClientTransaction(self, snapshot, txn_id)

    def latest(self) -> Steps[Snapshot]:
        """The newest snapshot, outside any transaction.

        Raises `InvalidInput` if there is no table.
        """
        yield from self.log.analyze()
        snapshot = yield from self.log.update()
        if snapshot.version < 0:
            raise InvalidInput([Problem(self.name, "there is no such table")])
        return snapshot

    def commits(self) -> Steps[Sequence[Commit]]:
        """All commits of the table, oldest first."""
        return (yield from self.log.commits())

    def as_of(self, version: int) -> Steps[Snapshot]:
        """The table at an earlier version. Raises `DeltaError` if it never had it."""
        return self._at(version, (yield from self.commits()))

    def time_travel(self, version: int) -> Steps[Snapshot]:
        """The same for a statement that asks for the version.

        Raises `DeltaError` also for one that is older than removed files are kept.
        """
        commits = yield from self.commits()
        snapshot = self._at(version, commits)
        if self.settings.time_travel_within_retention:
            check_age(commits, version, (yield ReadClock()))
        return snapshot

    def _at(self, version: int, commits: Sequence[Commit]) -> Snapshot:
        if not 0 <= version < len(commits):
            raise table_errors.no_version_to_read(version, len(commits) - 1)
        log = StoredLog(self.shared.commits)
        for commit in commits[: version + 1]:
            log.accept(commit)
        return log.snapshot

    def at_root(self, steps: Steps[T]) -> Steps[T]:
        """The same steps, with storage keys below this table's root."""
        if not self.root and not self.location:
            return steps
        return rooted(steps, self.root, self.location)


Tables = Mapping[str, Table]
"""The tables that a statement may name, by lower-case name."""


def table_named(tables: Tables, name: str) -> Table:
    """The table of a name. Raises `InvalidInput` with the nearest one there is."""
    table = tables.get(name.lower()) or tables.get(name) or tables.get(place_of(name))
    if table is None:
        raise InvalidInput([Problem(name, "no such table", nearest(name, tables))])
    return table
