"""The rows of a file by their numbers in a store, and what is known of rows made from others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from msgspec import Struct

from whitecap.engine.row_store.columns import Cells, Coded, Column, Fractions, Ids, Integers
from whitecap.engine.row_store.summaries import (
    Counts,
    Extent,
    bounded,
    counts_after,
    extent_after,
)
from whitecap.engine.storage.requests import Row

if TYPE_CHECKING:
    from whitecap.engine.row_store.row_store import RowStore

Wanted = Sequence[tuple[int, Collection[Any]]]
"""Positions of columns, each with the values that it may have."""


MANY = 512
"""Rows of a file from which on it is faster to derive its bounds from those it was made from."""

MANY_PIECES = 64
"""Up to so many rows are taken out by joining the pieces between them, at the speed of memory."""


class Origin(Struct, frozen=True):
    """What rows were made from: all of `parents` without the versions that went, and new ones.

    `columns`, if every row is still in its place, are the only ones that differ.
    """

    parents: tuple[StoredRows, ...]
    gone: Ids
    new: Ids
    columns: Collection[int] | None = None


class StoredRows(Sequence[Row]):
    """The rows of one file in file order, by their numbers in a store. Never changed.

    What is known of a column is carried over to rows made of these, with what changed, as long as
    they know their origin.
    """

    __slots__ = ("_counts", "_extents", "_origin", "_present", "ids", "store")

    def __init__(self, store: RowStore, ids: Ids, origin: Origin | None = None) -> None:
        self.store = store
        self.ids = ids
        self._origin = origin
        self._counts: dict[int, Counts] = {}
        self._extents: dict[int, Extent] = {}
        self._present: dict[int, tuple[int, list[Any]]] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Row]:
        return zip(*(column.values(self.ids) for column in self.store.columns), strict=True)

    @overload
    def __getitem__(self, position: int) -> Row: ...

    @overload
    def __getitem__(self, position: slice) -> StoredRows: ...

    def __getitem__(self, position: int | slice) -> Row | StoredRows:
        if isinstance(position, slice):
            return StoredRows(self.store, self.ids[position])
        return next(iter(StoredRows(self.store, self.ids[[position]])))

    def column(self, position: int) -> Sequence[Any]:
        """The values of one column."""
        return self.store.columns[position].values(self.ids)

    def at(self, positions: Sequence[int]) -> StoredRows:
        """The rows at some positions, in that order."""
        return StoredRows(self.store, self.ids[np.asarray(positions, np.intp)])

    def cells(self, position: int) -> Cells:
        """What the rows have in one column."""
        return self.store.columns[position].cells(self.ids)

    def settle(self) -> None:
        """The rows are written to a file: forget what they were made from."""
        self._origin = None

    def extent(self, position: int) -> Extent:
        """NULLs and bounds of one column."""
        if position not in self._extents:
            self._extents[position] = self._extent(position)
        return self._extents[position]

    def _extent(self, position: int) -> Extent:
        before, column = self._as_before(position), self.store.columns[position]
        if before is not None:
            return before.extent(position)
        if isinstance(column, Coded):
            return bounded(*self._values_present(position, column))
        followed = self._extent_followed(position, column)
        return column.extent(self.cells(position)) if followed is None else followed

    def _extent_followed(self, position: int, column: Column) -> Extent | None:
        """`extent` of many numbers, if it follows from that of the rows they were made from."""
        origin = self._origin
        if origin is None or not isinstance(column, Integers | Fractions):
            return None
        if len(self.ids) < MANY * len(origin.parents):
            return None
        parents = [rows.extent(position) for rows in origin.parents]
        gone, new = (column.extent(column.cells(ids)) for ids in (origin.gone, origin.new))
        return extent_after(parents, gone, new, column.zeros_are_alike())

    def distinct(self, position: int) -> Collection[Any]:
        """The values that one column has, but for NULL."""
        column = self.store.columns[position]
        if isinstance(column, Coded):
            return self._values_present(position, column)[1]
        return {value for value in column.values(self.ids) if value is not None}

    def _as_before(self, position: int) -> StoredRows | None:
        """The rows these were made from, if every row still has the same value in this column."""
        origin = self._origin
        if origin is None or origin.columns is None or position in origin.columns:
            return None
        return origin.parents[0]

    def _values_present(self, position: int, column: Coded) -> tuple[int, list[Any]]:
        """How many rows have NULL, and which values the others have."""
        present = self._present.get(position)
        if present is None:
            counts = self._counted(position, column)
            seen = column.present(self.cells(position)) if counts is None else counts.present()
            present = self._present[position] = seen
        return present

    def _counted(self, position: int, column: Coded) -> Counts | None:
        """How many rows have each value, for many rows with few values; else `None`."""
        if not column.are_few(len(self.ids)):
            return None
        counts = self._counts.get(position)
        if counts is None:
            followed = self._counts_followed(position, column)
            counts = self._counts[position] = followed or column.counts(self.cells(position))
        return counts

    def _counts_followed(self, position: int, column: Coded) -> Counts | None:
        """`_counted`, if it follows from the counts of the rows these were made from."""
        origin, before = self._origin, self._as_before(position)
        if before is not None:
            return before._counted(position, column)
        if origin is None or not column.are_few(len(self.ids) // len(origin.parents)):
            return None
        parents = [(rows.ids, rows._counted(position, column)) for rows in origin.parents]
        counts = [of_parent for _, of_parent in parents if of_parent is not None]
        small = [ids for ids, of_parent in parents if of_parent is None]
        if small:  # many small files, as OPTIMIZE joins them, are counted at once
            counts.append(column.counts(column.cells(np.concatenate(small))))
        gone, new = (column.cells(ids).values for ids in (origin.gone, origin.new))
        return counts_after(counts, gone, new)

    def edited(self, changes: Mapping[int, Row | None]) -> StoredRows:
        """See `rows.edited`."""
        rows = [row for row in changes.values() if row is not None]
        new = self.store.stored(rows).ids
        ids = self.ids
        if rows:
            ids = ids.copy()
            ids[[at for at, row in changes.items() if row is not None]] = new
        gone = [at for at, row in changes.items() if row is None]
        origin = Origin((self,), self.ids[list(changes)], new)
        return StoredRows(self.store, _without(ids, sorted(gone)), origin)

    def replaced(self, positions: Sequence[int], origin: Origin) -> StoredRows:
        """These rows with the new ones of `origin` at some positions."""
        ids = self.ids.copy()
        ids[positions] = origin.new
        return StoredRows(self.store, ids, origin)

    def positions_with(self, wanted: Wanted, or_null: bool) -> Ids | None:
        """See `rows.positions_with`."""
        positions: Ids | None = None
        for at, values in wanted:
            column = self.store.columns[at]
            cells = column.cells(self.ids if positions is None else self.ids[positions])
            among = column.among(cells, values)
            if among is None:
                return None
            if or_null:
                among = among | column.nulls(cells)
            positions = among.nonzero()[0] if positions is None else positions[among]
        return positions

    def groups(self, places: Sequence[int]) -> list[StoredRows] | None:
        """See `rows.grouped`; `None` if some column cannot tell its values apart."""
        differing: list[Any] = []
        for at in places:
            kinds = self.store.columns[at].kinds(self.cells(at))
            if kinds is None:
                return None
            if not (kinds == kinds[0]).all():
                differing.append(np.unique(kinds, return_inverse=True)[1])
        if not differing:
            return [self]
        _, first, group = np.unique(
            np.column_stack(differing), axis=0, return_index=True, return_inverse=True
        )
        return [StoredRows(self.store, self.ids[group.ravel() == n]) for n in np.argsort(first)]


def together(parts: Sequence[Sequence[Row]]) -> StoredRows | None:
    """The rows of all parts, one after the other; `None` if they are not all in one store."""
    stored = [rows for rows in parts if isinstance(rows, StoredRows)]
    if not stored or len(stored) < len(parts):
        return None
    store = stored[0].store
    if len(stored) == 1:
        return stored[0]
    if any(rows.store is not store for rows in stored):
        return None
    return StoredRows(store, np.concatenate([rows.ids for rows in stored]))


def _without(ids: Ids, gone: Sequence[int]) -> Ids:
    """The ids but for those at some positions, which rise."""
    if not gone:
        return ids
    if len(gone) > MANY_PIECES:
        return np.delete(ids, gone)
    begins = [0, *(at + 1 for at in gone)]
    ends = [*gone, len(ids)]
    return np.concatenate([ids[i:j] for i, j in zip(begins, ends, strict=True)])
