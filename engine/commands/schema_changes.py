"""Writes that change the table's schema: mergeSchema, overwriteSchema, MERGE with evolution.

Source: ImplicitMetadataOperation.scala (updateMetadata), SchemaMergingUtils.scala.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from whitecap.engine.commands import errors
from whitecap.engine.commands.sources import Source
from whitecap.engine.log.schema import Field, Schema, schema_of_metadata, schema_string
from whitecap.engine.sql.statements import Insert
from whitecap.engine.transaction.transaction import Transaction


def evolve_for_insert(statement: Insert, txn: Transaction, source: Source) -> None:
    """Change the transaction's metadata where the write asks for it and its columns need it."""
    if statement.overwrite and statement.is_set("overwriteSchema"):
        _overwrite(statement, txn, source)
        return
    if statement.is_set("mergeSchema") or txn.settings.schema_auto_merge:
        evolve(txn, _new_columns(statement, txn, source))


def evolve(txn: Transaction, columns: Sequence[Field]) -> None:
    """Add columns at the end of the table's schema; nothing without any."""
    if columns:
        schema = schema_of_metadata(txn.metadata)
        text = schema_string(Schema((*schema.fields, *columns)))
        txn.update_metadata(msgspec.structs.replace(txn.metadata, schema_string=text))


def missing_columns(schema: Schema, source: Source) -> list[Field]:
    """The source's columns that the table does not have."""
    given = zip(source.names, source.types, strict=True)
    return [Field(name, kind) for name, kind in given if schema.get(name) is None]


def _new_columns(statement: Insert, txn: Transaction, source: Source) -> list[Field]:
    """By name, the columns that the table lacks; by position, those beyond its last one."""
    schema = schema_of_metadata(txn.metadata)
    if statement.by_name:
        return missing_columns(schema, source)
    if statement.columns or statement.partition:
        return []
    beyond = list(zip(source.names, source.types, strict=True))[len(schema) :]
    return [Field(name, kind) for name, kind in beyond]


def _overwrite(statement: Insert, txn: Transaction, source: Source) -> None:
    """The source's columns become the table's, partitioned as the writer says: SQL cannot."""
    if "void" in source.types:
        raise errors.schema_mismatch()
    columns = zip(source.names, source.types, strict=True)
    text = schema_string(Schema(tuple(Field(name, kind) for name, kind in columns)))
    partitions = list(statement.partition_by)
    if text == txn.metadata.schema_string and partitions == txn.metadata.partition_columns:
        return
    txn.update_metadata(
        msgspec.structs.replace(txn.metadata, schema_string=text, partition_columns=partitions)
    )
