"""The statistics of the initial files, from the keys that each holds: no row is made for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whitecap.engine.log.schema import Field
from whitecap.engine.log.statistics import (
    UNORDERED,
    Indexed,
    columns_with_statistics,
    statistics_of,
    statistics_text,
)
from whitecap.engine.row_store.columns import Extent, extent_of
from whitecap.sim.table.initial_files import InitialPartition
from whitecap.sim.table.rows import SCATTER, Slice, TableRows, filler_of

ROWS_AT_ONCE = 1 << 22
"""How many rows are looked at at a time: arrays of some 30 MB each."""


def statistics_texts(
    partition: InitialPartition, rows: TableRows, partition_by: Sequence[str], indexed: Indexed
) -> Iterator[str]:
    """The statistics of each file of a partition, as the log has them."""
    columns = columns_with_statistics(rows.schema, partition_by, indexed)
    bounds_of = [_bounds_of(column, rows) for _, column in columns]
    size = partition.rows_per_file
    step = max(1, ROWS_AT_ONCE // size) * size
    for begin in range(0, len(partition.keys), step):
        keys = np.asarray(partition.keys[begin : begin + step], np.int64)
        starts = np.arange(0, len(keys), size)
        counts = np.diff(starts, append=len(keys)).tolist()
        bounds = [bounds(keys, starts, counts) for bounds in bounds_of]
        for at, count in enumerate(counts):
            extents = [each[at] for each in bounds]
            yield statistics_text(statistics_of(count, columns, extents, indexed))


Bounds = Callable[[NDArray[np.int64], NDArray[np.int64], Sequence[int]], Sequence[Extent]]
"""The extents of a column in some files: of keys, given where each file's begin and its count."""


def _bounds_of(column: Field, rows: TableRows) -> Bounds:
    if column.type in UNORDERED:
        return _no_bounds
    if column.name == rows.key:
        return partial(_in_order, lambda keys: keys, int)
    for place, dimension in enumerate(rows.dimensions):
        if dimension.name == column.name:
            return _of_dimension(rows, place, dimension.initial)
    filler = filler_of(column)
    if filler is None:
        return _all_null
    scattered = partial(_scattered, filler.size)
    if filler.in_order:
        return partial(_in_order, scattered, filler.value)
    return _ranked(scattered, [filler.value(n) for n in range(filler.size)])


def _scattered(size: int, keys: NDArray[np.int64]) -> NDArray[np.int64]:
    return (keys * SCATTER) % size


def _of_dimension(rows: TableRows, place: int, values: Slice) -> Bounds:
    return _ranked(lambda keys: rows.initial.places_of(keys)[place], values)


def _ranked(number_of: Callable[[NDArray[np.int64]], Any], values: Sequence[Any]) -> Bounds:
    """For numbers whose values are not in their order; none is where some is NULL, or NaN."""
    if None in values or any(value != value for value in values):
        return lambda keys, starts, _: [
            extent_of([values[n] for n in number_of(part).tolist()])
            for part in np.split(keys, starts[1:])
        ]
    in_order = sorted(set(values))
    ranks = np.array([in_order.index(value) for value in values])
    return partial(_in_order, lambda keys: ranks[number_of(keys)], in_order.__getitem__)


def _in_order(
    number_of: Callable[[NDArray[np.int64]], NDArray[np.int64]],
    value: Callable[[int], Any],
    keys: NDArray[np.int64],
    starts: NDArray[np.int64],
    _counts: Sequence[int],
) -> list[Extent]:
    numbers = number_of(keys)
    least = np.minimum.reduceat(numbers, starts).tolist()
    most = np.maximum.reduceat(numbers, starts).tolist()
    return [Extent(0, value(low), value(high)) for low, high in zip(least, most, strict=True)]


def _no_bounds(
    _keys: NDArray[np.int64], _starts: NDArray[np.int64], counts: Sequence[int]
) -> list[Extent]:
    return [Extent(0, None, None) for _ in counts]


def _all_null(
    _keys: NDArray[np.int64], _starts: NDArray[np.int64], counts: Sequence[int]
) -> list[Extent]:
    return [Extent(count, None, None) for count in counts]
