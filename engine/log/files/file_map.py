"""Files by their identity, as a persistent map whose older part is packed.

Of a table that grows most files are asked for seldom: as objects they take a kilobyte each, packed
a tenth of it. Files that a commit brings by the thousand stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

import msgspec
import numpy as np
from immutables import Map, MapMutation
from numpy.typing import NDArray
from pyroaring import BitMap

from whitecap.engine import packed
from whitecap.engine.log.actions import AddFile, RemoveFile
from whitecap.engine.packed import Packer, Packing, PlacesByHash, hashes_of

FileKey = tuple[str, str | None]
"""What identifies a logical file: its path and the id of its deletion vector, if it has one."""

A = TypeVar("A", AddFile, RemoveFile)


def file_key(file: AddFile | RemoveFile) -> FileKey:
    """A file's identity in the log. Source: PROTOCOL.md "Add File and Remove File"."""
    return (file.path, file.dv_id)


ADDED = Packer(msgspec.msgpack.encode, msgspec.msgpack.Decoder(list[AddFile]).decode)
REMOVED = Packer(msgspec.msgpack.encode, msgspec.msgpack.Decoder(list[RemoveFile]).decode)


class _Younger(NamedTuple):
    """The files that came last, the last one first."""

    key: FileKey
    before: _Younger | None


@dataclass(frozen=True, slots=True)
class Moved(Generic[A]):
    """Files that were packed, each with its place; `are_all`: others have no place any more."""

    files: Sequence[A] = ()
    places: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    are_all: bool = False


class FileMap(Mapping[FileKey, A]):
    """Files by identity, never changed once made: `mutate` makes the next map."""

    __slots__ = ("_gone", "_packer", "_packing", "_places", "_young", "_young_count", "whole")

    def __init__(self, packer: Packer[A]) -> None:
        self._packer: Packer[A] = packer
        self.whole: Map[FileKey, A] = Map()
        self._packing: Packing[A] | None = None
        self._places = PlacesByHash()
        self._gone = BitMap()
        self._young: _Younger | None = None
        self._young_count = 0

    def __getitem__(self, key: FileKey) -> A:
        file: A | None = self.whole.get(key)
        if file is not None:
            return file
        place = self.place(key)
        if place is None:
            raise KeyError(key)
        return self.at(place)

    def __len__(self) -> int:
        return len(self.whole) + len(self._places) - len(self._gone)

    def __iter__(self) -> Iterator[FileKey]:
        yield from self.whole
        yield from (file_key(self.at(place)) for place in self.packed_places())

    def at(self, place: int) -> A:
        """The packed file at a place."""
        assert self._packing is not None
        return self._packing[place]

    def place(self, key: FileKey) -> int | None:
        """Where a file is packed; `None` if it is not."""
        for place in self._places.of(hash(key)):
            if place not in self._gone and file_key(self.at(place)) == key:
                return place
        return None

    def packed_places(self) -> list[int]:
        """Where the packed files are."""
        gone = self._gone
        return [place for place in self._places.all().tolist() if place not in gone]

    def mutate(self) -> FileMapChange[A]:
        """A change of this map."""
        return FileMapChange(self)


class FileMapChange(Generic[A]):
    """The making of the next map: mutable until finished, then thrown away."""

    def __init__(self, base: FileMap[A]) -> None:
        self._base: FileMap[A] = base
        self._whole: MapMutation[FileKey, A] = base.whole.mutate()
        self._gone = base._gone
        self._young, self._young_count = base._young, base._young_count

    def __contains__(self, key: FileKey) -> bool:
        if key in self._whole:
            return True
        place = self._base.place(key)
        return place is not None and place not in self._gone

    def pop(self, key: FileKey) -> tuple[A | None, int | None]:
        """Take a file out. Returns it, `None` if it is not there, and where it was packed."""
        file: A | None = self._whole.pop(key, None)
        if file is not None:
            return file, None
        place = self._base.place(key)
        if place is None or place in self._gone:
            return None, None
        if self._gone is self._base._gone:
            self._gone = self._gone.copy()
        self._gone.add(place)
        return self._base.at(place), place

    def put(self, key: FileKey, file: A, is_one_of_many: bool = False) -> None:
        """Put in a file whose key has none."""
        self._whole[key] = file
        if not is_one_of_many:
            self._young = _Younger(key, self._young)
            self._young_count += 1

    def finish(self) -> tuple[FileMap[A], Moved[A]]:
        """The next map, and what was packed in it."""
        base = self._base
        following = FileMap(base._packer)
        following._packing, following._places = base._packing, base._places
        following._gone = self._gone
        moved: Moved[A] = Moved()
        if self._young_count >= 2 * packed.KEPT:
            moved = self._pack(following)
        following.whole = self._whole.finish()
        following._young, following._young_count = self._young, self._young_count
        return following, moved

    def _pack(self, following: FileMap[A]) -> Moved[A]:
        """Pack the older ones of the young files, unless few of these are left."""
        keys, each = [], self._young
        while each is not None:
            if each.key in self._whole:
                keys.append(each.key)
            each = each.before
        keys = list(dict.fromkeys(keys))
        older = [key for key in keys[packed.KEPT :] if key[1] is None]
        self._young, self._young_count = None, 0
        for key in reversed(keys[: packed.KEPT]):
            self._young = _Younger(key, self._young)
            self._young_count += 1
        if not older:
            return Moved()
        files = [self._whole.pop(key) for key in older]
        are_all = len(following._gone) > packed.KEPT + len(following._places) // 2
        if are_all:
            files = [following.at(place) for place in following.packed_places()] + files
            following._packing, following._places, following._gone = None, PlacesByHash(), BitMap()
        if following._packing is None:
            following._packing = Packing(following._packer)
        places = following._packing.extend(files)
        hashes = hashes_of(file_key(file) for file in files)
        following._places = following._places.with_more(hashes, places)
        return Moved(files, places, are_all)
