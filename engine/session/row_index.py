"""An index from a column's values to the data files that hold them.

A file's rows never change, so an entry stays true once it is made; whether a file is live is for
the reader's snapshot to say. The index follows the table's commits: it costs in proportion to what
they add and remove, and a look-up in proportion to what it finds, however many files there are.
Files that no client can read any more are dropped from it.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.commit_file import Commit
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.log.table_log import CommitCache
from whitecap.engine.row_level.data_files import DataFiles
from whitecap.engine.storage.requests import Steps

if TYPE_CHECKING:
    from whitecap.engine.session.table import Table

# How many commits go by between two looks at what no client reads any more.
_COMMITS_BETWEEN_CLEANINGS = 64


_Holders = dict[Any, "str | list[str]"]
"""A column's values and the files that hold them. Most values are in one file, which then stands
by itself: a list for each of millions of keys would cost memory and the collector's time."""


class RowIndex:
    """One table's index; shared by the clients that follow the same log."""

    def __init__(self, commits: CommitCache, data_files: DataFiles) -> None:
        self._commits = commits
        self._data_files = data_files
        self._version = -1
        self._complete_from = 0
        self._paths: set[str] = set()
        self._columns: dict[str, _Holders] = {}
        self._dead: deque[tuple[int, str]] = deque()
        self._clients: weakref.WeakSet[Table] = weakref.WeakSet()
        self._cleaned_at = 0

    def watch(self, table: Table) -> None:
        """Know a client, so as not to drop what it may still read."""
        self._clients.add(table)

    def prepare(self, snapshot: Snapshot, columns: Iterable[str]) -> Steps[None]:
        """Index some columns ahead of the first look-up."""
        yield from self._follow(snapshot)
        for column in columns:
            self._index_of(column)

    def files_with(
        self, snapshot: Snapshot, column: str, values: Iterable[Any]
    ) -> Steps[list[AddFile] | None]:
        """Live files of `snapshot` that hold one of the values, by path.

        `column` is named as in data files.

        `None` if the snapshot is older than all that the index knows.
        """
        yield from self._follow(snapshot)
        if snapshot.version < self._complete_from:
            return None
        index = self._index_of(column)
        paths = {path for value in values for path in _paths(index.get(value))}
        found = (snapshot.file_at(path) for path in sorted(paths))
        return [file for file in found if file is not None]

    def _follow(self, snapshot: Snapshot) -> Steps[None]:
        """Take in what was committed up to a snapshot. May wait for rows; others may go on."""
        if snapshot.version <= self._version:
            return
        commits = self._known_commits(snapshot.version)
        if commits is None:
            yield from self._data_files.fetch(snapshot.all_files(), snapshot.schema)
            self._start_from(snapshot)
            return
        added = [add for commit in commits for add in commit.adds]
        yield from self._data_files.fetch(added, snapshot.schema)
        for commit in commits:
            if commit.version == self._version + 1:  # another client may have been here meanwhile
                self._take(commit)
        if self._version - self._cleaned_at >= _COMMITS_BETWEEN_CLEANINGS:
            self._clean()

    def _known_commits(self, version: int) -> list[Commit] | None:
        found = [self._commits.known(v) for v in range(self._version + 1, version + 1)]
        known = [commit for commit in found if commit is not None]
        return known if len(known) == len(found) else None

    def _start_from(self, snapshot: Snapshot) -> None:
        """Begin with all live files: the commits that led here are not known."""
        if snapshot.version > self._version:
            self._version = self._complete_from = self._cleaned_at = snapshot.version
            self._paths.clear()
            self._columns.clear()
            self._dead.clear()
            for file in snapshot.all_files():
                self._add(file.path)

    def _take(self, commit: Commit) -> None:
        for add in commit.adds:
            self._add(add.path)
        again = {add.path for add in commit.adds}
        gone = (r.path for r in commit.removes if r.path not in again)
        self._dead.extend((commit.version, path) for path in gone)
        self._version = commit.version

    def _add(self, path: str) -> None:
        if path not in self._paths:
            self._paths.add(path)
            for column, index in self._columns.items():
                _enter(index, path, self._data_files.values_of(path, column))

    def _index_of(self, column: str) -> _Holders:
        index = self._columns.get(column)
        if index is None:
            index = self._columns[column] = {}
            for path in sorted(self._paths):
                _enter(index, path, self._data_files.values_of(path, column))
        return index

    def _clean(self) -> None:
        """Drop files that were removed before the oldest version that a client reads."""
        self._cleaned_at = self._version
        reading = [t.reading for t in self._clients if t.reading is not None]
        oldest = min(reading, default=self._version)
        while self._dead and self._dead[0][0] <= oldest:
            _, path = self._dead.popleft()
            self._drop(path)

    def _drop(self, path: str) -> None:
        if path in self._paths:
            self._paths.discard(path)
            for column, index in self._columns.items():
                _leave(index, path, self._data_files.values_of(path, column))
            self._data_files.forget(path)


def _enter(index: _Holders, path: str, values: Sequence[Any]) -> None:
    for value in values:
        if value is None:
            continue
        holder = index.setdefault(value, path)
        if holder is path:
            continue
        if isinstance(holder, str):
            if holder != path:
                index[value] = [holder, path]
        elif path not in holder:
            holder.append(path)


def _leave(index: _Holders, path: str, values: Sequence[Any]) -> None:
    for value in values:
        holder = index.get(value)
        if holder == path:
            del index[value]
        elif isinstance(holder, list) and path in holder:
            holder.remove(path)


def _paths(holder: str | list[str] | None) -> Sequence[str]:
    if isinstance(holder, str):
        return (holder,)
    return holder or ()
