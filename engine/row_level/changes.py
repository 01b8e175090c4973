"""What a commit did to rows: per data file, the positions that it took away and brought.

A file that is removed and added again only changed its deletion vector. Rows that a commit copied
into another file count as taken away and brought.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from msgspec import Struct
from pyroaring import BitMap64

from whitecap.engine.log.actions import AddFile, RemoveFile
from whitecap.engine.log.schema import Schema
from whitecap.engine.log.statistics import record_count
from whitecap.engine.row_level.data_files import FileRows
from whitecap.engine.storage.requests import Row, Steps


class RowFiles(Protocol):
    """Where rows and deletion vectors are read from, kept once read."""

    def read(self, files: Sequence[AddFile], schema: Schema) -> Steps[list[FileRows]]:
        """The rows of files."""
        ...

    def vector(self, file: AddFile | RemoveFile) -> Steps[BitMap64]:
        """The positions that a file's deletion vector hides."""
        ...

    def branched(self) -> RowFiles:
        """What is known here, for a history of its own."""
        ...


class FileChange(Struct, frozen=True):
    """One path of a commit: as it was (`None`: not there) and as it is (`None`: gone)."""

    before: RemoveFile | None
    after: AddFile | None

    @property
    def file(self) -> AddFile:
        """The file for reading its rows, whatever is hidden of them."""
        if self.after is not None:
            return self.after
        assert self.before is not None
        return AddFile(
            path=self.before.path,
            partition_values=self.before.partition_values,
            size=self.before.size or 0,
            modification_time=0,
            data_change=False,
        )


def file_changes(removes: Iterable[RemoveFile], adds: Iterable[AddFile]) -> list[FileChange]:
    """The changes by path: what is added first, in the commit's order, then what is only gone."""
    removed = {remove.path: remove for remove in removes}
    added = {add.path: add for add in adds}
    changes = [FileChange(removed.get(path), add) for path, add in added.items()]
    gone = [FileChange(remove, None) for path, remove in removed.items() if path not in added]
    return [*changes, *gone]


class RowReader(Struct, frozen=True):
    """Looks into files for a conflict check; `schema` is that of the read snapshot."""

    files: RowFiles
    schema: Schema

    def rows(self, file: AddFile) -> Steps[Sequence[Row]]:
        """All rows of a file, hidden ones too."""
        (file_rows,) = yield from self.files.read([file], self.schema)
        return file_rows.rows

    def count(self, file: AddFile) -> Steps[int]:
        """How many rows a file has, hidden ones too."""
        num_records = record_count(file.stats)
        if num_records is not None:
            return num_records
        return len((yield from self.rows(file)))

    def hidden(self, file: AddFile | RemoveFile | None) -> Steps[BitMap64]:
        """The positions that a file's deletion vector hides."""
        if file is None or file.deletion_vector is None:
            return BitMap64()
        return (yield from self.files.vector(file))

    def taken(self, change: FileChange) -> Steps[BitMap64]:
        """The positions of rows that were live before and are not after."""
        if change.before is None:
            return BitMap64()
        hidden_before = yield from self.hidden(change.before)
        return (yield from self._hidden_or_all(change, change.after)) - hidden_before

    def brought(self, change: FileChange) -> Steps[BitMap64]:
        """The positions of rows that are live after and were not before."""
        if change.after is None:
            return BitMap64()
        hidden_after = yield from self.hidden(change.after)
        return (yield from self._hidden_or_all(change, change.before)) - hidden_after

    def _hidden_or_all(
        self, change: FileChange, file: AddFile | RemoveFile | None
    ) -> Steps[BitMap64]:
        """What is not live of a file; every position where there is no file."""
        if file is not None:
            return (yield from self.hidden(file))
        return BitMap64(range((yield from self.count(change.file))))
