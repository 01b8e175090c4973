"""Rows of the initial table: made from their keys whenever they are read.

What a row holds besides its slice follows from its key, so that rows need not be kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from whitecap.engine.log.columns.identity import is_computed
from whitecap.engine.log.schema import Field, Schema, parse_ddl
from whitecap.engine.storage.columns import RowsByColumn
from whitecap.engine.storage.requests import Row
from whitecap.sim.scenario.table import Domain, TableSection
from whitecap.sim.table.fillers import SCATTER, filler_of, scattered
from whitecap.sim.table.slices import Dimension, InitialSlices, Slice, SliceColumns


class RowMaker:
    """Makes rows of a schema from a key and a slice."""

    def __init__(self, schema: Schema, key: str | None, dimensions: Sequence[Dimension]) -> None:
        self.schema = schema
        self.dimensions = tuple(dimensions)
        self.key_position = schema.names.index(key) if key in schema.names else None
        slots = {dimension.name: place for place, dimension in enumerate(dimensions)}
        self._cells = [_cells_maker(column, key, slots) for column in schema]

        self._columns = [_column_maker(column, key, slots) for column in schema]

    def row(self, key: int, slice_: Slice) -> Row:
        """The row of `key`."""
        return self.rows((key,), (slice_,))[0]

    def rows(self, keys: Sequence[int], slices: Sequence[Slice], revision: int = 0) -> list[Row]:
        """The rows of some keys; another `revision` differs in all columns but key and slice."""
        return list(zip(*[cells(keys, slices, revision) for cells in self._cells], strict=True))

    def columns(self, keys: NDArray[np.int64], slices: SliceColumns) -> Iterator[Sequence[Any]]:
        """The columns of the rows of some keys, as they are at the start."""
        return (column(keys, slices) for column in self._columns)

    def column(self, position: int, keys: NDArray[np.int64], slices: SliceColumns) -> Sequence[Any]:
        """One of these columns."""
        return self._columns[position](keys, slices)


RowKeys = Sequence[int] | NDArray[np.int64]
"""Keys of rows: a range where they are one, so that they take no room."""


class InitialFileRows(RowsByColumn):
    """The rows of one data file, made whenever they are read: some of a partition's keys."""

    __slots__ = ("_begin", "_initial", "_keys", "_maker", "_size")

    def __init__(
        self, keys: RowKeys, begin: int, size: int, initial: InitialSlices, maker: RowMaker
    ) -> None:
        self._keys = keys
        self._begin = begin
        self._size = min(size, len(keys) - begin)
        self._initial = initial
        self._maker = maker

    def __len__(self) -> int:
        return self._size

    def keys(self) -> Sequence[int]:
        """The keys of its rows."""
        keys = self._keys[self._begin : self._begin + self._size]
        return keys.tolist() if isinstance(keys, np.ndarray) else keys

    def column(self, position: int) -> Sequence[Any]:
        """One column's values: of the key column without making any."""
        if position == self._maker.key_position:
            return self.keys()
        return self._maker.column(position, *self._by_column())

    def columns(self) -> Iterator[Sequence[Any]]:
        """The values of every column."""
        return self._maker.columns(*self._by_column())

    def _by_column(self) -> tuple[NDArray[np.int64], SliceColumns]:
        keys = np.asarray(self.keys(), np.int64)
        return keys, self._initial.columns_of(keys)

    def __iter__(self) -> Iterator[Row]:
        keys = self.keys()
        return iter(self._maker.rows(keys, self._initial.slices_of(keys)))

    @overload
    def __getitem__(self, position: int) -> Row: ...

    @overload
    def __getitem__(self, position: slice) -> Sequence[Row]: ...

    def __getitem__(self, position: int | slice) -> Row | Sequence[Row]:
        if isinstance(position, slice):
            return list(self)[position]
        key = self.keys()[position]
        return self._maker.row(key, self._initial.slice_of(key))


@dataclass(frozen=True, slots=True)
class ScenarioRows:
    """Everything about the rows of a scenario's table."""

    schema: Schema
    key: str | None
    dimensions: tuple[Dimension, ...]
    maker: RowMaker
    initial: InitialSlices

    @property
    def types(self) -> dict[str, str]:
        """Each column's type, by its name in lower case."""
        return {column.name.lower(): column.type for column in self.schema}

    @property
    def brought(self) -> Schema:
        """The columns that a stream brings: not those that the table computes.

        But for the key and columns with listed values: other rows than the scenario says would lie
        elsewhere.
        """
        said = {self.key, *(dimension.name for dimension in self.dimensions)}
        return Schema(tuple(c for c in self.schema if c.name in said or not is_computed(c)))

    @classmethod
    def of(cls, table: TableSection, start_ms: int) -> ScenarioRows:
        """The rows that a scenario describes, at the wall clock of its start."""
        schema = parse_ddl(table.columns)
        today = day_at(start_ms, 0.0)
        dimensions = tuple(
            _dimension(name, domain, schema.get(name), today)
            for name, domain in table.values.items()
        )
        maker = RowMaker(schema, table.key, dimensions)
        initial = InitialSlices(table.initial.rows, dimensions)
        return cls(schema, table.key, dimensions, maker, initial)


def day_at(start_ms: int, now_ms: float) -> date:
    """The calendar day (UTC) at a simulated instant."""
    return datetime.fromtimestamp((start_ms + now_ms) / 1000, UTC).date()


def _dimension(name: str, domain: Domain, column: Field | None, today: date) -> Dimension:
    if domain.days is not None:
        days = tuple(today - timedelta(days=n) for n in reversed(range(domain.days)))
        return Dimension(name, days, grows_daily=True)
    listed: tuple[Any, ...] = tuple(domain.among or ())
    if column is not None and column.type == "date":
        listed = tuple(map(date.fromisoformat, listed))
    return Dimension(name, listed, grows_daily=False)


CellsMaker = Callable[[Sequence[int], Sequence[Slice], int], Sequence[Any]]
ColumnMaker = Callable[[NDArray[np.int64], SliceColumns], Sequence[Any]]


def _cells_maker(column: Field, key: str | None, slots: Mapping[str, int]) -> CellsMaker:
    """What the cells of some rows are."""
    if column.name == key:
        return lambda keys, _slices, _revision: keys
    if column.name in slots:
        place = slots[column.name]
        return lambda _keys, slices, _revision: [slice_[place] for slice_ in slices]
    filler = filler_of(column)
    if filler is None:
        return lambda keys, _slices, _revision: [None] * len(keys)
    size, value = filler.size, filler.value

    def cells(keys: Sequence[int], _: Sequence[Slice], revision: int) -> list[Any]:
        shift = revision * 40_503
        return [value((key * SCATTER + shift) % size) for key in keys]

    return cells


def _column_maker(column: Field, key: str | None, slots: Mapping[str, int]) -> ColumnMaker:
    """What the cells of unchanged rows are, for many rows at once."""
    if column.name == key:
        return lambda keys, _slices: keys.tolist()
    if column.name in slots:
        place = slots[column.name]
        return lambda _keys, slices: slices[place]
    filler = filler_of(column)
    if filler is None:
        return lambda keys, _slices: [None] * len(keys)
    size, value = filler.size, filler.value
    return lambda keys, _slices: [value(number) for number in scattered(keys, size).tolist()]
