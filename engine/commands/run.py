"""From a parsed statement, or a batch of a stream, to the command that runs it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from whitecap.engine.commands.features.drop_feature import drop_feature
from whitecap.engine.commands.maintenance.optimize import optimize
from whitecap.engine.commands.maintenance.reorg import reorg
from whitecap.engine.commands.maintenance.restore import restore
from whitecap.engine.commands.maintenance.vacuum import vacuum
from whitecap.engine.commands.rows.delete import delete, truncate
from whitecap.engine.commands.rows.insert import insert
from whitecap.engine.commands.rows.merge import merge
from whitecap.engine.commands.rows.streaming import Batch, write_batch
from whitecap.engine.commands.rows.update import update
from whitecap.engine.commands.schema.add_drop_rename import add_columns, drop_columns, rename_column
from whitecap.engine.commands.schema.alter_column import change_column
from whitecap.engine.commands.schema.clone import clone_source, clone_table
from whitecap.engine.commands.schema.cluster_by import cluster_by
from whitecap.engine.commands.schema.constraints import add_constraint, drop_constraint
from whitecap.engine.commands.schema.create import create_table
from whitecap.engine.commands.schema.properties import (
    comment_on_table,
    set_properties,
    unset_properties,
)
from whitecap.engine.commands.schema.replace_columns import replace_columns
from whitecap.engine.commands.schema.sync_identity import sync_identity
from whitecap.engine.commands.statement_frame import as_statement, statement_on
from whitecap.engine.dialects import IDENTITY, SCHEMA_EVOLUTION, Dialect
from whitecap.engine.log.columns.identity import identity_of
from whitecap.engine.log.schema import parse_ddl
from whitecap.engine.outcomes import Outcome
from whitecap.engine.query.row_conditions import rows_asked_of_others, with_clause_values
from whitecap.engine.query.source_queries import source_of
from whitecap.engine.remembered import once_for_each
from whitecap.engine.session.table import Table, Tables, table_named
from whitecap.engine.sql.expressions.rendering import Template
from whitecap.engine.sql.functions.times import NOW, asks_time
from whitecap.engine.sql.parsing.statements import (
    Delete,
    Insert,
    Merge,
    Optimize,
    Statement,
    Truncate,
    Update,
)
from whitecap.engine.sql.parsing.table_statements import (
    AddColumns,
    AddConstraint,
    ChangeColumn,
    CloneTable,
    ClusterBy,
    CommentOnTable,
    CreateTable,
    DropColumns,
    DropConstraint,
    DropFeature,
    RenameColumn,
    Reorg,
    ReplaceColumns,
    Restore,
    SetProperties,
    SyncIdentity,
    UnsetProperties,
    Vacuum,
)
from whitecap.engine.storage.requests import ReadClock, Steps
from whitecap.engine.values.types import EPOCH
from whitecap.engine.writing.default_keyword import with_defaults

_NOT_ANALYZED = (CloneTable, CreateTable, Vacuum)
"""Statements that name their target as what is to be there, or by its path."""

_COMMANDS: dict[type[Statement], Callable[[Table, Any], Steps[Outcome]]] = {
    AddColumns: add_columns,
    AddConstraint: add_constraint,
    ChangeColumn: change_column,
    ClusterBy: cluster_by,
    CommentOnTable: comment_on_table,
    DropColumns: drop_columns,
    DropConstraint: drop_constraint,
    DropFeature: drop_feature,
    Optimize: optimize,
    RenameColumn: rename_column,
    Reorg: reorg,
    ReplaceColumns: replace_columns,
    Restore: restore,
    SetProperties: set_properties,
    SyncIdentity: sync_identity,
    Truncate: truncate,
    UnsetProperties: unset_properties,
    Vacuum: vacuum,
}


def run_statement(statement: Statement, tables: Tables) -> Steps[Outcome]:
    """Run one statement on the tables that it names; how it ended.

    A conflict is an outcome. A statement that opens several transactions ends as its last one;
    the target's `outcomes` has them all, those of hooks after a commit included. Raises
    `DeltaError` for what Delta refuses otherwise, `InvalidInput` for unknown tables and columns,
    `UnsupportedFeature` for what is not modelled.
    """
    statement.check_bound()
    _require(statement, table_named(tables, statement.table.name).dialect)
    return (yield from run_beyond_sql(statement, tables))


def run_beyond_sql(statement: Statement, tables: Tables) -> Steps[Outcome]:
    """The same of a statement that its dialect's SQL may lack, and programs do there."""
    statement = yield from _at_this_time(statement)
    target = table_named(tables, statement.table.name)
    with statement_on(target):
        if not isinstance(statement, _NOT_ANALYZED):
            yield from target.at_root(target.log.analyze())
        steps = yield from _command(statement, target, tables)
        return (yield from target.at_root(steps))


def run_batch(table: Table, batch: Batch) -> Steps[Outcome]:
    """Write a batch of a streaming query, as `write_batch` says; how it ended."""
    return as_statement(table, write_batch(table, batch))


def _require(statement: Statement, dialect: Dialect) -> None:
    """Raises `UnsupportedFeature` for a statement that a dialect lacks, whatever its values."""
    statement.plans.of(dialect, "words", lambda: dialect.require(_words_of(statement)))


def _words_of(statement: Statement) -> list[str]:
    """What a dialect may lack of a statement, in SQL's words: `DROP FEATURE`, `REPLACE USING`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(statement).__name__).upper()
    return [words, *(clause for clause, is_there in _clauses(statement) if is_there)]


def _clauses(statement: Statement) -> Iterator[tuple[str, bool]]:
    """The clauses that a dialect may lack, and whether the statement has them."""
    match statement:
        case Insert():
            yield "REPLACE USING", bool(statement.replace_using)
            yield "REPLACE ON", statement.replace_on is not None
            yield SCHEMA_EVOLUTION, statement.schema_evolution
        case Merge():
            yield SCHEMA_EVOLUTION, statement.schema_evolution
        case CreateTable(ddl=ddl):
            yield "REPLACE TABLE", statement.replace
            yield IDENTITY, any(map(identity_of, parse_ddl(ddl) if ddl else ()))
        case Reorg():
            yield "UPGRADE UNIFORM", statement.iceberg_compat_version is not None


def _at_this_time(statement: Statement) -> Steps[Statement]:
    """The statement with the time that `current_date()` and its relatives give in it."""
    if not _asks_time(statement.template):
        return statement
    time = yield from time_of("".join(statement.template.texts))
    return replace(statement, parameters={**statement.parameters, **time})


@once_for_each
def _asks_time(template: Template) -> bool:
    return asks_time("".join(template.texts))


def time_of(sql: str) -> Steps[dict[str, Any]]:
    """The time as a parameter, if a text may ask for it."""
    if not asks_time(sql):
        return {}
    now_ms = yield ReadClock()
    return {NOW: EPOCH + timedelta(milliseconds=now_ms)}


def _command(statement: Statement, target: Table, tables: Tables) -> Steps[Steps[Outcome]]:
    """The command's steps; what it reads of other tables is pinned before they begin."""
    names, parameters, session = statement.table, statement.parameters, target.session
    match statement:
        case Insert():
            statement = yield from with_defaults(statement, target)
            rows = yield from source_of(statement.query, names, tables, parameters, session)
            return insert(target, statement, rows)
        case Merge():
            statement = yield from with_clause_values(statement, tables, session)
            rows = yield from source_of(statement.source, names, tables, parameters, session)
            return merge(target, statement, rows)
        case CreateTable(query=query) if query is not None:
            rows = yield from source_of(query, names, tables, parameters, session)
            return create_table(target, statement, rows)
        case CreateTable():
            return create_table(target, statement)
        case Delete():
            return delete(target, statement, (yield from rows_asked_of_others(statement, tables)))
        case Update():
            return update(target, statement, (yield from rows_asked_of_others(statement, tables)))
        case CloneTable():
            return clone_table(target, statement, *(yield from clone_source(statement, tables)))
    return _COMMANDS[type(statement)](target, statement)
