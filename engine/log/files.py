"""The live files of a table as a persistent set, indexed by path and by partition."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

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


class Partition:
    """The live files of one partition, and their order by path once someone asked for it.

    `listed` of them, that are not in `files`, come from a list.
    """

    __slots__ = ("_ordered", "files", "listed")

    def __init__(self, files: FileMap, listed: int = 0) -> None:
        self.files = files
        self.listed = listed
        self._ordered: tuple[AddFile, ...] | None = None

    def ordered(self, listed: _Listed, partition: PartitionKey) -> tuple[AddFile, ...]:
        """The files by path. Maps have no stable order: string hashes differ between processes."""
        if self._ordered is None:
            files = list(listed.within(partition)) if self.listed else []
            files += self.files.values()
            self._ordered = tuple(sorted(files, key=_by_path))
        return self._ordered


_NO_FILES = Partition(Map())


@dataclass(slots=True)
class _Listed:
    """Those of the `files` listed by a commit that nothing has removed or replaced since."""

    files: ListedFiles | None
    later: FileMap
    tombstones: Map[FileKey, RemoveFile]

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


@dataclass(slots=True)
class _Contents:
    """The files of a set, by identity and by partition, and the deletion vectors of a path.

    `files` has those that are not from `listed`.
    """

    files: FileMap
    listed: _Listed
    count: int
    partitions: Map[PartitionKey, Partition]
    dv_ids: Map[str, tuple[str, ...]]
    tombstones: Map[FileKey, RemoveFile]
    size_bytes: int
    known_partition_keys: tuple[PartitionKey, ...] | None

    def all_files(self) -> list[AddFile]:
        """Every file, in no order."""
        return [*self.listed, *self.files.values()]

    def partition_keys(self) -> tuple[PartitionKey, ...]:
        """The partitions that hold files, ordered, null first; sorted when somebody asks."""
        if self.known_partition_keys is None:
            self.known_partition_keys = tuple(sorted(self.partitions, key=_null_first))
        return self.known_partition_keys


_NOTHING = _Contents(Map(), _Listed(None, Map(), Map()), 0, Map(), Map(), Map(), 0, ())


class FileSet:
    """Live files, never changed once made: `after` makes the next set, sharing what is equal.

    A set is only the list of changes since an earlier one until somebody asks for its files.
    """

    __slots__ = ("_changes", "_contents", "_ordered", "columns")

    def __init__(self, columns: tuple[str, ...] = ()) -> None:
        self.columns = columns
        self._contents = _NOTHING
        self._changes: _Changes | None = None
        self._ordered: tuple[AddFile, ...] | None = None

    def after(self, removes: Collection[RemoveFile], adds: Collection[AddFile]) -> FileSet:
        """The set without `removes` and with `adds`. Costs in proportion to these, when asked."""
        following = FileSet(self.columns)
        following._changes = (self, removes, adds)
        return following

    @property
    def files(self) -> FileMap:
        """Every file by its identity; makes those that are only listed."""
        held = self._held()
        if held.listed.files is None:
            return held.files
        return Map({file_key(file): file for file in held.all_files()})

    def __len__(self) -> int:
        return self._held().count

    def __contains__(self, file: AddFile) -> bool:
        """Whether a file is live, with just its deletion vector."""
        held, key = self._held(), file_key(file)
        return key in held.files or (key[1] is None and held.listed.at(key[0]) is not None)

    @property
    def tombstones(self) -> Map[FileKey, RemoveFile]:
        """Files that left: they stay known until they are added again."""
        return self._held().tombstones

    @property
    def size_bytes(self) -> int:
        """The sum of the files' sizes."""
        return self._held().size_bytes

    def _held(self) -> _Contents:
        """What the set holds, found out once: the changes since a set that knows, in one go."""
        changes = self._changes
        if changes is not None:
            since: list[_Changes] = []
            known = self
            while changes is not None:
                since.append(changes)
                known = changes[0]
                changes = known._changes
            self._contents = _contents_after(known, since)
            self._changes = None
        return self._contents

    def partitioned_by(self, columns: tuple[str, ...]) -> FileSet:
        """The same files under other partition columns: costs in proportion to the table."""
        if columns == self.columns:
            return self
        held = self._held()
        return FileSet(columns).after(tuple(held.tombstones.values()), held.all_files())

    def partition_key(self, values: PartitionValues | None) -> PartitionKey:
        """The partition of a file with these values; a missing value counts as null."""
        if not self.columns:
            return ()
        values = values or {}
        return tuple(values.get(column) for column in self.columns)

    def at(self, path: str) -> AddFile | None:
        """The live file of a path, with any deletion vector."""
        held = self._held()
        plain = held.files.get((path, None))
        if plain is None:
            plain = held.listed.at(path)
        if plain is not None:
            return plain
        dv_ids = held.dv_ids.get(path)
        return held.files[path, dv_ids[-1]] if dv_ids else None

    def within(self, partition: PartitionKey) -> tuple[AddFile, ...]:
        """The files of a partition, by path."""
        held = self._held()
        return held.partitions.get(partition, _NO_FILES).ordered(held.listed, partition)

    def partition_keys(self) -> tuple[PartitionKey, ...]:
        """The partitions that hold files, ordered, null first."""
        return self._held().partition_keys()

    def ordered(self) -> tuple[AddFile, ...]:
        """Every file, by path."""
        if self._ordered is None:
            self._ordered = tuple(sorted(self._held().all_files(), key=_by_path))
        return self._ordered


_Changes = tuple[FileSet, Collection[RemoveFile], Collection[AddFile]]
"""The set before, what leaves it, what joins it."""


def _contents_after(known: FileSet, since: Sequence[_Changes]) -> _Contents:
    """What a set holds after changes of another one, the newest of them first."""
    change = _Change(known)
    for _, removes, adds in reversed(since):
        for removed in removes:
            change.remove(removed)
        change.add_all(adds)
    return change.finish()


class _Change:
    """The making of a set's next contents: mutable until finished, then thrown away."""

    def __init__(self, known: FileSet) -> None:
        base = known._contents
        self._set = known
        self._base = base
        self._files: MapMutation[FileKey, AddFile] = base.files.mutate()
        self._partitions = base.partitions.mutate()
        self._dv_ids = base.dv_ids.mutate()
        self._tombstones = base.tombstones.mutate()
        self._listed_files = base.listed.files
        self._touched: dict[PartitionKey, _TouchedPartition] = {}
        self._count = base.count
        self._size_bytes = base.size_bytes

    def remove(self, removed: RemoveFile) -> None:
        key = file_key(removed)
        self._drop(key)
        self._tombstones[key] = removed

    def add_all(self, files: Collection[AddFile]) -> None:
        if not (self._count or self._tombstones) and isinstance(files, ListedFiles):
            self._begin_with(files)
        else:
            for file in files:
                self.add(file)

    def add(self, file: AddFile) -> None:
        key = file_key(file)
        self._drop(key)
        self._tombstones.pop(key, None)
        self._files[key] = file
        self._count += 1
        self._size_bytes += file.size
        self._partition_of(file).files[key] = file
        if key[1] is not None:
            self._dv_ids[key[0]] = (*self._dv_ids.get(key[0], ()), key[1])

    def _begin_with(self, files: ListedFiles) -> None:
        """Keep the first files that the set has ever had as they are, if their partitions fit."""
        if files.columns != self._set.columns:
            self.add_all(tuple(files))
            return
        self._listed_files = files
        self._count, self._size_bytes = len(files), files.size_bytes
        for key, count in files.counts().items():
            self._touched[key] = _TouchedPartition(Map().mutate(), count)

    def _drop(self, key: FileKey) -> None:
        file = self._files.pop(key, None)
        if file is not None:
            del self._partition_of(file).files[key]
        elif key[1] is None:
            file = self._listed_at(key)
            if file is not None:
                self._partition_of(file).listed -= 1
        if file is None:
            return
        self._count -= 1
        self._size_bytes -= file.size
        if key[1] is not None:
            self._forget_dv(key[0], key[1])

    def _listed_at(self, key: FileKey) -> AddFile | None:
        """The listed file of a key that no other file has."""
        if self._listed_files is None or key in self._tombstones:
            return None
        return self._listed_files.at(key[0])

    def finish(self) -> _Contents:
        same_partitions = all(
            touched.is_empty() != (key in self._partitions)
            for key, touched in self._touched.items()
        )
        for key, touched in self._touched.items():
            if touched.is_empty():
                self._partitions.pop(key, None)
            else:
                self._partitions[key] = Partition(touched.files.finish(), touched.listed)
        files, tombstones = self._files.finish(), self._tombstones.finish()
        return _Contents(
            files,
            _Listed(self._listed_files, files, tombstones),
            self._count,
            self._partitions.finish(),
            self._dv_ids.finish(),
            tombstones,
            self._size_bytes,
            self._base.known_partition_keys if same_partitions else None,
        )

    def _partition_of(self, file: AddFile) -> _TouchedPartition:
        key = self._set.partition_key(file.partition_values)
        touched = self._touched.get(key)
        if touched is None:
            known = self._partitions.get(key, _NO_FILES)
            touched = self._touched[key] = _TouchedPartition(known.files.mutate(), known.listed)
        return touched

    def _forget_dv(self, path: str, dv_id: str) -> None:
        left = tuple(known for known in self._dv_ids[path] if known != dv_id)
        if left:
            self._dv_ids[path] = left
        else:
            del self._dv_ids[path]


@dataclass(slots=True)
class _TouchedPartition:
    """A partition that changes."""

    files: MapMutation[FileKey, AddFile]
    listed: int

    def is_empty(self) -> bool:
        return not self.listed and not len(self.files)


def _by_path(file: AddFile) -> tuple[str, str]:
    return (file.path, file.dv_id or "")


def _null_first(key: PartitionKey) -> tuple[tuple[bool, str], ...]:
    return tuple((value is not None, value or "") for value in key)
