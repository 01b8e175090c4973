"""From what was noted during a run to the tables of its recording."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple
from typing import Any

import pyarrow as pa

from whitecap.engine.log.commit_file import decode_commit
from whitecap.sim.history.walk import Step
from whitecap.sim.recording.recorder import (
    AttemptRecord,
    Recorder,
    RequestRecord,
    TransactionRecord,
    WriterRecord,
)
from whitecap.sim.recording.recording import SCHEMAS, table_of


def tables_of(
    recorder: Recorder, steps: list[Step], writers: Iterable[WriterRecord]
) -> dict[str, pa.Table]:
    """Every table of a run; `steps` is the walk through its log."""
    tables = {
        "transactions": table_of("transactions", map(_transaction, recorder.transactions)),
        "attempts": table_of("attempts", map(_attempt, recorder.attempts)),
        "commits": table_of("commits", map(_commit, steps)),
        "writers": table_of("writers", map(astuple, writers)),
    }
    if recorder.with_requests:
        tables["requests"] = table_of("requests", map(_request, recorder.requests))
    return tables


_PLAIN = {
    name: [column for column in SCHEMAS[name].names if column != "statement"]
    for name in ("transactions", "attempts", "requests")
}


def _transaction(record: TransactionRecord) -> tuple[Any, ...]:
    _fill_in_level(record)
    values = {name: getattr(record, name) for name in _PLAIN["transactions"]}
    values["statement"] = record.make_statement()
    return tuple(values[name] for name in SCHEMAS["transactions"].names)


def _fill_in_level(record: TransactionRecord) -> None:
    """What an uncommitted transaction had chosen is in the commit file that it tried to put."""
    if record.isolation_level is not None or record.last_body is None:
        return
    info = decode_commit(record.last_body.partition(b"\n")[0], 0).commit_info
    if info is not None:
        record.isolation_level = info.isolation_level
        record.is_blind_append = info.is_blind_append


def _attempt(record: AttemptRecord) -> tuple[Any, ...]:
    return tuple(getattr(record, name) for name in _PLAIN["attempts"])


def _request(record: RequestRecord) -> tuple[Any, ...]:
    return tuple(getattr(record, name) for name in _PLAIN["requests"])


def _commit(step: Step) -> tuple[Any, ...]:
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
