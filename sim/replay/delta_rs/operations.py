"""SQL statements as operations of the package deltalake, in plain values for its worker.

What the package has no operation for is refused with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlglot import exp

from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.log.schema import parse_ddl
from whitecap.engine.settings import APPLICATION, APPLICATION_VERSION
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.sql.parsing.statements import (
    Delete,
    Insert,
    Match,
    Merge,
    MergeClause,
    Optimize,
    Query,
    Select,
    Statement,
    TableName,
    Truncate,
    Update,
    Values,
)
from whitecap.engine.sql.parsing.table_statements import (
    AddColumns,
    AddConstraint,
    Restore,
    SetProperties,
)
from whitecap.engine.sql.predicates.predicate import Predicate

_Plain = dict[str, Any]


def operation_of(sql: str, settings: Mapping[str, str]) -> _Plain:
    """What runs a statement. Raises `UnsupportedFeature` if the package has no such operation."""
    statement = parse_statement(sql)
    operation = _operation(statement)
    if settings.keys() - {APPLICATION, APPLICATION_VERSION}:
        raise UnsupportedFeature("its writers have no settings of Spark's")
    if settings:
        operation["application"] = [settings[APPLICATION], int(settings[APPLICATION_VERSION])]
    return operation


def _operation(statement: Statement) -> _Plain:
    match statement:
        case Insert():
            return _write(statement)
        case Delete():
            return {"do": "delete", "predicate": _text(statement.condition)}
        case Truncate():
            return {"do": "delete", "predicate": None}
        case Update():
            updates = {name: value.sql() for name, value in statement.assignments}
            return {"do": "update", "updates": updates, "predicate": _text(statement.condition)}
        case Merge():
            return _merge(statement)
        case Optimize():
            partitions = _partitions(statement.condition)
            zorder = list(statement.zorder_by)
            return {"do": "optimize", "partitions": partitions, "zorder_by": zorder}
        case SetProperties():
            return {"do": "set_properties", "properties": dict(statement.properties)}
        case AddConstraint():
            condition = statement.condition
            return {"do": "add_constraint", "name": statement.name, "condition": condition}
        case AddColumns():
            return {"do": "add_columns", "columns": columns_of(statement.ddl)}
        case Restore(version=int(version)):
            return {"do": "restore", "version": version}
    raise UnsupportedFeature(f"the package has no operation for {statement.command}")


def columns_of(ddl: str) -> list[list[str]]:
    """The columns of a table, by name and type."""
    return [[field.name, str(field.type)] for field in parse_ddl(ddl)]


def _write(insert: Insert) -> _Plain:
    beyond = insert.columns or insert.partition or insert.options or insert.by_name
    if beyond or insert.replace_using or insert.replace_on is not None:
        raise UnsupportedFeature("the package writes whole rows, and replaces by a condition")
    overwrites = insert.overwrite or insert.replace_where is not None
    return {
        "do": "write",
        "mode": "overwrite" if overwrites else "append",
        "predicate": _text(insert.replace_where),
        "query": _query(insert.query),
    }


def _merge(merge: Merge) -> _Plain:
    source_alias = getattr(merge.source, "alias", "") or getattr(merge.source, "name", "source")
    return {
        "do": "merge",
        "query": _query(merge.source),
        "on": merge.on.sql(),
        "source_alias": source_alias,
        "target_alias": merge.table.alias or merge.table.name,
        "clauses": [_clause(clause) for clause in merge.clauses],
    }


_CALLED = {Match.MATCHED: "when_matched", Match.NOT_MATCHED: "when_not_matched"}


def _clause(clause: MergeClause) -> _Plain:
    matched = _CALLED.get(clause.match, "when_not_matched_by_source")
    updates = clause.assignments
    every = "_all" if updates is None and clause.act.value != "DELETE" else ""
    return {
        "call": f"{matched}_{clause.act.value.lower()}{every}",
        "updates": None if updates is None else {name: value.sql() for name, value in updates},
        "predicate": None if clause.condition is None else clause.condition.sql(),
    }


def _query(query: Query | TableName) -> str:
    match query:
        case TableName():
            return f"SELECT * FROM {query.name}"
        case Values(rows_parameter=None):
            rows = ", ".join(f"({_listed(row)})" for row in query.rows)
            columns = f" AS v({', '.join(query.columns)})" if query.columns else ""
            return f"SELECT * FROM (VALUES {rows}){columns}"
        case Select():
            return query.node.sql()
    raise UnsupportedFeature("rows of a parameter")


def _listed(values: Iterable[exp.Expr]) -> str:
    return ", ".join(value.sql() for value in values)


def _text(predicate: Predicate | None) -> str | None:
    return None if predicate is None else predicate.sql


def _partitions(condition: Predicate | None) -> list[list[str]]:
    """The condition of an OPTIMIZE as the package takes it: columns and their values."""
    if condition is None:
        return []
    tree = exp.condition(condition.sql, dialect="spark")
    parts = tree.flatten() if isinstance(tree, exp.And) else [tree]
    return [_partition(part) for part in parts]


def _partition(part: exp.Expr) -> list[str]:
    if isinstance(part, exp.EQ) and isinstance(part.expression, exp.Literal):
        return [part.this.name, "=", part.expression.name]
    raise UnsupportedFeature("the package compacts partitions that are named by their values")
