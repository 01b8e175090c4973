"""The finished log, commit by commit: what each one changed, in files and in rows.

It is read from the bytes in the store, and not from what writers believe they did.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.clients.commit_cache import CommitCache
from whitecap.engine.log.commit_file import Commit
from whitecap.engine.log.file_keys import FileKey, file_key
from whitecap.engine.log.listed_files import ListedFiles, StillListed
from whitecap.engine.log.statistics import record_count
from whitecap.sim.store.contents.history import CommitHistory
from whitecap.sim.store.contents.objects import FakeStore


class WalkedVersion(Struct, frozen=True):
    """One version. `rows_added` is negative where rows went, `None` where statistics lack."""

    version: int
    transaction_id: int | None
    landed_at_ms: float
    operation: str | None
    files_added: int
    files_removed: int
    live_files: int
    size_bytes: int
    rows_added: int | None
    live_rows: int | None
    engine_info: str | None = None
    faults: tuple[str, ...] = ()


class LogWalk:
    """Follows the log from version 0, and knows which files are live and how many rows they hold.

    A removed file takes no rows with it if it was removed before, or lost with the commit that
    added it.
    """

    def __init__(
        self, store: FakeStore, cache: CommitCache, notes_transactions: bool = False
    ) -> None:
        self._store = store
        self._transactions: set[str] | None = set() if notes_transactions else None
        self.doubled = 0
        """Versions that hold a transaction which an earlier one holds, if that is looked for."""
        self._history = CommitHistory(store, cache)
        self._live = _LiveRows()
        self._rows: int | None = 0

    def steps(self) -> Iterator[WalkedVersion]:
        """Each version that landed, in order of versions."""
        sizes = self._store.log.sizes
        for landing in sorted(self._store.landings, key=lambda landing: landing.version):
            commit = self._history.commit(landing.version)
            faults = tuple(self._faults(commit))
            rows = self._apply(commit)
            info = commit.commit_info
            self._note(None if info is None else info.txn_id)
            yield WalkedVersion(
                landing.version,
                landing.transaction_id,
                landing.landed_at_ms,
                None if info is None else info.operation,
                len(commit.adds),
                len(commit.removes),
                len(self._live),
                sizes[landing.version],
                rows,
                self._rows,
                None if info is None else info.engine_info,
                faults,
            )

    def _note(self, txn_id: str | None) -> None:
        """Count a transaction that an earlier version holds, by the id that Delta gives it."""
        if self._transactions is None or txn_id is None:
            return
        self.doubled += txn_id in self._transactions
        self._transactions.add(txn_id)

    def _faults(self, commit: Commit) -> Iterator[str]:
        """What no commit may do: remove a dead file, add a live one, or add and remove the same."""
        removed = [file_key(file) for file in commit.removes]
        for key in removed:
            if key not in self._live:
                yield f"removes {key[0]}, which is not live"
        if len(set(removed)) < len(removed):
            yield "removes a file twice"
        if removed and set(removed) & {file_key(file) for file in commit.adds}:
            yield "adds and removes the same file"

    def _apply(self, commit: Commit) -> int | None:
        """Advance. Returns by how many rows the table grew, `None` if that cannot be told."""
        before = self._rows
        for removed in commit.removes:
            if file_key(removed) in self._live:
                self._take(self._live.pop(file_key(removed)), -1)
        if self._live.may_list() and isinstance(commit.adds, ListedFiles):
            self._live.begin_with(commit.adds)
            self._take(commit.adds.row_count, 1)
        else:
            for added in commit.adds:
                self._add(added)
        return None if before is None or self._rows is None else self._rows - before

    def _add(self, added: AddFile) -> None:
        key, rows = file_key(added), rows_in(added)
        if key in self._live:
            self._take(self._live[key], -1)
        self._live[key] = rows
        self._take(rows, 1)

    def _take(self, rows: int | None, sign: int) -> None:
        unknown = rows is None or self._rows is None
        self._rows = None if unknown else (self._rows or 0) + sign * (rows or 0)


class _LiveRows:
    """How many rows each live file holds, `None` without statistics.

    Of files that are only listed, it keeps those that have left.
    """

    def __init__(self) -> None:
        self._rows: dict[FileKey, int | None] = {}
        self._left: set[FileKey] = set()
        self._listed = StillListed(None, self._rows, self._left)

    def __len__(self) -> int:
        return len(self._rows) + len(self._listed.files or ()) - len(self._left)

    def __contains__(self, key: FileKey) -> bool:
        return key in self._rows or self._listed.at(key) is not None

    def __getitem__(self, key: FileKey) -> int | None:
        file = self._listed.at(key)
        return self._rows[key] if file is None else rows_in(file)

    def __setitem__(self, key: FileKey, rows: int | None) -> None:
        if self._listed.at(key) is not None:
            self._left.add(key)
        self._rows[key] = rows

    def pop(self, key: FileKey) -> int | None:
        """Take a live file out. Returns its rows."""
        file = self._listed.at(key)
        if file is None:
            return self._rows.pop(key)
        self._left.add(key)
        return rows_in(file)

    def may_list(self) -> bool:
        """Whether there are no files yet."""
        return not self._rows and self._listed.files is None

    def begin_with(self, listed: ListedFiles) -> None:
        """The first files."""
        self._listed.files = listed


def rows_in(file: AddFile) -> int | None:
    """How many rows a file still holds, `None` without statistics."""
    count = record_count(file.stats)
    if count is None:
        return None
    vector = file.deletion_vector
    return count - (0 if vector is None else vector.cardinality)
