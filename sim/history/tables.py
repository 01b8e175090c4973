"""From the walk through a run's log, and its writers, to rows of its recording."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from msgspec.structs import astuple

from whitecap.sim.history.walk import WalkedVersion
from whitecap.sim.recording.recording import schema_of, table_of
from whitecap.sim.recording.writer_record import WriterRecord


def writers_table(writers: Iterable[WriterRecord], tells_apart: bool) -> pa.Table:
    """One row per writer, or one for each of its statements."""
    width = len(schema_of("writers", tells_apart))
    return table_of("writers", (astuple(each)[:width] for each in writers), tells_apart)


def commit_row(step: WalkedVersion, table_name: str | None) -> tuple[Any, ...]:
    """A version in the order of its table's columns; `table_name` where there are several."""
    return (
        step.version,
        step.transaction_id,
        step.landed_at_ms,
        step.operation,
        step.files_added,
        step.files_removed,
        step.live_files,
        step.size_bytes,
        *(() if table_name is None else (table_name,)),
    )
