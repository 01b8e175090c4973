"""A client's view of a log that it reads itself: from the last checkpoint on, commit by commit."""

from __future__ import annotations

from msgspec.structs import replace

from whitecap.engine.errors import InvalidLog, Problem
from whitecap.engine.log.checkpoints.checkpoint import (
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
from whitecap.engine.log.clients.commit_cache import CommitCache
from whitecap.engine.log.clients.table_log import Listed, TableLog
from whitecap.engine.log.commit_file import (
    LOG_DIRECTORY,
    Commit,
    log_key,
    version_of_key,
)
from whitecap.engine.log.file_counts import FileCounts
from whitecap.engine.log.snapshot import EMPTY_SNAPSHOT, Snapshot
from whitecap.engine.storage.requests import Body, Entry, Get, ListFrom, Steps


class LogGap(InvalidLog):
    """A listing skips a version: `expected` is not there, though `existing` is."""

    def __init__(self, expected: int, existing: int) -> None:
        text = f"is missing, {log_key(existing)} exists"
        super().__init__([Problem(log_key(expected), text)])
        self.expected = expected
        self.existing = existing


class StoredLog(TableLog):
    """A log that is read from the store, commit by commit.

    `encode` makes the checkpoints that the client writes after its commits; `None`: it writes none.
    `snapshot` is what it knows already, `file_counts` what its process has added to partitions.
    """

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
        return self._file_counts

    @property
    def snapshot(self) -> Snapshot:
        return self._snapshot

    def update(self) -> Steps[Snapshot]:
        if self._snapshot.version < 0:
            yield from self._load()
            return self._snapshot
        for commit in (yield from self.commits_after(self._snapshot.version)):
            self.accept(commit)
        return self._snapshot

    def analyze(self) -> Steps[None]:
        """Delta lists the log, and nothing that it finds decides anything: nothing is done here."""
        yield from ()

    def read_state(self, snapshot: Snapshot) -> Steps[None]:
        """A snapshot here has all from the beginning; Delta reads it when it is asked for."""
        yield from ()

    def listed_after(self, version: int) -> Steps[list[Listed]]:
        listing = yield ListFrom(log_key(version + 1))
        return contiguous_commits(listing.entries, version + 1)

    def read_commit(self, version: int, entry: Entry) -> Steps[Commit]:
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
        return (yield from StoredLog(self._cache).commits_after(-1))

    def after_commit(self, version: int, is_large: bool = False) -> Steps[None]:
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
        return (yield from self.read_listed(contiguous_commits(entries, first)))


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
