"""A client's view of one table's log: the newest snapshot it knows, and how it learns of more.

What a transaction asks is here; who answers it by reading the log is `StoredLog`, and a simulation
may answer from what it knows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from whitecap.engine.log.commit_file import Commit
from whitecap.engine.log.file_counts import FileCounts
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.storage.requests import Entry, Steps

Listed = tuple[int, Entry]
"""A commit that a listing shows: its version, and the entry of its file."""


class TableLog(ABC):
    """One client's knowledge of a table's log; it only ever moves forward."""

    @property
    @abstractmethod
    def file_counts(self) -> FileCounts:
        """What the client's process has added to partitions."""

    @property
    @abstractmethod
    def snapshot(self) -> Snapshot:
        """The newest snapshot known, without asking the store."""

    @abstractmethod
    def update(self) -> Steps[Snapshot]:
        """Learn what was committed meanwhile. Raises `InvalidLog`."""

    @abstractmethod
    def analyze(self) -> Steps[None]:
        """Look at the table for a statement that names it, before it has a transaction.

        Source: DeltaTableV2.scala: initialSnapshot.
        """

    @abstractmethod
    def read_state(self, snapshot: Snapshot) -> Steps[None]:
        """Make ready which files, applications and domains a snapshot has.

        Source: Snapshot.scala: stateReconstruction.
        """

    @abstractmethod
    def listed_after(self, version: int) -> Steps[list[Listed]]:
        """What a listing shows of the commits after `version`, in order. Raises `LogGap`."""

    @abstractmethod
    def read_commit(self, version: int, entry: Entry) -> Steps[Commit]:
        """One commit that was listed. Raises `InvalidLog` if it is not there."""

    @abstractmethod
    def commits(self) -> Steps[tuple[Commit, ...]]:
        """All commits of the table, oldest first, whatever is known already."""

    @abstractmethod
    def after_commit(self, version: int, is_large: bool = False) -> Steps[None]:
        """What follows a commit of this client: a checkpoint of exactly that version, if it is due.

        After a large commit it always is. Source: OptimisticTransaction.scala `isCheckpointNeeded`,
        `commitLarge`; CheckpointHook.scala.
        """

    def commits_after(self, version: int) -> Steps[tuple[Commit, ...]]:
        """The commits after `version`, in order. Raises `InvalidLog` if one is missing."""
        return (yield from self.read_listed((yield from self.listed_after(version))))

    def read_listed(self, listed: Iterable[Listed]) -> Steps[tuple[Commit, ...]]:
        """Commits that a listing shows, one after the other."""
        commits: list[Commit] = []
        for version, entry in listed:
            commits += [(yield from self.read_commit(version, entry))]
        return tuple(commits)
