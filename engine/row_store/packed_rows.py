"""The rows of files as plain values: the numbers of their versions, and the store by its number."""

from __future__ import annotations

import numpy as np

from whitecap.engine.row_store.columns import Ids
from whitecap.engine.row_store.row_store import RowStore
from whitecap.engine.row_store.stored_rows import StoredRows

PlainRows = tuple[int, int, int | bytes]
"""A store's number, the first row version, and how many follow it; or their numbers as bytes."""


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
        first, count = (int(ids[0]), len(ids)) if len(ids) else (0, 0)
        if count and (int(ids[-1]) - first != count - 1 or (np.diff(ids) != 1).any()):
            return number, first, ids.tobytes()
        return number, first, count

    def rows(self, plain: PlainRows) -> StoredRows:
        """The rows again."""
        number, first, rest = plain
        if isinstance(rest, bytes):
            ids: Ids = np.frombuffer(rest, np.intp)
        else:
            ids = np.arange(first, first + rest)
        return StoredRows(self._stores[number], ids)
