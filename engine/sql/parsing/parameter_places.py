"""Where a statement's parameters stand: in plain places their values are bound as they are.

A plain place is beside a column of the table that is written, in a comparison, an assignment or a
sum that is assigned; or in a VALUES, all its rows or a value of one; or a column of a query, as in
`MERGE INTO t USING (SELECT :id AS id)`. What the value is there, its Python type says. Elsewhere
(in a function, a LIMIT, a subquery) the type of a literal matters while the statement is read, so
that it has to be read with each value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from functools import lru_cache
from typing import Any

from msgspec import Struct
from sqlglot import exp

from whitecap.engine.errors import InvalidInput
from whitecap.engine.sql.expressions.rendering import Template
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.syntax_trees import parse_node
from whitecap.engine.sql.functions.function_nodes import COMPARISONS
from whitecap.engine.sql.parsing.created_rows import LITERAL_TYPES
from whitecap.engine.sql.parsing.query_reading import table_name
from whitecap.engine.sql.parsing.write_clauses import WriteClauses
from whitecap.engine.values.types import INTEGRAL_BITS

_DML = (exp.Insert, exp.Delete, exp.Update, exp.Merge)

_CELLS = {**LITERAL_TYPES, int: "bigint"}
"""What may be a value of a row: a whole number is typed by its digits, as its literal is."""

_ONE_BY_ONE = {"expressions", "from_", "joins", "where", "limit", "with_"}
"""Clauses of a query that makes one row of each that it reads, and says of no column of its own
what it is."""


class ParameterPlace(Struct, frozen=True):
    """One parameter in a plain place: beside `column`, or without one all rows of a VALUES.

    `holds_several`: whether a list of values may stand there. `is_cell`: it is one of a VALUES'
    row or of a SELECT list, typed as its literal would be.
    """

    name: str
    column: str | None = None
    holds_several: bool = False
    is_cell: bool = False

    def takes(self, value: Any, types: Mapping[str, str]) -> bool:
        """Whether a value means the same there as its literal; `types` are the columns', by name
        in lower case.
        """
        if self.is_cell:
            return _is_of(value, _CELLS.get(type(value), ""))
        if self.column is None:
            return isinstance(value, list) and all(isinstance(row, tuple) for row in value)
        column_type = types.get(self.column, "")
        if isinstance(value, list):
            return self.holds_several and all(_is_of(member, column_type) for member in value)
        return _is_of(value, column_type)

    def widened(self, value: Any, types: Mapping[str, str]) -> Any:
        """A whole number beside a DOUBLE as the double that it is cast to; others as they are.

        Source: Spark, TypeCoercion (a comparison) and the ANSI store assignment.
        """
        is_double = self.column is not None and types.get(self.column) == "double"
        is_whole = isinstance(value, int) and _is_of(value, "bigint")
        return float(value) if is_double and is_whole else value


def _is_of(value: Any, column_type: str) -> bool:
    """Whether a value is compared and stored as the column's type without a change of type."""
    match value:
        case bool():
            return column_type == "boolean"
        case int():
            bits = INTEGRAL_BITS.get(column_type, 0)
            return column_type in ("int", "bigint") and -(1 << bits - 1) <= value < 1 << bits - 1
        case float():
            return column_type == "double"
        case str():
            return column_type == "string"
        case datetime():
            return column_type == ("timestamp" if value.tzinfo else "timestamp_ntz")
        case date():
            return column_type == "date"
    return False


class PlainPlaces(Struct, frozen=True):
    """The `places` of those parameters that stand in plain ones only; are these all there are?"""

    places: tuple[ParameterPlace, ...] = ()
    are_all: bool = False


@lru_cache(maxsize=1024)
def plain_places(template: Template) -> PlainPlaces:
    """Of a statement's parameters; of a command without a tree nothing is known."""
    tree = _tree(template)
    if not isinstance(tree, _DML):
        return PlainPlaces()
    placed = [_place(node, tree) for node in tree.find_all(exp.Placeholder)]
    placed_names = Counter(place.name for place in placed if place is not None)
    plain = {name for name, times in Counter(template.names).items() if placed_names[name] == times}
    places = tuple(place for place in placed if place is not None and place.name in plain)
    return PlainPlaces(places, plain == template.parameter_names)


def places_of_one(template: Template) -> dict[str, str]:
    """Parameters that are compared as one value, each with the comparison that takes several."""
    tree = _tree(template)
    placeholders = [] if tree is None else tree.find_all(exp.Placeholder)
    return {node.name: several for node in placeholders if (several := _of_several(node))}


def _of_several(node: exp.Placeholder) -> str | None:
    pair = node.parent
    if not isinstance(pair, exp.EQ | exp.NEQ) or isinstance(pair.parent, exp.Update):
        return None  # an assignment takes one value
    other = pair.left if pair.right is node else pair.right
    is_in = "IN" if isinstance(pair, exp.EQ) else "NOT IN"
    return f"{other.sql(DIALECT)} {is_in} ({node.sql(DIALECT)})"


def _tree(template: Template) -> exp.Expr | None:
    """The statement with its parameters; `None` for one of Delta's own."""
    try:
        return parse_node(WriteClauses.cut(template.render({})).remaining)
    except InvalidInput:
        return None


def _place(node: exp.Placeholder, tree: exp.Expr) -> ParameterPlace | None:
    parent = node.parent
    if isinstance(parent, exp.Values):
        return ParameterPlace(node.name)
    if _is_value(node):
        return ParameterPlace(node.name, is_cell=True)
    column = next(iter(_columns_beside(node)), None)
    if column is None or node.find_ancestor(exp.Query, exp.Partition) is not None:
        return None
    if not _is_targets(column, tree):
        return None
    return ParameterPlace(node.name, column.name.lower(), isinstance(parent, exp.In))


def _is_value(node: exp.Placeholder) -> bool:
    """Whether it is a whole value of a row, in VALUES or of a query."""
    match node.parent:
        case exp.Tuple(parent=exp.Values()):
            return True
        case exp.Alias(parent=exp.Select() as query) as item:
            return _takes_items(query) and not _is_named_inside(item.alias, query)
        case exp.Select() as query:
            return node.arg_key == "expressions" and _takes_items(query)
    return False


def _takes_items(query: exp.Select) -> bool:
    clauses = {name for name, clause in query.args.items() if clause}
    return clauses <= _ONE_BY_ONE and not query.find(exp.AggFunc)


def _is_named_inside(alias: str, query: exp.Select) -> bool:
    """Whether the query itself speaks of a column of its own: what it is would be put there."""
    names = (column.name.lower() for column in query.find_all(exp.Column))
    return alias.lower() in names


def _columns_beside(node: exp.Placeholder) -> Iterator[exp.Column]:
    """The column that a parameter is compared with, assigned to, or added to as it is assigned."""
    match node.parent:
        case exp.Between(this=exp.Column() as column) | exp.In(this=exp.Column() as column):
            yield column
        case exp.Binary() as pair if isinstance(pair, COMPARISONS) or _is_assigned_sum(pair):
            other = pair.left if pair.right is node else pair.right
            if isinstance(other, exp.Column):
                yield other


def _is_assigned_sum(pair: exp.Expr) -> bool:
    """Whether all that is assigned is a sum, a difference or a product of two."""
    is_sum = isinstance(pair, exp.Add | exp.Sub | exp.Mul)
    return is_sum and isinstance(pair.parent, exp.EQ) and isinstance(pair.parent.parent, exp.Update)


def _is_targets(column: exp.Column, tree: exp.Expr) -> bool:
    """Whether a column outside of queries is one of the table that is written."""
    if not column.table:
        return not isinstance(tree, exp.Merge)
    if isinstance(tree, exp.Insert):
        return False
    return column.table.lower() in {name.lower() for name in table_name(tree.this).names}
