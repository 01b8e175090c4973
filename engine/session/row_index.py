"""An index from a column's values to the data files that hold them.

A file's rows never change, so an entry stays true once it is made; whether a file is live is for
the reader's snapshot to say. The index follows the table's commits: it costs in proportion to the
rows that they change, and a look-up in proportion to what it finds, however many files there are.
Files that no client can read any more are dropped from it.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Protocol

from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.clients.commit_cache import CommitCache
from whitecap.engine.log.commit_file import Commit
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.packed.blocks import PackedMap
from whitecap.engine.row_level.data_files import DataFiles
from whitecap.engine.row_store.row_store import RowStore
from whitecap.engine.row_store.stored_rows import StoredRows
from whitecap.engine.row_store.value_index import FileNode, LiveAt, StoreIndex, packer_of_nodes
from whitecap.engine.storage.requests import Steps

_COMMITS_BETWEEN_CLEANINGS = 64
"""How many commits go by between two looks at what no client reads any more: a choice, of so many
that a look, which goes through the table's readers, costs little beside them."""


class TableReader(Protocol):
    """Who may still look files up."""

    reading: int | None
    """The version that it reads, `None` if it reads none now."""


class DescribedFiles(Protocol):
    """Files that were there before any client: which of them hold a value, without reading."""

    def tells(self, column: str) -> bool:
        """Whether it knows the files of the values of a column, named as in data files."""
        ...

    def paths_with(self, values: Iterable[Any]) -> Iterable[str]:
        """The paths of the files that hold one of the values of such a column."""
        ...


class RowIndex:
    """One table's index, shared by the clients that follow the same log.

    It keeps the rows of `data_files` by columns.
    """

    def __init__(self, commits: CommitCache, data_files: DataFiles) -> None:
        self._commits = commits
        self._data_files = data_files
        self._version = -1
        self._complete_from = 0
        self._described: DescribedFiles | None = None
        self._count = 0
        self._oldest_read = -1
        self._nodes, self._by_number = self._no_nodes()
        self._stores: dict[RowStore, StoreIndex] = {}
        self._removed: deque[tuple[int, str, FileNode | None]] = deque()
        self._clients: list[weakref.ref[TableReader]] = []
        self._cleaned_at = 0

    def _no_nodes(self) -> tuple[PackedMap[str, FileNode], PackedMap[int, FileNode]]:
        """Two empty maps: of files that are live, by path; and of those still read, by number."""
        shelf = self._data_files.shelf

        def stays(node: FileNode) -> bool:
            return node.added > self._oldest_read

        return (
            PackedMap(packer_of_nodes(lambda node: node.path), shelf, stays),
            PackedMap(packer_of_nodes(lambda node: node.number), shelf, stays),
        )

    def __len__(self) -> int:
        """How many files it knows."""
        return len(self._nodes)

    def watch(self, client: TableReader) -> None:
        """Take note of a client, so as not to drop what it may still read."""
        self._clients.append(weakref.ref(client))

    def prepare(self, snapshot: Snapshot, columns: Iterable[str]) -> Steps[None]:
        """Read a snapshot's files, and index some columns ahead of the first look-up."""
        yield from self._follow(snapshot)
        for column in columns:
            for index in self._stores.values():
                index.begin(column)

    def describe(self, version: int, described: DescribedFiles) -> None:
        """Begin with the files of a version as described, without reading any."""
        self._version = self._complete_from = self._cleaned_at = version
        self._described = described

    def files_with(
        self, snapshot: Snapshot, pins: Mapping[str, Collection[Any]]
    ) -> Steps[list[AddFile] | None]:
        """Live files of `snapshot` that may hold a row with pinned values, by path.

        Each holds one of the values of some pinned column; of all of them where that costs nothing.
        Columns are named as in data files. `None` if that is not known: because the snapshot is
        older than all that the index knows, or described files tell nothing of these columns.
        """
        yield from self._follow(snapshot)
        if self._described is not None:
            pins = {name: pins[name] for name in pins if self._described.tells(name)}
        if not pins or snapshot.version < self._complete_from:
            return None
        files = self._described_with(pins, snapshot.live.at)
        for index in self._stores.values():
            files |= index.files_with(pins, snapshot.version, snapshot.live.at)
        return [files[path] for path in sorted(files)]

    def _described_with(
        self, pins: Mapping[str, Collection[Any]], file_at: LiveAt[AddFile]
    ) -> dict[str, AddFile]:
        """By path, the live ones of described files that hold a pinned value."""
        if self._described is None:
            return {}
        paths = self._described.paths_with(next(iter(pins.values())))
        return {path: file for path in paths if (file := file_at(path)) is not None}

    def _follow(self, snapshot: Snapshot) -> Steps[None]:
        """Take in the commits up to a snapshot. May wait for rows; others may go on meanwhile."""
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
        kept = [self._commits.commit_at(v) for v in range(self._version + 1, version + 1)]
        commits = [commit for commit in kept if commit is not None]
        return commits if len(commits) == len(kept) else None

    def _start_from(self, snapshot: Snapshot) -> None:
        """Begin with all live files, where the commits that led to them are not known."""
        if snapshot.version > self._version:
            self._version = self._complete_from = self._cleaned_at = snapshot.version
            self._described = None
            self._nodes, self._by_number = self._no_nodes()
            self._stores.clear()
            self._removed.clear()
            for file in snapshot.all_files():
                self._add(file, snapshot.version, (), may_double=True)

    def _take(self, commit: Commit) -> None:
        added = {add.path for add in commit.adds}
        gone = dict.fromkeys(r.path for r in commit.removes if r.path not in added)
        removed = [(path, self._nodes.take_out(path)) for path in gone]
        self._removed.extend((commit.version, path, node) for path, node in removed)
        origins = tuple(node for _, node in removed if node is not None)
        may_double = len(origins) < len(removed)  # another removed it too, and may have its rows
        for add in commit.adds:
            self._add(add, commit.version, origins, may_double)
        self._version = commit.version

    def _add(
        self, file: AddFile, version: int, origins: tuple[FileNode, ...], may_double: bool
    ) -> None:
        rows = self._data_files.rows_of(file.path)
        if file.path in self._nodes or not isinstance(rows, StoredRows):
            return  # only its deletion vector changed, or it has no rows
        node = FileNode(self._count, file.path, rows, version, origins)
        self._nodes.add(file.path, node)
        self._count += 1
        index = self._stores.get(rows.store)
        if index is None:
            index = self._stores[rows.store] = StoreIndex(rows.store, self._by_number)
        if may_double:
            index.look_for_copies(node, self._nodes.__contains__)
        index.enter(node, hides_rows=file.deletion_vector is not None)

    def _clean(self) -> None:
        """Drop files that were removed before the oldest version that a client reads."""
        self._cleaned_at = self._version
        clients = [client for ref in self._clients if (client := ref()) is not None]
        self._clients = [weakref.ref(client) for client in clients]
        reading = [client.reading for client in clients if client.reading is not None]
        oldest = self._oldest_read = min(reading, default=self._version)
        while self._removed and self._removed[0][0] <= oldest:
            _, path, node = self._removed.popleft()
            if node is not None:
                self._stores[node.rows.store].leave(node)
            if path not in self._nodes:
                self._data_files.forget(path)
