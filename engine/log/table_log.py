"""A client's view of one table's log: the newest snapshot it knows, and how it learns of more.

Each commit file is fetched by every client that needs it, but parsed once for all clients that
share a `CommitCache`; the same holds for the snapshot that it leads to.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from whitecap.engine.errors import InvalidLog, Problem
from whitecap.engine.log.checkpoint import (
    CheckpointFiles,
    Encode,
    encode_checkpoint,
    is_due,
    last_checkpoint,
    newest_checkpoint,
    read_checkpoint,
    snapshot_of,
    write_checkpoint,
)
from whitecap.engine.log.commit_file import (
    LOG_DIRECTORY,
    Commit,
    decode_commit,
    log_key,
    version_of_key,
)
from whitecap.engine.log.file_counts import FileCounts
from whitecap.engine.log.snapshot import EMPTY_SNAPSHOT, Snapshot
from whitecap.engine.storage.requests import Body, Entry, Get, ListFrom, Steps

V = TypeVar("V")

Listed = tuple[int, Entry]
"""A commit that a listing shows: its version, and the entry of its file."""


class LogGap(InvalidLog):
    """A listing skips a version: `expected` is not there, though `existing` is."""

    def __init__(self, expected: int, existing: int) -> None:
        text = f"is missing, {log_key(existing)} exists"
        super().__init__([Problem(log_key(expected), text)])
        self.expected = expected
        self.existing = existing


# How many versions stay parsed. Clients that are further behind than this parse again: slower, not
# wrong. A snapshot shares nearly all of its memory with its neighbours.
_KEPT_VERSIONS = 4096


class _Recent(OrderedDict[int, V]):
    """The last values put in, by version."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    def put(self, version: int, value: V) -> None:
        self[version] = value
        if len(self) > self._limit:
            self.popitem(last=False)

    def is_behind(self, version: int) -> bool:
        """Whether a version is older than all that are kept: newer ones would have to go for it."""
        return len(self) >= self._limit and version < next(iter(self))


class _KeptSnapshot(msgspec.Struct, frozen=True):
    """A snapshot and what it was made from, nothing if it was read from a checkpoint."""

    snapshot: Snapshot
    parent: Snapshot | None = None
    commit: Commit | None = None


class CommitCache:
    """Parsed commits and snapshots of ONE table, shared between its clients.

    A kept commit counts only for the very bytes it was read from, a kept snapshot only for the
    very snapshot and commit it was made from.
    """

    def __init__(self, kept_versions: int = _KEPT_VERSIONS) -> None:
        self._commits: _Recent[tuple[bytes, Commit]] = _Recent(kept_versions)
        self._snapshots: _Recent[_KeptSnapshot] = _Recent(kept_versions)

    def commit(self, version: int, body: bytes, modified_at_ms: int) -> Commit:
        """The commit that `body` holds. Raises `InvalidLog`."""
        kept = self._commits.get(version)
        if kept is not None and kept[0] == body and kept[1].modified_at_ms == modified_at_ms:
            return kept[1]
        commit = decode_commit(body, version, modified_at_ms)
        if not self._commits.is_behind(version):
            self._commits.put(version, (body, commit))
        return commit

    def keep_commit(self, body: bytes, commit: Commit) -> None:
        """Remember a commit that was not read but written: the one that `body` holds."""
        self._commits.put(commit.version, (body, commit))

    def commit_at(self, version: int) -> Commit | None:
        """The commit of a version if someone has read it and it is still kept."""
        kept = self._commits.get(version)
        return None if kept is None else kept[1]

    def snapshot_after(self, snapshot: Snapshot, commit: Commit) -> Snapshot:
        """`snapshot.apply(commit)`, made once."""
        kept = self._snapshots.get(commit.version)
        if kept is not None and kept.parent is snapshot and kept.commit is commit:
            return kept.snapshot
        following = snapshot.apply(commit)
        self._snapshots.put(commit.version, _KeptSnapshot(following, snapshot, commit))
        return following

    def snapshot_at(self, version: int) -> Snapshot | None:
        """The snapshot of a version if it is kept."""
        kept = self._snapshots.get(version)
        return None if kept is None else kept.snapshot

    def keep(self, snapshot: Snapshot) -> None:
        """Remember a snapshot that was read from a checkpoint."""
        self._snapshots.put(snapshot.version, _KeptSnapshot(snapshot))


class TableLog:
    """One client's knowledge of a table's log; it only ever moves forward.

    `encode` makes the checkpoints that the client writes after its commits; `None`: it writes none.
    `snapshot` is what it knows already, `file_counts` what its process has added to partitions.
    """

    _encode: Encode | None = None

    def __init__(
        self,
        cache: CommitCache | None = None,
        encode: Encode | None = encode_checkpoint,
        snapshot: Snapshot = EMPTY_SNAPSHOT,
        file_counts: FileCounts | None = None,
    ) -> None:
        self._cache = cache or CommitCache()
        self._encode = encode
        self._snapshot = snapshot
        self._file_counts = file_counts or FileCounts()

    @property
    def file_counts(self) -> FileCounts:
        """What the client's process has added to partitions."""
        return self._file_counts

    @property
    def snapshot(self) -> Snapshot:
        """The newest snapshot known, without asking the store."""
        return self._snapshot

    def update(self) -> Steps[Snapshot]:
        """Learn what was committed meanwhile. Raises `InvalidLog`."""
        if self._snapshot.version < 0:
            yield from self._load()
            return self._snapshot
        for commit in (yield from self.commits_after(self._snapshot.version)):
            self.accept(commit)
        return self._snapshot

    def analyze(self) -> Steps[None]:
        """Look at the table for a statement that names it, before it has a transaction.

        Delta lists the log then, and nothing that it finds decides anything: where time does not
        count there is nothing to do. Source: DeltaTableV2.scala: initialSnapshot.
        """
        yield from ()

    def read_state(self, snapshot: Snapshot) -> Steps[None]:
        """Make ready which files, applications and domains a snapshot has.

        A snapshot here has them from the beginning; Delta reads checkpoint and commits when they
        are asked for. Source: Snapshot.scala: stateReconstruction.
        """
        yield from ()

    def commits_after(self, version: int) -> Steps[tuple[Commit, ...]]:
        """The commits after `version`, in order. Raises `InvalidLog` if one is missing."""
        return (yield from self._read_all((yield from self.listed_after(version))))

    def listed_after(self, version: int) -> Steps[list[Listed]]:
        """What a listing shows of the commits after `version`, in order. Raises `LogGap`."""
        listing = yield ListFrom(log_key(version + 1))
        return contiguous_commits(listing.entries, version + 1)

    def read_commit(self, version: int, entry: Entry) -> Steps[Commit]:
        """One commit that was listed. Raises `InvalidLog` if it is not there."""
        answer = yield Get(entry.key)
        if not isinstance(answer, Body):
            raise InvalidLog([Problem(entry.key, "was listed, but is not there")])
        return self._cache.commit(version, answer.content, entry.modified_at_ms)

    def accept(self, commit: Commit) -> Snapshot:
        """Advance by the next commit, one that this client wrote or read; a known one is no news.

        Raises `InvalidLog` for a commit further ahead.
        """
        if commit.version <= self._snapshot.version:
            return self._snapshot
        self._snapshot = self._cache.snapshot_after(self._snapshot, commit)
        return self._snapshot

    def commits(self) -> Steps[tuple[Commit, ...]]:
        """All commits of the table, oldest first, whatever is known already."""
        return (yield from TableLog(self._cache).commits_after(-1))

    def after_commit(self, version: int, is_large: bool = False) -> Steps[None]:
        """What follows a commit of this client: a checkpoint of exactly that version, if it is due.

        After a large commit it always is. Source: OptimisticTransaction.scala `isCheckpointNeeded`,
        `commitLarge`; CheckpointHook.scala.
        """
        due = is_large or is_due(version, self.snapshot.configuration)
        if self._encode is None or not due:
            return
        newest = yield from self.update()
        committed = newest if newest.version == version else self._cache.snapshot_at(version)
        if committed is not None:
            yield from write_checkpoint(committed, self._encode)

    def _load(self) -> Steps[None]:
        """Read the newest checkpoint, if there is one, and the commits after it.

        Source: SnapshotManagement.scala `getLogSegmentForVersion`.
        """
        entries = yield from self._first_listing()
        checkpoint = newest_checkpoint(entries)
        if checkpoint is not None:
            self._snapshot = yield from self._read_checkpoint(checkpoint, entries)
        for commit in (yield from self._read_commits(entries, self._snapshot.version + 1)):
            self.accept(commit)

    def _first_listing(self) -> Steps[tuple[Entry, ...]]:
        """The log from the last checkpoint on; whole, if the pointer to that is wrong."""
        pointed_at = yield from last_checkpoint()
        if pointed_at is not None:
            listing = yield ListFrom(_first_key(pointed_at))
            if newest_checkpoint(listing.entries) is not None:
                entries: tuple[Entry, ...] = listing.entries
                return entries
        listing = yield ListFrom(_first_key(0))
        whole: tuple[Entry, ...] = listing.entries
        return whole

    def _read_checkpoint(
        self, checkpoint: CheckpointFiles, entries: tuple[Entry, ...]
    ) -> Steps[Snapshot]:
        """A checkpoint's snapshot, with the instant of its version's commit where that is left."""
        bodies = yield from read_checkpoint(checkpoint)
        kept = self._cache.snapshot_at(checkpoint.version)
        if kept is not None:
            return kept
        snapshot = yield from snapshot_of(checkpoint, bodies)
        own = [entry for entry in entries if entry.key == log_key(checkpoint.version)]
        for commit in (yield from self._read_commits(tuple(own), checkpoint.version)):
            snapshot = replace(snapshot, timestamp_ms=commit.timestamp_ms)
        self._cache.keep(snapshot)
        return snapshot

    def _read_commits(self, entries: tuple[Entry, ...], first: int) -> Steps[tuple[Commit, ...]]:
        return (yield from self._read_all(contiguous_commits(entries, first)))

    def _read_all(self, listed: Iterable[Listed]) -> Steps[tuple[Commit, ...]]:
        commits: list[Commit] = []
        for version, entry in listed:
            commits += [(yield from self.read_commit(version, entry))]
        return tuple(commits)


def _first_key(version: int) -> str:
    """What sorts before every file of a version, its checkpoints included."""
    return f"{LOG_DIRECTORY}/{version:020d}."


def contiguous_commits(entries: tuple[Entry, ...], first: int) -> list[Listed]:
    """The commit files of a listing from `first` on, by version, none missing in between.

    Raises `LogGap`. Source: SnapshotManagement.scala `verifyDeltaVersions`.
    """
    versioned = [(version_of_key(entry.key), entry) for entry in entries]
    commits = [(version, entry) for version, entry in versioned if version is not None]
    commits = [(version, entry) for version, entry in commits if version >= first]
    for expected, (version, _) in enumerate(commits, start=first):
        if version != expected:
            raise LogGap(expected, version)
    return commits
