"""Files that a commit adds and that are made when somebody asks for them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from whitecap.engine.log.actions import AddFile, RemoveFile

FileKey = tuple[str, str | None]
"""What identifies a logical file: its path and the id of its deletion vector, if it has one."""

PartitionKey = tuple[str | None, ...]
"""A file's partition values, in the order of the table's partition columns."""


def file_key(file: AddFile | RemoveFile) -> FileKey:
    """A file's identity in the log. Source: PROTOCOL.md "Add File and Remove File"."""
    return (file.path, file.dv_id)


class ListedFiles(Sequence[AddFile]):
    """Files that a commit adds and that are made when somebody asks for them.

    No path comes twice, none has a deletion vector. `columns` are those of the partitions,
    `size_bytes` and `row_count` are the sums of the files' sizes and of their rows.
    """

    columns: tuple[str, ...]
    size_bytes: int
    row_count: int

    @abstractmethod
    def at(self, path: str) -> AddFile | None:
        """The file of a path."""

    @abstractmethod
    def counts(self) -> dict[PartitionKey, int]:
        """How many files each partition has."""

    @abstractmethod
    def within(self, partition: PartitionKey) -> Sequence[AddFile]:
        """The files of a partition."""


@dataclass(slots=True)
class StillListed:
    """Those of the `files` listed by a commit that nothing has removed or replaced since."""

    files: ListedFiles | None
    later: Mapping[FileKey, AddFile]
    tombstones: Mapping[FileKey, RemoveFile]

    def at(self, path: str) -> AddFile | None:
        """The one of a path."""
        if self.files is None:
            return None
        key = (path, None)
        if key in self.tombstones or key in self.later:
            return None
        return self.files.at(path)

    def within(self, partition: PartitionKey) -> Iterator[AddFile]:
        """Those of a partition."""
        files = () if self.files is None else self.files.within(partition)
        return (file for file in files if self._is_left((file.path, None)))

    def __iter__(self) -> Iterator[AddFile]:
        return (file for file in self.files or () if self._is_left((file.path, None)))

    def _is_left(self, key: FileKey) -> bool:
        return key not in self.tombstones and key not in self.later
