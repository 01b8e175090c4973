"""The row versions of files that have the same columns, kept once and numbered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from whitecap.engine.row_store.columns import (
    Column,
    Fractions,
    Ids,
    Objects,
    appended,
    column_for,
)
from whitecap.engine.row_store.stored_rows import StoredRows
from whitecap.engine.storage.columns import columns_of
from whitecap.engine.storage.requests import Row

FileColumns = tuple[tuple[str, ...], tuple[str, ...]]
"""The names of columns as in data files, and their types."""

FEW, MANY_FEW = 64, 4096
"""Up to how many rows wait for others before they are put into arrays, and how many may wait."""

OfArrays = Callable[[Callable[[int], Any]], Any]
"""A column's new values, computed from the arrays of others; `None` if one of these is no array."""


class RowStore:
    """The row versions of all files that have the same columns, numbered as they come."""

    def __init__(self, columns: FileColumns) -> None:
        self.names, self.types = columns
        self.count = 0
        self._columns: list[Column] = [column_for(type_name) for type_name in self.types]
        self._new: list[Row] = []
        self._lines: Ids = np.zeros(0, np.intp)
        self._lined = 0

    @property
    def columns(self) -> list[Column]:
        """The columns, with all rows in them."""
        if self._new:
            self._put_new()
        return self._columns

    def lines(self, ids: Ids) -> Ids:
        """The versions that began the lines of these rows; later ones differ in fractions alone."""
        if not self._lined:
            return ids
        self._begin_lines()
        return self._lines[ids]

    def continue_lines(self, versions: Ids, ids: Ids) -> None:
        """Fractions were assigned to versions: the newest ones continue the lines of these."""
        self._begin_lines(len(versions))
        self._lines, self._lined = appended(self._lines, self._lined, self._lines[ids])

    def _begin_lines(self, but_for: int = 0) -> None:
        """Every version without a line begins one, except for the newest `but_for`."""
        if self._lined < self.count - but_for:
            fresh = np.arange(self._lined, self.count - but_for)
            self._lines, self._lined = appended(self._lines, self._lined, fresh)

    def stored(self, rows: Sequence[Row]) -> StoredRows:
        """The rows, kept here. A few are put into columns together with those that come next."""
        if len(rows) <= FEW:
            self._new.extend(rows)
            first, self.count = self.count, self.count + len(rows)
            if len(self._new) > MANY_FEW:
                self._put_new()
        else:
            if self._new:
                self._put_new()
            first, self.count = self.count, self.count + len(rows)
            self._take(columns_of(rows), first)
        return StoredRows(self, np.arange(first, self.count))

    def _put_new(self) -> None:
        """Put the rows that wait into columns."""
        new, self._new = self._new, []
        self._take(columns_of(new), self.count - len(new))

    def _take(self, columns: Iterable[Sequence[Any]], first: int) -> None:
        for at, values in enumerate(columns):
            if not self._columns[at].take(values):
                self._give_up(at, first)
                self._columns[at].take(values)

    def assigned(self, ids: Ids, changes: Mapping[int, OfArrays]) -> Ids | None:
        """Versions of rows with new values in some columns; `None` if arrays cannot hold them."""
        columns = self.columns
        with np.errstate(all="ignore"):  # overflow gives infinity, as it does in Python
            arrays = {
                at: compute(lambda column: columns[column].fractions(ids))
                for at, compute in changes.items()
            }
        if not all(
            isinstance(columns[at], Fractions) and isinstance(array, np.ndarray)
            for at, array in arrays.items()
        ):
            return None
        first, self.count = self.count, self.count + len(ids)
        for at, column in enumerate(columns):
            if at in arrays and isinstance(column, Fractions):
                column.put(arrays[at])
            else:
                column.repeat(ids)
        return np.arange(first, self.count)

    def _give_up(self, at: int, count: int) -> None:
        """Go on with a column of objects, for values that are not of the column's own type."""
        objects = Objects()
        objects.take(self._columns[at].values(np.arange(count)))
        self._columns[at] = objects
