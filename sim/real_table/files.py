"""The files of a real table in a run: no data file is read, rows are as the log allows.

A file has its own line in the log; of its rows each stands for many, and holds values between the
file's bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

from msgspec import Struct

from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.schema import Field
from whitecap.engine.log.statistics import FileStatistics, parse_statistics
from whitecap.engine.storage.columns import RowsByColumn
from whitecap.engine.storage.paths import data_key
from whitecap.engine.storage.requests import Row, WriteRows
from whitecap.engine.values.texts import from_text
from whitecap.sim.real_table.spread import column_values, spread_keys
from whitecap.sim.real_table.vectors import hidden_of
from whitecap.sim.table.rows import ScenarioRows
from whitecap.sim.table.slices import Slice


class RealFile(Struct, frozen=True):
    """One file, with `rows` of its own, the first of which is the `first` of the `table`.

    `line` is what the simulated log says of it.
    """

    table: ScenarioRows
    partition_columns: tuple[str, ...]
    line: AddFile
    rows: int
    number: int
    first: int

    @property
    def statistics(self) -> FileStatistics:
        """What the log says of its rows."""
        return parse_statistics(self.line.stats)

    def column(self, position: int) -> Sequence[Any]:
        """One column's values, row by row."""
        column = self.table.schema.fields[position]
        if column.name in self.partition_columns:
            return [self._partition_value(column)] * self.rows
        if column.name == self.table.key:
            return self.keys()
        nulls = self.statistics.nulls_of(column) or 0
        return column_values(column, self.statistics, nulls, self.rows, self.first)

    def keys(self) -> Sequence[int]:
        """The keys of its rows, between the bounds in the log."""
        least, most = self.key_bounds()
        return spread_keys(least, most, self.rows, self.number)

    def key_bounds(self) -> tuple[int, int]:
        """Between which its keys lie; their numbers in the table where the log does not say it."""
        key = self.table.schema.get(self.table.key or "")
        bounds = None if key is None else self.statistics.range_of(key)
        return bounds or (self.first, self.first + self.rows - 1)

    def live_keys(self) -> Iterator[int]:
        """The keys of the rows that no deletion vector hides."""
        vector = self.line.deletion_vector
        hidden = set(hidden_of(vector.cardinality, self.rows)) if vector else frozenset[int]()
        return (key for at, key in enumerate(self.keys()) if at not in hidden)

    def in_slice(self) -> Slice:
        """Which slice of the table all its rows lie in."""
        columns = self.table.schema.select([d.name for d in self.table.dimensions])
        return tuple(self._partition_value(column) for column in columns)

    def written(self) -> WriteRows:
        """As the store keeps it."""
        names, types = self.table.schema.names, self.table.schema.types
        key = data_key(self.line.path)
        return WriteRows(key, RealRows(self), names, types, self.partition_columns)

    def _partition_value(self, column: Field) -> Any:
        text = (self.line.partition_values or {}).get(column.name)
        return None if text is None else from_text(text, column.type)


class RealRows(RowsByColumn):
    """The rows of a file, made whenever they are read."""

    __slots__ = ("_file",)

    def __init__(self, file: RealFile) -> None:
        self._file = file

    def __len__(self) -> int:
        return self._file.rows

    def columns(self) -> Iterator[Sequence[Any]]:
        """The values of every column."""
        return map(self._file.column, range(len(self._file.table.schema)))

    def __iter__(self) -> Iterator[Row]:
        return zip(*self.columns(), strict=True)

    @overload
    def __getitem__(self, position: int) -> Row: ...

    @overload
    def __getitem__(self, position: slice) -> Sequence[Row]: ...

    def __getitem__(self, position: int | slice) -> Row | Sequence[Row]:
        return list(self)[position]
