"""VACUUM and RESTORE.

Source: VacuumCommand.scala (logVacuumStart, logVacuumEnd), RestoreTableCommand.scala.
"""

from __future__ import annotations

import msgspec

from engine.commands.execution import begin, job
from engine.commands.table import Table
from engine.commands.writing import remove
from engine.log.actions import AddFile, AnyAction, Protocol
from engine.log.files import file_key
from engine.log.snapshot import Snapshot
from engine.outcomes import Committed, NothingToCommit, Outcome
from engine.sql.statements import Restore, Vacuum
from engine.storage.requests import ReadClock, Steps
from engine.transaction.operation import Operation
from engine.transaction.transaction import Transaction

_DEFAULT_RETENTION_MS = 7 * 24 * 3600 * 1000  # delta.deletedFileRetentionDuration


def vacuum(table: Table, statement: Vacuum) -> Steps[Outcome]:
    """VACUUM: two empty commits around the clean-up, where logging is on.

    Unset, logging is on: the stores where Delta has it off (S3) say so in their settings. No file
    is deleted here; whatever may still be read is younger than the retention.
    """
    txn = yield from begin(table)
    if statement.dry_run or table.settings.vacuum_logging is False:
        yield from job("VACUUM")
        return NothingToCommit(txn.read_version)
    retention = {"defaultRetentionMillis": _DEFAULT_RETENTION_MS}
    started = yield from txn.commit(
        [], Operation("VACUUM START", {"retentionCheckEnabled": True, **retention})
    )
    if not isinstance(started, Committed):
        return started
    yield from job("VACUUM")
    txn = yield from table.start()
    return (yield from txn.commit([], Operation("VACUUM END", {"status": "COMPLETED"})))


def restore(table: Table, statement: Restore) -> Steps[Outcome]:
    """RESTORE TO VERSION: one attempt, which any winner defeats.

    Raises `InvalidInput` for a version that the table never had.
    """
    txn = yield from begin(table)
    wanted = yield from table.as_of(statement.version)
    now_ms = yield ReadClock()
    actions = restore_actions(txn.snapshot, wanted, now_ms)
    yield from job("RESTORE")
    assert wanted.metadata is not None
    txn.update_metadata(wanted.metadata)
    _merge_protocols(txn, wanted)
    operation = Operation("RESTORE", {"version": statement.version, "timestamp": None})
    return (yield from txn.commit_large(actions, operation))


def restore_actions(now: Snapshot, wanted: Snapshot, now_ms: int) -> list[AnyAction]:
    """Files of the wanted version that are gone come back; files that it lacks go."""
    back: list[AddFile] = [
        msgspec.structs.replace(file, data_change=True)
        for file in wanted.all_files()
        if file_key(file) not in now.files
    ]
    gone = [file for file in now.all_files() if file_key(file) not in wanted.files]
    return [*back, *(remove(file, now_ms) for file in gone)]


def _merge_protocols(txn: Transaction, wanted: Snapshot) -> None:
    """The protocol may grow by a RESTORE, never shrink; it is written in any case."""
    current = txn.snapshot.protocol
    if current is not None:
        txn.update_protocol(_merged(current, wanted.protocol or current))


def _merged(one: Protocol, other: Protocol) -> Protocol:
    def joined(first: list[str] | None, second: list[str] | None) -> list[str] | None:
        if first is None and second is None:
            return None
        return sorted({*(first or ()), *(second or ())})

    return Protocol(
        min_reader_version=max(one.min_reader_version, other.min_reader_version),
        min_writer_version=max(one.min_writer_version, other.min_writer_version),
        reader_features=joined(one.reader_features, other.reader_features),
        writer_features=joined(one.writer_features, other.writer_features),
    )
