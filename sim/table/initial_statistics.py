"""The statistics of the initial files, from the keys that each holds: no row is made for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from whitecap.engine.log.schema import Field
from whitecap.engine.log.statistics import (
    UNORDERED,
    Indexed,
    columns_with_statistics,
    statistics_of,
    statistics_text,
)
from whitecap.engine.row_store.columns import Extent, extent_of
from whitecap.sim.table.extremes import (
    Cyclic,
    Numbering,
    NumberOf,
    Numbers,
    Ordered,
    Scattered,
    extremes,
)
from whitecap.sim.table.initial_files import InitialPartition
from whitecap.sim.table.rows import TableRows, filler_of, scattered


class InitialStatistics:
    """The statistics of initial files; what a column's values follow is looked at once for all."""

    def __init__(self, rows: TableRows, partition_by: Sequence[str], indexed: Indexed) -> None:
        self._rows = rows
        self._indexed = indexed
        self._columns = columns_with_statistics(rows.schema, partition_by, indexed)
        self._numberings = [numbering_of(column, rows) for _, column in self._columns]

    def texts(self, partition: InitialPartition) -> Iterator[str]:
        """The statistics of each file of a partition, as the log has them."""
        columns, indexed = self._columns, self._indexed
        extents = [
            _without_order(partition, column, self._rows)
            if numbering is None
            else _extents_in(partition, numbering)
            for (_, column), numbering in zip(columns, self._numberings, strict=True)
        ]
        for count, *found in zip(partition.counts(), *extents, strict=True):
            yield statistics_text(statistics_of(count, columns, found, indexed))


def _extents_in(partition: InitialPartition, numbering: Numbering) -> Iterator[Extent]:
    least, most = extremes(numbering, partition.keys, partition.rows_per_file)
    value = numbering.value
    for low, high in zip(least.tolist(), most.tolist(), strict=True):
        yield Extent(0, value(low), value(high))


def _without_order(partition: InitialPartition, column: Field, rows: TableRows) -> Iterator[Extent]:
    """The extents of a column whose type has no bounds, or some of whose values are NULL or NaN."""
    listed = next((d.initial for d in rows.dimensions if d.name == column.name), None)
    at = rows.schema.index(column.name)
    for file in partition.files(rows):
        if listed is None:
            yield Extent(len(file) if filler_of(column) is None else 0, None, None)
        elif column.type in UNORDERED:
            yield Extent(list(file.column(at)).count(None), None, None)
        else:
            yield extent_of(file.column(at))


def numbering_of(column: Field, rows: TableRows) -> Numbering | None:
    """Numbers for the values that a column has at the start; `None` where they have no order."""
    if column.name == rows.key:
        return Numbering(_itself, int, Ordered())
    for place, dimension in enumerate(rows.dimensions):
        if dimension.name == column.name:
            return _of_dimension(rows, place, dimension.initial)
    filler = filler_of(column)
    if filler is None or column.type in UNORDERED:
        return None
    number_of: NumberOf = _itself
    size, value = filler.size, filler.value
    if not filler.in_order:
        ranks, in_order = _ranked([value(place) for place in range(size)])
        number_of, value = ranks.__getitem__, in_order.__getitem__
    return Numbering(
        lambda keys: number_of(scattered(keys, size)), value, Scattered(size, number_of)
    )


def _of_dimension(rows: TableRows, place: int, values: Sequence[Any]) -> Numbering | None:
    if any(value is None or value != value for value in values):
        return None
    ranks, in_order = _ranked(values)
    initial = rows.initial
    return Numbering(
        lambda keys: ranks[initial.places_of(keys)[place]],
        in_order.__getitem__,
        Cyclic(initial.period, initial.block_of),
    )


def _itself(numbers: Numbers) -> Numbers:
    return numbers


def _ranked(values: Sequence[Any]) -> tuple[Numbers, list[Any]]:
    in_order = sorted(set(values))
    rank = {value: at for at, value in enumerate(in_order)}
    return np.array([rank[value] for value in values]), in_order
