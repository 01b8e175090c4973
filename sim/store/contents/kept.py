"""What the fake store keeps: objects, data files as rows, and which commits landed."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct, field

from whitecap.engine.log.commit_file import Commit, encode_commit
from whitecap.engine.packed.blocks import Packer
from whitecap.engine.row_store.packed_rows import PlainRows, Stores
from whitecap.engine.row_store.stored_rows import StoredRows
from whitecap.engine.storage.requests import Entry, WriteRows

_NOBODY = -1


class DescribedCommit(Struct, frozen=True):
    """A commit file whose bytes are made when somebody reads them; how many, is known."""

    commit: Commit
    size_bytes: int

    def __bytes__(self) -> bytes:
        return encode_commit(self.commit.actions)


class StoredObject(Struct):
    """An object's bytes, and how listings show it."""

    content: bytes | DescribedCommit
    entry: Entry

    @property
    def body(self) -> bytes:
        """Its bytes, perhaps made anew."""
        return bytes(self.content)

    @property
    def is_described(self) -> bool:
        """Whether there are no bytes until somebody reads them."""
        return isinstance(self.content, DescribedCommit)

    @property
    def modified_at_ms(self) -> int:
        """When its bytes took effect, epoch milliseconds."""
        return self.entry.modified_at_ms


class StoredDataFile(Struct, frozen=True):
    """A data file as it was written, and when (simulated)."""

    written: WriteRows
    written_at_ms: float

    @property
    def is_stored(self) -> bool:
        """Whether its rows are kept by columns, and not described or as a list."""
        return isinstance(self.written.rows, StoredRows)

    @property
    def row_versions(self) -> int:
        """The numbers of row versions that are kept for it."""
        return len(self.written.rows) if self.is_stored else 0


class Landing(Struct, frozen=True):
    """A commit file that was created: when (simulated), and by which transaction."""

    version: int
    landed_at_ms: float
    transaction_id: int | None


class Landings(Struct):
    """All of them, in the order in which they came."""

    _versions: array[int] = field(default_factory=lambda: array("q"))
    _landed_at_ms: array[float] = field(default_factory=lambda: array("d"))
    _transaction_ids: array[int] = field(default_factory=lambda: array("q"))
    newest: int = -1
    """The greatest version that ever came."""

    def __len__(self) -> int:
        return len(self._versions)

    def __iter__(self) -> Iterator[Landing]:
        columns = (self._versions, self._landed_at_ms, self._transaction_ids)
        for version, at_ms, owner in zip(*columns, strict=True):
            yield Landing(version, at_ms, None if owner == _NOBODY else owner)

    def add(self, version: int, landed_at_ms: float, transaction_id: int | None) -> None:
        """One more."""
        self.newest = max(self.newest, version)
        self._versions.append(version)
        self._landed_at_ms.append(landed_at_ms)
        self._transaction_ids.append(_NOBODY if transaction_id is None else transaction_id)

    def without(self, version: int) -> list[Landing]:
        """Drop those of a version. Returns them."""
        everyone = list(self)
        for column in (self._versions, self._landed_at_ms, self._transaction_ids):
            del column[:]
        for landing in everyone:
            if landing.version != version:
                self.add(landing.version, landing.landed_at_ms, landing.transaction_id)
        return [landing for landing in everyone if landing.version == version]


_PLAIN_OBJECTS = msgspec.msgpack.Decoder(list[tuple[str, bytes, int]])
_PLAIN_FILES = msgspec.msgpack.Decoder(list[tuple[str, int, PlainRows, float]])


def _pack_objects(entries: Sequence[tuple[str, StoredObject]]) -> bytes:
    return msgspec.msgpack.encode([(key, each.body, each.modified_at_ms) for key, each in entries])


def _unpack_objects(content: bytes) -> list[tuple[str, StoredObject]]:
    return [
        (key, StoredObject(body, Entry(key, len(body), modified_at_ms)))
        for key, body, modified_at_ms in _PLAIN_OBJECTS.decode(content)
    ]


OBJECTS: Packer[tuple[str, StoredObject]] = Packer(_pack_objects, _unpack_objects)

_Layout = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


def packer_of_data_files() -> Packer[tuple[str, StoredDataFile]]:
    """Packs data files whose rows are kept by columns."""
    stores, layouts = Stores(), dict[_Layout, int]()

    def plain(key: str, file: StoredDataFile) -> tuple[str, int, PlainRows, float]:
        written = file.written
        assert isinstance(written.rows, StoredRows)
        layout = written.columns, written.types, written.partition_columns
        number = layouts.setdefault(layout, len(layouts))
        return key, number, stores.plain(written.rows), file.written_at_ms

    def pack(entries: Sequence[tuple[str, StoredDataFile]]) -> bytes:
        return msgspec.msgpack.encode([plain(key, file) for key, file in entries])

    def unpack(content: bytes) -> list[tuple[str, StoredDataFile]]:
        numbered = list(layouts)
        return [
            (
                key,
                StoredDataFile(WriteRows(key, stores.rows(rows), *numbered[layout]), written_at_ms),
            )
            for key, layout, rows, written_at_ms in _PLAIN_FILES.decode(content)
        ]

    return Packer(pack, unpack)
