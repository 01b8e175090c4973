"""What commands do with the rows of files: a handful of verbs, for lists and for stored rows.

A list of tuples is what rows are; stored rows behave as such a list does, at a cost that follows
the rows that change, and a little of the others at the speed of arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import nan
from typing import Any, NamedTuple, overload

import numpy as np

from whitecap.engine.row_store.columns import (
    Coded,
    Column,
    Fractions,
    Ids,
    Objects,
    appended,
    column_for,
)
from whitecap.engine.row_store.summaries import Counts, Extent, Summary, bounded, extent_of
from whitecap.engine.storage.columns import columns_of
from whitecap.engine.storage.requests import Row

FileColumns = tuple[tuple[str, ...], tuple[str, ...]]
"""The names of columns as in data files, and their types."""

Wanted = Sequence[tuple[int, Collection[Any]]]
"""Positions of columns, each with the values that it may have."""


INHERITED_FROM = 2048
"""Rows from which on bounds are taken from those of other rows; fewer are looked at sooner."""

FEW, MANY_FEW = 64, 4096
"""So many rows wait for others before they are put into arrays; so many then wait at most."""

OfArrays = Callable[[Callable[[int], Any]], Any]
"""A column's new values from the arrays of others; `None` where one of these is no array."""


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
        self._put_new()
        return self._columns

    def lines(self, ids: Ids) -> Ids:
        """The versions that rows began as: only fractions were assigned to them since then."""
        if not self._lined:
            return ids
        self._begin_lines()
        return self._lines[ids]

    def continue_lines(self, versions: Ids, ids: Ids) -> None:
        """The newest versions take the place of others, from which they were assigned."""
        self._begin_lines(len(versions))
        self._lines, self._lined = appended(self._lines, self._lined, self._lines[ids])

    def _begin_lines(self, but_for: int = 0) -> None:
        """Every version that has none begins a line, but for the newest ones."""
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
            self._put_new()
            first, self.count = self.count, self.count + len(rows)
            self._take(columns_of(rows), first)
        return StoredRows(self, np.arange(first, self.count))

    def _put_new(self) -> None:
        """Put the rows that wait into columns."""
        if self._new:
            new, self._new = self._new, []
            self._take(columns_of(new), self.count - len(new))

    def _take(self, columns: Iterable[Sequence[Any]], first: int) -> None:
        for at, values in enumerate(columns):
            if not self._columns[at].take(values):
                self._give_up(at, first)
                self._columns[at].take(values)

    def assigned(self, ids: Ids, changes: Mapping[int, OfArrays]) -> Ids | None:
        """Versions of some rows that differ in some columns; `None` if arrays cannot tell these."""
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


class Origin(NamedTuple):
    """What rows were made from: all of `parents` but for some versions, and new ones.

    `columns`: those that alone differ, where every row is still in its place.
    """

    parents: tuple[StoredRows, ...]
    gone: Ids
    new: Ids
    columns: Collection[int] | None = None


class StoredRows(Sequence[Row]):
    """The rows of one file, by their numbers in a store, in file order. Never changed."""

    __slots__ = ("_extents", "_origin", "_present", "_summaries", "ids", "store")

    def __init__(self, store: RowStore, ids: Ids, origin: Origin | None = None) -> None:
        self.store = store
        self.ids = ids
        self._origin = origin
        self._extents: dict[int, Extent] = {}
        self._present: dict[int, tuple[int, list[Any]]] = {}
        self._summaries: dict[int, Summary | None] = {}

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

    def extent(self, position: int) -> Extent:
        """NULLs and bounds of one column."""
        if position not in self._extents:
            self._extents[position] = self._extent(position)
        return self._extents[position]

    def _extent(self, position: int) -> Extent:
        column, before = self.store.columns[position], self._as_before(position)
        if before is not None:
            return before.extent(position)
        if isinstance(column, Coded):
            return bounded(*self._values_present(position, column))
        summary = self._followed(position)
        return (None if summary is None else summary.extent) or column.extent(self.ids)

    def summary(self, position: int) -> Summary | None:
        """What the summary of a column follows from in rows that are made of these."""
        if position not in self._summaries:
            column = self.store.columns[position]
            self._summaries[position] = self._followed(position) or column.summary(self.ids)
        return self._summaries[position]

    def _followed(self, position: int) -> Summary | None:
        """The summary, if it follows from those of the rows that these were made from."""
        if self._origin is None or position in self._summaries:
            return self._summaries.get(position)
        parents, gone, new, _ = self._origin
        if len(self.ids) < INHERITED_FROM * len(parents):
            return None  # a few rows, or many small parts, are looked at sooner than followed
        known = [parent.summary(position) for parent in parents]
        summary: Summary | None = None
        if self._as_before(position) is not None:
            summary = known[0]
        elif None not in known:
            some = [each for each in known if each is not None]
            summary = self.store.columns[position].followed(some, gone, new)
        if summary is not None:
            self._summaries[position] = summary
        return summary

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

    def settle(self) -> None:
        """The rows are a file's: keep nothing of those that they were made from."""
        self._origin = None

    def _values_present(self, position: int, column: Coded) -> tuple[int, list[Any]]:
        known = self._present.get(position)
        if known is None and (before := self._as_before(position)) is not None:
            known = self._present[position] = before._values_present(position, column)
        if known is None:
            counts = self._followed(position)
            of_all = counts.present() if isinstance(counts, Counts) else column.present(self.ids)
            known = self._present[position] = of_all
        return known

    def edited(self, changes: Mapping[int, Row | None]) -> StoredRows:
        """See `edited`."""
        replaced = [(at, row) for at, row in changes.items() if row is not None]
        ids = self.ids.copy()
        if replaced:
            places, rows = zip(*replaced, strict=True)
            ids[list(places)] = self.store.stored(rows).ids
        if len(replaced) < len(changes):
            ids = np.delete(ids, [at for at, row in changes.items() if row is None])
        new = np.arange(self.store.count - len(replaced), self.store.count)
        return StoredRows(self.store, ids, Origin((self,), self.ids[list(changes)], new))

    def positions_with(self, wanted: Wanted, or_null: bool) -> Ids | None:
        """See `positions_with`."""
        positions: Ids | None = None
        for at, values in wanted:
            column, ids = self.store.columns[at], self.ids
            if positions is not None:
                ids = ids[positions]
            found = column.among(ids, values)
            if found is None:
                return None
            if or_null:
                found = found | column.nulls(ids)
            positions = np.flatnonzero(found) if positions is None else positions[found]
        return positions

    def groups(self, places: Sequence[int]) -> list[StoredRows] | None:
        """See `grouped`; `None` if some column cannot tell."""
        differing: list[Any] = []
        for at in places:
            kinds = self.store.columns[at].kinds(self.ids)
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


def edited(rows: Sequence[Row], changes: Mapping[int, Row | None]) -> Sequence[Row]:
    """Rows with others in place of those at some positions; without those that become `None`."""
    if not changes:
        return rows
    if isinstance(rows, StoredRows):
        return rows.edited(changes)
    kept = (changes.get(at, row) for at, row in enumerate(rows))
    return [row for row in kept if row is not None]


def assigned(
    rows: Sequence[Row],
    positions: Sequence[int],
    changes: Mapping[int, OfArrays],
    alone: bool = False,
) -> Sequence[Row] | None:
    """Rows with new values in some columns at some positions; `None`: only row by row.

    `alone`: those rows by themselves, beside those that they were.
    """
    if not isinstance(rows, StoredRows):
        return None
    places = np.asarray(positions, np.intp)
    versions = rows.store.assigned(rows.ids[places], changes)
    if versions is None:
        return None
    if alone:
        return StoredRows(rows.store, versions)
    rows.store.continue_lines(versions, rows.ids[places])
    ids = rows.ids.copy()
    ids[places] = versions
    return StoredRows(rows.store, ids, Origin((rows,), rows.ids[places], versions, changes))


def joined(parts: Sequence[Sequence[Row]]) -> Sequence[Row]:
    """Rows one after the other; stored ones, if any are, bring the others into their store."""
    parts = [part for part in parts if len(part)]
    if len(parts) == 1:
        return parts[0]
    store = next((part.store for part in parts if isinstance(part, StoredRows)), None)
    if store is None or any(isinstance(p, StoredRows) and p.store is not store for p in parts):
        return list(chain.from_iterable(parts))
    stored = [part if isinstance(part, StoredRows) else store.stored(part) for part in parts]
    ids = np.concatenate([part.ids for part in stored])
    return StoredRows(store, ids, Origin(tuple(stored), ids[:0], ids[:0]))


def rows_at(rows: Sequence[Row], positions: Sequence[int]) -> Sequence[Row]:
    """The rows at some positions, in that order."""
    if isinstance(rows, StoredRows):
        return rows.at(positions)
    return [rows[at] for at in positions]


def positions_with(rows: Sequence[Row], wanted: Wanted, or_null: bool = False) -> list[int] | None:
    """Where columns have one of the values that are wanted of them, or NULL if that counts too.

    None of the values are NULL. `None` where only looking at every row would tell.
    """
    if not isinstance(rows, StoredRows) or not wanted:
        return None
    found = rows.positions_with(wanted, or_null)
    return None if found is None else found.tolist()


def holds(rows: Sequence[Row], position: int, value: Any) -> bool:
    """Whether some row has a value, other than NULL, in a column."""
    if isinstance(rows, StoredRows):
        found = rows.store.columns[position].among(rows.ids, (value,))
        if found is not None:
            return bool(found.any())
    return any(row[position] == value for row in rows)


def grouped(rows: Sequence[Row], places: Sequence[int]) -> list[Sequence[Row]]:
    """Rows by their values at some places, in the order of the first of each group."""
    if not len(rows):
        return []
    if isinstance(rows, StoredRows):
        groups = rows.groups(places)
        if groups is not None:
            return list(groups)
    if len(places) == 1 and all(row[places[0]] == rows[0][places[0]] for row in rows):
        return [rows if isinstance(rows, list) else list(rows)]
    parts: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        # NaN is one value, as it is in Spark, and not as many as there are NaNs.
        key = tuple([value if value == value else nan for at in places for value in (row[at],)])
        parts.setdefault(key, []).append(row)
    return list(parts.values())


def extent(rows: Sequence[Sequence[Any]], position: int) -> Extent:
    """NULLs and bounds of a column of a type that has an order."""
    if isinstance(rows, StoredRows):
        return rows.extent(position)
    return extent_of([row[position] for row in rows])


def count_nulls(rows: Sequence[Sequence[Any]], position: int) -> int:
    """How many values of a column are NULL."""
    if isinstance(rows, StoredRows):
        return int(np.count_nonzero(rows.store.columns[position].nulls(rows.ids)))
    return sum(row[position] is None for row in rows)
