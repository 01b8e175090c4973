"""What a transaction has read, as far as a later winner can invalidate it.

Source: `OptimisticTransaction.scala` (`readPredicates`, `readFiles`, `readTheWholeTable`,
`readTxn`) and `DeltaTableReadPredicate`. Read files are described, not listed: a scan remembers
its snapshot and predicates, and answers whether one path was read by looking that path up. So a
check costs what the winner changed, however many files the table has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.errors import DeltaError
from whitecap.engine.log.actions import AddFile, PartitionValues


class ReadEntry(Protocol):
    """One read entry: files match it by their partition values."""

    def matches(self, values: PartitionValues | None) -> bool:
        """Whether a file with these partition values should have been read."""
        ...

    @property
    def text(self) -> str:
        """The partition predicate in words, for evidence."""
        ...


class ReadScan(Protocol):
    """The files of the read snapshot that one read returned."""

    def at(self, path: str) -> AddFile | None:
        """The file read at this path, `None` if the scan did not return it."""
        ...

    def __contains__(self, file: AddFile) -> bool:
        """Whether a file would be returned, by its partition and its statistics."""
        ...


class ReadSet(Struct, frozen=True):
    """Everything read so far. Extended by `with_…`, which return a new one."""

    entries: tuple[ReadEntry, ...] = ()
    scans: tuple[ReadScan, ...] = ()
    files: Mapping[str, AddFile] = msgspec.field(default_factory=dict)
    whole_table: bool = False
    app_ids: frozenset[str] = frozenset()
    condition: ReadScan | None = None
    """The statement's own condition, in dialects whose only read it is: it holds files by it."""
    refusal: DeltaError | None = None
    """How every check of added files ends, whatever was added: what was read cannot be asked."""
    dropped_paths: frozenset[str] = frozenset()
    """Paths that count as never read: row tracking backfill gave them up to a winner."""

    @property
    def depends_on_files(self) -> bool:
        """`dependsOnFiles`: reading files or predicates makes an append not blind."""
        return bool(self.entries or self.files)

    def file_read_at(self, path: str) -> AddFile | None:
        """The file that was read at this path, or `None`."""
        if path in self.dropped_paths:
            return None
        file_read = self.files.get(path)
        if file_read is not None:
            return file_read
        return next((file for scan in self.scans if (file := scan.at(path)) is not None), None)

    def with_entry(self, entry: ReadEntry) -> ReadSet:
        """As if a predicate was read too."""
        return replace(self, entries=(*self.entries, entry))

    def with_scan(self, scan: ReadScan) -> ReadSet:
        """As if the files of one more read were read too."""
        return replace(self, scans=(*self.scans, scan))

    def with_files(self, files: Mapping[str, AddFile]) -> ReadSet:
        """As if some files, by path, were read too."""
        return replace(self, files={**self.files, **files})

    def with_whole_table(self) -> ReadSet:
        """As if all files were read, those that winners add included."""
        return replace(self, whole_table=True)

    def with_app_id(self, app_id: str) -> ReadSet:
        """As if the version of an application was read too (`readTxn`)."""
        return replace(self, app_ids=self.app_ids | {app_id})

    def with_refusal(self, refusal: DeltaError | None) -> ReadSet:
        """With the refusal of the first read that has one."""
        return replace(self, refusal=self.refusal or refusal)

    def without_paths(self, paths: frozenset[str]) -> ReadSet:
        """As if the files at some paths had not been read."""
        return replace(self, dropped_paths=self.dropped_paths | paths)
