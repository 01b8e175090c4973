"""The items that Delta's S3DynamoDBLogStore keeps of commits: what is in the table at an instant.

Source: delta-io/delta v4.4.0, S3DynamoDBLogStore.java, ExternalCommitEntry.java. An item that has
expired is gone at that instant here; the service takes up to some days for it.
"""

from __future__ import annotations

import math

from msgspec import Struct, field


class CommitItem(Struct):
    """One commit: what its temporary file holds, and whether `N.json` is known to be there.

    `expires_at_ms` is simulated time; only a complete one expires.
    """

    version: int
    body: bytes
    transaction_id: int | None
    complete: bool = False
    expires_at_ms: float = math.inf


class CommitTable(Struct):
    """The items of one Delta table, by version; the body of a complete one is forgotten."""

    _items: dict[int, CommitItem] = field(default_factory=dict)
    _newest: int = -1

    def item(self, version: int, now_ms: float) -> CommitItem | None:
        """The item of a version. Source: `getExternalEntry`, a consistent read."""
        item = self._items.get(version)
        if item is not None and item.expires_at_ms <= now_ms:
            del self._items[version]
            return None
        return item

    def newest(self, now_ms: float) -> CommitItem | None:
        """The item of the highest version. Source: `getLatestExternalEntry`."""
        while self._newest >= 0:
            item = self.item(self._newest, now_ms)
            if item is not None or not self._items:
                return item
            self._newest = max(self._items)
        return None

    def put_if_absent(self, item: CommitItem, now_ms: float) -> bool:
        """Put the item of a commit that is under way, if its version has none.

        Source: `putExternalEntry(entry, overwrite = false)`.
        """
        if self.item(item.version, now_ms) is not None:
            return False
        self._items[item.version] = item
        self._newest = max(self._newest, item.version)
        return True

    def put_complete(self, item: CommitItem, expires_at_ms: float) -> None:
        """Put the same item as complete, over whatever there is. Source: `asComplete`."""
        complete = CommitItem(item.version, b"", item.transaction_id, True, expires_at_ms)
        self._items[item.version] = complete
        self._newest = max(self._newest, item.version)

    def incomplete(self) -> list[CommitItem]:
        """Commits that are under way, in order."""
        under_way = (item for item in self._items.values() if not item.complete)
        return sorted(under_way, key=lambda item: item.version)
