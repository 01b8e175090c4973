"""The rows of a file by their numbers in a store, and what is known of rows made from others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from whitecap.engine.row_store.columns import Cells, Coded, Column, Ids
from whitecap.engine.row_store.origins import Arranged, Edit
from whitecap.engine.row_store.summaries import Counts, Extent, bounded, counts_after
from whitecap.engine.storage.requests import Row

if TYPE_CHECKING:
    from whitecap.engine.row_store.row_store import RowStore

Wanted = Sequence[tuple[int, Collection[Any]]]
"""Positions of columns, each with the values that it may have."""


MANY = 512
"""Rows from which on what was once gathered of them is kept, and handed on to rows made of them."""


class Origin(NamedTuple):
    """What rows were made from: all of `parents` but for some versions, and new ones.

    `columns`: those that alone differ, where every row is still in its place.
    """

    parents: tuple[StoredRows, ...]
    gone: Ids
    new: Ids
    arranged: Arranged
    columns: Collection[int] | None = None

    def ids(self) -> Ids:
        """The versions that the rows are."""
        return self.arranged([parent.ids for parent in self.parents], self.new)

    def cells(self, parts: Sequence[Cells], new: Cells) -> Cells:
        """What they have in a column, of what the rows that they were made from have in it."""
        values = self.arranged([part.values for part in parts], new.values)
        if new.nulls is None and all(part.nulls is None for part in parts):
            return Cells(values)
        return Cells(values, self.arranged([part.missing() for part in parts], new.missing()))


class StoredRows(Sequence[Row]):
    """The rows of one file, by their numbers in a store, in file order. Never changed.

    What many rows have in a column is gathered once: rows made of these take it over, with what
    changed, as long as they know their origin.
    """

    __slots__ = ("_cells", "_counts", "_extents", "_origin", "_present", "ids", "store")

    def __init__(self, store: RowStore, ids: Ids, origin: Origin | None = None) -> None:
        self.store = store
        self.ids = ids
        self._origin = origin
        self._cells: dict[Column, Cells] = {}
        self._counts: dict[int, Counts] = {}
        self._extents: dict[int, Extent] = {}
        self._present: dict[int, tuple[int, list[Any]]] = {}

    @classmethod
    def made(cls, store: RowStore, origin: Origin) -> StoredRows:
        """Rows made from others of a store."""
        return cls(store, origin.ids(), origin)

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
        column = self.store.columns[position]
        if len(self.ids) < MANY:
            return column.cells(self.ids)
        return self._taken_over(position, column) or self._kept(column, column.cells(self.ids))

    def _some_cells(self, position: int, positions: Ids) -> Cells:
        """What the rows at some positions have in one column."""
        column = self.store.columns[position]
        every = self._taken_over(position, column)
        return column.cells(self.ids[positions]) if every is None else every.at(positions)

    def _taken_over(self, position: int, column: Column) -> Cells | None:
        """What the rows have, if that was gathered before or follows from what was."""
        cells, origin = self._cells.get(column), self._origin
        if cells is not None or origin is None or len(self.ids) < MANY:
            return cells
        if self._as_before(position) is not None:
            cells = origin.parents[0]._taken_over(position, column)
        else:
            cells = self._put_together(position, column, origin)
        return None if cells is None else self._kept(column, cells)

    def _put_together(self, position: int, column: Column, origin: Origin) -> Cells | None:
        """The same, from what most of the rows had that these were made from."""
        parts = [(rows, rows._taken_over(position, column)) for rows in origin.parents]
        gathered = sum(len(rows) for rows, part in parts if part is not None)
        if 2 * gathered < len(self.ids):
            return None
        every = [part or column.cells(rows.ids) for rows, part in parts]
        return origin.cells(every, column.cells(origin.new))

    def _kept(self, column: Column, cells: Cells) -> Cells:
        if not self._cells:
            self.store.has_gathered(self)
        self._cells[column] = cells
        return cells

    def forget_cells(self) -> None:
        """What was gathered is asked for no more, or may be gathered again."""
        self._cells = {}

    def settle(self) -> None:
        """The rows are a file's: keep nothing of those that they were made from."""
        if self._origin is not None and len(self.ids) >= MANY:
            for position, column in enumerate(self.store.columns):
                self._taken_over(position, column)
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
        return column.extent(self.cells(position))

    def distinct(self, position: int) -> Collection[Any]:
        """The values that one column has, but for NULL."""
        column = self.store.columns[position]
        if isinstance(column, Coded):
            return self._values_present(position, column)[1]
        return {value for value in column.values(self.ids) if value is not None}

    def _as_before(self, position: int) -> StoredRows | None:
        """The rows that these were made from, if every row has the same value there as before."""
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
        """How many of many rows have each value, if these are few."""
        if not column.are_few(len(self.ids)):
            return None
        counts = self._counts.get(position)
        if counts is None:
            followed = self._counts_followed(position, column)
            counts = self._counts[position] = followed or column.counts(self.cells(position))
        return counts

    def _counts_followed(self, position: int, column: Coded) -> Counts | None:
        """The same, if it follows from that of the rows that these were made from."""
        origin, before = self._origin, self._as_before(position)
        if before is not None:
            return before._counted(position, column)
        if origin is None or not column.are_few(len(self.ids) // len(origin.parents)):
            return None
        counts = [
            rows._counted(position, column) or column.counts(rows.cells(position))
            for rows in origin.parents
        ]
        gone, new = (column.cells(ids).values for ids in (origin.gone, origin.new))
        return counts_after(counts, gone, new)

    def edited(self, changes: Mapping[int, Row | None]) -> StoredRows:
        """See `edited`."""
        rows = [row for row in changes.values() if row is not None]
        edit = Edit.of(changes)
        new = self.store.stored(rows).ids
        return StoredRows.made(self.store, Origin((self,), self.ids[list(changes)], new, edit))

    def positions_with(self, wanted: Wanted, or_null: bool) -> Ids | None:
        """See `positions_with`."""
        positions: Ids | None = None
        for at, values in wanted:
            column = self.store.columns[at]
            cells = self.cells(at) if positions is None else self._some_cells(at, positions)
            among = column.among(cells, values)
            if among is None:
                return None
            if or_null:
                among = among | column.nulls(cells)
            positions = among.nonzero()[0] if positions is None else positions[among]
        return positions

    def groups(self, places: Sequence[int]) -> list[StoredRows] | None:
        """See `grouped`; `None` if some column cannot tell."""
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
