"""Many things that are seldom asked for, in little room: compressed blocks, found by hashes.

A thing costs some tens of bytes besides what compression leaves of it, where as an object in a
dictionary it takes a kilobyte. Asking for one reads its block; those asked for last are kept.
"""

from __future__ import annotations

import zlib
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import (
    Callable,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from pyroaring import BitMap

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

BLOCK = 64
"""Things in a block: enough to compress well, few enough to read one quickly."""

KEPT_BLOCKS = 64
"""Blocks that stay read: some megabytes."""

KEPT = 4096
"""Things that a map keeps as they are, the newest ones; so many again are packed together."""

KEPT_NUMBERS = 1 << 25
"""Numbers that the newest things may hold, as files of many rows do, before fewer are kept: 256 MB
of row versions, and as much again until they are packed."""

_QUICKLY = 1
"""zlib's quickest level: half the size of more would cost thrice the time."""

NO_PLACES: NDArray[np.int32] = np.zeros(0, np.int32)
"""Where nothing lies."""


class Shelf(Protocol):
    """Where blocks are kept."""

    def keep(self, block: bytes) -> int:
        """Keep a block. Returns its number."""
        ...

    def block(self, number: int) -> bytes:
        """A block that was kept."""
        ...


class InMemory:
    """Blocks in memory."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []

    def keep(self, block: bytes) -> int:
        """Keep a block. Returns its number."""
        self._blocks.append(block)
        return len(self._blocks) - 1

    def block(self, number: int) -> bytes:
        """A block that was kept."""
        return self._blocks[number]


class Packer(Struct, Generic[T], frozen=True):
    """How some things become bytes, and come back equal."""

    pack: Callable[[Sequence[T]], bytes]
    unpack: Callable[[bytes], Sequence[T]]


class Packing(Generic[T]):
    """Things by their places, which are given when they come; none ever goes."""

    def __init__(self, packer: Packer[T], shelf: Shelf | None = None) -> None:
        self._packer = packer
        self._shelf: Shelf = shelf or InMemory()
        self._numbers: list[int] = []
        self._read: OrderedDict[int, Sequence[T]] = OrderedDict()

    def extend(self, entries: Sequence[T]) -> NDArray[np.int32]:
        """Pack some entries. Returns their places."""
        places = []
        for begin in range(0, len(entries), BLOCK):
            part = entries[begin : begin + BLOCK]
            first = len(self._numbers) * BLOCK
            packed = zlib.compress(self._packer.pack(part), _QUICKLY)
            self._numbers.append(self._shelf.keep(packed))
            places.append(np.arange(first, first + len(part), dtype=np.int32))
        return np.concatenate(places) if places else NO_PLACES

    def __getitem__(self, place: int) -> T:
        block, at = divmod(place, BLOCK)
        return self._block(block)[at]

    def _block(self, block: int) -> Sequence[T]:
        entries = self._read.get(block)
        if entries is None:
            packed = self._shelf.block(self._numbers[block])
            entries = self._read[block] = self._packer.unpack(zlib.decompress(packed))
            if len(self._read) > KEPT_BLOCKS:
                self._read.popitem(last=False)
        else:
            self._read.move_to_end(block)
        return entries


_Run = tuple[NDArray[np.int64], NDArray[np.int32]]

MERGED_UNLESS = 4
"""A run stays beside a shorter one if it is so many times as long: then there are few."""


class HashedPlaces(Struct, frozen=True):
    """Which places belong to a hash: sorted runs, the longest first. Never changed once made."""

    runs: tuple[_Run, ...] = ()

    def __len__(self) -> int:
        return sum(len(hashes) for hashes, _ in self.runs)

    def with_more(
        self,
        hashes: NDArray[np.int64],
        places: NDArray[np.int32],
        are_kept: Callable[[NDArray[np.int32]], NDArray[np.bool_]] | None = None,
    ) -> HashedPlaces:
        """These and others; of runs that are merged, only places that `are_kept` stay."""
        runs = list(self.runs)
        parts = [(hashes, places)]
        while runs and len(runs[-1][0]) < MERGED_UNLESS * sum(len(part[0]) for part in parts):
            parts.append(runs.pop())
        hashes, places = (np.concatenate([part[at] for part in parts]) for at in (0, 1))
        if are_kept is not None:
            kept = are_kept(places)
            hashes, places = hashes[kept], places[kept]
        order = np.argsort(hashes, kind="stable")
        return HashedPlaces((*runs, (hashes[order], places[order])))

    def of(self, key_hash: int) -> Iterator[int]:
        """The places of a hash."""
        for hashes, places in self.runs:
            at = int(hashes.searchsorted(key_hash))
            while at < len(hashes) and hashes[at] == key_hash:
                yield int(places[at])
                at += 1

    def with_any(self, hashes: NDArray[np.int64]) -> NDArray[np.int32]:
        """The places of some hashes."""
        hits = []
        for run, places in self.runs:
            begins, ends = run.searchsorted(hashes), run.searchsorted(hashes, "right")
            present = (begins < ends).nonzero()[0]
            hits += [places[begins[at] : ends[at]] for at in present.tolist()]
        return np.concatenate(hits) if hits else NO_PLACES

    def all(self) -> NDArray[np.int32]:
        """Every place, in order."""
        runs = [places for _, places in self.runs]
        return np.sort(np.concatenate(runs)) if runs else NO_PLACES


def hashes_of(keys: Iterable[Any]) -> NDArray[np.int64]:
    """Python's own hashes: they differ between processes, and decide nothing but where to look."""
    return np.fromiter(map(hash, keys), np.int64)


class LookedUp(Mapping[K, T]):
    """A mapping whose keys can be looked up without the exception that `get` goes by."""

    __slots__ = ()

    @abstractmethod
    def look_up(self, key: K) -> T | None:
        """The value of a key, `None` if it has none."""

    def __getitem__(self, key: K) -> T:
        value = self.look_up(key)
        if value is None:
            raise KeyError(key)
        return value


class GrowingMap(LookedUp[K, T], MutableMapping[K, T]):
    """A dictionary that takes new keys without a look at those that it has."""

    @abstractmethod
    def add(self, key: K, value: T) -> None:
        """Put in a value of a key that has none."""


class UnpackedMap(dict[K, T]):
    """A dictionary with the verbs of a packed one: all of its values stay as they are."""

    def add(self, key: K, value: T) -> None:
        """Put in a value of a key that has none."""
        self[key] = value

    def take_out(self, key: K) -> T | None:
        """The value of a key, `None` if it has none; and it has none any more."""
        return self.pop(key, None)


class PackedMap(GrowingMap[K, T]):
    """A dictionary whose older values are packed, but for those that `stay` as they are.

    `numbers` says how many a value holds, of those that could fill the memory.
    """

    def __init__(
        self,
        packer: Packer[tuple[K, T]],
        shelf: Shelf | None = None,
        stays: Callable[[T], bool] = lambda _: False,
        numbers: Callable[[T], int] = lambda _: 0,
    ) -> None:
        self._packing = Packing(packer, shelf)
        self._stays = stays
        self._numbers = numbers
        self._new_numbers = 0
        self._places = HashedPlaces()
        self._gone = BitMap()
        self._new: dict[K, T] = {}
        self._staying: dict[K, T] = {}

    def __getitem__(self, key: K) -> T:
        value = self._new.get(key)
        return super().__getitem__(key) if value is None else value

    def look_up(self, key: K) -> T | None:
        """The value of a key, `None` if it has none."""
        if key in self._new:
            return self._new[key]
        if key in self._staying:
            return self._staying[key]
        place = self._place(key)
        return None if place is None else self._packing[place][1]

    def take_out(self, key: K) -> T | None:
        """`look_up`, and the key has no value any more."""
        value = self.look_up(key)
        if value is not None:
            del self[key]
        return value

    def __setitem__(self, key: K, value: T) -> None:
        if key in self._new:
            self._new_numbers += self._numbers(value) - self._numbers(self._new[key])
            self._new[key] = value
            return
        self._staying.pop(key, None)
        place = self._place(key)
        if place is not None:
            self._gone.add(place)
        self.add(key, value)

    def add(self, key: K, value: T) -> None:
        """Put in a value of a key that has none."""
        self._new[key] = value
        self._new_numbers += self._numbers(value)
        if len(self._new) >= 2 * KEPT or self._new_numbers >= 2 * KEPT_NUMBERS:
            self._pack(self._oldest())

    def _oldest(self) -> list[K]:
        """The keys of what is packed next: of so many, or of what holds so many numbers."""
        oldest, numbers = [], 0
        for key, value in islice(self._new.items(), KEPT):
            oldest.append(key)
            numbers += self._numbers(value)
            if numbers >= KEPT_NUMBERS:
                break
        return oldest

    def __delitem__(self, key: K) -> None:
        if key in self._new:
            self._new_numbers -= self._numbers(self._new.pop(key))
            return
        if key in self._staying:
            del self._staying[key]
            return
        place = self._place(key)
        if place is None:
            raise KeyError(key)
        self._gone.add(place)

    def __contains__(self, key: object) -> bool:
        return key in self._new or key in self._staying or self._place(key) is not None

    def __len__(self) -> int:
        return len(self._new) + len(self._staying) + len(self._live())

    def __iter__(self) -> Iterator[K]:
        yield from self._staying
        yield from (self._packing[place][0] for place in self._live().tolist())
        yield from self._new

    def _live(self) -> NDArray[np.int32]:
        if not self._places.runs:
            return NO_PLACES
        places = self._places.all()
        return places[self._are_kept(places)]

    def _are_kept(self, places: NDArray[np.int32]) -> NDArray[np.bool_]:
        gone = np.asarray(self._gone.to_array()).view(np.int32)
        return np.isin(places, gone, invert=True)

    def _place(self, key: object) -> int | None:
        for place in self._places.of(hash(key)):
            if place not in self._gone and self._packing[place][0] == key:
                return place
        return None

    def _pack(self, keys: Sequence[K]) -> None:
        packed = []
        for key in keys:
            value = self._new.pop(key)
            self._new_numbers -= self._numbers(value)
            if self._stays(value):
                self._staying[key] = value
            else:
                packed.append((key, value))
        places = self._packing.extend(packed)
        hashes = hashes_of(key for key, _ in packed)
        self._places = self._places.with_more(hashes, places, self._are_kept)
