"""Which tasks write the rows of a MERGE, and so how many files it adds.

Source: ClassicMergeExecutor.scala (writeAllChanges: joinType), InsertOnlyMergeExecutor.scala;
spark.databricks.delta.merge.repartitionBeforeWrite.enabled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from itertools import accumulate, pairwise

from msgspec import Struct

from whitecap.engine.commands.rows.merge_matching import MatchedFile, PlacedRow
from whitecap.engine.commands.rows.merge_plan import MergePlan
from whitecap.engine.log.actions import AddFile, Metadata
from whitecap.engine.query.scan_tasks import scan_tasks
from whitecap.engine.query.sources import Source
from whitecap.engine.row_store.rows import joined
from whitecap.engine.storage.requests import Row
from whitecap.engine.writing.generation import Tasks

_BROADCAST_BYTES = 10 * 1024**2
"""Larger tables are not sent to every task. Source: spark.sql.autoBroadcastJoinThreshold."""


class WritingSide(Enum):
    """Whose tasks write: those that read a table, which is joined with one sent to them, or one."""

    TARGET = "target"
    SOURCE = "source"
    NEITHER = "neither"


def writing_side(
    plan: MergePlan, metadata: Metadata, target: Iterable[AddFile], *, hides_rows: bool
) -> WritingSide:
    """Whose tasks write what becomes of these files of the target.

    Those of the side whose rows are all there after the join. Where all of both are, Spark can send
    neither to every task. `hides_rows`: rows that stay as they are need not be there.
    """
    if plan.is_matched_only or (hides_rows and not plan.not_matched):
        return WritingSide.NEITHER if metadata.partition_columns else WritingSide.TARGET
    if plan.not_matched_by_source or not hides_rows:
        return WritingSide.NEITHER
    return appending_side(metadata, target)


def appending_side(metadata: Metadata, target: Iterable[AddFile]) -> WritingSide:
    """Whose tasks write what becomes of source rows that are joined with these files.

    Rows of a table with partitions are shuffled by these before they are written.
    """
    if metadata.partition_columns or _is_large(target):
        return WritingSide.NEITHER
    return WritingSide.SOURCE


def _is_large(files: Iterable[AddFile]) -> bool:
    return sum(file.size for file in files) > _BROADCAST_BYTES


class MergeTasks(Struct, frozen=True):
    """The tasks of one execution."""

    by: WritingSide
    source: Source

    @property
    def positions(self) -> list[range]:
        """The positions of the source's rows by the task that writes what becomes of them."""
        if self.by is not WritingSide.SOURCE:
            return [range(len(self.source.rows))]
        return [
            range(a, b) for a, b in pairwise(accumulate(map(len, self.source.tasks), initial=0))
        ]

    def of_files(
        self,
        files: Sequence[MatchedFile],
        inserts: Tasks,
        rows_of: Callable[[MatchedFile], Sequence[Row]],
    ) -> list[Sequence[Row]]:
        """The rows of files, and the new ones, by writing task; not by those of the source."""
        if self.by is WritingSide.NEITHER:
            return [joined([*map(rows_of, files), *inserts])]
        by_path = {file.scanned.file.path: file for file in files}
        tasks = scan_tasks([file.scanned.file for file in files])
        return [joined([rows_of(by_path[f.path]) for f in task]) for task in tasks]

    def of_changes(
        self,
        files: Sequence[MatchedFile],
        inserts: Tasks,
        changes_of: Callable[[MatchedFile], Iterable[PlacedRow]],
    ) -> list[Sequence[Row]]:
        """What is made of rows of files, and the new ones, by writing task."""
        if self.by is not WritingSide.SOURCE:
            return self.of_files(files, inserts, lambda file: [row for _, row in changes_of(file)])
        tasks: list[list[Row]] = [[] for _ in inserts]
        positions = zip(tasks, self.positions, strict=True)
        task_of = {at: task for task, part in positions for at in part}
        for file in files:
            for at, row in changes_of(file):
                task_of[file.matches[at]].append(row)
        return [[*task, *new] for task, new in zip(tasks, inserts, strict=True)]
