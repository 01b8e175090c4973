"""One table of a recording while the run goes on: rows come in order and are written in groups."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from itertools import islice
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from whitecap.sim.machine.spool import temporary_directory_is_full
from whitecap.sim.recording.recorded_table import (
    GROUP_ROWS,
    PARQUET,
    RecordedTable,
    TableInFile,
    TableInMemory,
)
from whitecap.sim.recording.recording import table_of

CHUNK_ROWS = 8192
"""Rows that are kept as Python values, some megabytes, before they become columns."""


class RowStream:
    """The rows of one table: earlier ones as row groups in a file, the last as columns and values.

    The file, which has no name, is made for the first full row group.
    """

    def __init__(self, name: str, tells_apart: bool = False) -> None:
        self.name = name
        self._tells_apart = tells_apart
        self._file: _GroupFile | None = None
        self._chunks: list[pa.Table] = []
        self._rows: list[tuple[Any, ...]] = []

    def extend(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Append rows, values in the order of the schema.

        Raises `OSError`, naming the temporary directory, if that is full.
        """
        left = iter(rows)
        while more := list(islice(left, CHUNK_ROWS - len(self._rows))):
            self._rows += more
            if len(self._rows) == CHUNK_ROWS:
                self._end_chunk()
                if len(self._chunks) == GROUP_ROWS // CHUNK_ROWS:
                    self._end_group()

    def end(self) -> RecordedTable:
        """The whole table; no rows may come any more."""
        self._end_chunk()
        if self._file is None:
            return TableInMemory(pa.concat_tables(self._chunks).combine_chunks())
        self._end_group()
        return TableInFile(self._file.closed())

    def _end_chunk(self) -> None:
        self._chunks.append(table_of(self.name, self._rows, self._tells_apart))
        self._rows.clear()

    def _end_group(self) -> None:
        group = pa.concat_tables(self._chunks).combine_chunks()
        self._chunks.clear()
        if group.num_rows:
            self._file = self._file or _GroupFile(group.schema)
            self._file.write(group)


class _GroupFile:
    """A temporary Parquet file that grows by row groups."""

    def __init__(self, schema: pa.Schema) -> None:
        self._file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115, open as long as its rows are asked for
        self._writer = pq.ParquetWriter(self._file, schema, **PARQUET)

    def write(self, group: pa.Table) -> None:
        """Append a row group."""
        try:
            self._writer.write_table(group, row_group_size=GROUP_ROWS)
            self._file.flush()
        except OSError as error:
            raise temporary_directory_is_full(error) from error

    def closed(self) -> BinaryIO:
        """The whole file."""
        try:
            self._writer.close()
            self._file.flush()
        except OSError as error:
            raise temporary_directory_is_full(error) from error
        return self._file
