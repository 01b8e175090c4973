"""How many rows the files of a real table hold: by their statistics, else by their size."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.statistics import record_count

ASSUMED_BYTES_PER_ROW = 100
"""Where no file of the table has statistics."""

ROWS_PER_FILE = 50
"""Simulated rows of a file in the mean: it takes no longer to rewrite, and is as large as it is."""


class RowCounts(Struct, frozen=True):
    """Rows of files, of which so many have statistics; `hidden` are those that vectors delete."""

    files: int
    with_statistics: int
    bytes_each: float
    size_bytes: int
    hidden: int

    @classmethod
    def of(cls, files: Sequence[AddFile]) -> RowCounts:
        """The row counts of the live files of a table."""
        sized_counts = [(file.size, count) for file in files if (count := record_count(file.stats))]
        counted = sum(count for _, count in sized_counts)
        return cls(
            len(files),
            len(sized_counts),
            sum(size for size, _ in sized_counts) / counted if counted else ASSUMED_BYTES_PER_ROW,
            sum(file.size for file in files),
            sum(f.deletion_vector.cardinality for f in files if f.deletion_vector is not None),
        )

    @property
    def total(self) -> int:
        """The rows of all files that have any, without the hidden ones."""
        return max(round(self.size_bytes / self.bytes_each) - self.hidden, 1)

    @property
    def rows_each(self) -> int:
        """How many of these a simulated row stands for, so that a run takes seconds."""
        return max(round(self.total / max(self.files, 1) / ROWS_PER_FILE), 1)

    def in_file(self, file: AddFile) -> float:
        """The rows of one file, hidden ones included."""
        count = record_count(file.stats)
        return file.size / self.bytes_each if count is None else count
