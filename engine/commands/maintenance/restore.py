"""RESTORE TABLE to an earlier version or timestamp.

Source: RestoreTableCommand.scala: one attempt at the next version, which any winner defeats.
"""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from whitecap.engine.commands.schema.clustering import clustering_domain
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.log.actions import AddFile, AnyAction, DomainMetadata, Protocol, RemoveFile
from whitecap.engine.log.clustering import CLUSTERING_DOMAIN
from whitecap.engine.log.columns.identity import marks_of, with_marks
from whitecap.engine.log.columns.mapping import check_change
from whitecap.engine.log.features.protocols import merged
from whitecap.engine.log.file_keys import file_key
from whitecap.engine.log.schema import schema_string
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.outcomes import NothingToCommit, Outcome
from whitecap.engine.refusals import maintenance_errors
from whitecap.engine.session.table import Table
from whitecap.engine.sql.parsing.table_statements import Restore
from whitecap.engine.storage.paths import data_key
from whitecap.engine.storage.requests import ListTree, ReadClock, Steps
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.values.texts import parse_timestamp
from whitecap.engine.values.types import EPOCH
from whitecap.engine.writing.beginning import begin
from whitecap.engine.writing.files import remove
from whitecap.engine.writing.spark_job import job

_MILLISECOND = timedelta(milliseconds=1)


def restore(table: Table, statement: Restore) -> Steps[Outcome]:
    """RESTORE: metadata, protocol and files as they were.

    Nothing is to be done for its newest version. Raises `DeltaError` for one that the table never
    had, that is older than removed files are kept, or if files of it are gone.
    """
    txn = yield from begin(table)
    yield from txn.read_state()
    version = statement.version
    if version is None:
        version = yield from _version_at(table, statement.timestamp or "")
    if version > txn.read_version:
        raise maintenance_errors.no_version_to_restore(version, txn.read_version)
    if version == txn.read_version:
        return NothingToCommit(txn.read_version)
    wanted = yield from table.time_travel(version)
    now_ms = yield ReadClock()
    back, gone = difference(txn.snapshot, wanted, now_ms)
    yield from _check_available(back, version)
    yield from job("RESTORE")
    _restore_metadata(txn, wanted)
    actions: list[AnyAction] = [*back, *gone, *_domains(txn, wanted), _protocol(txn, wanted)]
    parameters = {"version": statement.version, "timestamp": statement.timestamp}
    return (yield from txn.commit_large(actions, Operation("RESTORE", parameters)))


def difference(
    now: Snapshot, wanted: Snapshot, now_ms: int
) -> tuple[list[AddFile], list[RemoveFile]]:
    """Files of the wanted version that are gone come back; files that it lacks go."""
    back = [
        replace(file, data_change=True)
        for file in wanted.all_files()
        if file_key(file) not in now.files
    ]
    gone = [file for file in now.all_files() if file_key(file) not in wanted.files]
    return back, [remove(file, now_ms) for file in gone]


def _version_at(table: Table, text: str) -> Steps[int]:
    """The newest version that is not younger than a timestamp."""
    try:
        instant = parse_timestamp(text, table.settings.session_time_zone)
    except ValueError:
        raise InvalidInput([Problem(repr(text), "is not a timestamp")]) from None
    commits = yield from table.commits()
    at_ms = int((instant - EPOCH) / _MILLISECOND)
    first, newest = commits[0].timestamp_ms, commits[-1].timestamp_ms
    if at_ms < first:
        raise maintenance_errors.restore_before_the_table(_java_text(at_ms), _java_text(first))
    if at_ms > newest:
        raise maintenance_errors.restore_after_the_newest(_java_text(at_ms), _java_text(newest))
    return max(commit.version for commit in commits if commit.timestamp_ms <= at_ms)


def _java_text(at_ms: int) -> str:
    """An instant as `java.sql.Timestamp` shows it: a fraction without needless zeros."""
    instant = EPOCH + at_ms * _MILLISECOND
    fraction = f"{at_ms % 1000:03}".rstrip("0") or "0"
    return f"{instant:%Y-%m-%d %H:%M:%S}.{fraction}"


def _check_available(files: list[AddFile], version: int) -> Steps[None]:
    """Raises `DeltaError` if files that would come back were deleted meanwhile."""
    if not files:
        return
    listing = yield ListTree()
    present = {entry.key for entry in listing.entries}
    keys = {file.path: data_key(file.path) for file in files}
    missing = [p for p, key in keys.items() if key not in present and not key.startswith("/")]
    if missing:
        raise maintenance_errors.restore_misses_files(version, missing)


def _restore_metadata(txn: Transaction, wanted: Snapshot) -> None:
    """The metadata as it was; identity columns count on from where they are now.

    Raises `DeltaError` for a column mapping that the table can no longer have.
    """
    assert wanted.metadata is not None
    schema = with_marks(wanted.schema, marks_of(txn.snapshot.schema))
    metadata = wanted.metadata
    check_change(txn.metadata, metadata)
    if schema != wanted.schema:
        metadata = replace(metadata, schema_string=schema_string(schema))
    txn.update_metadata(metadata)


def _protocol(txn: Transaction, wanted: Snapshot) -> Protocol:
    """The protocol may grow by a RESTORE, and shrinks only if the session allows it."""
    assert wanted.protocol is not None
    assert txn.snapshot.protocol is not None
    if txn.settings.restore_may_downgrade_protocol:
        return wanted.protocol
    return merged(wanted.protocol, txn.snapshot.protocol)


def _domains(txn: Transaction, wanted: Snapshot) -> list[DomainMetadata]:
    """The clustering as it was. Source: handleDomainMetadataForRestoreTable."""
    now, then = (s.domains.get(CLUSTERING_DOMAIN) for s in (txn.snapshot, wanted))
    if then is not None:
        return [then]
    return [] if now is None else [clustering_domain((), txn.metadata)]
