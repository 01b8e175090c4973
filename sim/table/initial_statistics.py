"""The statistics of the initial files, from the keys that each holds: no row is made for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec import Raw
from numpy.typing import NDArray

from whitecap.engine.log.indexed_columns import UNORDERED, Indexed, columns_with_statistics
from whitecap.engine.log.schema import Field
from whitecap.engine.log.statistics import bounds_of, quoted_length, statistics_of, statistics_text
from whitecap.engine.row_store.summaries import Extent, extent_of
from whitecap.engine.values.types import INTEGRAL_BITS
from whitecap.sim.table.derived import SECONDS, instants_of, is_generated
from whitecap.sim.table.extremes import (
    Cyclic,
    Numbering,
    NumberOf,
    Numbers,
    Ordered,
    Scattered,
    Unruly,
    extremes,
)
from whitecap.sim.table.fillers import filler_of, scattered
from whitecap.sim.table.initial_files import InitialPartition
from whitecap.sim.table.made import MadeWhenAsked
from whitecap.sim.table.rows import ScenarioRows


class InitialStatistics:
    """The statistics of initial files; what a column's values follow is looked at once for all."""

    def __init__(self, rows: ScenarioRows, partition_by: Sequence[str], indexed: Indexed) -> None:
        self._rows = rows
        self._indexed = indexed
        self._columns = columns_with_statistics(rows.schema, partition_by, indexed)
        self._numberings = [numbering_of(column, rows) for _, column in self._columns]
        self._lengths = [Lengths(column, indexed) for _, column in self._columns]

    def of(self, partition: InitialPartition) -> StatisticsTexts:
        """The statistics of each file of a partition, as the log has them."""
        columns = zip(self._columns, self._numberings, self._lengths, strict=True)
        return StatisticsTexts(
            partition,
            self._columns,
            [
                _without_order(partition, column, self._rows)
                if numbering is None
                else _Bounded.of(partition, numbering, lengths)
                for (_, column), numbering, lengths in columns
            ],
            self._indexed,
        )


@dataclass(frozen=True, slots=True)
class StatisticsTexts(MadeWhenAsked[str]):
    """The statistics of a partition's files: texts made from numbers whenever they are asked for.

    `extents` are those of each file, column by column.
    """

    partition: InitialPartition
    columns: Sequence[tuple[int, Field]]
    extents: Sequence[Sequence[Extent]]
    indexed: Indexed

    def __len__(self) -> int:
        return self.partition.file_count

    def made(self, number: int) -> str:
        """The statistics of a file."""
        count = self.partition.count_of(number)
        extents = [of_column[number] for of_column in self.extents]
        return statistics_text(statistics_of(count, self.columns, extents, self.indexed))

    def differences(self) -> int:
        """By how many bytes their lines in the log are longer than if all were like the first."""
        by_column = [_difference(of_column) for of_column in self.extents]
        if None in by_column:
            lengths = [quoted_length(Raw(text)) for text in self]
            return sum(lengths) - lengths[0] * len(lengths)
        first, last = (len(str(self.partition.count_of(at))) for at in (0, len(self) - 1))
        return sum(each or 0 for each in by_column) + last - first


@dataclass(frozen=True, slots=True)
class _Bounded(MadeWhenAsked[Extent]):
    """The extents of a column by numbers that stand for its values."""

    least: Numbers
    most: Numbers
    numbering: Numbering
    lengths: Lengths

    @classmethod
    def of(cls, partition: InitialPartition, numbering: Numbering, lengths: Lengths) -> _Bounded:
        least, most = extremes(numbering, partition.keys, partition.rows_per_file)
        return cls(_narrow(least), _narrow(most), numbering, lengths)

    def __len__(self) -> int:
        return len(self.least)

    def made(self, number: int) -> Extent:
        """The extent in a file."""
        value = self.numbering.value
        return Extent(0, value(self.least.item(number)), value(self.most.item(number)))


class Lengths:
    """How many bytes the bounds of a column take in the log, by the numbers behind them."""

    def __init__(self, column: Field, indexed: Indexed) -> None:
        self._type = column.type
        self._prefix_length = indexed.prefix_length
        self._by_number: dict[int, tuple[int, int] | None] = {}

    def of(self, numbers: Numbers, numbering: Numbering) -> tuple[Numbers, Numbers] | None:
        """As smallest values, and as largest ones; `None` if some of them would be left out."""
        if self._type in _AS_LONG_AS_ANY:
            numbers = numbers[:1].repeat(len(numbers))
        if isinstance(numbering.rule, Ordered) and self._type in INTEGRAL_BITS:
            digits = 1 + np.searchsorted(_WITH_A_DIGIT_MORE, numbers, side="right")
            return digits, digits
        different, which = np.unique(numbers, return_inverse=True)
        bounds = [self._of(number, numbering) for number in different.tolist()]
        lengths = [each for each in bounds if each is not None]
        if len(lengths) < len(bounds):
            return None
        least, most = np.array(lengths, np.int64).T
        return least[which], most[which]

    def _of(self, number: int, numbering: Numbering) -> tuple[int, int] | None:
        if number not in self._by_number:
            value = numbering.value(number)
            bounds = bounds_of(Extent(0, value, value), self._type, self._prefix_length)
            lengths = bounds and (quoted_length(bounds[0]), quoted_length(bounds[1]))
            self._by_number[number] = lengths
        return self._by_number[number]


_WITH_A_DIGIT_MORE = 10 ** np.arange(1, 19)
"""The first numbers of two digits, of three, and so on."""

_AS_LONG_AS_ANY = frozenset({"date", "timestamp", "timestamp_ntz"})
"""Types whose values are all written with as many digits."""


def _difference(extents: Sequence[Extent]) -> int | None:
    """How many bytes longer a column's bounds are than if all were the first; `None`: unknown."""
    if not isinstance(extents, _Bounded):
        unbounded = Extent(extents[0].nulls, None, None)
        return 0 if all(extent == unbounded for extent in extents) else None
    least = extents.lengths.of(extents.least, extents.numbering)
    most = extents.lengths.of(extents.most, extents.numbering)
    if least is None or most is None:
        return None
    return int((least[0] - least[0][0]).sum() + (most[1] - most[1][0]).sum())


def _narrow(numbers: Numbers) -> NDArray[Any]:
    """The same numbers in four bytes each where they fit."""
    return numbers.astype(np.int32) if len(numbers) and numbers.max() < 2**31 else numbers


def _without_order(partition: InitialPartition, column: Field, rows: ScenarioRows) -> list[Extent]:
    """The extents of a column whose type has no bounds, or some of whose values are NULL or NaN."""
    unbounded: dict[int, Extent] = {}  # the same for all files with as many NULLs
    return [
        each if each.least is not None else unbounded.setdefault(each.nulls, each)
        for each in _extents_of_rows(partition, column, rows)
    ]


def _extents_of_rows(
    partition: InitialPartition, column: Field, rows: ScenarioRows
) -> Iterator[Extent]:
    at = rows.schema.index(column.name)
    is_filled = column.name not in rows.listed and not rows.maker.is_computed(at)
    for file in partition.files(rows):
        if is_filled:
            yield Extent(len(file) if filler_of(column) is None else 0, None, None)
        elif column.type in UNORDERED:
            yield Extent(list(file.column(at)).count(None), None, None)
        else:
            yield extent_of(file.column(at))


def numbering_of(column: Field, rows: ScenarioRows) -> Numbering | None:
    """Numbers for the values that a column has at the start; `None` where they have no order."""
    if column.name == rows.key:
        return Numbering(_itself, int, Ordered())
    if column.name in rows.maker.days:
        return _of_instants(rows, column)
    if column.name in rows.listed:
        return _of_dimension(rows, rows.listed[column.name])
    filler = filler_of(column)
    if filler is None or column.type in UNORDERED or is_generated(column):
        return None
    number_of: NumberOf = _itself
    size, value = filler.size, filler.value
    if not filler.in_order:
        ranks, in_order = _ranked([value(place) for place in range(size)])
        number_of, value = ranks.__getitem__, in_order.__getitem__
    return Numbering(
        lambda keys: number_of(scattered(keys, size)), value, Scattered(size, number_of)
    )


def _of_dimension(rows: ScenarioRows, place: int) -> Numbering | None:
    values = rows.dimensions[place].initial
    if any(value is None or value != value for value in values):
        return None
    ranks, in_order = _ranked(values)
    initial = rows.initial
    return Numbering(
        lambda keys: ranks[initial.places_of(keys)[place]],
        in_order.__getitem__,
        Cyclic(initial.period, initial.block_of),
    )


def _of_instants(rows: ScenarioRows, column: Field) -> Numbering:
    """Days one after the other, and the seconds of each."""
    place = rows.listed[rows.maker.days[column.name]]
    ranks, days = _ranked(rows.dimensions[place].initial)
    initial, instant = rows.initial, instants_of(column, rows.session)
    return Numbering(
        lambda keys: ranks[initial.places_of(keys)[place]] * SECONDS + scattered(keys, SECONDS),
        lambda number: instant(days[number // SECONDS], number % SECONDS),
        Unruly(),
    )


def _itself(numbers: Numbers) -> Numbers:
    return numbers


def _ranked(values: Sequence[Any]) -> tuple[Numbers, list[Any]]:
    in_order = sorted(set(values))
    rank = {value: at for at, value in enumerate(in_order)}
    return np.array([rank[value] for value in values]), in_order
