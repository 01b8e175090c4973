"""One table of a recording while the run goes on: rows come in order and leave memory in chunks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from whitecap.sim.machine.spool import Spool
from whitecap.sim.recording.recording import table_of

CHUNK_ROWS = 8192
"""Rows that are kept as Python values: some megabytes."""

_COMPRESSED = pa.ipc.IpcWriteOptions(compression="zstd")


class RowStream:
    """The rows of one table; full chunks are columns in `spool`."""

    def __init__(self, name: str, spool: Spool) -> None:
        self.name = name
        self._spool = spool
        self._chunks: list[int] = []
        self._rows: list[tuple[Any, ...]] = []

    def extend(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Append rows, values in the order of the schema."""
        for row in rows:
            self._rows.append(row)
            if len(self._rows) == CHUNK_ROWS:
                self._chunks.append(self._spool.keep(_packed(table_of(self.name, self._rows))))
                self._rows.clear()

    def table(self) -> pa.Table:
        """All rows until now, in one piece, as if they had come at once."""
        chunks = [_unpacked(self._spool.block(number)) for number in self._chunks]
        rest = table_of(self.name, self._rows)
        return pa.concat_tables([*chunks, rest]).combine_chunks() if chunks else rest


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=_COMPRESSED) as writer:
        writer.write_table(table)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def _unpacked(chunk: bytes) -> pa.Table:
    return pa.ipc.open_stream(chunk).read_all()
