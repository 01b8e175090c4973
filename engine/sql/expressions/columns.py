"""The columns that an expression speaks of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp


def columns_of(node: exp.Expr) -> frozenset[str]:
    """The names of all columns of an expression, in lower case.

    One that is still qualified is no column of the table: the field of a struct, or a mistake.
    """
    return frozenset(
        f"{column.table}.{column.name}".lower() if column.table else column.name.lower()
        for column in node.find_all(exp.Column)
    )


def columns_outside_queries(node: exp.Expr) -> list[exp.Column]:
    """The columns of an expression, but for those of queries inside of it."""
    return [part for part in outside_queries(node) if isinstance(part, exp.Column)]


def outside_queries(node: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of an expression, down to the queries inside of it."""
    return node.walk(prune=lambda part: isinstance(part, exp.Query))


def unqualified(node: exp.Expr, names: Iterable[str] | None = None) -> exp.Expr:
    """The expression with its column names freed of table names: of all, or of these.

    Queries inside are left as they are.
    """
    tables = None if names is None else {name.lower() for name in names}
    copy = node.copy()
    for column in columns_outside_queries(copy):
        if tables is None or column.table.lower() in tables:
            column.set("table", None)
            column.set("db", None)
    return copy


def in_lower_case(node: exp.Expr) -> exp.Expr:
    """The expression with the names of columns and their tables in lower case, and all quoted.

    Queries inside are left as they are.
    """
    copy = node.copy()
    for column in columns_outside_queries(copy):
        for name in column.find_all(exp.Identifier):
            name.replace(exp.to_identifier(name.name.lower(), quoted=True))
    return copy
