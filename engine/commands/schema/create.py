"""CREATE TABLE, CREATE TABLE AS SELECT, REPLACE TABLE and their mixtures.

Source: CreateDeltaTableCommand.scala (handleCreateTable, handleCreateTableAsSelect). Whether there
is a table is decided by what is there when the command starts; two that create one table at the
same time meet in the commit of version 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from whitecap.engine.column_names import repeated
from whitecap.engine.commands.schema.clustering import (
    check_cluster_list,
    check_clustering,
    clustering_domain,
    logged_columns,
    supports_clustering,
    with_clustering,
)
from whitecap.engine.commands.schema.property_checks import check_keys, checked_for_new_table
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.log.actions import AnyAction, DomainMetadata, Format, Metadata
from whitecap.engine.log.clustering import CLUSTERING_DOMAIN
from whitecap.engine.log.columns.identity import identity_of
from whitecap.engine.log.properties import CHECKPOINT_POLICY, DELETION_VECTORS, ROW_TRACKING
from whitecap.engine.log.schema import Field, Schema, parse_ddl, schema_string
from whitecap.engine.outcomes import NothingToCommit, Outcome
from whitecap.engine.query.source_queries import OwnRead, in_transaction
from whitecap.engine.query.sources import Source
from whitecap.engine.refusals import column_errors, table_errors, write_errors
from whitecap.engine.session.table import Table
from whitecap.engine.sql.parsing.table_statements import CreateTable
from whitecap.engine.sql.predicates.predicate import session_of
from whitecap.engine.storage.requests import NewId, ReadClock, Steps
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.writing.beginning import check_removable, progress_of
from whitecap.engine.writing.default_checks import check_defaults
from whitecap.engine.writing.files import FileWriter, removals
from whitecap.engine.writing.generation import check_expressions
from whitecap.engine.writing.spark_job import job


def create_table(
    table: Table, statement: CreateTable, query: Source | OwnRead | None = None
) -> Steps[Outcome]:
    """Create or replace a table, with what a query gives if there is one.

    Raises `DeltaError`, among others for a partitioned table in the place of one that was ever
    clustered. Source: CreateDeltaTableCommand.scala: validatePrerequisitesForClusteredTable.
    """
    check_keys(key for key, _ in statement.properties)
    txn = yield from table.start()
    exists = txn.read_version >= 0
    if exists and not statement.replace:
        if statement.if_not_exists:
            return NothingToCommit(txn.read_version)
        raise table_errors.table_exists(table.name)
    if not exists and not statement.create:
        raise table_errors.no_table_to_replace(table.name)
    if statement.partition_columns and supports_clustering(txn.snapshot):
        raise table_errors.partition_clustered_table()
    progress = [] if query is None else (yield from progress_of(table, txn))
    if progress is None:
        return NothingToCommit(txn.read_version)
    source = None
    if query is not None:
        check_removable(txn)
        source = yield from in_transaction(query, table, txn, statement.parameters)
    metadata = yield from _metadata(statement, txn, source)
    txn.update_metadata_for_new_table(metadata)
    check_clustering(statement.cluster_by, txn.metadata)
    actions = yield from _actions(table, statement, txn, source)
    operation = _operation(statement, txn, source is not None)
    return (yield from txn.commit([*progress, *actions], operation))


def _metadata(statement: CreateTable, txn: Transaction, source: Source | None) -> Steps[Metadata]:
    schema = _schema(statement, source)
    check_expressions(schema, session_of(txn.settings))
    _check_identities(schema)
    check_defaults(schema, session_of(txn.settings))
    partitions = _partitions(statement.partition_columns, schema)
    _check_cluster_list(statement.cluster_by, schema)
    configuration = checked_for_new_table(dict(statement.properties), txn.dialect)
    configuration = {**_kept(txn), **configuration}
    if statement.cluster_by:
        configuration = with_clustering(configuration, txn.dialect)
    return Metadata(
        id=(yield NewId()),  # a table that replaces another is a new one
        description=statement.comment,
        format=Format(provider="parquet", options={}),
        schema_string=schema_string(schema),
        partition_columns=partitions,
        configuration=configuration,
        created_time=(yield ReadClock()),
    )


_KEPT = (DELETION_VECTORS.key, CHECKPOINT_POLICY.key, ROW_TRACKING.key)
"""Source: CatalogOwnedTableUtils.scala: QOL_TABLE_FEATURES_AND_PROPERTIES."""


def _kept(txn: Transaction) -> dict[str, str]:
    """What a table goes on having when it is replaced, unless the statement says otherwise."""
    if not txn.dialect.replaced_tables_keep_features:
        return {}
    before = txn.metadata.configuration
    return {key: before[key] for key in _KEPT if key in before}


def _partitions(names: Sequence[str], schema: Schema) -> list[str]:
    """The partition columns as the schema spells them.

    Raises `DeltaError` as Spark and Delta do. Source: PreprocessTableCreation (rules.scala), then
    AbstractDeltaCatalog.scala: createDeltaTable.
    """
    fields = [schema.get(name) for name in names]
    for name, field in zip(names, fields, strict=True):
        if field is None:
            raise table_errors.no_such_partition_column(name)
    partitions = [field.name for field in fields if field is not None]
    twice = repeated(partitions)
    if twice is not None:
        raise table_errors.partitioned_twice(twice)
    for field in fields:
        if field is not None and identity_of(field) is not None:
            raise table_errors.partitioned_by_identity(field.name)
    if partitions and len(partitions) == len(schema):
        raise table_errors.all_columns_partition()
    return partitions


def _check_identities(schema: Schema) -> None:
    for column in schema:
        if identity_of(column) is not None and column.type != "bigint":
            raise write_errors.identity_type(column.type)


def _check_cluster_list(names: Sequence[str], schema: Schema) -> None:
    for name in names:
        if schema.get(name) is None:
            raise table_errors.cluster_by_unknown(name)
    check_cluster_list(names)


def _schema(statement: CreateTable, source: Source | None) -> Schema:
    if source is None:
        if not statement.ddl:
            raise table_errors.schema_not_provided()
        return parse_ddl(statement.ddl)
    twice = repeated(source.names)
    if twice is not None:
        raise write_errors.column_named_twice(twice)
    if set(source.types) == {"void"}:
        raise table_errors.only_void_columns()
    if "void" in source.types:
        raise column_errors.schema_mismatch()
    columns = zip(source.names, source.types, strict=True)
    return Schema(tuple(Field(name, kind) for name, kind in columns))


def _actions(
    table: Table, statement: CreateTable, txn: Transaction, source: Source | None
) -> Steps[list[AnyAction]]:
    """The rows of the query, what was there before, and the clustering."""
    adds: Sequence[AnyAction] = ()
    if source is not None:
        writer = FileWriter(table, txn.metadata)
        adds = yield from writer.write(source.tasks)
        yield from job("CREATE TABLE", (), writer)
    removes: Sequence[AnyAction] = ()
    if txn.read_version >= 0:
        yield from txn.read_state()
        removes = yield from removals(txn.filter_all_files())
    return [*adds, *removes, *_domains(statement, txn)]


def _domains(statement: CreateTable, txn: Transaction) -> list[DomainMetadata]:
    if statement.cluster_by:
        return [clustering_domain(statement.cluster_by, txn.metadata)]
    clustered = CLUSTERING_DOMAIN in txn.snapshot.domains
    return [clustering_domain((), txn.metadata)] if clustered else []


def _operation(statement: CreateTable, txn: Transaction, as_select: bool) -> Operation:
    """Source: DeltaOperations.CreateTable, ReplaceTable."""
    name = "CREATE TABLE"
    if statement.replace:
        name = "CREATE OR REPLACE TABLE" if statement.create else "REPLACE TABLE"
    parameters = {
        "partitionBy": txn.metadata.partition_columns,
        "clusterBy": logged_columns(statement.cluster_by),
        "description": statement.comment,
        "isManaged": "false",
        "properties": txn.metadata.configuration,
    }
    return Operation(name + (" AS SELECT" if as_select else ""), parameters)
