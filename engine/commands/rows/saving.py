"""Saving rows to a table's path, as a DataFrame's writer does: the table need not be there yet.

Source: WriteIntoDelta.scala, ImplicitMetadataOperation.scala (updateMetadata), DeltaDataSource.
Two writers that find the path empty both create the table, and meet in the commit of version 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from whitecap.engine.commands.maintenance.running import as_statement
from whitecap.engine.commands.rows.insert import insert_into
from whitecap.engine.commands.schema.property_checks import checked
from whitecap.engine.log.actions import Format, Metadata
from whitecap.engine.log.schema import Schema, parse_ddl, schema_string
from whitecap.engine.outcomes import NothingToCommit, Outcome
from whitecap.engine.query.sources import Source
from whitecap.engine.refusals import command_errors
from whitecap.engine.session.table import Table
from whitecap.engine.sql.expressions.rendering import Template
from whitecap.engine.sql.parsing.statements import Insert, TableName, Values
from whitecap.engine.storage.requests import NewId, ReadClock, Row, Steps
from whitecap.engine.transaction.transaction import Transaction


class SaveMode(StrEnum):
    """What becomes of a table that is there already."""

    APPEND = "append"
    OVERWRITE = "overwrite"
    ERROR_IF_EXISTS = "errorifexists"
    IGNORE = "ignore"


def save_rows(
    table: Table,
    ddl: str,
    rows: Sequence[Row],
    mode: SaveMode = SaveMode.APPEND,
    partition_by: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
) -> Steps[Outcome]:
    """Write rows with the columns of `ddl`, which find the table's by name.

    `options` are the writer's: replaceWhere, mergeSchema, overwriteSchema, txnAppId, ..., and
    properties (`delta.…`) of a table that is created. Raises `DeltaError` as the write would.
    """
    schema = parse_ddl(ddl)
    source = Source(schema.names, schema.types, [list(rows)]).spread(table.settings.values_tasks)
    given = dict(options or {})
    properties = {key: value for key, value in given.items() if key.startswith("delta.")}
    statement = Insert(
        TableName(table.name),
        Template(("",)),
        Values(),
        by_name=True,
        overwrite=mode is SaveMode.OVERWRITE,
        options=tuple((k.lower(), v) for k, v in given.items() if k not in properties),
        partition_by=tuple(partition_by),
    )
    steps = _saved(table, statement, source, schema, mode, properties)
    return (yield from as_statement(table, steps))


def _saved(
    table: Table,
    statement: Insert,
    source: Source,
    schema: Schema,
    mode: SaveMode,
    properties: Mapping[str, str],
) -> Steps[Outcome]:
    txn = yield from table.start()
    if txn.read_version < 0:
        metadata = yield from _new_metadata(statement, schema, properties, txn)
        txn.update_metadata_for_new_table(metadata)
    elif mode is SaveMode.ERROR_IF_EXISTS:
        raise command_errors.path_exists(table.name)
    elif mode is SaveMode.IGNORE:
        return NothingToCommit(txn.read_version)
    elif statement.partition_by and not statement.is_set("overwriteSchema"):
        _check_partitions(statement, txn)
    return (yield from insert_into(table, txn, statement, source))


def _new_metadata(
    statement: Insert, schema: Schema, properties: Mapping[str, str], txn: Transaction
) -> Steps[Metadata]:
    return Metadata(
        id=(yield NewId()),
        format=Format(provider="parquet", options={}),
        schema_string=schema_string(schema),
        partition_columns=list(statement.partition_by),
        configuration=checked(properties, txn.dialect),
        created_time=(yield ReadClock()),
    )


def _check_partitions(statement: Insert, txn: Transaction) -> None:
    wanted = [name.lower() for name in statement.partition_by]
    if wanted != [name.lower() for name in txn.metadata.partition_columns]:
        raise command_errors.schema_mismatch()
