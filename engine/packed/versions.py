"""A persistent map whose older part is packed.

Of a table that grows most files are asked for seldom: as objects they take a kilobyte each, packed
a tenth of it. Things that come by the thousand at once stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence, ValuesView
from typing import Any, Generic, TypeVar

import numpy as np
from immutables import Map, MapMutation
from msgspec import Struct, field
from numpy.typing import NDArray

from whitecap.engine.packed import blocks
from whitecap.engine.packed.blocks import HashedPlaces, LookedUp, Packer, Packing, hashes_of

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Contained(Struct, Generic[K, T], frozen=True):
    """What is in a map: how it is packed, the key that is in each thing, and which keys stay."""

    packer: Packer[T]
    key_of: Callable[[T], K]
    stays: Callable[[K], bool]


_Younger = tuple[Any, "_Younger | None"]
"""The key that came last, and those before."""


class Moved(Struct, Generic[T], frozen=True):
    """Values that were packed, each with its place; `are_all`: others have no place any more."""

    values: Sequence[T] = ()
    places: NDArray[np.int32] = field(default_factory=lambda: blocks.NO_PLACES)
    are_all: bool = False


class VersionedMap(LookedUp[K, T]):
    """Things by key, never changed once made: `mutate` makes the next map."""

    __slots__ = ("_contained", "_gone", "_packing", "_places", "_young", "_young_count", "whole")

    def __init__(self, contained: Contained[K, T]) -> None:
        self._contained = contained
        self.whole: Map[K, T] = Map()
        self._packing: Packing[T] | None = None
        self._places = HashedPlaces()
        self._gone: Map[int, bool] = Map()
        self._young: _Younger | None = None
        self._young_count = 0

    def look_up(self, key: K) -> T | None:
        """The thing of a key, `None` if there is none: without the exception that `get` goes by."""
        value: T | None = self.whole.get(key)
        if value is not None:
            return value
        place = self.place(key)
        return None if place is None else self.at(place)

    def __contains__(self, key: object) -> bool:
        return key in self.whole or self.place(key) is not None

    def __len__(self) -> int:
        return len(self.whole) + len(self._places) - len(self._gone)

    def __iter__(self) -> Iterator[K]:
        yield from self.whole
        yield from (self._contained.key_of(self.at(place)) for place in self.packed_places())

    def values(self) -> ValuesView[T]:
        """The things, block by block: none is looked up by its key."""
        return _Values(self)

    def at(self, place: int) -> T:
        """The packed thing at a place."""
        assert self._packing is not None
        return self._packing[place]

    def place(self, key: object) -> int | None:
        """Where a thing is packed; `None` if it is not."""
        if not self._places.runs:
            return None
        for place in self._places.of(hash(key)):
            if place not in self._gone and self._contained.key_of(self.at(place)) == key:
                return place
        return None

    def packed_places(self) -> list[int]:
        """Where the packed things are."""
        return self.still_there(self._places.all())

    def still_there(self, places: NDArray[np.int32]) -> list[int]:
        """Those of some places whose things were not taken out."""
        gone = self._gone
        return [place for place in places.tolist() if place not in gone]

    def mutate(self) -> MapChange[K, T]:
        """A change of this map."""
        return MapChange(self)


class _Values(ValuesView[T]):
    def __init__(self, entries: VersionedMap[Any, T]) -> None:
        super().__init__(entries)
        self._entries = entries

    def __iter__(self) -> Iterator[T]:
        yield from self._entries.whole.values()
        yield from map(self._entries.at, self._entries.packed_places())


class MapChange(Generic[K, T]):
    """The making of the next map: mutable until finished, then thrown away."""

    def __init__(self, base: VersionedMap[K, T]) -> None:
        self._base: VersionedMap[K, T] = base
        self._whole: MapMutation[K, T] = base.whole.mutate()
        self._gone = base._gone
        self._young, self._young_count = base._young, base._young_count

    def __contains__(self, key: object) -> bool:
        if key in self._whole:
            return True
        place = self._base.place(key)
        return place is not None and place not in self._gone

    def __len__(self) -> int:
        return len(self._whole) + len(self._base._places) - len(self._gone)

    def pop(self, key: K) -> tuple[T | None, int | None]:
        """Take a value out. Returns it, `None` if it is not there, and where it was packed."""
        value: T | None = self._whole.pop(key, None)
        if value is not None:
            return value, None
        place = self._base.place(key)
        if place is None or place in self._gone:
            return None, None
        self._gone = self._gone.set(place, True)
        return self._base.at(place), place

    def put(self, key: K, value: T, is_one_of_many: bool = False) -> None:
        """Put in a value whose key has none."""
        self._whole[key] = value
        if not is_one_of_many:
            self._young = (key, self._young)
            self._young_count += 1

    def finish(self) -> tuple[VersionedMap[K, T], Moved[T]]:
        """The next map, and what was packed in it."""
        base = self._base
        following = VersionedMap(base._contained)
        following._packing, following._places = base._packing, base._places
        following._gone = self._gone
        moved: Moved[T] = Moved()
        if self._young_count >= 2 * blocks.KEPT:
            moved = self._pack(following)
        following.whole = self._whole.finish()
        following._young, following._young_count = self._young, self._young_count
        return following, moved

    def _pack(self, following: VersionedMap[K, T]) -> Moved[T]:
        """Pack the older ones of the young things, unless few of these are left."""
        older = self._grown_old()
        if not older:
            return Moved()
        values = [self._whole.pop(key) for key in older]
        are_all = len(following._gone) > blocks.KEPT + len(following._places) // 2
        if are_all:
            values = [following.at(place) for place in following.packed_places()] + values
            following._packing, following._places, following._gone = None, HashedPlaces(), Map()
        contained = following._contained
        if following._packing is None:
            following._packing = Packing(contained.packer)
        places = following._packing.extend(values)
        hashes = hashes_of(contained.key_of(value) for value in values)
        following._places = following._places.with_more(hashes, places)
        return Moved(values, places, are_all)

    def _grown_old(self) -> list[K]:
        """The keys that were young, without those that stay as they are; the newest remain so."""
        keys = self._young_keys()
        self._young, self._young_count = None, 0
        for key in reversed(keys[: blocks.KEPT]):
            self._young = (key, self._young)
            self._young_count += 1
        return [key for key in keys[blocks.KEPT :] if not self._base._contained.stays(key)]

    def _young_keys(self) -> list[K]:
        """Of the young keys those that are still there, from the newest on."""
        keys: dict[K, None] = {}
        young = self._young
        while young is not None:
            key, young = young
            if key in self._whole:
                keys[key] = None
        return list(keys)
