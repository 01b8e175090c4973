"""From what was noted during a run to the tables of its recording."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple
from operator import attrgetter
from typing import Any

import pyarrow as pa

from whitecap.engine.log.commit_file import decode_commit
from whitecap.sim.history.walk import Step
from whitecap.sim.recording.recorder import (
    Recorder,
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
        "attempts": table_of("attempts", map(_of_attempt, recorder.attempts)),
        "commits": table_of("commits", map(_commit, steps)),
        "writers": table_of("writers", map(astuple, writers)),
    }
    if recorder.with_requests:
        tables["requests"] = table_of("requests", map(_of_request, recorder.requests))
    return tables


_STATEMENT = SCHEMAS["transactions"].get_field_index("statement")
_of_transaction = attrgetter(*(n for n in SCHEMAS["transactions"].names if n != "statement"))
_of_attempt = attrgetter(*SCHEMAS["attempts"].names)
_of_request = attrgetter(*SCHEMAS["requests"].names)


def _transaction(record: TransactionRecord) -> tuple[Any, ...]:
    _fill_in_level(record)
    values = _of_transaction(record)
    return (*values[:_STATEMENT], record.make_statement(), *values[_STATEMENT:])


def _fill_in_level(record: TransactionRecord) -> None:
    """What an uncommitted transaction had chosen is in the commit file that it tried to put."""
    if record.isolation_level is not None or record.last_body is None:
        return
    info = decode_commit(record.last_body.partition(b"\n")[0], 0).commit_info
    if info is not None:
        record.isolation_level = info.isolation_level
        record.is_blind_append = info.is_blind_append


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
