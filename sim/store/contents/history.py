"""What the commits of the log say, for all clusters: each is parsed once, by whoever comes first.

No simulated time passes here. Which requests a cluster needs to learn of a version is decided in
`sim/store/log_access.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from whitecap.engine.log.actions import AnyAction
from whitecap.engine.log.clients.commit_cache import CommitCache
from whitecap.engine.log.commit_file import Commit, commit_of, log_key
from whitecap.engine.log.snapshot import EMPTY_SNAPSHOT, Snapshot
from whitecap.sim.store.contents.kept import DescribedCommit
from whitecap.sim.store.contents.objects import FakeStore


class CommitHistory(Struct, frozen=True):
    """The commits in the store and the snapshots that they lead to."""

    store: FakeStore
    cache: CommitCache

    def commit(self, version: int) -> Commit:
        """One commit, as its file is now."""
        if self.store.exclusive and (cached := self.cache.commit_at(version)) is not None:
            return cached
        stored = self.store.objects[log_key(version)]
        if isinstance(stored.content, DescribedCommit):
            return stored.content.commit
        return self.cache.commit(version, stored.body, stored.modified_at_ms)

    def keep(self, version: int, body: bytes, actions: Sequence[AnyAction], now_ms: float) -> None:
        """Remember what a commit file says that has just landed, so that nobody need parse it."""
        commit = commit_of(version, actions, self.store.epoch_ms + int(now_ms))
        self.cache.keep_commit(body, commit)

    def snapshot(self, version: int) -> Snapshot:
        """The table at a version; -1: no table."""
        cached = self.cache.snapshot_at(version)
        if cached is not None and self.store.exclusive:
            return cached
        snapshot, behind = self._nearest(version)
        for number in reversed(behind):
            snapshot = self.cache.snapshot_after(snapshot, self.commit(number))
        return snapshot

    def _nearest(self, version: int) -> tuple[Snapshot, list[int]]:
        """The newest cached snapshot that is still right, and the versions after it."""
        behind: list[int] = []
        for number in range(version, -1, -1):
            cached = self.cache.snapshot_at(number)
            if cached is not None and (self.store.exclusive or self._is_right(number)):
                return cached, behind
            behind.append(number)
        return EMPTY_SNAPSHOT, behind

    def _is_right(self, version: int) -> bool:
        """Whether no commit up to a version was overwritten since its snapshot was made."""
        return version < self.store.first_overwritten
