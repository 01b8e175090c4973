"""CREATE TABLE and ALTER TABLE: commands that change a table's metadata.

Source: alterDeltaTableCommands.scala, CreateDeltaTableCommand.scala. Except for ADD CONSTRAINT,
which scans the table, they read nothing that is tracked.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from engine.commands.execution import begin, job
from engine.commands.search import search
from engine.commands.table import Table
from engine.dialects import Dialect
from engine.errors import DeltaError
from engine.log.actions import Format, Metadata
from engine.log.properties import CONSTRAINT_PREFIX, ISOLATION_LEVEL
from engine.log.schema import Schema, parse_ddl, schema_string
from engine.outcomes import NothingToCommit, Outcome
from engine.sql.predicates import parse_predicate
from engine.sql.statements import (
    AddColumns,
    AddConstraint,
    CreateTable,
    DropConstraint,
    SetProperties,
    UnsetProperties,
)
from engine.storage.requests import NewId, ReadClock, Steps
from engine.transaction.operation import Operation
from engine.transaction.transaction import Transaction


def create_table(table: Table, statement: CreateTable) -> Steps[Outcome]:
    """CREATE TABLE; one that exists is decided by what is there at the start."""
    txn = yield from table.start()
    if txn.read_version >= 0:
        if statement.if_not_exists:
            return NothingToCommit(txn.read_version)
        error_class = "TABLE_OR_VIEW_ALREADY_EXISTS"
        text = f"[{error_class}] Cannot create {table.name} because it already exists."
        raise DeltaError("TableAlreadyExistsException", error_class, text)
    check_properties(dict(statement.properties), txn.dialect)
    schema = parse_ddl(statement.ddl)
    partitions = [schema.fields[schema.index(name)].name for name in statement.partition_columns]
    metadata = Metadata(
        id=(yield NewId()),
        format=Format(provider="parquet", options={}),
        schema_string=schema_string(schema),
        partition_columns=partitions,
        configuration=dict(statement.properties),
        created_time=(yield ReadClock()),
    )
    txn.update_metadata_for_new_table(metadata)
    parameters = {
        "partitionBy": metadata.partition_columns,
        "clusterBy": [],
        "description": None,
        "isManaged": "false",
        "properties": metadata.configuration,
    }
    return (yield from txn.commit([], Operation("CREATE TABLE", parameters)))


def check_properties(properties: Mapping[str, str], dialect: Dialect) -> None:
    """Raises `DeltaError` for what SQL refuses to set, `UnsupportedFeature` for what is not there.

    Source: DeltaConfigs.validateConfigurations.
    """
    dialect.require(properties)
    levels = sorted(dialect.settable_levels)
    settable = {level.lower() for level in levels}
    for key, value in properties.items():
        if key.lower() == ISOLATION_LEVEL.key.lower() and value.lower() not in settable:
            text = f"{ISOLATION_LEVEL.key} must be {' or '.join(levels)}"
            raise DeltaError("IllegalArgumentException", None, f"requirement failed: {text}")


def set_properties(table: Table, statement: SetProperties) -> Steps[Outcome]:
    """ALTER TABLE SET TBLPROPERTIES: the metadata is written even if nothing changes."""
    txn = yield from begin(table)
    new = dict(statement.properties)
    check_properties(new, txn.dialect)
    operation = Operation("SET TBLPROPERTIES", {"properties": new})
    return (yield from _configured(txn, {**txn.metadata.configuration, **new}, operation))


def unset_properties(table: Table, statement: UnsetProperties) -> Steps[Outcome]:
    """ALTER TABLE UNSET TBLPROPERTIES."""
    txn = yield from begin(table)
    missing = [key for key in statement.keys if key not in txn.metadata.configuration]
    if missing and not statement.if_exists:
        error_class = "DELTA_UNSET_NON_EXISTENT_PROPERTY"
        text = f"[{error_class}] Attempted to unset non-existent property '{missing[0]}'."
        raise DeltaError("DeltaAnalysisException", error_class, text)
    kept = {k: v for k, v in txn.metadata.configuration.items() if k not in statement.keys}
    parameters = {"properties": list(statement.keys), "ifExists": statement.if_exists}
    return (yield from _configured(txn, kept, Operation("UNSET TBLPROPERTIES", parameters)))


def _configured(
    txn: Transaction, configuration: dict[str, str], operation: Operation
) -> Steps[Outcome]:
    txn.update_metadata(msgspec.structs.replace(txn.metadata, configuration=configuration))
    return (yield from txn.commit([], operation))


def add_columns(table: Table, statement: AddColumns) -> Steps[Outcome]:
    """ALTER TABLE ADD COLUMNS. Raises `DeltaError` if a column exists."""
    txn = yield from begin(table)
    old, new = txn.snapshot.schema, parse_ddl(statement.ddl)
    for column in new:
        if old.get(column.name) is not None:
            error_class = "FIELD_ALREADY_EXISTS"
            text = f"[{error_class}] Cannot add column, because `{column.name}` already exists."
            raise DeltaError("AnalysisException", error_class, text)
    schema = schema_string(Schema((*old.fields, *new.fields)))
    txn.update_metadata(msgspec.structs.replace(txn.metadata, schema_string=schema))
    shown = [{"column": {"name": c.name, "type": c.type, "nullable": c.nullable}} for c in new]
    return (yield from txn.commit([], Operation("ADD COLUMNS", {"columns": shown})))


def add_constraint(table: Table, statement: AddConstraint) -> Steps[Outcome]:
    """ALTER TABLE ADD CONSTRAINT: reads every file, as all rows must satisfy it."""
    txn = yield from begin(table)
    key = CONSTRAINT_PREFIX + statement.name.lower()
    if key in txn.metadata.configuration:
        raise _constraint_error("DELTA_CONSTRAINT_ALREADY_EXISTS", statement.name, "already exists")
    violating = parse_predicate(f"NOT coalesce({statement.condition_text}, FALSE)")
    found = yield from search(table, txn, txn.filter_all_files(), [violating])
    yield from job("ADD CONSTRAINT", [one for one, _ in found])
    if found:
        error_class = "DELTA_NEW_CHECK_CONSTRAINT_VIOLATION"
        raise _constraint_error(error_class, statement.name, "is violated by rows of the table")
    txn.update_metadata(
        msgspec.structs.replace(
            txn.metadata,
            configuration={**txn.metadata.configuration, key: statement.condition_text},
        )
    )
    parameters = {"name": statement.name, "expr": statement.condition_text}
    return (yield from txn.commit([], Operation("ADD CONSTRAINT", parameters)))


def drop_constraint(table: Table, statement: DropConstraint) -> Steps[Outcome]:
    """ALTER TABLE DROP CONSTRAINT."""
    txn = yield from begin(table)
    key = CONSTRAINT_PREFIX + statement.name.lower()
    if key not in txn.metadata.configuration:
        if statement.if_exists:
            return NothingToCommit(txn.read_version)
        error_class = "DELTA_CONSTRAINT_DOES_NOT_EXIST"
        raise _constraint_error(error_class, statement.name, "does not exist")
    kept = {k: v for k, v in txn.metadata.configuration.items() if k != key}
    operation = Operation("DROP CONSTRAINT", {"name": statement.name})
    return (yield from _configured(txn, kept, operation))


def _constraint_error(error_class: str, name: str, what: str) -> DeltaError:
    text = f"[{error_class}] Constraint '{name}' {what}."
    return DeltaError("DeltaAnalysisException", error_class, text)
