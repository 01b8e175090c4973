"""The files of the initial table, described by the keys that each holds.

Where partitions follow from listed values no row is made: a table of millions of rows costs what
its files cost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from msgspec import Struct

from whitecap.engine.storage.paths import NULL_PARTITION
from whitecap.engine.writing.file_layout import logged_partition
from whitecap.sim.table.rows import InitialFileRows, RowKeys, ScenarioRows

ROWS_AT_ONCE = 100_000
"""Rows that are made together to see where they lie. Ours: some 50 MB."""


class InitialPartition(Struct, frozen=True):
    """The keys of one partition, in ascending order, and how many a file takes."""

    values: Mapping[str, str | None]
    keys: RowKeys
    rows_per_file: int

    def files(self, rows: ScenarioRows) -> Iterator[InitialFileRows]:
        """The rows of each file."""
        return (self.file(number, rows) for number in range(self.file_count))

    def file(self, number: int, rows: ScenarioRows) -> InitialFileRows:
        """The rows of one file."""
        begin = number * self.rows_per_file
        return InitialFileRows(self.keys, begin, self.rows_per_file, rows.initial, rows.maker)

    def count_of(self, number: int) -> int:
        """How many rows a file has."""
        return min(self.rows_per_file, len(self.keys) - number * self.rows_per_file)

    @property
    def file_count(self) -> int:
        """How many files it has."""
        return -(-len(self.keys) // self.rows_per_file)

    def file_of(self, key: int) -> int:
        """Which of its files holds a key that the partition has."""
        keys = self.keys
        at = keys.index(key) if isinstance(keys, range) else int(np.searchsorted(keys, key))
        return at // self.rows_per_file


def partitions(
    rows: ScenarioRows, partition_by: Sequence[str], size: int
) -> list[InitialPartition]:
    """The partitions that hold initial rows, by their values."""
    if not partition_by:
        return [InitialPartition({}, range(rows.initial.rows), size)]
    keys_by_values = _keys_by_values(rows, partition_by)
    return [
        InitialPartition(_logged(partition_by, values), keys, size)
        for values, keys in sorted(keys_by_values.items(), key=lambda each: _nulls_last(each[0]))
        if len(keys)
    ]


def _logged(partition_by: Sequence[str], values: Sequence[Any]) -> dict[str, str | None]:
    return dict(zip(partition_by, map(logged_partition, values), strict=True))


def _nulls_last(values: Sequence[Any]) -> list[tuple[bool, Any]]:
    return [(value is None, value) for value in values]


def _keys_by_values(
    rows: ScenarioRows, partition_by: Sequence[str]
) -> dict[tuple[Any, ...], RowKeys]:
    """Keys are ranges where the layout makes them so; otherwise they are looked for."""
    places = rows.places_of(partition_by)
    if places is None:
        return _keys_by_rows(rows, partition_by)
    dimensions, initial = rows.dimensions, rows.initial
    if places == [0]:
        return {(value,): initial.block(value) for value in dimensions[0].initial}
    if len(places) == len(dimensions):
        slices = product(*(dimension.initial for dimension in dimensions))
        return {tuple(s[place] for place in places): initial.keys_of(s) for s in slices}
    return _keys_by_search(rows, places)


def _keys_by_search(rows: ScenarioRows, places: Sequence[int]) -> dict[tuple[Any, ...], RowKeys]:
    of_dimension = rows.initial.places_of(np.arange(rows.initial.rows))
    values = [rows.dimensions[place].initial for place in places]
    code = np.zeros(rows.initial.rows, np.int64)
    for place, each in zip(places, values, strict=True):
        code = code * len(each) + of_dimension[place]
    order = np.argsort(code, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(code[order])) + 1)
    return {
        tuple(each[of_dimension[p][part[0]]] for p, each in zip(places, values, strict=True)): part
        for part in parts
        if len(part)
    }


def _keys_by_rows(
    rows: ScenarioRows, partition_by: Sequence[str]
) -> dict[tuple[Any, ...], RowKeys]:
    """Of columns that follow from their rows, all rows are made."""
    places = [rows.schema.index(name) for name in partition_by]
    keys_of: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for begin in range(0, rows.initial.rows, ROWS_AT_ONCE):
        keys = np.arange(begin, min(begin + ROWS_AT_ONCE, rows.initial.rows))
        columns = list(rows.maker.columns(keys, rows.initial.columns_of(keys)))
        values = zip(*(_without_empty(columns[place]) for place in places), strict=True)
        for key, each in zip(keys.tolist(), values, strict=True):
            keys_of[each].append(key)
    return {values: _short(keys) for values, keys in keys_of.items()}


def _without_empty(values: Iterable[Any]) -> Iterator[Any]:
    """An empty text is no name of a partition, nor is NULL's own: Delta writes NULL."""
    return (None if value in ("", NULL_PARTITION) else value for value in values)


def _short(keys: Sequence[int]) -> RowKeys:
    """Rising keys as a range, where they are one: those of a month, or of a bucket."""
    step = keys[1] - keys[0] if len(keys) > 1 else 1
    short = range(keys[0], keys[-1] + 1, step)
    return short if len(short) == len(keys) and list(short) == keys else np.array(keys, np.int64)
