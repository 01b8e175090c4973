"""The live files of a table as a persistent set, indexed by path and by partition."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec
import numpy as np
from immutables import Map, MapMutation
from msgspec import Struct
from numpy.typing import NDArray

from whitecap.engine.log.actions import AddFile, PartitionValues, RemoveFile
from whitecap.engine.log.file_keys import FileKey, PartitionKey, by_path, file_key
from whitecap.engine.log.listed_files import ListedFiles, StillListed
from whitecap.engine.packed import blocks
from whitecap.engine.packed.blocks import NO_PLACES, Packer
from whitecap.engine.packed.versions import Contained, Moved, VersionedMap

_LiveFiles = VersionedMap[FileKey, AddFile]
_Tombstones = VersionedMap[FileKey, RemoveFile]

PackedPlaces = NDArray[np.int32]
"""Where files of a set are packed."""


def _has_vector(key: FileKey) -> bool:
    return key[1] is not None


_pack = msgspec.msgpack.encode
_ADDED: Contained[FileKey, AddFile] = Contained(
    Packer(_pack, msgspec.msgpack.Decoder(list[AddFile]).decode), file_key, _has_vector
)
_REMOVED: Contained[FileKey, RemoveFile] = Contained(
    Packer(_pack, msgspec.msgpack.Decoder(list[RemoveFile]).decode), file_key, _has_vector
)


class Partition:
    """The live files of one partition, and their order by path once someone asked for it.

    Some are kept whole, some are packed, and `listed` of them come from a list.
    """

    __slots__ = ("_ordered", "listed", "packed", "packed_count", "whole")

    def __init__(
        self,
        whole: Map[FileKey, AddFile],
        packed: PackedPlaces = NO_PLACES,
        packed_count: int = 0,
        listed: int = 0,
    ) -> None:
        self.whole = whole
        self.packed = packed
        self.packed_count = packed_count
        self.listed = listed
        self._ordered: tuple[AddFile, ...] | None = None

    def __len__(self) -> int:
        return len(self.whole) + self.packed_count + self.listed

    def ordered(self, contents: _Contents, partition: PartitionKey) -> tuple[AddFile, ...]:
        """The files by path. Maps have no stable order: string hashes differ between processes."""
        if self._ordered is None:
            live = contents.files
            files = list(contents.listed.within(partition)) if self.listed else []
            files += [live.at(place) for place in live.still_there(self.packed)]
            files += self.whole.values()
            self._ordered = tuple(sorted(files, key=by_path))
        return self._ordered


_NO_FILES = Partition(Map())


class _Contents(Struct):
    """The files of a set, by identity and by partition, and the deletion vectors of a path.

    `files` has those that are not from `listed`.
    """

    files: _LiveFiles
    listed: StillListed
    count: int
    partitions: Map[PartitionKey, Partition]
    dv_ids: Map[str, tuple[str, ...]]
    tombstones: _Tombstones
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


_NO_ADDED, _NO_REMOVED = VersionedMap(_ADDED), VersionedMap(_REMOVED)
_NOTHING = _Contents(
    _NO_ADDED, StillListed(None, _NO_ADDED, _NO_REMOVED), 0, Map(), Map(), _NO_REMOVED, 0, ()
)


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
    def files(self) -> Mapping[FileKey, AddFile]:
        """Every file by its identity; makes those that are only listed."""
        held = self._held()
        if held.listed.files is None:
            return held.files
        return {file_key(file): file for file in held.all_files()}

    def __len__(self) -> int:
        return self._held().count

    def __contains__(self, file: AddFile) -> bool:
        """Whether a file is live, with just its deletion vector."""
        held, key = self._held(), file_key(file)
        return key in held.files or held.listed.at(key) is not None

    @property
    def tombstones(self) -> _Tombstones:
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
            base = self
            while changes is not None:
                since.append(changes)
                base = changes[0]
                changes = base._changes
            self._contents = _contents_after(base, since)
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
        return tuple([values.get(column) for column in self.columns])

    def at(self, path: str) -> AddFile | None:
        """The live file of a path, with any deletion vector."""
        held = self._held()
        key = (path, None)
        plain = held.files.look_up(key) or held.listed.at(key)
        if plain is not None:
            return plain
        dv_ids = held.dv_ids.get(path)
        return held.files[path, dv_ids[-1]] if dv_ids else None

    def within(self, partition: PartitionKey) -> tuple[AddFile, ...]:
        """The files of a partition, by path."""
        held = self._held()
        return held.partitions.get(partition, _NO_FILES).ordered(held, partition)

    def partition_keys(self) -> tuple[PartitionKey, ...]:
        """The partitions that hold files, ordered, null first."""
        return self._held().partition_keys()

    def ordered(self) -> tuple[AddFile, ...]:
        """Every file, by path."""
        if self._ordered is None:
            self._ordered = tuple(sorted(self._held().all_files(), key=by_path))
        return self._ordered


_Changes = tuple[FileSet, Collection[RemoveFile], Collection[AddFile]]
"""The set before, what leaves it, what joins it."""


def _contents_after(base: FileSet, since: Sequence[_Changes]) -> _Contents:
    """What a set holds after changes of another one, the newest of them first."""
    change = _Change(base)
    for _, removes, adds in reversed(since):
        for removed in removes:
            change.remove(removed, is_one_of_many=len(removes) > blocks.KEPT)
        change.add_all(adds)
    return change.finish()


class _PartitionChange(Struct):
    """The making of a partition's next state; places of files that went stay among the packed."""

    whole: MapMutation[FileKey, AddFile]
    packed: PackedPlaces
    packed_count: int
    listed: int

    def finish(self) -> Partition:
        return Partition(self.whole.finish(), self.packed, self.packed_count, self.listed)


class _Change:
    """The making of a set's next contents: mutable until finished, then thrown away."""

    def __init__(self, file_set: FileSet) -> None:
        base = file_set._contents
        self._set = file_set
        self._base = base
        self._files = base.files.mutate()
        self._partitions = base.partitions.mutate()
        self._dv_ids = base.dv_ids.mutate()
        self._tombstones = base.tombstones.mutate()
        self._has_tombstones = bool(len(base.tombstones))
        self._listed = StillListed(base.listed.files, self._files, self._tombstones)
        self._touched: dict[PartitionKey, _PartitionChange] = {}
        self._count = base.count
        self._size_bytes = base.size_bytes

    def remove(self, removed: RemoveFile, is_one_of_many: bool) -> None:
        key = file_key(removed)
        self._drop(key)
        self._tombstones.pop(key)
        self._tombstones.put(key, removed, is_one_of_many)
        self._has_tombstones = True

    def add_all(self, files: Collection[AddFile]) -> None:
        if not (self._count or len(self._tombstones)) and isinstance(files, ListedFiles):
            self._begin_with(files)
            return
        for file in files:
            self.add(file, is_one_of_many=len(files) > blocks.KEPT)

    def _begin_with(self, files: ListedFiles) -> None:
        """Keep the first files that the set has ever had as they are, if their partitions fit."""
        if files.columns != self._set.columns:
            self.add_all(tuple(files))
            return
        self._listed.files = files
        self._count, self._size_bytes = len(files), files.size_bytes
        for key, count in files.counts().items():
            self._touched[key] = _PartitionChange(Map().mutate(), NO_PLACES, 0, count)

    def add(self, file: AddFile, is_one_of_many: bool) -> None:
        key = file_key(file)
        self._drop(key)
        if self._has_tombstones:
            self._tombstones.pop(key)
        self._files.put(key, file, is_one_of_many)
        self._count += 1
        self._size_bytes += file.size
        self._partition_of(file).whole[key] = file
        if key[1] is not None:
            self._dv_ids[key[0]] = (*self._dv_ids.get(key[0], ()), key[1])

    def _drop(self, key: FileKey) -> None:
        file, place = self._files.pop(key)
        if file is None:
            file = self._listed.at(key)
            if file is None:
                return
            self._partition_of(file).listed -= 1
        elif place is None:
            del self._partition_of(file).whole[key]
        else:
            self._partition_of(file).packed_count -= 1
        self._count -= 1
        self._size_bytes -= file.size
        if key[1] is not None:
            self._forget_dv(key[0], key[1])

    def finish(self) -> _Contents:
        tombstones, _ = self._tombstones.finish()
        files, moved = self._files.finish()
        self._follow(moved)
        partitions = {key: change.finish() for key, change in self._touched.items()}
        same_partitions = True
        for key, partition in partitions.items():
            same_partitions &= bool(len(partition)) == (key in self._partitions)
            if len(partition):
                self._partitions[key] = partition
            else:
                self._partitions.pop(key, None)
        return _Contents(
            files,
            StillListed(self._listed.files, files, tombstones),
            self._count,
            self._partitions.finish(),
            self._dv_ids.finish(),
            tombstones,
            self._size_bytes,
            self._base.known_partition_keys if same_partitions else None,
        )

    def _follow(self, moved: Moved[AddFile]) -> None:
        """Partitions know where their files are packed."""
        if moved.are_all:
            for key in {*self._base.partitions, *self._touched}:
                partition = self._touched_one(key)
                partition.packed, partition.packed_count = NO_PLACES, 0
        places: dict[PartitionKey, list[int]] = {}
        for file, place in zip(moved.values, moved.places.tolist(), strict=True):
            key = self._set.partition_key(file.partition_values)
            places.setdefault(key, []).append(place)
            self._touched_one(key).whole.pop(file_key(file), None)
        for key, more in places.items():
            partition = self._touched_one(key)
            partition.packed = np.concatenate([partition.packed, np.array(more, np.int32)])
            partition.packed_count += len(more)

    def _partition_of(self, file: AddFile) -> _PartitionChange:
        return self._touched_one(self._set.partition_key(file.partition_values))

    def _touched_one(self, key: PartitionKey) -> _PartitionChange:
        touched = self._touched.get(key)
        if touched is None:
            partition = self._partitions.get(key, _NO_FILES)
            touched = self._touched[key] = _PartitionChange(
                partition.whole.mutate(),
                partition.packed,
                partition.packed_count,
                partition.listed,
            )
        return touched

    def _forget_dv(self, path: str, dv_id: str) -> None:
        left = tuple(other for other in self._dv_ids[path] if other != dv_id)
        if left:
            self._dv_ids[path] = left
        else:
            del self._dv_ids[path]


def _null_first(key: PartitionKey) -> tuple[tuple[bool, str], ...]:
    return tuple((value is not None, value or "") for value in key)
