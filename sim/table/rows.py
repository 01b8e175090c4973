"""The rows that a scenario describes: its columns, slices and keys, and those of each file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, overload

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from whitecap.engine.log.columns.identity import is_computed
from whitecap.engine.log.schema import Field, Schema, parse_ddl
from whitecap.engine.storage.columns import RowsByColumn
from whitecap.engine.storage.requests import Row
from whitecap.engine.values.types import DEFAULT_SESSION, Session
from whitecap.sim.scenario.table import Domain, TableSection
from whitecap.sim.table.row_maker import RowMaker
from whitecap.sim.table.slices import Dimension, InitialSlices, SliceColumns

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


class ScenarioRows(Struct, frozen=True):
    """Everything about the rows of a scenario's table."""

    schema: Schema
    key: str | None
    dimensions: tuple[Dimension, ...]
    session: Session
    maker: RowMaker
    initial: InitialSlices

    @property
    def listed(self) -> dict[str, int]:
        """The columns with listed values, each with its place in a slice."""
        return {dimension.name: place for place, dimension in enumerate(self.dimensions)}

    def places_of(self, columns: Sequence[str]) -> list[int] | None:
        """Where a slice has the values of some columns; `None` if it has not those of all."""
        listed = {name: at for name, at in self.listed.items() if name not in self.maker.days}
        return [listed[name] for name in columns] if listed.keys() >= set(columns) else None

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
    def of(
        cls, table: TableSection, start_ms: int, session: Session = DEFAULT_SESSION
    ) -> ScenarioRows:
        """The rows that a scenario describes, at the wall clock of its start."""
        schema = parse_ddl(table.columns)
        today = day_at(start_ms, 0.0)
        dimensions = tuple(
            _dimension(name, domain, schema.get(name), today)
            for name, domain in table.values.items()
        )
        maker = RowMaker(schema, table.key, dimensions, session)
        initial = InitialSlices(table.initial.rows, dimensions)
        return cls(schema, table.key, dimensions, session, maker, initial)


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
