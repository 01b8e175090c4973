"""The types of columns that a join compares or a UNION puts below each other.

A condition goes on to an equal column only if Spark casts nothing, or casts just that column: then
as one on the cast. Observed on Delta Lake 4.4.0 (tests/conformance/cases/typed_conditions.json).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain

from sqlglot import exp

from whitecap.engine.errors import InvalidInput
from whitecap.engine.query.pushdown.relations import query_of, relations_in
from whitecap.engine.sql.expressions.building import spark_type
from whitecap.engine.sql.expressions.select_list import item_called
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.predicates.constants import may_unwrap
from whitecap.engine.values.coercion import compared_type
from whitecap.engine.values.types import FRACTIONAL

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
            for relation in relations_in(select)
            if column.table.lower() in ("", relation.alias_or_name.lower())
            for kind in [_type_seen(relation, column.name.lower(), columns_of, asking)]
            if kind is not None
        }
        return types.pop() if len(types) == 1 else None

    return type_of


def names_in(select: exp.Select, columns_of: ColumnsOf) -> frozenset[str] | None:
    """The columns that a query's FROM has, `None` if those of a relation are not known."""
    relations = [columns_of(relation) for relation in relations_in(select)]
    return frozenset(chain(*relations)) if all(relations) else None


def _type_seen(
    relation: exp.Expr, name: str, columns_of: ColumnsOf, asking: exp.Expr | None
) -> str | None:
    """The type of a relation's column, unless what is said of it is lost inside of a query."""
    columns = columns_of(relation)
    kind, query = columns.get(name), None if relation is asking else query_of(relation)
    if kind is None or query is None:
        return kind
    return kind if _comes_through(query, list(columns).index(name), kind, columns_of) else None


def _comes_through(query: exp.Expr, at: int, kind: str, columns_of: ColumnsOf) -> bool:
    """Whether a condition on a query's column, by its place, is one on it inside of it too.

    It is not where a UNION casts the column of one side.
    """
    columns = list(columns_of(query).items())
    if [column_type for _, column_type in columns[at : at + 1]] != [kind]:
        return False
    match query:
        case exp.Subquery():
            return _comes_through(query.this, at, kind, columns_of)
        case exp.SetOperation():
            sides = (query.left, query.right)
            return _keeps_columns(query) and all(
                _comes_through(side, at, kind, columns_of) for side in sides
            )
        case exp.Select():
            item = item_called(query, columns[at][0])
            return item is not None and _is_kept(item, kind, types_in(query, columns_of))
    return True


def _keeps_columns(query: exp.SetOperation) -> bool:
    """EXCEPT ALL and INTERSECT ALL count rows, and give them columns anew (RewriteExceptAll)."""
    return isinstance(query, exp.Union) or bool(query.args.get("distinct"))


def _is_kept(item: exp.Expr, kind: str, type_of: TypeOf) -> bool:
    """Whether a comparison of what is computed stays one.

    A cast that widens is taken off (UnwrapCastInBinaryComparison): then it is one of something
    else. So it is with other things that are simplified, so that only those count that were seen.
    """
    match item.unnest():
        case exp.Column() as column:
            return type_of(column) is not None
        case exp.AggFunc():
            return True  # it is compared where it stands: nothing is pushed below
        case exp.Cast() as outer:
            inner = outer.this.unnest()
            own = _type_before(inner, type_of)
            return (
                own is not None and not _is_taken_off(own, kind) and _is_kept(inner, own, type_of)
            )
        case exp.Add() | exp.Anonymous(this="coalesce") as computed:
            casts_nothing = computed.find(exp.Cast) is None
            return casts_nothing and all(type_of(c) == kind for c in computed.find_all(exp.Column))
    return False


def _type_before(inner: exp.Expr, type_of: TypeOf) -> str | None:
    """The type of what a cast is of, `None` for other things than columns and casts."""
    if isinstance(inner, exp.Column):
        return type_of(inner)
    return spark_type(inner.to) if isinstance(inner, exp.Cast) else None


def _is_taken_off(own: str, kind: str) -> bool:
    """Whether Spark compares without this cast (UnwrapCastInBinaryComparison)."""
    return own != kind and may_unwrap(own, kind)


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


def casts_to_type_of(node: exp.Expr, column: exp.Column, type_of: TypeOf) -> bool:
    """Whether this is the cast of a column to the very type of another one."""
    if not isinstance(node, exp.Cast):
        return False
    inner, its = node.this.unnest(), type_of(column)
    own = type_of(inner) if isinstance(inner, exp.Column) else None
    return own is not None and own != its == spark_type(node.to) and its not in FRACTIONAL


def cast(node: exp.Expr, type_name: str) -> exp.Expr:
    """An expression in another type."""
    return exp.cast(node.copy(), exp.DataType.build(type_name, dialect=DIALECT))


def _compared(left: str, right: str) -> str | None:
    try:
        return compared_type(left, right)
    except InvalidInput:
        return None
