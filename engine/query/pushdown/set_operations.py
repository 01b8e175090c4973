"""Sides of UNION, EXCEPT and INTERSECT: what the query that they make is called outside.

A condition on a UNION is one on each of its sides, by the places of its columns. Source: Spark's
PushPredicateThroughNonJoin (Union), WidenSetOperationTypes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from whitecap.engine.query.pushdown.column_types import ColumnsOf


def whole_of(select: exp.Select, columns_of: ColumnsOf) -> tuple[exp.Expr, Sequence[str] | None]:
    """The UNION that a query is a side of, else itself, and the names of its columns there.

    No names: as the query calls them. `None`: nothing comes through, or the names are not known.
    """
    query: exp.Expr = select
    while (combined := _set_operation(query)) is not None:
        query, is_right = combined
        if query.args.get("limit") or (is_right and not isinstance(query, exp.Union)):
            return query, None
    first = query
    while isinstance(first, exp.SetOperation | exp.Subquery):
        first = first.left if isinstance(first, exp.SetOperation) else first.this
    if first is select:
        return query, ()
    items = first.expressions
    if any(item.is_star for item in items):
        return query, list(columns_of(first)) or None
    return query, [item.alias_or_name for item in items]


def spelt_out(select: exp.Select, columns: Sequence[str]) -> exp.Select:
    """A query with the columns that its star stands for, of all that it has; of several stars
    nobody can tell, and it stays as it is."""
    items = select.expressions
    stars = [(place, item) for place, item in enumerate(items) if item.is_star]
    if len(stars) != 1:
        return select
    place, star = stars[0]
    count = len(columns) - len(items) + 1
    table = star.table if isinstance(star, exp.Column) else None
    meant = [exp.column(name, table) for name in columns[place : place + count]]
    return select.copy().select(*items[:place], *meant, *items[place + 1 :], append=False)


def _set_operation(query: exp.Expr) -> tuple[exp.SetOperation, bool] | None:
    """The UNION or the like that a query is a side of, be it in parentheses; whether its right."""
    holder = query.parent
    while isinstance(holder, exp.Subquery) and _is_parenthesis(holder):
        query, holder = holder, holder.parent
    return (holder, query is holder.right) if isinstance(holder, exp.SetOperation) else None


def _is_parenthesis(query: exp.Subquery) -> bool:
    return not any(value for key, value in query.args.items() if key != "this")


def casts_of(
    select: exp.Select, whole: exp.Expr, names: Sequence[str], columns_of: ColumnsOf
) -> Mapping[str, str] | None:
    """The types to which a UNION casts columns of one side, by their names outside in lower case.

    `None` if it is not known what it casts.
    """
    if whole is select:
        return {}
    own, common = columns_of(select), columns_of(whole)
    names = names or list(own)
    if not own or not len(names) == len(own) == len(common):
        return None
    columns = zip(names, own.values(), common.values(), strict=True)
    return {name.lower(): wider for name, narrow, wider in columns if narrow != wider}
