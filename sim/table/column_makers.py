"""Makes the values of one column, for some rows by their keys and slices.

Each kind of column makes them twice: as cells of rows, which may have been revised, and as a column
of many rows as they are at the start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from whitecap.engine.log.schema import Field
from whitecap.engine.values.types import Session
from whitecap.sim.table.derived import SECONDS, InstantOf, instants_of, is_generated
from whitecap.sim.table.fillers import SCATTER, Filler, filler_of, scattered
from whitecap.sim.table.slices import Slice, SliceColumns

_REVISED = 40_503
"""By so much each revision shifts what a key is scattered to. Ours."""


class ColumnMaker(Protocol):
    """Makes the values of one column."""

    def cells(self, keys: Sequence[int], slices: Sequence[Slice], revision: int) -> Sequence[Any]:
        """Those of some rows in a revision."""

    def column(self, keys: NDArray[np.int64], slices: SliceColumns) -> Sequence[Any]:
        """Those of many rows, as they are at the start."""


def column_maker(
    column: Field,
    key: str | None,
    slots: Mapping[str, int],
    days: Mapping[str, str],
    session: Session,
) -> ColumnMaker:
    """What makes a column: of the key, of instants within listed days, listed, or filled.

    `slots` are the places of listed columns in a slice, `days` the listed days of instants. What an
    expression computes is NULL until it does.
    """
    if column.name == key:
        return _Keys()
    if column.name in days:
        return _Instants(slots[days[column.name]], instants_of(column, session))
    if column.name in slots:
        return _Listed(slots[column.name])
    filler = filler_of(column)
    return _Nothing() if filler is None or is_generated(column) else _Filled(filler)


class _Keys:
    """The key itself."""

    def cells(self, keys: Sequence[int], _: Sequence[Slice], __: int) -> Sequence[Any]:
        return keys

    def column(self, keys: NDArray[np.int64], _: SliceColumns) -> Sequence[Any]:
        numbers: list[int] = keys.tolist()
        return numbers


class _Listed(Struct, frozen=True):
    """The value at a place of the slice."""

    place: int

    def cells(self, _: Sequence[int], slices: Sequence[Slice], __: int) -> Sequence[Any]:
        place = self.place
        return [slice_[place] for slice_ in slices]

    def column(self, _: NDArray[np.int64], slices: SliceColumns) -> Sequence[Any]:
        return slices[self.place]


class _Instants(Struct, frozen=True):
    """An instant of the day at a place of the slice."""

    place: int
    instant: InstantOf

    def cells(self, keys: Sequence[int], slices: Sequence[Slice], revision: int) -> Sequence[Any]:
        seconds = _scattered_cells(keys, SECONDS, revision)
        return list(map(self.instant, [slice_[self.place] for slice_ in slices], seconds))

    def column(self, keys: NDArray[np.int64], slices: SliceColumns) -> Sequence[Any]:
        return list(map(self.instant, slices[self.place], scattered(keys, SECONDS).tolist()))


class _Filled(Struct, frozen=True):
    """A value that means nothing to the simulation."""

    filler: Filler

    def cells(self, keys: Sequence[int], _: Sequence[Slice], revision: int) -> Sequence[Any]:
        return list(map(self.filler.value, _scattered_cells(keys, self.filler.size, revision)))

    def column(self, keys: NDArray[np.int64], _: SliceColumns) -> Sequence[Any]:
        return list(map(self.filler.value, scattered(keys, self.filler.size).tolist()))


class _Nothing:
    """NULL."""

    def cells(self, keys: Sequence[int], _: Sequence[Slice], __: int) -> Sequence[Any]:
        return [None] * len(keys)

    def column(self, keys: NDArray[np.int64], _: SliceColumns) -> Sequence[Any]:
        return [None] * len(keys)


def _scattered_cells(keys: Sequence[int], size: int, revision: int) -> list[int]:
    """What keys are scattered to in a revision; `scattered` of many unrevised ones."""
    shift = revision * _REVISED
    return [(key * SCATTER + shift) % size for key in keys]
