"""The types of columns that a join compares or a UNION puts below each other.

A condition goes on to an equal column only if Spark casts nothing, or casts just that column: then
as one on the cast. Observed on Delta Lake 4.4.0 (tests/conformance/cases/typed_conditions.json).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sqlglot import exp

from whitecap.engine.errors import InvalidInput
from whitecap.engine.sql.expressions.select_list import unaliased
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.values.coercion import can_up_cast, compared_type
from whitecap.engine.values.types import FRACTIONAL, is_numeric

ColumnsOf = Callable[[exp.Expr], Mapping[str, str]]
"""The columns of a query, or of what one selects from, by name in lower case: their types, in
order. None are known of what cannot be planned."""

TypeOf = Callable[[exp.Column], str | None]
"""The type of a column, `None` if it is not known."""


def nothing_known(_: exp.Expr) -> Mapping[str, str]:
    """Where no table has been read yet."""
    return {}


def types_in(select: exp.Select, columns_of: ColumnsOf, asking: exp.Expr | None = None) -> TypeOf:
    """The types of columns as a query's FROM has them, for conditions on the relation that asks.

    Columns of others have none if what is said of them is lost inside (`_type_seen`).
    """

    def type_of(column: exp.Column) -> str | None:
        types = {
            kind
            for relation in _relations(select)
            if column.table.lower() in ("", relation.alias_or_name.lower())
            for kind in [_type_seen(relation, column.name.lower(), columns_of, asking)]
            if kind is not None
        }
        return types.pop() if len(types) == 1 else None

    return type_of


def _relations(select: exp.Select) -> Iterator[exp.Expr]:
    source = select.args.get("from_")
    if source is not None:
        yield source.this
    yield from (join.this for join in select.args.get("joins") or ())


def _type_seen(
    relation: exp.Expr, name: str, columns_of: ColumnsOf, asking: exp.Expr | None
) -> str | None:
    """The type of a relation's column, unless what is said of it is lost inside of a query.

    A cast that widens is taken off there (UnwrapCastInBinaryComparison), and then the condition is
    none on the column that was computed; so it is in a UNION that casts one of its sides.
    """
    kind = columns_of(relation).get(name)
    query = None if relation is asking else _query_of(relation)
    match query:
        case exp.SetOperation():
            is_lost = not _is_of_one_type(query, name, columns_of)
        case exp.Select():
            is_lost = _is_lost(query, name, kind, columns_of)
        case _:
            is_lost = False
    return None if is_lost else kind


def _is_of_one_type(query: exp.SetOperation, name: str, columns_of: ColumnsOf) -> bool:
    """Whether no side of a UNION is cast to be put below the others in this column."""
    whole = columns_of(query)
    if name not in whole:
        return False
    at = list(whole).index(name)
    return all([*columns_of(side).values()][at:][:1] == [whole[name]] for side in _sides(query))


def _is_lost(query: exp.Select, name: str, kind: str | None, columns_of: ColumnsOf) -> bool:
    """Whether a column that a query gives is a cast which is taken off, there or further inside."""
    items = (item for item in query.expressions if item.alias_or_name.lower() == name)
    item = unaliased(next(items, exp.Star()))
    type_of = types_in(query, columns_of)
    if isinstance(item, exp.Cast) and isinstance(item.this, exp.Column):
        own = type_of(item.this)
        return own is None or _is_taken_off(own, kind)
    return isinstance(item, exp.Column) and type_of(item) is None


def _query_of(relation: exp.Expr) -> exp.Expr | None:
    """The query that a relation is, written in its place or in a WITH."""
    if isinstance(relation, exp.Table):
        named = (c for c in relation.root().find_all(exp.CTE) if c.alias == relation.name)
        return next((each.this for each in named), None)
    return relation.this if isinstance(relation, exp.Subquery) else None


def _sides(query: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(query, exp.SetOperation):
        yield from _sides(query.left)
        yield from _sides(query.right)
    else:
        yield query


def _is_taken_off(own: str, kind: str | None) -> bool:
    """Whether Spark compares without this cast, as observed."""
    if kind is None or not (is_numeric(own) and is_numeric(kind)):
        return (own, kind) == ("timestamp", "date")
    return own != kind and can_up_cast(own, kind)


def are_alike(left: exp.Column, right: exp.Column, type_of: TypeOf) -> bool:
    """Whether two columns are compared as they are.

    Fractions are not: a join makes their zeros and NaNs alike (NormalizeFloatingNumbers).
    """
    own, its = type_of(left), type_of(right)
    return own is not None and own == its and own not in FRACTIONAL


def type_beside(column: exp.Column, other: exp.Column, type_of: TypeOf) -> str | None:
    """The type to which a column is cast to be compared with another one, which is not cast."""
    own, its = type_of(column), type_of(other)
    if own is None or its is None or own == its or its in FRACTIONAL:
        return None
    return its if _compared(own, its) == its else None


def cast(node: exp.Expr, type_name: str) -> exp.Expr:
    """An expression in another type."""
    return exp.cast(node.copy(), exp.DataType.build(type_name, dialect=DIALECT))


def _compared(left: str, right: str) -> str | None:
    try:
        return compared_type(left, right)
    except InvalidInput:
        return None
