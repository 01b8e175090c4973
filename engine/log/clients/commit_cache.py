"""Parsed commits, and the snapshots that they lead to, for all clients of a process.

Each commit file is fetched by every client that needs it, but parsed once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from copy import copy
from typing import TypeVar

from msgspec import Struct

from whitecap.engine.log.commit_file import Commit, decode_commit
from whitecap.engine.log.snapshot import Snapshot

V = TypeVar("V")

_KEPT_VERSIONS = 4096
"""How many versions stay parsed: a choice, of far more than clients of a run fall behind.

Who is further behind parses again: slower, not wrong. A snapshot shares nearly all of its memory
with its neighbours.
"""


class _Recent(OrderedDict[int, V]):
    """The last values put in, by version."""

    def __init__(self, limit: int, values: Mapping[int, V] | None = None) -> None:
        super().__init__()
        self._limit = limit
        OrderedDict.update(self, values or {})

    def branched(self) -> _Recent[V]:
        """The same values, for others to be put beside them."""
        return _Recent(self._limit, self)

    def put(self, version: int, value: V) -> None:
        self[version] = value
        if len(self) > self._limit:
            self.popitem(last=False)

    def is_behind(self, version: int) -> bool:
        """Whether a version is older than all that are kept: newer ones would have to go for it."""
        return len(self) >= self._limit and version < next(iter(self))


class _KeptSnapshot(Struct, frozen=True):
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

    def branched(self) -> CommitCache:
        """What was parsed here, for a history of its own."""
        other = copy(self)
        other._commits, other._snapshots = self._commits.branched(), self._snapshots.branched()
        return other

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
