"""The columns that a statement names and its tables do not have: told of its text, all at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sqlglot import exp

from whitecap.engine.errors import Problem, nearest
from whitecap.engine.log.schema import Schema
from whitecap.engine.settings import Settings
from whitecap.engine.sql.expressions.columns import columns_outside_queries
from whitecap.engine.sql.parsing.statements import (
    Delete,
    Insert,
    Merge,
    Optimize,
    Statement,
    TableName,
    Update,
)
from whitecap.engine.sql.predicates.predicate import Predicate

Schemas = Mapping[str, Schema]
"""The columns of the tables by name, in lower case."""


def may_add_columns(statement: Statement, settings: Settings) -> bool:
    """Whether columns that the table does not have would be added to it."""
    match statement:
        case Merge(schema_evolution=True):
            return True
        case Insert() if statement.is_set("mergeSchema"):
            return True
    return settings.schema_auto_merge


def unknown_columns(statement: Statement, schemas: Schemas) -> Iterator[Problem]:
    """Columns that the tables do not have; those of subqueries are found when it is run.

    It is for a statement that adds none (`may_add_columns`).
    """
    schema = schemas.get(statement.table.name.lower())
    if schema is None:
        return
    match statement:
        case Merge():
            yield from _unknown_in_merge(statement, schema, schemas)
        case Update(assignments=assignments, condition=condition):
            for name, value in assignments:
                yield from _unknown([name], schema)
                yield from _unknown_in(value, statement.table, schema)
            yield from _unknown_in(condition, statement.table, schema)
        case Delete(condition=condition):
            yield from _unknown_in(condition, statement.table, schema)
        case Optimize(condition=condition, zorder_by=columns):
            yield from _unknown_in(condition, statement.table, schema)
            yield from _unknown(columns, schema)
        case Insert(columns=columns, replace_where=condition):
            yield from _unknown(columns, schema)
            yield from _unknown_in(condition, statement.table, schema)


def _unknown_in(
    part: exp.Expr | Predicate | None, table: TableName, schema: Schema
) -> Iterator[Problem]:
    """Columns of a condition or a value; what is qualified still is of no table, or a field."""
    if part is None:
        return
    columns = columns_outside_queries(part.node if isinstance(part, Predicate) else part)
    yield from _unknown([column.name for column in columns if not column.table], schema)
    for column in columns:
        if column.table and schema.get(column.table) is None:
            shown = f"{column.table}.{column.name}"
            yield Problem(shown, "no such table here", nearest(column.table, table.names))


def _unknown(names: Iterable[str], schema: Schema) -> Iterator[Problem]:
    for name in dict.fromkeys(names):
        if name and schema.get(name) is None:
            yield Problem(name, "no such column", nearest(name, schema.names))


def _unknown_in_merge(merge: Merge, target: Schema, schemas: Schemas) -> Iterator[Problem]:
    sides = {name.lower(): target for name in merge.table.names}
    source = merge.source
    if isinstance(source, TableName) and source.name.lower() in schemas:
        sides |= {name.lower(): schemas[source.name.lower()] for name in source.names}
    yield from _unknown_qualified(merge.on, sides)
    for clause in merge.clauses:
        if clause.condition is not None:
            yield from _unknown_qualified(clause.condition, sides)
        for name, value in clause.assignments or ():
            yield from _unknown([name], target)
            yield from _unknown_qualified(value, sides)


def _unknown_qualified(node: exp.Expr, sides: Schemas) -> Iterator[Problem]:
    """Those that are qualified by a table whose columns are known."""
    for column in columns_outside_queries(node):
        schema = sides.get(column.table.lower())
        if schema is not None and column.name and schema.get(column.name) is None:
            shown = f"{column.table}.{column.name}"
            yield Problem(shown, "no such column", nearest(column.name, schema.names))
