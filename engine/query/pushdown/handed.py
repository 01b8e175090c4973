"""Conditions on what a query gives, as conditions on the tables that it selects from.

A condition comes through where it speaks of columns that the query hands on or computes of one row.
Of a grouped query these are what it groups by; beside windows, what all of them partition by.
Nothing comes through a LIMIT.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from whitecap.engine.query.pushdown.column_types import cast
from whitecap.engine.sql.expressions.columns import columns_outside_queries, unqualified
from whitecap.engine.sql.expressions.select_list import by_position, item_called
from whitecap.engine.sql.functions.nodes import is_random

NO_CASTS: Mapping[str, str] = {}


def in_terms_of(
    select: exp.Select,
    condition: exp.Expr,
    names: Sequence[str] = (),
    casts: Mapping[str, str] = NO_CASTS,
    *,
    is_having: bool = False,
) -> exp.Expr | None:
    """The condition by the columns of what the query selects from; `None` if it stops here.

    `names`: what the query's columns are called outside, where that is not what it calls them.
    `casts`: the types that some of them have there, by these names in lower case.
    `is_having`: it may speak of keys that are not selected.
    """
    if select.args.get("limit") or any(map(is_random, select.expressions)):
        return None
    if condition.find(exp.AggFunc, exp.Window) or is_random(condition):
        return None
    if _asks_of_changed(select, condition, names):
        return None
    holder = exp.Paren(this=condition.copy())
    for column in columns_outside_queries(holder):
        is_of_table = is_having and bool(column.table)
        item = None if is_of_table else item_called(select, column.name, names)
        item = item or (column if is_having else None)
        if item is None or not _is_handed_on(select, item):
            return None
        if item.name.lower() != column.name.lower() and _windows(select):
            return None
        kind = casts.get(column.name.lower())
        handed = item.copy() if kind is None else cast(item, kind)
        column.replace(handed if isinstance(handed, exp.Column) else exp.paren(handed))
    return holder


def _is_handed_on(select: exp.Select, item: exp.Expr) -> bool:
    """Whether a condition on this item is as good as one on the rows before."""
    if item.find(exp.AggFunc, exp.Window, exp.Query) is not None:
        return False
    group = select.args.get("group")
    kinds = [[by_position(key, select, "GROUP") for key in group.expressions]] if group else []
    windows = _windows(select)
    if windows and not isinstance(item, exp.Column):
        return False  # it is computed beside what the windows partition by
    kinds += [window.args.get("partition_by") or [] for window in windows]
    return all(any(_same(item, key) for key in keys) for keys in kinds)


def _windows(select: exp.Select) -> list[exp.Window]:
    return [window for part in select.expressions for window in part.find_all(exp.Window)]


def _same(left: exp.Expr, right: exp.Expr) -> bool:
    """Whether both are the same but for qualifiers that only one of them has."""
    columns = zip(columns_outside_queries(left), columns_outside_queries(right), strict=False)
    tables = ((a.table.lower(), b.table.lower()) for a, b in columns)
    is_of_same = all(a == b or not (a and b) for a, b in tables)
    return is_of_same and unqualified(left) == unqualified(right)


def _asks_of_changed(select: exp.Select, condition: exp.Expr, names: Sequence[str]) -> bool:
    """Whether a query in a condition may speak of what is not handed on as it is.

    A condition without columns of its own goes below no grouping: Spark's pushing wants some.
    """
    if condition.find(exp.Query) is None:
        return False
    groups = bool(select.args.get("group") or select.args.get("distinct") or _windows(select))
    if not columns_outside_queries(condition) and (groups or select.find(exp.AggFunc)):
        return True
    items = ((c.name, item_called(select, c.name, names)) for c in condition.find_all(exp.Column))
    return any(
        item is not None
        and not (isinstance(item, exp.Column) and item.name.lower() == name.lower())
        for name, item in items
    )


def asks_around(condition: exp.Expr, relation: str) -> bool:
    """Whether a query in a condition names another relation around it."""
    own = {part.alias_or_name.lower() for part in condition.find_all(exp.Table, exp.Subquery)}
    named = {column.table.lower() for column in condition.find_all(exp.Column)}
    return condition.find(exp.Query) is not None and bool(named - own - {"", relation.lower()})
