"""The live files of a table as a persistent set, indexed by path and by partition."""

from __future__ import annotations

from collections.abc import Iterable

from immutables import Map, MapMutation

from whitecap.engine.log.actions import AddFile, PartitionValues, RemoveFile

FileKey = tuple[str, str | None]
"""What identifies a logical file: its path and the id of its deletion vector, if it has one."""

PartitionKey = tuple[str | None, ...]
"""A file's partition values, in the order of the table's partition columns."""

FileMap = Map[FileKey, AddFile]


def file_key(file: AddFile | RemoveFile) -> FileKey:
    """A file's identity in the log. Source: PROTOCOL.md "Add File and Remove File"."""
    return (file.path, file.dv_id)


class Partition:
    """The live files of one partition, and their order by path once someone asked for it."""

    __slots__ = ("_ordered", "files")

    def __init__(self, files: FileMap) -> None:
        self.files = files
        self._ordered: tuple[AddFile, ...] | None = None

    def ordered(self) -> tuple[AddFile, ...]:
        """The files by path. Maps have no stable order: string hashes differ between processes."""
        if self._ordered is None:
            by_path = sorted(self.files.values(), key=_by_path)
            self._ordered = tuple(by_path)
        return self._ordered


_NO_FILES = Partition(Map())


class FileSet:
    """Live files, never changed once made: `after` makes the next set, sharing what is equal."""

    __slots__ = (
        "_dv_ids",
        "_ordered",
        "_partition_keys",
        "_partitions",
        "columns",
        "files",
        "size_bytes",
    )

    def __init__(
        self,
        columns: tuple[str, ...] = (),
        files: FileMap | None = None,
        partitions: Map[PartitionKey, Partition] | None = None,
        dv_ids: Map[str, tuple[str, ...]] | None = None,
        size_bytes: int = 0,
        partition_keys: tuple[PartitionKey, ...] | None = None,
    ) -> None:
        self.columns = columns
        self.files: FileMap = Map() if files is None else files
        self.size_bytes = size_bytes
        self._partitions: Map[PartitionKey, Partition] = Map() if partitions is None else partitions
        self._dv_ids: Map[str, tuple[str, ...]] = Map() if dv_ids is None else dv_ids
        self._partition_keys = partition_keys
        self._ordered: tuple[AddFile, ...] | None = None

    def after(self, removes: Iterable[RemoveFile], adds: Iterable[AddFile]) -> FileSet:
        """The set without `removes` and with `adds`. Costs in proportion to these."""
        change = _Change(self)
        for removed in removes:
            change.remove(file_key(removed))
        for added in adds:
            change.add(added)
        return change.finish()

    def partitioned_by(self, columns: tuple[str, ...]) -> FileSet:
        """The same files under other partition columns: costs in proportion to the table."""
        if columns == self.columns:
            return self
        return FileSet(columns).after((), self.files.values())

    def partition_key(self, values: PartitionValues | None) -> PartitionKey:
        """The partition of a file with these values; a missing value counts as null."""
        if not self.columns:
            return ()
        values = values or {}
        return tuple(values.get(column) for column in self.columns)

    def at(self, path: str) -> AddFile | None:
        """The live file of a path, with any deletion vector."""
        plain = self.files.get((path, None))
        if plain is not None:
            return plain
        dv_ids = self._dv_ids.get(path)
        return self.files[path, dv_ids[-1]] if dv_ids else None

    def within(self, partition: PartitionKey) -> tuple[AddFile, ...]:
        """The files of a partition, by path."""
        return self._partitions.get(partition, _NO_FILES).ordered()

    def partition_keys(self) -> tuple[PartitionKey, ...]:
        """The partitions that hold files, ordered, null first."""
        if self._partition_keys is None:
            self._partition_keys = tuple(sorted(self._partitions, key=_null_first))
        return self._partition_keys

    def ordered(self) -> tuple[AddFile, ...]:
        """Every file, by path."""
        if self._ordered is None:
            self._ordered = tuple(sorted(self.files.values(), key=_by_path))
        return self._ordered


class _Change:
    """The making of the next `FileSet`: mutable until finished, then thrown away."""

    def __init__(self, base: FileSet) -> None:
        self._base = base
        self._files: MapMutation[FileKey, AddFile] = base.files.mutate()
        self._partitions = base._partitions.mutate()
        self._dv_ids = base._dv_ids.mutate()
        self._touched: dict[PartitionKey, MapMutation[FileKey, AddFile]] = {}
        self._size_bytes = base.size_bytes

    def remove(self, key: FileKey) -> None:
        file = self._files.pop(key, None)
        if file is None:
            return
        self._size_bytes -= file.size
        del self._partition_of(file)[key]
        if key[1] is not None:
            self._forget_dv(key[0], key[1])

    def add(self, file: AddFile) -> None:
        key = file_key(file)
        self.remove(key)
        self._files[key] = file
        self._size_bytes += file.size
        self._partition_of(file)[key] = file
        if key[1] is not None:
            self._dv_ids[key[0]] = (*self._dv_ids.get(key[0], ()), key[1])

    def finish(self) -> FileSet:
        same_partitions = all(
            bool(len(files)) == (key in self._partitions) for key, files in self._touched.items()
        )
        for key, files in self._touched.items():
            if len(files):
                self._partitions[key] = Partition(files.finish())
            else:
                self._partitions.pop(key, None)
        return FileSet(
            self._base.columns,
            self._files.finish(),
            self._partitions.finish(),
            self._dv_ids.finish(),
            self._size_bytes,
            self._base._partition_keys if same_partitions else None,
        )

    def _partition_of(self, file: AddFile) -> MapMutation[FileKey, AddFile]:
        key = self._base.partition_key(file.partition_values)
        if key not in self._touched:
            self._touched[key] = self._partitions.get(key, _NO_FILES).files.mutate()
        return self._touched[key]

    def _forget_dv(self, path: str, dv_id: str) -> None:
        left = tuple(known for known in self._dv_ids[path] if known != dv_id)
        if left:
            self._dv_ids[path] = left
        else:
            del self._dv_ids[path]


def _by_path(file: AddFile) -> tuple[str, str]:
    return (file.path, file.dv_id or "")


def _null_first(key: PartitionKey) -> tuple[tuple[bool, str], ...]:
    return tuple((value is not None, value or "") for value in key)
