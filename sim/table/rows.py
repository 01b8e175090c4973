"""Which rows there are: slices of the table, rows made from their keys, and the keys in use.

A slice is one value of every column with listed values, such as a date and a country. Every row
lies in one slice; what else it holds follows from its key, so that rows need not be kept.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import product
from typing import Any, Protocol, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from whitecap.engine.log.schema import Field, Schema, parse_ddl
from whitecap.engine.storage.columns import RowsByColumn
from whitecap.engine.storage.requests import Row
from whitecap.engine.values.types import decimal_shape, is_decimal
from whitecap.sim.scenario.table import Domain, TableSection

Slice = tuple[Any, ...]
"""One value per dimension, in the dimensions' order."""

SliceColumns = Sequence[Sequence[Any]]
"""Per dimension one value for each of some rows."""

# Multiplier of Knuth's multiplicative hash: neighbouring keys get unlike values.
SCATTER = 2_654_435_761


@dataclass(frozen=True, slots=True)
class Dimension:
    """A column with listed values. The last of `initial` is the newest at the start."""

    name: str
    initial: tuple[Any, ...]
    grows_daily: bool

    def values_on(self, today: date) -> tuple[Any, ...]:
        """The values that exist on a day: a daily column has gained the days since the start."""
        if not self.grows_daily:
            return self.initial
        first = self.initial[-1]
        new_days = (today - first).days
        return self.initial + tuple(first + timedelta(days=n) for n in range(1, new_days + 1))


def scattered(keys: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """What keys are scattered to, where rows have not been changed."""
    return keys * SCATTER % size


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


KeyOrKeys = TypeVar("KeyOrKeys", int, NDArray[np.int64])


class InitialSlices:
    """Spreads the initial rows 0, 1, ... over the slices: the first dimension in blocks of equal
    size (days of events arrive one after the other), the others in turn.
    """

    def __init__(self, rows: int, dimensions: Sequence[Dimension]) -> None:
        self.rows = rows
        self._first = dimensions[0].initial if dimensions else ()
        self._other_values = [dimension.initial for dimension in dimensions[1:]]
        self._others = list(product(*self._other_values))
        self._blocks = max(1, len(self._first))
        self._starts = [-(-block * rows // self._blocks) for block in range(self._blocks + 1)]
        self._other_place = {values: place for place, values in enumerate(self._others)}
        self._first_place = {value: place for place, value in enumerate(self._first)}

    def slice_of(self, key: int) -> Slice:
        """The slice of initial row `key`."""
        if not self._first:
            return ()
        block = self.block_of(key)
        return (self._first[block], *self._others[(key - self._starts[block]) % self.period])

    def slices_of(self, keys: Sequence[int]) -> list[Slice]:
        """The slices of some initial rows: one for all where they are those of a partition."""
        if isinstance(keys, range) and self._are_in_one_slice(keys):
            return [self.slice_of(keys[0])] * len(keys)
        return list(map(self.slice_of, keys))

    def _are_in_one_slice(self, keys: range) -> bool:
        if not keys or not self._first:
            return bool(keys)
        are_in_a_block = self.block_of(keys[0]) == self.block_of(keys[-1])
        return are_in_a_block and keys.step % self.period == 0

    def places_of(self, keys: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Per dimension, which of its initial values each of some initial rows has."""
        if not self._first:
            return []
        block = self.block_of(keys)
        shape = [len(values) for values in self._other_values]
        if not shape:
            return [block]
        starts = -(-block * self.rows // self._blocks)
        return [block, *np.unravel_index((keys - starts) % len(self._others), shape)]

    def columns_of(self, keys: NDArray[np.int64]) -> SliceColumns:
        """Per dimension, the values of some initial rows."""
        values = (self._first, *self._other_values)
        places = zip(values, self.places_of(keys), strict=False)
        return [[of[place] for place in at.tolist()] for of, at in places]

    def block(self, first: Any) -> range:
        """The initial keys of a value of the first dimension."""
        place = self._first_place[first]
        return range(self._starts[place], self._starts[place + 1])

    def block_of(self, keys: KeyOrKeys) -> KeyOrKeys:
        """Which value of the first dimension an initial row has, or each of some, by its place."""
        return keys * self._blocks // self.rows

    @property
    def period(self) -> int:
        """After how many keys of a block the values of the other dimensions come again."""
        return len(self._others)

    def keys_of(self, slice_: Slice) -> range:
        """The initial keys of a slice; none for a day that came later."""
        if not self._first:
            return range(self.rows)
        block = self._first_place.get(slice_[0])
        other = self._other_place.get(tuple(slice_[1:]))
        if block is None or other is None:
            return range(0)
        return range(self._starts[block] + other, self._starts[block + 1], len(self._others))


class KeysOfSlices(Protocol):
    """The initial keys of each slice."""

    def keys_of(self, slice_: Slice) -> Sequence[int]:
        """Those of a slice, the oldest first."""
        ...


class KeysInUse:
    """The keys of each slice in order of age: the initial ones, then those that were committed.

    Keys that were deleted stay: a statement that picks one finds nothing, as in life.
    """

    def __init__(self, initial: KeysOfSlices) -> None:
        self._initial = initial
        self._added: dict[Slice, array[int]] = {}
        self._initial_keys: dict[Slice, Sequence[int]] = {}

    def count(self, slice_: Slice) -> int:
        """How many keys a slice has had so far."""
        return len(self._initially(slice_)) + len(self._added.get(slice_, ()))

    def at(self, slice_: Slice, age_rank: int) -> int:
        """The key at a position, oldest first. Raises `IndexError`."""
        initial_keys = self._initially(slice_)
        if age_rank < len(initial_keys):
            return initial_keys[age_rank]
        return self._added[slice_][age_rank - len(initial_keys)]

    def add(self, slice_: Slice, key: int) -> None:
        """A row of this key was committed."""
        added = self._added.get(slice_)
        if added is None:
            added = self._added[slice_] = array("q")
        added.append(key)

    def _initially(self, slice_: Slice) -> Sequence[int]:
        keys = self._initial_keys.get(slice_)
        if keys is None:
            keys = self._initial_keys[slice_] = self._initial.keys_of(slice_)
        return keys


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

EPOCH = datetime(2026, 1, 1)
"""The day from which made-up dates and instants are counted. Ours."""


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


@dataclass(frozen=True, slots=True)
class Filler:
    """Values of a column that means nothing to the simulation: scattered, and fixed by the key.

    There are `size` of them; `in_order` if a larger number never gives a smaller value.
    """

    size: int
    value: Callable[[int], Any]
    in_order: bool = True


def filler_of(column: Field) -> Filler | None:
    """What fills a column; `None`: NULL does."""
    match column.type:
        case "int" | "bigint" | "smallint":
            return Filler(10_000, lambda n: n)
        case "tinyint":
            return Filler(100, lambda n: n)
        case "double" | "float":
            return Filler(100_000, lambda n: n / 4)
        case "boolean":
            return Filler(2, lambda n: n == 0, in_order=False)
        case "string":
            return Filler(1000, lambda n: f"{column.name}-{n}", in_order=False)
        case "date":
            return Filler(365, lambda n: EPOCH.date() + timedelta(days=n))
        case "timestamp" | "timestamp_ntz":
            epoch = EPOCH.replace(tzinfo=UTC) if column.type == "timestamp" else EPOCH
            return Filler(10_000_000, lambda n: epoch + timedelta(seconds=n))
        case kind if is_decimal(kind):
            return _decimals(kind)
        case _:
            return None


def _decimals(kind: str) -> Filler:
    """Whole numbers of two digits; fractions where there is no room for them before the point."""
    precision, scale = decimal_shape(kind)
    if precision - scale >= 2:
        return Filler(100, Decimal)
    return Filler(10 ** min(precision, 2), lambda n: Decimal(n).scaleb(-scale))
