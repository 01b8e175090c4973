"""The table's log as one transaction of the simulation sees it: what it asks, and what it is told.

What the log holds is known to the simulation (`sim/store/contents/history.py`); what the
transaction asks is what Delta would (`sim/store/log_access.py`), and takes its time.
"""

from __future__ import annotations

from whitecap.engine.log.clients.table_log import Listed, TableLog
from whitecap.engine.log.commit_file import Commit
from whitecap.engine.log.file_counts import FileCounts
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.storage.requests import Entry, OfDriver, Steps
from whitecap.sim.store.cluster import Cluster


class TakeSnapshot(OfDriver, frozen=True):
    """Learn the newest version, to start a transaction (`starts`) or to look. Answer: `int`."""

    starts: bool


class ReadState(OfDriver, frozen=True):
    """Read the files, applications and domains of a version. Answer: `None`."""

    version: int


class ListWinners(OfDriver, frozen=True):
    """List the log after a lost race. Answer: `int`, the newest version."""


class ReadCommit(OfDriver, frozen=True):
    """Read one commit file. Answer: `None`."""

    version: int


class ReadHistory(OfDriver, frozen=True):
    """Read the whole log. Answer: `int`, its newest version."""


class FollowCommit(OfDriver, frozen=True):
    """Do what follows a commit. Answer: `None`."""

    version: int
    always_checkpoints: bool


_NOT_SHOWN = Entry("", 0, 0)
"""Commits are asked for by version; what a listing shows besides, nobody here looks at."""


class LogView(TableLog):
    """A cluster's log as one transaction uses it."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def snapshot(self) -> Snapshot:
        return self._cluster.history.snapshot(self._cluster.delta_log.segment.version)

    @property
    def file_counts(self) -> FileCounts:
        return self._cluster.delta_log.file_counts

    def update(self) -> Steps[Snapshot]:
        version: int = yield TakeSnapshot(starts=True)
        return self._cluster.history.snapshot(version)

    def analyze(self) -> Steps[None]:
        yield TakeSnapshot(starts=False)

    def read_state(self, snapshot: Snapshot) -> Steps[None]:
        yield ReadState(snapshot.version)

    def listed_after(self, version: int) -> Steps[list[Listed]]:
        newest: int = yield ListWinners()
        return [(number, _NOT_SHOWN) for number in range(version + 1, newest + 1)]

    def read_commit(self, version: int, entry: Entry) -> Steps[Commit]:
        yield ReadCommit(version)
        return self._cluster.history.commit(version)

    def commits(self) -> Steps[tuple[Commit, ...]]:
        newest: int = yield ReadHistory()
        history = self._cluster.history
        return tuple(history.commit(version) for version in range(newest + 1))

    def after_commit(self, version: int, is_large: bool = False) -> Steps[None]:
        yield FollowCommit(version, always_checkpoints=is_large)
