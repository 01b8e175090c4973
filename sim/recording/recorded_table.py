"""One table of a recording, where its rows are: in memory, or in a Parquet file."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct

GROUP_ROWS = 1 << 16
"""Rows of a row group: some megabytes, so that writing or reading a table needs little memory."""

PARQUET = {
    "compression": "zstd",
    "compression_level": 3,
    "version": "2.6",
    "data_page_version": "1.0",
    "write_statistics": True,
    "store_schema": False,
}
"""Fixed settings: the bytes depend on the rows and on the version of pyarrow alone."""


class RecordedTable(Protocol):
    """The rows of one table, complete."""

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows with some of their columns, or with all of them."""

    def write(self, path: Path) -> int:
        """Write them to a file. Returns how many they are."""


class TableInMemory(Struct, frozen=True):
    """A table whose rows are in memory."""

    table: pa.Table

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows with some of their columns, or with all of them."""
        return self.table if columns is None else self.table.select(list(columns))

    def write(self, path: Path) -> int:
        """Write them to a file. Returns how many they are."""
        pq.write_table(self.table, path, row_group_size=GROUP_ROWS, **PARQUET)
        rows: int = self.table.num_rows
        return rows


class TableInFile(Struct, frozen=True):
    """A table whose rows are in a Parquet file; only the columns asked for are read."""

    file: BinaryIO

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows with some of their columns, or with all of them."""
        self.file.seek(0)
        return pq.read_table(self.file, columns=None if columns is None else list(columns))

    def write(self, path: Path) -> int:
        """Write them to a file. Returns how many they are."""
        self.file.seek(0)
        with path.open("wb") as out:
            shutil.copyfileobj(self.file, out)
        rows: int = pq.read_metadata(path).num_rows
        return rows


def columns_of(
    rows: Mapping[str, RecordedTable], columns: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Some columns of some tables."""
    return {name: rows[name].read(wanted) for name, wanted in columns.items()}
