"""A client's view of one table's log: the newest snapshot it knows, and how it learns of more.

Each commit file is fetched by every client that needs it, but parsed once for all clients that
share a `CommitCache`; the same holds for the snapshot that it leads to.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

from engine.errors import InvalidLog, Problem
from engine.log.commit_file import Commit, decode_commit, log_key, version_of_key
from engine.log.snapshot import EMPTY_SNAPSHOT, Snapshot
from engine.storage.requests import Body, Entry, Get, ListFrom, Steps

V = TypeVar("V")

# How many versions stay parsed. Clients that are further behind than this parse again: slower, not
# wrong. A snapshot shares nearly all of its memory with its neighbours.
_KEPT_VERSIONS = 4096


class _Recent(Generic[V]):
    """The last values put in, by version."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: OrderedDict[int, V] = OrderedDict()

    def get(self, version: int) -> V | None:
        return self._values.get(version)

    def put(self, version: int, value: V) -> None:
        self._values[version] = value
        if len(self._values) > self._limit:
            self._values.popitem(last=False)


class CommitCache:
    """Parsed commits and snapshots of ONE table, shared between its clients.

    A kept commit counts only for the very bytes it was read from, a kept snapshot only for the
    very snapshot and commit it was made from.
    """

    def __init__(self, kept_versions: int = _KEPT_VERSIONS) -> None:
        self._commits: _Recent[tuple[bytes, Commit]] = _Recent(kept_versions)
        self._snapshots: _Recent[tuple[Snapshot, Commit, Snapshot]] = _Recent(kept_versions)

    def commit(self, version: int, body: bytes, modified_at_ms: int) -> Commit:
        """The commit that `body` holds. Raises `InvalidLog`."""
        known = self._commits.get(version)
        if known is not None and known[0] == body and known[1].modified_at_ms == modified_at_ms:
            return known[1]
        commit = decode_commit(body, version, modified_at_ms)
        self._commits.put(version, (body, commit))
        return commit

    def snapshot_after(self, snapshot: Snapshot, commit: Commit) -> Snapshot:
        """`snapshot.apply(commit)`, made once."""
        known = self._snapshots.get(commit.version)
        if known is not None and known[0] is snapshot and known[1] is commit:
            return known[2]
        following = snapshot.apply(commit)
        self._snapshots.put(commit.version, (snapshot, commit, following))
        return following


class TableLog:
    """One client's knowledge of a table's log; it only ever moves forward."""

    def __init__(self, cache: CommitCache | None = None) -> None:
        self._cache = cache or CommitCache()
        self._snapshot = EMPTY_SNAPSHOT

    @property
    def snapshot(self) -> Snapshot:
        """The newest snapshot known, without asking the store."""
        return self._snapshot

    def update(self) -> Steps[Snapshot]:
        """Learn what was committed meanwhile. Raises `InvalidLog`."""
        for commit in (yield from self.commits_after(self._snapshot.version)):
            self.accept(commit)
        return self._snapshot

    def commits_after(self, version: int) -> Steps[tuple[Commit, ...]]:
        """The commits after `version`, in order. Raises `InvalidLog` if one is missing."""
        listing = yield ListFrom(log_key(version + 1))
        commits: list[Commit] = []
        for entry in contiguous_commits(listing.entries, version + 1):
            commits += [(yield from self._read(entry))]
        return tuple(commits)

    def accept(self, commit: Commit) -> Snapshot:
        """Advance by the next commit, one that this client wrote or read. Raises `InvalidLog`."""
        self._snapshot = self._cache.snapshot_after(self._snapshot, commit)
        return self._snapshot

    def _read(self, entry: Entry) -> Steps[Commit]:
        version = version_of_key(entry.key)
        assert version is not None
        answer = yield Get(entry.key)
        if not isinstance(answer, Body):
            raise InvalidLog([Problem(entry.key, "was listed, but is not there")])
        return self._cache.commit(version, answer.content, entry.modified_at_ms)


def contiguous_commits(entries: tuple[Entry, ...], first: int) -> list[Entry]:
    """The commit files of a listing, which must be `first`, `first` + 1, ...

    Raises `InvalidLog` for a gap. Source: SnapshotManagement.scala `verifyDeltaVersions`.
    """
    found = [(version_of_key(entry.key), entry) for entry in entries]
    commits = [(version, entry) for version, entry in found if version is not None]
    for expected, (version, _) in enumerate(commits, start=first):
        if version != expected:
            raise InvalidLog([Problem(log_key(expected), f"is missing, {log_key(version)} exists")])
    return [entry for _, entry in commits]
