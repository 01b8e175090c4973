"""The rows of files as plain values: the numbers of their versions, and the store by its number."""

from __future__ import annotations

import numpy as np

from whitecap.engine.row_store.columns import Ids
from whitecap.engine.row_store.row_store import RowStore
from whitecap.engine.row_store.stored_rows import StoredRows

PlainRows = tuple[int, int, int | bytes]
"""A store's number, the first row version, and how many follow it; or by how much the number of
each following version is greater, as bytes: mostly by one, so that they can be compressed."""


class Stores:
    """Row stores by number, in the order in which they were first met."""

    def __init__(self) -> None:
        self._stores: list[RowStore] = []
        self._numbers: dict[RowStore, int] = {}

    def plain(self, rows: StoredRows) -> PlainRows:
        """The rows of a file that does not change any more."""
        number = self._numbers.get(rows.store)
        if number is None:
            number = self._numbers[rows.store] = len(self._stores)
            self._stores.append(rows.store)
        ids = rows.ids
        if not len(ids):
            return number, 0, 0
        first, steps = int(ids[0]), np.diff(ids)
        return number, first, steps.tobytes() if (steps != 1).any() else len(ids)

    def rows(self, plain: PlainRows) -> StoredRows:
        """The rows again."""
        number, first, rest = plain
        if isinstance(rest, bytes):
            steps = np.frombuffer(rest, np.int32)
            ids: Ids = np.cumsum(np.concatenate(([np.int32(first)], steps)), dtype=np.int32)
        else:
            ids = np.arange(first, first + rest, dtype=np.int32)
        return StoredRows(self._stores[number], ids)
