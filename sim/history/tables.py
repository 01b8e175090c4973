"""From the walk through a run's log, and its writers, to rows of its recording."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple
from typing import Any

import pyarrow as pa

from whitecap.sim.history.walk import Step
from whitecap.sim.recording.recorder import WriterRecord
from whitecap.sim.recording.recording import table_of


def writers_table(writers: Iterable[WriterRecord]) -> pa.Table:
    """One row per writer."""
    return table_of("writers", map(astuple, writers))


def commit_row(step: Step) -> tuple[Any, ...]:
    """A version in the order of its table's columns."""
    return (
        step.version,
        step.transaction_id,
        step.landed_at_ms,
        step.operation,
        step.files_added,
        step.files_removed,
        step.live_files,
        step.size_bytes,
    )
