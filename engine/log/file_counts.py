"""How many files one process has added to each partition of a table: what auto compaction goes by.

Delta keeps these numbers in the memory of a driver, for all of its sessions, from every commit that
it makes; what other processes add and remove is in none of them. A partition that is being
compacted is left to whoever compacts it. Source: AutoCompactPartitionStats.scala: merge,
filterPartitionsWithSmallFiles; AutoCompactUtils.scala: AutoCompactPartitionReserve.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from whitecap.engine.log.actions import AddFile, AnyAction, RemoveFile
from whitecap.engine.log.file_keys import NamedValues, partition_of
from whitecap.engine.settings import Settings

_FILES: Final = (AddFile, RemoveFile)
"""Named once: `AddFile | RemoveFile` is made anew wherever it is asked for, at every action."""


class FileCounts:
    """The files of one table that a process has added to partitions, less those it has removed."""

    def __init__(self) -> None:
        self._counts: dict[NamedValues, int] = {}
        self._compacting: set[NamedValues] = set()

    def copy(self) -> FileCounts:
        """The same numbers, for a process of its own."""
        other = FileCounts()
        other._counts = dict(self._counts)
        return other

    def note(self, actions: Iterable[AnyAction], settings: Settings) -> None:
        """A commit of this process; files that are too large to be compacted do not count.

        A file that was there before counts when it is removed; no number falls below none.
        """
        largest = settings.auto_compact_min_file_size
        changes: dict[NamedValues, int] = {}
        for action in actions:
            if isinstance(action, _FILES) and _counts(action, largest):
                partition = partition_of(action)
                step = 1 if isinstance(action, AddFile) else -1
                changes[partition] = changes.get(partition, 0) + step
        for partition, change in changes.items():
            self._counts[partition] = self._counts.get(partition, 0) + change
            if self._counts[partition] <= 0:
                del self._counts[partition]

    def crowded(self, partitions: Iterable[NamedValues], fewest: int) -> list[NamedValues]:
        """Those with so many files that nobody here compacts already."""
        return [
            partition
            for partition in partitions
            if partition not in self._compacting
            and partition in self._counts
            and self._counts[partition] >= fewest
        ]

    @contextmanager
    def compacting(self, partitions: Iterable[NamedValues]) -> Iterator[None]:
        """For as long as it lasts, nobody else here compacts these partitions."""
        reserved = set(partitions)
        self._compacting |= reserved
        try:
            yield
        finally:
            self._compacting -= reserved


def _counts(file: AddFile | RemoveFile, largest: int | None) -> bool:
    return largest is None or (file.size or 0) <= largest
