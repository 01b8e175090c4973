"""Which files of the initial table hold a key, told from how they are described."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from whitecap.engine.writing.file_layout import logged_partition
from whitecap.sim.table.initial_files import InitialPartition
from whitecap.sim.table.initial_table import InitialTable
from whitecap.sim.table.rows import ScenarioRows


class KeyPlaces:
    """Where the initial rows of a key are, without a look at any row."""

    def __init__(
        self, rows: ScenarioRows, partition_by: Sequence[str], initial: InitialTable
    ) -> None:
        self._rows = rows
        self._in_slice = rows.places_of(partition_by)
        self._in_row = [rows.schema.index(name) for name in partition_by]
        self._path_of = initial.path_of
        self._partitions: dict[tuple[str | None, ...], tuple[InitialPartition, int]] = {}
        number = 0
        for partition in initial.partitions:
            self._partitions[tuple(partition.values.values())] = (partition, number)
            number += partition.file_count

    def tells(self, column: str) -> bool:
        """Whether it knows which files hold a value of a column: of the key."""
        return column == self._rows.key

    def paths_with(self, values: Iterable[Any]) -> Iterator[str]:
        """The initial files that hold some keys."""
        initial = self._rows.initial
        for key in values:
            if type(key) is int and 0 <= key < initial.rows:
                partition, first = self._partitions[self._partition_of(key)]
                yield self._path_of(first + partition.file_of(key))

    def _partition_of(self, key: int) -> tuple[str | None, ...]:
        slice_ = self._rows.initial.slice_of(key)
        if self._in_slice is not None:
            return tuple([logged_partition(slice_[place]) for place in self._in_slice])
        row = self._rows.maker.row(key, slice_)
        return tuple([logged_partition(row[place]) or None for place in self._in_row])
