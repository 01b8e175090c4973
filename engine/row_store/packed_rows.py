"""The rows of files as plain values: the numbers of their versions, and the store by its number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from whitecap.engine.row_store.columns import Ids
from whitecap.engine.row_store.row_store import RowStore
from whitecap.engine.row_store.stored_rows import StoredRows

PlainRows = tuple[int, int, int, bytes, bytes]
"""A store's number, the first row version, and how many rows there are. Each version is the next
one of the store except at some places: the bytes say how far these are apart, and how much is added
there."""

_FEW = 1 << 16
"""Up to so many rows 16 bits hold how far two places are apart."""


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
        return number, *_packed(rows.ids)

    def rows(self, plain: PlainRows) -> StoredRows:
        """The rows again."""
        number, first, count, apart, added = plain
        return StoredRows(self._stores[number], _unpacked(first, count, apart, added))


def _packed(ids: Ids) -> tuple[int, int, bytes, bytes]:
    if not len(ids):
        return 0, 0, b"", b""
    steps = ids[1:] - ids[:-1]
    places: NDArray[Any] = (steps != 1).nonzero()[0]
    if not len(places):
        return int(ids[0]), len(ids), b"", b""
    apart = np.diff(places, prepend=0).astype(_width(len(ids)))
    return int(ids[0]), len(ids), apart.tobytes(), steps[places].astype(np.int32).tobytes()


def _unpacked(first: int, count: int, apart: bytes, added: bytes) -> Ids:
    if not apart:
        return np.arange(first, first + count, dtype=np.intp)
    ids: Ids = np.ones(count, np.intp)
    ids[0] = first
    places = np.frombuffer(apart, _width(count)).cumsum(dtype=np.intp)
    ids[places + 1] = np.frombuffer(added, np.int32)
    return ids.cumsum(dtype=np.intp)


def _width(count: int) -> DTypeLike:
    return np.uint16 if count <= _FEW else np.uint32
