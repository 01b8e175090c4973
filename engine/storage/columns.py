"""Rows seen under another list of columns: added ones are NULL, dropped ones are left out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

from whitecap.engine.storage.requests import Row


class RowsByColumn(Sequence[Row]):
    """Rows that can be had column by column, at less than each row costs."""

    @abstractmethod
    def columns(self) -> Iterable[Sequence[Any]]:
        """The values of every column, row by row."""


def columns_of(rows: Sequence[Row]) -> Iterable[Sequence[Any]]:
    """The values of every column; of no rows none."""
    return rows.columns() if isinstance(rows, RowsByColumn) else zip(*rows, strict=True)


def in_columns(
    rows: Sequence[Row], stored: tuple[str, ...], wanted: tuple[str, ...]
) -> Sequence[Row]:
    """`rows`, which have the `stored` columns, with the `wanted` ones; all of them if none is told.

    The very same sequence where nothing changes.
    """
    if not wanted or stored == wanted:
        return rows
    move = _mover(stored, wanted)
    return [move(row) for row in rows]


def _mover(stored: tuple[str, ...], wanted: tuple[str, ...]) -> Callable[[Row], Row]:
    blanks = (None,) * (len(wanted) - len(stored))
    if wanted[: len(stored)] == stored:
        return lambda row: row + blanks
    places = {name: at for at, name in enumerate(stored)}
    chosen = [places.get(name, len(stored)) for name in wanted]
    if len(chosen) == 1:
        return lambda row: ((*row, None)[chosen[0]],)
    pick = itemgetter(*chosen)
    return lambda row: pick((*row, None))
