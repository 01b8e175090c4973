"""Conditions on what a query gives, as conditions on the tables that it selects from.

A condition comes through where it speaks of columns that the query hands on or computes of one row.
Of a grouped query these are what it groups by; beside windows, what all of them partition by.
Nothing comes through a LIMIT.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from whitecap.engine.query.pushdown.items import by_position, unaliased
from whitecap.engine.sql.expressions.columns import columns_outside_queries, unqualified
from whitecap.engine.sql.functions.nodes import is_random


def in_terms_of(
    select: exp.Select,
    condition: exp.Expr,
    names: Sequence[str] = (),
    *,
    is_having: bool = False,
) -> exp.Expr | None:
    """The condition by the columns of what the query selects from; `None` if it stops here.

    `names`: what the query's columns are called outside, where that is not what it calls them.
    `is_having`: it may speak of keys that are not selected.
    """
    if select.args.get("limit") or any(map(is_random, select.expressions)):
        return None
    if condition.find(exp.AggFunc, exp.Window) or is_random(condition):
        return None
    holder = exp.Paren(this=condition.copy())
    for column in columns_outside_queries(holder):
        item = _item(select, column.name, names) or (column if is_having else None)
        if item is None or not _is_handed_on(select, item):
            return None
        if condition.find(exp.Query) is not None and item.name.lower() != column.name.lower():
            return None  # the query may speak of the row around it by that name too
        column.replace(item.copy() if isinstance(item, exp.Column) else exp.paren(item.copy()))
    return holder


def _item(select: exp.Select, name: str, names: Sequence[str]) -> exp.Expr | None:
    """What the query computes under a name; under a star, the column itself."""
    items = select.expressions
    if names:
        lowered = [other.lower() for other in names]
        is_there = name.lower() in lowered and len(items) == len(names)
        return unaliased(items[lowered.index(name.lower())]) if is_there else None
    for item in items:
        if item.alias_or_name.lower() == name.lower():
            return unaliased(item)
    stars = [item for item in items if item.is_star]
    if len(stars) != 1 or _leaves_out(stars[0]):
        return None
    return exp.column(name, stars[0].table if isinstance(stars[0], exp.Column) else None)


def _leaves_out(star: exp.Expr) -> bool:
    return any(part.args.get("except_") for part in star.find_all(exp.Star))


def _is_handed_on(select: exp.Select, item: exp.Expr) -> bool:
    """Whether a condition on this item is as good as one on the rows before."""
    if item.find(exp.AggFunc, exp.Window, exp.Query) is not None:
        return False
    group = select.args.get("group")
    kinds = [[by_position(key, select, "GROUP") for key in group.expressions]] if group else []
    windows = (window for part in select.expressions for window in part.find_all(exp.Window))
    kinds += [window.args.get("partition_by") or [] for window in windows]
    return all(any(_same(item, key) for key in keys) for keys in kinds)


def _same(left: exp.Expr, right: exp.Expr) -> bool:
    return unqualified(left) == unqualified(right)
