"""Writing data files, and the actions that put them into the table and take them out.

Source: TransactionalWrite.scala (writeFiles), DelayedCommitProtocol.scala (file names),
StatisticsCollection.scala, DeletionVectorUtils (wide bounds).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from whitecap.engine.errors import DeltaError
from whitecap.engine.log import properties
from whitecap.engine.log.actions import (
    CHANGE_TYPE_COLUMN,
    AddCDCFile,
    AddFile,
    Metadata,
    PartitionValues,
    RemoveFile,
)
from whitecap.engine.refusals import write_errors
from whitecap.engine.session.table import Table
from whitecap.engine.storage.paths import log_path, partition_directory
from whitecap.engine.storage.requests import NewId, ReadClock, Row, Steps, WriteRows, Written
from whitecap.engine.writing.file_layout import FileLayout, file_layout

Check = Callable[[Row], None]

FEW = 32
"""Of so many rows bounds are found sooner one by one than in arrays."""

FileChanges = list[AddFile | RemoveFile | AddCDCFile]
"""What a command that changes rows commits of files."""


def in_task(
    make: Callable[[Row], Row], metadata: Metadata, beside_changes: bool = False
) -> Callable[[Row], Row]:
    """What makes rows, as a task that writes them runs it: it fails in Spark's words.

    Rows of a partitioned table are sorted before, so are those that are written `beside_changes`
    of the change data feed, and what fails there fails as it is. Source: FileFormatWriter.scala:
    executeTask (taskFailedWhileWritingRowsError), TransactionalWrite.scala: performCDCPartition.
    """
    if metadata.partition_columns or (beside_changes and _keeps_feed(metadata)):
        return make

    def run(row: Row) -> Row:
        try:
            return make(row)
        except DeltaError as error:
            raise write_errors.task_failed(error) from error

    return run


def _keeps_feed(metadata: Metadata) -> bool:
    return properties.CHANGE_DATA_FEED.of(metadata.configuration)


# Source: CDCReader.scala: CDC_LOCATION and the types of change.
CHANGE_DIRECTORY = "_change_data/"
DELETED, INSERTED = ("delete",), ("insert",)
BEFORE_UPDATE, AFTER_UPDATE = ("update_preimage",), ("update_postimage",)


class FileWriter(Struct):
    """Writes the data files of one command; counts what it wrote.

    `check` raises `DeltaError` for a row that the table may not hold. Every row is checked as it is
    written, those that a rewritten file had before too. `beside_changes`: one job of Spark writes
    the rows and those of the change data feed. `empty_files`: the first task of a table without
    partitions opens one before it has a row; it comes into no table.
    """

    table: Table
    metadata: Metadata
    data_change: bool = True
    check: Check | None = None
    beside_changes: bool = False
    rows_written: int = 0
    bytes_written: int = 0
    files_written: int = 0
    empty_files: int = 0
    _job: str = ""
    _now_ms: int = 0

    @property
    def layout(self) -> FileLayout:
        """How rows are laid out in files."""
        return file_layout(self.metadata)

    def write(self, tasks: Iterable[Sequence[Row]]) -> Steps[list[AddFile]]:
        """Write each task's rows: one file for each partition that they fall in."""
        layout = self.layout
        adds: list[AddFile] = []
        for values, part in self._parts(tasks, layout):
            if not self._job:
                self.begins((yield NewId()), (yield ReadClock()))
            file = self._file(values, part, layout)
            written: Written = yield file
            adds.append(self._added(file, values, part, layout, written.size_bytes))
        return adds

    def write_at_once(
        self, tasks: Iterable[Sequence[Row]], write: Callable[[WriteRows], int]
    ) -> list[AddFile]:
        """The same for a job that has begun, where `write` says how many bytes a file has."""
        layout = self.layout
        adds: list[AddFile] = []
        for values, part in self._parts(tasks, layout):
            file = self._file(values, part, layout)
            adds.append(self._added(file, values, part, layout, write(file)))
        return adds

    def begins(self, job: str, now_ms: int) -> None:
        """The job that writes, by its id, and when it does."""
        self._job, self._now_ms = job, now_ms

    def _parts(
        self, tasks: Iterable[Sequence[Row]], layout: FileLayout
    ) -> Iterator[tuple[PartitionValues, Sequence[Row]]]:
        """The rows of each file, checked, with the values that name its partition."""
        check = self.check
        for at, rows in enumerate(tasks):
            if at == 0 and not rows and not self.metadata.partition_columns:
                self.empty_files += 1
            for values, part in layout.by_partition(rows):
                if check is not None:
                    for row in part:
                        check(row)
                yield values, layout.as_kept(part)

    def write_changes(
        self, tasks: Callable[[], Iterable[Sequence[Row]]]
    ) -> Steps[list[AddCDCFile]]:
        """Write rows of the change data feed: those of the table, with the type of change last.

        Nothing, and nobody asks for rows, where the table keeps no such feed. Source:
        CDCReader.scala; PROTOCOL.md "Add CDC File".
        """
        files: list[AddCDCFile] = []
        if not _keeps_feed(self.metadata):
            return files
        for rows in tasks():
            for values, part in self.layout.by_partition(rows):
                kept = self.layout.as_kept(part)
                files.append((yield from self._write_change_file(values, kept)))
        return files

    def metrics(self) -> dict[str, str]:
        """The operation metrics of a WRITE, which count an empty file that is then left out.

        Source: DeltaOperationMetrics: WRITE; DeltaFileFormatWriter.scala: executeTask.
        """
        files = self.files_written + self.empty_files
        return {"numFiles": str(files), **self.amounts()}

    def amounts(self) -> dict[str, str]:
        """How much was written, as operation metrics."""
        return {"numOutputRows": str(self.rows_written), "numOutputBytes": str(self.bytes_written)}

    def _file(self, values: PartitionValues, rows: Sequence[Row], layout: FileLayout) -> WriteRows:
        """The next file, which holds some rows of a partition."""
        key = partition_directory(values) + layout.file_name("part", self.files_written, self._job)
        columns, types = layout.columns
        stored = self.table.data_files.stored(layout.columns, rows)
        return WriteRows(key, stored, columns, types, tuple(values))

    def _added(
        self,
        file: WriteRows,
        values: PartitionValues,
        rows: Sequence[Row],
        layout: FileLayout,
        size_bytes: int,
    ) -> AddFile:
        """The action for a file that is written; `rows` are its rows as they were given."""
        path = log_path(file.key)
        few = len(rows) <= FEW and isinstance(rows, list)
        # Before the rows are kept: then nothing is known any more of those they were made from.
        kept = rows if few else file.rows
        dialect = self.table.dialect
        statistics = layout.statistics(kept, dialect.unordered_types, dialect.finite_bounds_only)
        self.table.data_files.keep(path, file.columns, file.rows)
        if self.beside_changes and _keeps_feed(self.metadata):
            # Source: TransactionalWrite.scala: performCDCPartition; the type of no change is NULL.
            self.table.data_files.note_empty_column(path, CHANGE_TYPE_COLUMN)
        self._count(rows, size_bytes)
        return AddFile(
            path=path,
            partition_values=layout.logged(values),
            size=size_bytes,
            modification_time=self._now_ms,
            data_change=self.data_change,
            stats=statistics,
        )

    def _write_change_file(self, values: PartitionValues, rows: Sequence[Row]) -> Steps[AddCDCFile]:
        if not self._job:
            self.begins((yield NewId()), (yield ReadClock()))
        name = self.layout.file_name("cdc", self.files_written, self._job)
        key = CHANGE_DIRECTORY + partition_directory(values) + name
        names, kinds = self.layout.columns
        columns, types = (*names, CHANGE_TYPE_COLUMN), (*kinds, "string")
        written: Written = yield WriteRows(key, rows, columns, types, tuple(values))
        path = log_path(key)
        self.table.data_files.keep(path, columns, rows)
        self._count((), written.size_bytes)
        return AddCDCFile(path=path, partition_values=values, size=written.size_bytes)

    def _count(self, rows: Sequence[Row], size_bytes: int) -> None:
        self.rows_written += len(rows)
        self.bytes_written += size_bytes
        self.files_written += 1


def removals(files: Iterable[AddFile], *, data_change: bool = True) -> Steps[list[RemoveFile]]:
    """Take files out of the table, all at one instant."""
    now_ms = yield ReadClock()
    return [remove(file, now_ms, data_change=data_change) for file in files]


def remove(file: AddFile, at_ms: int, *, data_change: bool = True) -> RemoveFile:
    """Take a file out of the table. Source: actions.scala: AddFile.removeWithTimestamp."""
    return RemoveFile(
        path=file.path,
        data_change=data_change,
        deletion_timestamp=at_ms,
        extended_file_metadata=True,
        partition_values=file.partition_values,
        size=file.size,
        tags=file.tags,
        deletion_vector=file.deletion_vector,
        base_row_id=file.base_row_id,
        default_row_commit_version=file.default_row_commit_version,
    )
