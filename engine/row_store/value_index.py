"""Where the values of a column are: the files of one row store that hold them.

A row stays where its commit put it until another commit copies it into a new file. So it is
entered once, when its first version appears, and known by that version's number: an UPDATE of
fractions, which no index is asked for, makes no other row of it. Where it is now is one number that
every rewrite sets for all rows of a file at the speed of arrays, and where it was is asked of the
files that the same commit removed. Some engines let two commits copy the same rows: the number is
then that of the newest file with them, which knows the others.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from itertools import chain, islice
from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from pyroaring import BitMap

from whitecap.engine.packed import blocks
from whitecap.engine.packed.blocks import HashedPlaces, PackedMap, Packer, hashes_of
from whitecap.engine.row_store.columns import Ids
from whitecap.engine.row_store.packed_rows import PlainRows, Stores
from whitecap.engine.row_store.row_store import RowStore
from whitecap.engine.row_store.stored_rows import StoredRows

K = TypeVar("K", bound=Hashable)
F = TypeVar("F")

_NOWHERE = -1

_MOSTLY_DIFFERENT = 0.25
"""Share of values that differ from which on a column's rows are entered, rather than its files: an
entry for each row is worth it where a value is in few of them."""


AreThere = Callable[[NDArray[np.int32]], NDArray[np.bool_]]
"""Which of these row versions are in some file."""


class FileNode(Struct, eq=False):
    """A file, from the commit on that added it. That commit removed the files of `origins`.

    `others` are the numbers of all older files that may have some of its rows too.
    """

    number: int
    path: str
    rows: StoredRows
    added: int
    origins: tuple[FileNode, ...]
    others: frozenset[int] = frozenset()

    def forget(self) -> None:
        """Drop its origins: every snapshot that anybody still reads is newer than its removal."""
        self.rows, self.origins = self.rows[:0], ()

    def lines(self) -> Ids:
        """The rows of the file, each by the number of its first version."""
        return self.rows.store.lines(self.rows.ids)

    def holds(self, row: int) -> bool:
        """Whether a row is in the file."""
        return bool((self.lines() == row).any())


_PlainNode = tuple[int, str, int, PlainRows, list[int]]

_NODES = msgspec.msgpack.Decoder(list[_PlainNode])


def packer_of_nodes(key: Callable[[FileNode], K]) -> Packer[tuple[K, FileNode]]:
    """Packs files by their key. Nobody reads anything older, so that their origins can go."""
    stores = Stores()

    def pack(entries: Sequence[tuple[K, FileNode]]) -> bytes:
        nodes = [
            (n.number, n.path, n.added, stores.plain(n.rows), sorted(n.others)) for _, n in entries
        ]
        return msgspec.msgpack.encode(nodes)

    def unpack(content: bytes) -> list[tuple[K, FileNode]]:
        nodes = [
            FileNode(number, path, stores.rows(rows), added, (), frozenset(others))
            for number, path, added, rows, others in _NODES.decode(content)
        ]
        return [(key(node), node) for node in nodes]

    return Packer(pack, unpack)


IsLive = Callable[[str], bool]
"""Whether a path is live in a snapshot."""

LiveAt = Callable[[str], F | None]
"""What is live at a path in a snapshot, `None` if nothing is."""


class ByRow:
    """A column whose values are in few rows each, such as a key: one entry for every row version.

    Older entries are sorted hashes; which of them are right is looked up in the column itself.
    """

    def __init__(self, store: RowStore, place: int, are_there: AreThere) -> None:
        self._store = store
        self._place = place
        self._are_there = are_there
        self._rows: dict[Any, int] = {}
        self._more: dict[Any, list[int]] = {}
        self._older = HashedPlaces()

    def enter(self, values: Sequence[Any], rows: Sequence[int]) -> None:
        """Note where values are."""
        fresh = dict(zip(values, rows, strict=True))
        if len(fresh) == len(rows) and self._has_none_of(fresh):
            self._rows.update(fresh)
        else:
            self._enter_each(values, rows)
        if len(self._rows) > blocks.KEPT:
            self._pack()

    def _has_none_of(self, fresh: Mapping[Any, int]) -> bool:
        return self._rows.keys().isdisjoint(fresh) and self._more.keys().isdisjoint(fresh)

    def _enter_each(self, values: Iterable[Any], rows: Iterable[int]) -> None:
        for value, row in zip(values, rows, strict=True):
            if value in self._rows or value in self._more:
                self._more.setdefault(value, []).append(row)
            else:
                self._rows[value] = row

    def leave(self, values: Iterable[Any], rows: Iterable[int]) -> None:
        """Forget row versions; older ones go when they are found to be nowhere."""
        for value, row in zip(values, rows, strict=True):
            if self._rows.get(value) == row:
                del self._rows[value]
            elif row in self._more.get(value, ()):
                self._more[value].remove(row)

    def with_any(self, values: Collection[Any]) -> list[int]:
        """The versions that have one of these values; some of them may be in no file any more."""
        rows: list[int] = []
        for value in values:
            row = self._rows.get(value)
            if row is not None:
                rows.append(row)
            rows += self._more.get(value, ())
        return rows + self._older_with_any(values)

    def _older_with_any(self, values: Collection[Any]) -> list[int]:
        """Versions from the hashed entries, without those that only have the same hash."""
        places = self._older.with_any(hashes_of(values))
        if not len(places):
            return []
        column = self._store.columns[self._place].values(places.astype(np.intp))
        wanted = set(values)
        return [row for row, value in zip(places.tolist(), column, strict=True) if value in wanted]

    def _pack(self) -> None:
        more = [(value, row) for value, rows in self._more.items() for row in rows]
        hashes = hashes_of(chain(self._rows, (value for value, _ in more)))
        rows = np.array([*self._rows.values(), *(row for _, row in more)], np.int32)
        self._older = self._older.with_more(hashes, rows, self._are_there)
        self._rows.clear()
        self._more.clear()


class StoreIndex:
    """The files of one row store, and the columns that are indexed.

    `nodes` keeps its files by number.
    """

    def __init__(self, store: RowStore, nodes: PackedMap[int, FileNode]) -> None:
        self.store = store
        self._at: NDArray[np.int32] = np.full(1024, _NOWHERE, np.int32)
        self._nodes = nodes
        self._by_row: dict[int, ByRow] = {}
        self._by_file: dict[int, dict[Any, BitMap]] = {}
        self._are_doubled = False

    def look_for_copies(self, node: FileNode, is_live: IsLive) -> None:
        """Note if another live file has rows of a new one: rows may be in several from then on."""
        if not self._are_doubled:
            others = (self._nodes[number].path for number in self._files_of(node.lines()))
            self._are_doubled = any(map(is_live, others))

    def enter(self, node: FileNode, hides_rows: bool = False) -> None:
        """A commit added a file.

        A file that `hides_rows` from the beginning is that of a compaction with concurrent winners:
        rows they rewrote stay in their files, and rows they deleted are nowhere. Its other rows
        come from its origins.
        """
        self._nodes.add(node.number, node)
        lines, at = node.lines(), self._room()
        fresh = lines[at[lines] == _NOWHERE]
        if self._are_doubled:
            node.others = self._others(node, lines)
        elif hides_rows:
            moved_from = [_NOWHERE, *(origin.number for origin in node.origins)]
            lines = lines[np.isin(at[lines], moved_from)]
        at[lines] = node.number
        for place, by_row in self._by_row.items():
            by_row.enter(self.store.columns[place].values(fresh), fresh.tolist())
        for place, by_file in self._by_file.items():
            for value in node.rows.distinct(place):
                by_file.setdefault(value, BitMap()).add(node.number)

    def _others(self, node: FileNode, lines: Ids) -> frozenset[int]:
        """The files that may have rows of a new one, with those that its origins knew of.

        Of a file that hides rows this may be one that has them instead.
        """
        origins = {origin.number: origin for origin in node.origins}
        beside = [self._nodes[number] for number in self._files_of(lines) - origins.keys()]
        others = {each.number for each in beside}
        others.update(*(each.others for each in (*origins.values(), *beside)))
        return frozenset(number for number in others if number in self._nodes)

    def _files_of(self, lines: Ids) -> set[int]:
        """The newest file of each of some rows."""
        return set(self._room()[lines].tolist()) - {_NOWHERE}

    def leave(self, node: FileNode) -> None:
        """No snapshot that anybody reads has the file any more."""
        del self._nodes[node.number]
        lines = node.lines()
        dead = self._left_nowhere(node, lines[self._at[lines] == node.number])
        for place, by_row in self._by_row.items():
            by_row.leave(self.store.columns[place].values(dead), dead.tolist())
        for place, by_file in self._by_file.items():
            for value in node.rows.distinct(place):
                by_file[value].discard(node.number)
        node.forget()

    def _left_nowhere(self, node: FileNode, lines: Ids) -> Ids:
        """Those of some lines, which were in a file last, that no other file has."""
        self._at[lines] = _NOWHERE
        for number in sorted(node.others):
            if number in self._nodes:
                also = self._nodes[number].lines()
                self._at[lines[np.isin(lines, also)]] = number
        gone: Ids = lines[self._at[lines] == _NOWHERE]
        return gone

    def files_with(
        self, pins: Mapping[str, Collection[Any]], version: int, live_at: LiveAt[F]
    ) -> dict[str, F]:
        """By path, the files of a version's snapshot that may hold a row with the pinned values.

        Where values are in few rows, by the column with the fewest of them; else by all columns.
        """
        if not all(column in self.store.names for column in pins):
            return {}
        places = {self._begun(column): values for column, values in pins.items()}
        by_row = [place for place in places if place in self._by_row]
        if not by_row:
            return self._live(places, live_at)
        place = min(by_row, key=lambda place: len(places[place]))
        files: dict[str, F] = {}
        for row in self._by_row[place].with_any(places[place]):
            self._note_file_of(row, version, live_at, files)
        return files

    def _live(self, pins: Mapping[int, Collection[Any]], live_at: LiveAt[F]) -> dict[str, F]:
        """The live files among those with one of the values in each column."""
        numbers = BitMap.intersection(
            *(_united(self._by_file[place], values) for place, values in pins.items())
        )
        paths = (self._nodes[number].path for number in numbers)
        return {path: file for path in paths if (file := live_at(path)) is not None}

    def _note_file_of(
        self, row: int, version: int, live_at: LiveAt[F], files: dict[str, F]
    ) -> None:
        """Add the files that hold a row in a snapshot, which may be older than the index."""
        number = int(self._at[row])
        if number == _NOWHERE:
            return
        newest = self._nodes[number]
        nodes = [newest, *self._others_with(row, newest)] if newest.others else [newest]
        while nodes:
            node = nodes.pop()
            if node.path in files:
                continue
            file = live_at(node.path)
            if file is not None:
                files[node.path] = file
            elif node.added > version:
                nodes += self._origins_with(row, node)

    def _others_with(self, row: int, node: FileNode) -> Iterator[FileNode]:
        """The other files that hold a row."""
        others = (self._nodes[number] for number in node.others if number in self._nodes)
        return (other for other in others if other.holds(row))

    def _origins_with(self, row: int, node: FileNode) -> Iterable[FileNode]:
        """The files that held a row before: one, if rows are not doubled."""
        origins = (origin for origin in node.origins if origin.holds(row))
        return origins if self._are_doubled else islice(origins, 1)

    def begin(self, column: str) -> None:
        """Index a column from now on, if it exists."""
        if column in self.store.names:
            self._begun(column)

    def _begun(self, column: str) -> int:
        """The place of a column that is indexed from now on."""
        place = self.store.names.index(column)
        if place not in self._by_row and place not in self._by_file:
            self._begin(place)
        return place

    def _begin(self, place: int) -> None:
        ids = np.flatnonzero(self._at != _NOWHERE)
        values = self.store.columns[place].values(ids)
        if not values or len(set(values)) >= _MOSTLY_DIFFERENT * len(values):
            by_row = self._by_row[place] = ByRow(self.store, place, self._are_there)
            by_row.enter(values, ids.tolist())
            return
        by_file = self._by_file[place] = {}
        for node in self._nodes.values():
            if node.rows.store is not self.store:
                continue
            for value in node.rows.distinct(place):
                by_file.setdefault(value, BitMap()).add(node.number)

    def _are_there(self, rows: NDArray[np.int32]) -> NDArray[np.bool_]:
        there: NDArray[np.bool_] = self._at[rows] != _NOWHERE
        return there

    def _room(self) -> NDArray[Any]:
        if self.store.count > len(self._at):
            size = max(self.store.count, 2 * len(self._at))
            more = np.full(size - len(self._at), _NOWHERE, np.int32)
            self._at = np.concatenate([self._at, more])
        return self._at


def _united(by_file: Mapping[Any, BitMap], values: Iterable[Any]) -> BitMap:
    """The numbers of the files that hold one of the values."""
    return BitMap.union(BitMap(), *(by_file[value] for value in values if value in by_file))
