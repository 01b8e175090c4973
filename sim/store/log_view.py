"""What one transaction sees of its cluster's knowledge of the log, with notes for the recording.

Transactions of one cluster share what it knows, as threads of one Spark driver do; in an open loop
two of them may be learning the same commits at the same time.
"""

from __future__ import annotations

from whitecap.engine.log.commit_file import Commit
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.log.table_log import TableLog
from whitecap.engine.storage.requests import Steps
from whitecap.sim.recording.recorder import TransactionRecord
from whitecap.sim.time.kernel import Kernel


class LogView(TableLog):
    """A cluster's log as one transaction uses it; notes when it took which snapshot."""

    def __init__(self, shared: TableLog, record: TransactionRecord, kernel: Kernel) -> None:
        self._shared = shared
        self._record = record
        self._kernel = kernel

    @property
    def snapshot(self) -> Snapshot:
        return self._shared.snapshot

    def update(self) -> Steps[Snapshot]:
        known = self._shared.snapshot
        for commit in (yield from self._shared.commits_after(known.version)):
            self.accept(commit)
        self._record.snapshot_at_ms = self._kernel.now_ms
        self._record.read_version = self._shared.snapshot.version
        return self._shared.snapshot

    def commits_after(self, version: int) -> Steps[tuple[Commit, ...]]:
        return self._shared.commits_after(version)

    def accept(self, commit: Commit) -> Snapshot:
        """Another transaction of the same cluster may have brought this commit already."""
        if commit.version <= self._shared.snapshot.version:
            return self._shared.snapshot
        return self._shared.accept(commit)
