"""CREATE TABLE ... SHALLOW CLONE: a table of its own over another one's files.

Source: CloneTableCommand.scala, CloneTableBase.scala. One attempt at the next version, which any
winner defeats; row ids are not taken over.
"""

from __future__ import annotations

from msgspec.structs import replace

from whitecap.engine.commands.schema.property_checks import check_keys, checked
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.log.actions import (
    AddFile,
    AnyAction,
    DeletionVector,
    DomainMetadata,
    Metadata,
    Protocol,
)
from whitecap.engine.log.clustering import CLUSTERING_DOMAIN
from whitecap.engine.log.columns.mapping import check_same_mode
from whitecap.engine.log.features.protocols import merged, protocol_of_new_table
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.log.vectors.deletion_vectors import ABSOLUTE_FILE, RELATIVE_FILE, vector_key
from whitecap.engine.outcomes import NothingToCommit, Outcome
from whitecap.engine.refusals import table_errors
from whitecap.engine.session.table import Table, Tables, table_named
from whitecap.engine.sql.parsing.table_statements import CloneTable
from whitecap.engine.storage.paths import log_path
from whitecap.engine.storage.requests import NewId, Steps
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.writing.spark_job import job


def clone_source(statement: CloneTable, tables: Tables) -> Steps[tuple[Table, Snapshot]]:
    """The table that is cloned, at the version asked for."""
    source = table_named(tables, statement.source.name)
    version = statement.source.version
    return source, (yield from source.at_root(_version_of(source, version)))


def _version_of(source: Table, version: int | None) -> Steps[Snapshot]:
    steps = source.latest() if version is None else source.time_travel(version)
    snapshot = yield from steps
    yield from source.log.read_state(snapshot)
    return snapshot


def clone_table(
    table: Table, statement: CloneTable, source: Table, snapshot: Snapshot
) -> Steps[Outcome]:
    """Commit the other table's metadata, and its files by their absolute paths.

    Raises `DeltaError` for a table that is there, has files, or maps its columns otherwise.
    """
    txn = yield from table.start()
    if txn.read_version >= 0 and not statement.replace:
        if statement.if_not_exists:
            return NothingToCommit(txn.read_version)
        raise table_errors.table_exists_for_clone(table.name)
    wanted = yield from _metadata(statement, txn, snapshot)
    txn.update_metadata(wanted)
    yield from txn.read_state()
    if txn.snapshot.num_files:
        raise table_errors.clone_into_table_with_files()
    yield from job("CLONE")
    operation = Operation(
        "CLONE", {"source": statement.source.name, "sourceVersion": snapshot.version}
    )
    files = [_copied(file, source) for file in snapshot.all_files()]
    protocol = _protocol(txn, snapshot, wanted)
    actions: list[AnyAction] = [*files, *_domains(txn.snapshot, snapshot), protocol]
    return (yield from txn.commit_large(actions, operation))


def _metadata(statement: CloneTable, txn: Transaction, snapshot: Snapshot) -> Steps[Metadata]:
    source, old = snapshot.metadata, txn.snapshot.metadata
    assert source is not None
    check_keys(key for key, _ in statement.properties)
    new = checked(dict(statement.properties), txn.dialect)
    wanted = replace(
        source,
        id=old.id if old is not None else (yield NewId()),
        name=None if old is None else old.name,
        description=None if old is None else old.description,
        configuration={**source.configuration, **new},
    )
    for other in (source, old):
        if other is not None:
            check_same_mode(other, wanted)
    return wanted


def _copied(file: AddFile, source: Table) -> AddFile:
    return replace(
        file,
        path=source.absolute(file.path),
        deletion_vector=_absolute(file.deletion_vector, source),
        data_change=True,
        base_row_id=None,
        default_row_commit_version=None,
    )


def _absolute(vector: DeletionVector | None, source: Table) -> DeletionVector | None:
    if vector is None or vector.storage_type != RELATIVE_FILE:
        return vector
    path = source.absolute(log_path(vector_key(vector)))
    return replace(vector, storage_type=ABSOLUTE_FILE, path_or_inline_dv=path)


def _domains(before: Snapshot, source: Snapshot) -> list[DomainMetadata]:
    """The clustering of the source. Source: handleDomainMetadataForReplaceTable."""
    new, old = (snapshot.domains.get(CLUSTERING_DOMAIN) for snapshot in (source, before))
    if new is not None:
        return [new]
    return [] if old is None else [replace(old, removed=True)]


def _protocol(txn: Transaction, snapshot: Snapshot, metadata: Metadata) -> Protocol:
    """What the source and the properties need, and what an existing table has already."""
    assert snapshot.protocol is not None
    needed = protocol_of_new_table(metadata, txn.dialect.preview_features)
    protocol = merged(snapshot.protocol, needed)
    current = txn.snapshot.protocol
    return protocol if current is None else merged(protocol, current)
