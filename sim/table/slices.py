"""Slices of the table: one value of every column with listed values, such as a date and a country.

Every row lies in one. Which initial keys a slice has, and which were committed since.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import product
from typing import Any, Protocol, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Slice = tuple[Any, ...]
"""One value per dimension, in the dimensions' order."""

SliceColumns = Sequence[Sequence[Any]]
"""Per dimension one value for each of some rows."""


class Dimension(Struct, frozen=True):
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
