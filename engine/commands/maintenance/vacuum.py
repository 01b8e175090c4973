"""VACUUM: data files that no version within the retention needs are deleted.

Source: VacuumCommand.scala (gc, getValidFilesFromSnapshot, logVacuumStart, logVacuumEnd). Files
that are not in the table may be those of a transaction that has not committed yet: only their age
protects them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.log import properties
from whitecap.engine.log.actions import AddFile, RemoveFile
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.log.vectors.deletion_vectors import INLINE, vector_key
from whitecap.engine.outcomes import Committed, NothingToCommit, Outcome
from whitecap.engine.refusals import maintenance_errors
from whitecap.engine.session.table import Table
from whitecap.engine.settings import Settings
from whitecap.engine.sql.parsing.table_statements import Vacuum
from whitecap.engine.storage.paths import data_key
from whitecap.engine.storage.requests import Delete, Entry, ListTree, ReadClock, Steps
from whitecap.engine.writing.beginning import begin
from whitecap.engine.writing.spark_job import job

_VISIBLE = ("_change_data", "_delta_index")
"""Directories that VACUUM looks into though their names begin with an underscore."""


def vacuum(table: Table, statement: Vacuum) -> Steps[Outcome]:
    """Delete what may go, between two empty commits where logging is on.

    Unset, logging is on: the stores where Delta has it off (S3) say so in their settings.
    """
    txn = yield from begin(table)
    yield from txn.read_state()
    default_ms = properties.DELETED_FILE_RETENTION_MS.of(txn.metadata.configuration)
    retention_ms = _retention(table, statement, default_ms)
    now_ms = yield ReadClock()
    keys = yield from _deletable(txn.snapshot, now_ms - retention_ms, statement.lite)
    yield from job("VACUUM")
    if statement.dry_run:
        return NothingToCommit(txn.read_version)
    if table.settings.vacuum_logging is False:
        yield from _delete(table, keys)
        return NothingToCommit(txn.read_version)
    started = yield from txn.commit([], _start(table, statement, keys, retention_ms, default_ms))
    if not isinstance(started, Committed):
        return started
    yield from _delete(table, keys)
    txn = yield from begin(table)
    metrics = {"numDeletedFiles": str(len(keys))}
    return (yield from txn.commit([], Operation("VACUUM END", {"status": "COMPLETED"}, metrics)))


def _retention(table: Table, statement: Vacuum, default_ms: int) -> int:
    if not _is_retention_heeded(statement, table.settings):
        return default_ms
    given_ms = round(statement.retain_hours or 0) * properties.HOUR_MS
    if table.settings.retention_check and given_ms < default_ms:
        hours = -(-default_ms // properties.HOUR_MS)
        if not table.dialect.short_retention_has_a_class:
            raise maintenance_errors.retention_too_low(hours)
        raise maintenance_errors.retention_too_short(hours)
    return given_ms


def _is_retention_heeded(statement: Vacuum, settings: Settings) -> bool:
    """Whether RETAIN says anything. Source: VacuumCommand.scala: gc (retentionHours)."""
    if statement.retain_hours is None:
        return False
    return statement.retain_hours == 0 or not settings.vacuum_ignores_retention


def _deletable(snapshot: Snapshot, before_ms: int, lite: bool) -> Steps[list[str]]:
    """Keys that may go: files older than an instant that the log does not need.

    The log needs live files, files that were removed since that instant, and their deletion
    vectors. LITE looks only at files that the log speaks of.
    """
    listing = yield ListTree()
    needed = set(_keys(_needed(snapshot, before_ms)))
    tombstoned = set(_keys(snapshot.tombstones.values())) if lite else None
    return [
        entry.key
        for entry in listing.entries
        if _may_go(entry, before_ms, snapshot)
        and entry.key not in needed
        and (tombstoned is None or entry.key in tombstoned)
    ]


def _needed(snapshot: Snapshot, before_ms: int) -> Iterator[AddFile | RemoveFile]:
    yield from snapshot.all_files()
    for removed in snapshot.tombstones.values():
        if (removed.deletion_timestamp or 0) >= before_ms:
            yield removed


def _keys(files: Iterable[AddFile | RemoveFile]) -> Iterator[str]:
    for file in files:
        yield data_key(file.path)
        vector = file.deletion_vector
        if vector is not None and vector.storage_type != INLINE:
            yield vector_key(vector)


def _may_go(entry: Entry, before_ms: int, snapshot: Snapshot) -> bool:
    return entry.modified_at_ms < before_ms and not _is_hidden(entry.key, snapshot)


def _is_hidden(key: str, snapshot: Snapshot) -> bool:
    """Source: DeltaTableUtils.isHiddenDirectory: the log, and what other tools keep here."""
    partitions = tuple(f"{column.physical_name}=" for column in snapshot.partition_schema)
    return any(
        part.startswith((".", "_")) and not part.startswith((*_VISIBLE, *partitions))
        for part in key.split("/")
    )


def _delete(table: Table, keys: list[str]) -> Steps[None]:
    if keys:
        yield Delete(tuple(keys))
        for key in keys:
            table.data_files.forget_key(key)


def _start(
    table: Table, statement: Vacuum, keys: list[str], retention_ms: int, default_ms: int
) -> Operation:
    """Source: DeltaOperations.VacuumStart."""
    parameters: dict[str, object] = {
        "retentionCheckEnabled": table.settings.retention_check,
        "defaultRetentionMillis": default_ms,
    }
    if _is_retention_heeded(statement, table.settings):
        parameters["specifiedRetentionMillis"] = retention_ms
    return Operation("VACUUM START", parameters, {"numFilesToDelete": str(len(keys))})
