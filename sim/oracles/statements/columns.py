"""The columns of a table, and those that an INSERT says by their names."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from sqlglot import exp

from whitecap.engine.log.column_keys import (
    CURRENT_DEFAULT,
    GENERATION_EXPRESSION,
    IDENTITY_START,
)
from whitecap.engine.log.schema import Schema
from whitecap.sim.oracles.statements.parsing import NotTranslated, parsed

_FILLING = frozenset({CURRENT_DEFAULT, GENERATION_EXPRESSION, IDENTITY_START})
"""What says of a column how the table fills it in."""


class TableColumns(Struct, frozen=True):
    """A table's columns: all of them, those that it may fill in itself, those that partition it.

    `read` are those that it computes others from.
    """

    names: tuple[str, ...]
    filled_in: frozenset[str]
    partitions: tuple[str, ...]
    read: frozenset[str] = frozenset()

    @classmethod
    def of(cls, schema: Schema, partitions: tuple[str, ...]) -> TableColumns:
        """Of a table."""
        filled_in = frozenset(
            column.name.lower() for column in schema if not _FILLING.isdisjoint(column.metadata)
        )
        expressions = (column.metadata.get(GENERATION_EXPRESSION) for column in schema)
        read = frozenset(
            column.name.lower()
            for expression in expressions
            if expression is not None
            for column in parsed(expression).find_all(exp.Column)
        )
        return cls(schema.names, filled_in, partitions, read)


def columns_of(query: exp.Expr) -> Iterable[str]:
    """What a query calls its columns. Raises `NotTranslated` where only its sources say it."""
    if not isinstance(query, exp.Select):
        raise NotTranslated("INSERT BY NAME of a query other than SELECT")
    if not query.is_star:
        return query.named_selects
    source = query.args["from_"].this
    if not isinstance(source, exp.Values) or query.args.get("joins"):
        raise NotTranslated("INSERT BY NAME of all columns of a query")
    return source.alias_column_names
