"""What the log of a run says of the files of a real table: their own lines, for fewer rows."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from msgspec import Struct

from whitecap.engine.log.actions import AddFile, DeletionVector
from whitecap.engine.log.file_keys import by_path
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.log.statistics import FileStatistics, parse_statistics, statistics_text
from whitecap.engine.storage.paths import data_key, log_path, partition_directory
from whitecap.sim.real_table.counts import RowCounts
from whitecap.sim.real_table.files import RealFile
from whitecap.sim.real_table.vectors import inline_vector
from whitecap.sim.recording.dataset.place import is_uri
from whitecap.sim.table.rows import ScenarioRows


def real_files(snapshot: Snapshot, rows: ScenarioRows, rows_each: int) -> list[RealFile]:
    """The live files, oldest first, each row of which stands for `rows_each` of theirs."""
    files = sorted(snapshot.all_files(), key=lambda file: (file.modification_time, by_path(file)))
    lines = _Lines.of(snapshot, RowCounts.of(files), rows_each)
    counts = [lines.rows_of(file) for file in files]
    return [
        RealFile(rows, snapshot.partition_columns, lines.line_of(file, number), count, number, at)
        for number, (file, count, at) in enumerate(
            zip(files, counts, accumulate(counts, initial=0), strict=False)
        )
    ]


class _Lines(Struct, frozen=True):
    """Makes the lines. `names` are the columns' by how files call them, nested ones left out."""

    names: Mapping[str, str]
    partition_columns: tuple[str, ...]
    counts: RowCounts
    rows_each: int

    @classmethod
    def of(cls, snapshot: Snapshot, counts: RowCounts, rows_each: int) -> _Lines:
        names = {c.physical_name: c.name for c in snapshot.schema if c.nested is None}
        return cls(names, snapshot.partition_columns, counts, rows_each)

    def rows_of(self, file: AddFile) -> int:
        """How many rows stand for a file's: one at least, and one that no vector hides."""
        real = self.counts.in_file(file)
        least = 0 if real == 0 else 1 if file.deletion_vector is None else 2
        return max(round(real / self.rows_each), least)

    def line_of(self, file: AddFile, number: int) -> AddFile:
        """A file's line."""
        count = self.rows_of(file)
        stated = self._named(file.partition_values or {})
        values = {name: stated.get(name) for name in self.partition_columns}
        return AddFile(
            path=_path(file.path, values, number),
            partition_values=values,
            size=file.size,
            modification_time=file.modification_time,
            data_change=True,
            stats=self._statistics(file, count),
            deletion_vector=self._vector(file.deletion_vector, count),
        )

    def _statistics(self, file: AddFile, count: int) -> str | None:
        if file.stats is None:
            return None
        stated = parse_statistics(file.stats)
        real = stated.num_records or 0
        nulls = stated.null_count.items()
        return statistics_text(
            FileStatistics(
                num_records=count,
                min_values=self._named(stated.min_values),
                max_values=self._named(stated.max_values),
                null_count=self._named({n: _share(k, real, count) for n, k in nulls}),
                tight_bounds=stated.tight_bounds,
            )
        )

    def _named(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {self.names[name]: value for name, value in values.items() if name in self.names}

    def _vector(self, vector: DeletionVector | None, count: int) -> DeletionVector | None:
        if vector is None:
            return None
        hidden = max(round(vector.cardinality / self.rows_each), 1)
        return inline_vector(min(hidden, count - 1), count)


def _share(some: Any, real: int, count: int) -> Any:
    """The same share of `count` as `some` is of `real`; not none and not all, unless `some` is."""
    if not isinstance(some, int) or some in (0, real):
        return count if some else some
    return min(max(round(some * count / max(real, 1)), 1), max(count - 1, 1))


def _path(path: str, values: Mapping[str, str | None], number: int) -> str:
    """A file's own path; another one where it lies outside of the table's directory."""
    key = data_key(path)
    if is_uri(path) or key.startswith(("/", "file:")) or ".." in key.split("/"):
        return log_path(f"{partition_directory(values)}{number:06}-{key.rpartition('/')[2]}")
    return path
