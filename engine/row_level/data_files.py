"""The rows of data files, kept once read: a data file never changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct
from pyroaring import BitMap64

from whitecap.engine.log.actions import AddFile, RemoveFile
from whitecap.engine.log.schema import Schema
from whitecap.engine.log.vectors.deletion_vectors import (
    INLINE,
    VectorIsGone,
    read_vector,
    vector_key,
)
from whitecap.engine.packed.blocks import PackedMap, Packer, Shelf, UnpackedMap
from whitecap.engine.refusals import table_errors
from whitecap.engine.row_level.shown_values import as_read
from whitecap.engine.row_store.packed_rows import PlainRows, Stores
from whitecap.engine.row_store.row_store import FileColumns, RowStore
from whitecap.engine.row_store.rows import edited, rows_at
from whitecap.engine.row_store.stored_rows import StoredRows
from whitecap.engine.storage.columns import in_columns
from whitecap.engine.storage.paths import data_key, log_path
from whitecap.engine.storage.requests import Gone, ReadRows, Row, RowsOf, Steps

Columns = tuple[str, ...]
"""Column names as in data files: they stay when a column is renamed."""


_Kept = tuple[Columns, Sequence[Row]]

_PACKED = msgspec.msgpack.Decoder(list[tuple[str, Columns, PlainRows]])


def _stays(kept: _Kept) -> bool:
    return not isinstance(kept[1], StoredRows)


def _row_versions(kept: _Kept) -> int:
    return 0 if _stays(kept) else len(kept[1])


def _packed(shelf: Shelf | None) -> PackedMap[str, _Kept]:
    return PackedMap(_packer(), shelf, _stays, _row_versions)


def _packer() -> Packer[tuple[str, _Kept]]:
    stores = Stores()

    def pack(entries: Sequence[tuple[str, _Kept]]) -> bytes:
        plain = [
            (path, columns, stores.plain(rows))
            for path, (columns, rows) in entries
            if isinstance(rows, StoredRows)
        ]
        return msgspec.msgpack.encode(plain)

    def unpack(content: bytes) -> list[tuple[str, _Kept]]:
        plain = _PACKED.decode(content)
        return [(path, (columns, stores.rows(rows))) for path, columns, rows in plain]

    return Packer(pack, unpack)


class FileRows(Struct, frozen=True):
    """A file with its rows; `deleted` are the positions that its deletion vector hides."""

    file: AddFile
    rows: Sequence[Row]
    deleted: BitMap64 | None = None

    def __iter__(self) -> Iterator[tuple[int, Row]]:
        """The live rows, with their positions in the file."""
        if self.deleted is None:
            return enumerate(self.rows)
        hidden = self.deleted
        return ((at, row) for at, row in enumerate(self.rows) if at not in hidden)

    def rows_at(self, positions: Sequence[int]) -> Iterator[tuple[int, Row]]:
        """The rows at some positions, with these."""
        return zip(positions, rows_at(self.rows, positions), strict=True)

    def live_rows(self) -> Sequence[Row]:
        """The live rows, in file order."""
        return self.live_rows_with({})

    def live_rows_without(self, positions: Iterable[int]) -> Sequence[Row]:
        """The live rows but for those at some positions, in file order."""
        return self.live_rows_with(dict.fromkeys(positions))

    def live_rows_with(self, changes: Mapping[int, Row | None]) -> Sequence[Row]:
        """The live rows, others in place of some, without those that become `None`."""
        hidden = dict.fromkeys(self.deleted or ())
        return edited(self.rows, {**hidden, **changes} if hidden else changes)

    def live(self, positions: list[int]) -> list[int]:
        """Those of some positions that hold live rows."""
        hidden = self.deleted
        return positions if hidden is None else [at for at in positions if at not in hidden]

    @property
    def live_count(self) -> int:
        """How many rows are live."""
        return len(self.rows) - (0 if self.deleted is None else len(self.deleted))


class DataFiles:
    """The rows of one table's files, by path in the log.

    `by_column`: row versions are kept once, in arrays that are packed in time, which pays where
    files are rewritten again and again; else as the lists that they are given as.
    """

    def __init__(self, by_column: bool = False, shelf: Shelf | None = None) -> None:
        self.shelf = shelf
        self._rows: PackedMap[str, _Kept] | UnpackedMap[str, _Kept]
        self._rows = _packed(shelf) if by_column else UnpackedMap()
        self._vectors: dict[str, BitMap64] = {}
        self._vectors_in: dict[str, list[str]] = {}
        self._empty_columns: dict[str, Columns] = {}
        self._stores: dict[FileColumns, RowStore] | None = {} if by_column else None

    def __len__(self) -> int:
        """How many files have their rows here."""
        return len(self._rows)

    def branched(self) -> DataFiles:
        """What is known here, for a history of its own: what either adds, the other never sees."""
        other = DataFiles()
        other._rows = UnpackedMap(self._rows)
        other._vectors = dict(self._vectors)
        other._vectors_in = {key: list(names) for key, names in self._vectors_in.items()}
        other._empty_columns = dict(self._empty_columns)
        return other

    def stored(self, columns: FileColumns, rows: Sequence[Row]) -> Sequence[Row]:
        """The rows as they are kept here."""
        if self._stores is None or not len(rows):
            return rows
        store = self._stores.get(columns)
        if store is None:
            store = self._stores[columns] = RowStore(columns)
        if isinstance(rows, StoredRows) and rows.store is store:
            return rows
        return store.stored(rows)

    def keep(self, path: str, columns: Columns, rows: Sequence[Row]) -> None:
        """Remember the rows of a file that was not known, as `stored` gave them."""
        if isinstance(rows, StoredRows):
            rows.settle()
        self._rows.add(path, (columns, rows))

    def note_empty_column(self, path: str, column: str) -> None:
        """Remember a column that a file has beside those of its rows, with NULL in each."""
        self._empty_columns[path] = (column,)

    def rows_of(self, path: str) -> Sequence[Row]:
        """The rows of a file that was read or written here."""
        return self._rows[path][1]

    def read(self, files: Sequence[AddFile], schema: Schema) -> Steps[list[FileRows]]:
        """The rows of files in the columns of `schema`; those added later are NULL in old files.

        Asks the store, in one request, for the files that nobody here has read.
        """
        yield from self.fetch(files, schema)
        wanted = schema.physical_names
        seen = as_read(schema)
        contents = []
        for file in files:
            deleted = None
            if file.deletion_vector is not None:
                deleted = yield from self.vector(file)
            columns, rows = self._rows[file.path]
            contents.append(FileRows(file, seen(in_columns(rows, columns, wanted)), deleted))
        return contents

    def vector(self, file: AddFile | RemoveFile) -> Steps[BitMap64]:
        """The positions that a file's deletion vector hides.

        Raises `DeltaError` where it is not there any more, which Spark says of the data file.
        """
        assert file.deletion_vector is not None
        name = file.deletion_vector.unique_id
        vector = self._vectors.get(name)
        if vector is None:
            vector = self._vectors[name] = yield from self._read_vector(file)
        return vector

    def _read_vector(self, file: AddFile | RemoveFile) -> Steps[BitMap64]:
        vector = file.deletion_vector
        assert vector is not None
        try:
            positions = yield from read_vector(vector)
        except VectorIsGone as error:
            raise table_errors.file_is_gone(data_key(file.path)) from error
        if vector.storage_type != INLINE:
            self._vectors_in.setdefault(vector_key(vector), []).append(vector.unique_id)
        return positions

    def fetch(self, files: Iterable[AddFile], schema: Schema) -> Steps[None]:
        """Ask the store, in one request, for the files that nobody here has read.

        Raises `DeltaError` for a file that is not there any more.
        """
        missing = {file.path: file for file in files if file.path not in self._rows}
        if not missing:
            return
        keys = tuple(data_key(path) for path in missing)
        names = schema.physical_names
        values = tuple(file.partition_values for file in missing.values())
        answer: RowsOf | Gone = yield ReadRows(keys, names, schema.types, values)
        if isinstance(answer, Gone):
            raise table_errors.file_is_gone(answer.key)
        for path, rows in zip(missing, answer.rows, strict=True):
            self.keep(path, names, self.stored((names, schema.types), rows))

    def columns_of(self, path: str) -> Columns:
        """The columns of a file that was read or written here."""
        return self._rows[path][0] + self._empty_columns.get(path, ())

    def forget_key(self, key: str) -> None:
        """Drop the rows, or the vectors, of a file that is no longer in the store."""
        self.forget(log_path(key))
        for name in self._vectors_in.pop(key, ()):
            self._vectors.pop(name, None)

    def forget(self, path: str) -> None:
        """Drop the rows of a file that nobody will ask for."""
        self._rows.take_out(path)
        self._empty_columns.pop(path, None)
