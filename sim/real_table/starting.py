"""A run's table as a real one is: its files in the store, its keys, and where each of these is."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from whitecap.engine.storage.requests import WriteRows
from whitecap.engine.values.types import holds
from whitecap.sim.real_table.files import RealFile
from whitecap.sim.real_table.lines import real_files
from whitecap.sim.real_table.reading import table_at_version
from whitecap.sim.scenario.table import TableSection
from whitecap.sim.store.contents.data_files import DescribedDataFiles
from whitecap.sim.table.initial_table import InitialTable, NewTable, create_table_of
from whitecap.sim.table.rows import ScenarioRows
from whitecap.sim.table.slices import Slice

MOST_OF_NEW_KEYS = 1 << 62
"""Above greater keys there is no room for those of new rows: these begin at 0 then."""


@dataclass(frozen=True)
class RealFiles:
    """The files with which a table begins, oldest first."""

    files: Sequence[RealFile]
    key: str | None

    @classmethod
    def of(cls, table: TableSection, rows: ScenarioRows) -> RealFiles:
        """Those of a scenario's table. Raises `InvalidInput` if the real one is gone."""
        assert table.real is not None
        assert table.version is not None
        assert table.rows_each is not None
        snapshot = table_at_version(table.real, table.version).snapshot
        return cls(real_files(snapshot, rows, table.rows_each), table.key)

    def put(self, new: NewTable) -> InitialTable:
        """Put them into the store of a table that is to be made, with a log that adds them."""
        new.store.data_files = DescribedDataFiles(self, new.store.data_files)
        return create_table_of(new, [file.line for file in self.files])

    # What the store asks -----------------------------------------------------------------------

    def data_file(self, key: str) -> WriteRows | None:
        """What the store holds under a key."""
        return self._written.get(key)

    def storage_keys(self) -> Iterator[str]:
        """The storage keys of all files."""
        return iter(self._written)

    @cached_property
    def _written(self) -> dict[str, WriteRows]:
        return {written.key: written for written in (file.written() for file in self.files)}

    # What the writers ask ----------------------------------------------------------------------

    def keys_of(self, slice_: Slice) -> Sequence[int]:
        """The keys of a slice, those of the oldest file first."""
        files = self._by_slice.get(slice_, ())
        return array("q", chain.from_iterable(file.live_keys() for file in files))

    @property
    def first_new_key(self) -> int:
        """The first key that new rows may have."""
        greatest = max((file.key_bounds()[1] for file in self.files), default=-1)
        return greatest + 1 if greatest < MOST_OF_NEW_KEYS else 0

    @cached_property
    def _by_slice(self) -> dict[Slice, list[RealFile]]:
        by_slice: dict[Slice, list[RealFile]] = {}
        for file in self.files:
            by_slice.setdefault(file.in_slice(), []).append(file)
        return by_slice

    @cached_property
    def _keys(self) -> list[Sequence[int]]:
        return [file.keys() for file in self.files]

    # What an index asks ------------------------------------------------------------------------

    def tells(self, column: str) -> bool:
        """Whether it knows which files hold a value of a column: of the key."""
        return column == self.key

    def paths_with(self, values: Iterable[Any]) -> Iterator[str]:
        """The files that hold some keys."""
        keys, numbers = self._places
        for value in values:
            if type(value) is int and holds("bigint", value):
                begin, end = keys.searchsorted(value, "left"), keys.searchsorted(value, "right")
                yield from (self.files[number].line.path for number in numbers[begin:end].tolist())

    @cached_property
    def _places(self) -> tuple[Any, Any]:
        """The keys of all files in order, and the number of each one's file."""
        counts = [len(keys) for keys in self._keys]
        keys = np.fromiter(chain.from_iterable(self._keys), np.int64, sum(counts))
        order = np.argsort(keys, kind="stable")
        return keys[order], np.repeat(np.arange(len(counts), dtype=np.int32), counts)[order]
