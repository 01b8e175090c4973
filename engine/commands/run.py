"""From a parsed statement to the command that runs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.commands.alter import (
    add_columns,
    add_constraint,
    create_table,
    drop_constraint,
    set_properties,
    unset_properties,
)
from engine.commands.delete import delete, truncate
from engine.commands.insert import insert
from engine.commands.maintenance import restore, vacuum
from engine.commands.merge import merge
from engine.commands.optimize import optimize
from engine.commands.queries import source_of
from engine.commands.table import Table, Tables, table_named
from engine.commands.update import update
from engine.outcomes import Outcome
from engine.sql.statements import (
    AddColumns,
    AddConstraint,
    CreateTable,
    Delete,
    DropConstraint,
    Insert,
    Merge,
    Optimize,
    Restore,
    SetProperties,
    Statement,
    Truncate,
    UnsetProperties,
    Update,
    Vacuum,
)
from engine.storage.requests import Steps

_COMMANDS: dict[type[Statement], Callable[[Table, Any], Steps[Outcome]]] = {
    AddColumns: add_columns,
    AddConstraint: add_constraint,
    CreateTable: create_table,
    Delete: delete,
    DropConstraint: drop_constraint,
    Optimize: optimize,
    Restore: restore,
    SetProperties: set_properties,
    Truncate: truncate,
    UnsetProperties: unset_properties,
    Update: update,
    Vacuum: vacuum,
}


def run_statement(statement: Statement, tables: Tables) -> Steps[Outcome]:
    """Run one statement on the tables that it names.

    A conflict is an outcome. Raises `DeltaError` for what Delta refuses otherwise, `InvalidInput`
    for unknown tables and columns, `UnsupportedFeature` for what is not modelled.
    """
    statement.check_bound()
    target = table_named(tables, statement.table.name)
    match statement:
        case Insert():
            source = yield from source_of(
                statement.query, statement.table, tables, statement.parameters, target.session
            )
            steps = insert(target, statement, source)
        case Merge():
            source = yield from source_of(
                statement.source, statement.table, tables, statement.parameters, target.session
            )
            steps = merge(target, statement, source)
        case _:
            steps = _COMMANDS[type(statement)](target, statement)
    try:
        return (yield from target.at_root(steps))
    finally:
        target.reading = None
