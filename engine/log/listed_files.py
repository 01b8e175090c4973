"""Files that a commit adds and that are made when somebody asks for them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Container, Iterator, Sequence

from msgspec import Struct

from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.file_keys import FileKey, PartitionKey


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


class StillListed(Struct):
    """Those of the `files` listed by a commit that nothing has removed or replaced since.

    Files that came `later` hide those of the same key; `gone` are keys that left.
    """

    files: ListedFiles | None
    later: Container[FileKey]
    gone: Container[FileKey]

    def at(self, key: FileKey) -> AddFile | None:
        """The one of a key that no later file has."""
        path, dv_id = key
        if self.files is None or dv_id is not None or key in self.gone:
            return None
        return self.files.at(path)

    def within(self, partition: PartitionKey) -> Iterator[AddFile]:
        """Those of a partition."""
        files = () if self.files is None else self.files.within(partition)
        return (file for file in files if self._is_left((file.path, None)))

    def __iter__(self) -> Iterator[AddFile]:
        return (file for file in self.files or () if self._is_left((file.path, None)))

    def _is_left(self, key: FileKey) -> bool:
        return key not in self.gone and key not in self.later
