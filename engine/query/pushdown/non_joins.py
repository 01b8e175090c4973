"""Conditions on what a query gives, as conditions on the tables that it selects from.

A condition comes through where it speaks of columns that the query hands on or computes of one row.
Of a grouped query this is all but aggregates; beside windows, what all of them partition by.
Nothing comes through a LIMIT, nor by what differs from call to call, be it sorted or grouped by.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct, field
from sqlglot import exp

from whitecap.engine.query.pushdown.column_types import cast
from whitecap.engine.sql.expressions.columns import columns_outside_queries
from whitecap.engine.sql.expressions.select_list import (
    are_same,
    by_aliases,
    by_lateral_aliases,
    group_keys,
    item_called,
    unaliased,
)
from whitecap.engine.sql.functions.function_nodes import is_random


class Projected(Struct, frozen=True):
    """A query, and what its columns are outside of it.

    `names`: what they are called there, where that is not what the query calls them. `casts`: the
    types that some of them have there, by these names in lower case. `columns`: the names, in lower
    case, of what the query selects from, `None` if they are not known.
    """

    select: exp.Select
    names: Sequence[str] = ()
    casts: Mapping[str, str] = field(default_factory=dict)
    columns: Collection[str] | None = None

    def below(self, condition: exp.Expr) -> exp.Expr | None:
        """The condition by the columns of what the query selects from; `None` if it stops here."""
        if self.select.args.get("limit") or any(map(is_random, _computed(self.select))):
            return None
        if _is_of_groups(condition) or _asks_of_changed(self.select, condition, self.names):
            return None
        holder = exp.Paren(this=condition.copy())
        for column in columns_outside_queries(holder):
            item = self._handed_on(column.name)
            if item is None:
                return None
            column.replace(item if isinstance(item, exp.Column) else exp.paren(item))
        return holder

    def _handed_on(self, name: str) -> exp.Expr | None:
        """What a column is computed of; `None` if a condition on that is none on rows before."""
        item = self._item(name)
        if item is None or not _is_handed_on(self.select, item):
            return None
        if item.name.lower() != name.lower() and _windows(self.select):
            return None
        kind = self.casts.get(name.lower())
        return item.copy() if kind is None else cast(item, kind)

    def _item(self, name: str) -> exp.Expr | None:
        """What the query computes under a name, be it by what items before it compute."""
        item, columns = item_called(self.select, name, self.names), self.columns
        if item is None or columns is None:
            return item
        items = [(part.alias_or_name, unaliased(part)) for part in self.select.expressions]
        return by_lateral_aliases(item, items, lambda column: column.lower() in columns)


def below_groups(
    select: exp.Select, condition: exp.Expr, columns: Collection[str] | None
) -> exp.Expr | None:
    """A condition of HAVING by the columns of what the query selects from; `None` if it stops here.

    `columns`: their names in lower case. Where they are not known, nothing is said by an alias.
    """
    names = columns or {name.name.lower() for name in columns_outside_queries(condition)}
    keys = group_keys(select, lambda name: name.lower() in names)
    said = by_aliases(condition, select, keys)
    if not keys or any(map(is_random, keys)) or (columns is None and said != condition):
        return None
    return None if _is_of_groups(said) or _asks_of_changed(select, condition, ()) else said


def _computed(select: exp.Select) -> Iterator[exp.Expr]:
    """What a query computes before its rows are handed on."""
    yield from select.expressions
    yield from (part for part in map(select.args.get, ("group", "order")) if part is not None)


def _is_of_groups(condition: exp.Expr) -> bool:
    """Whether a condition is one on groups or windows, or differs from call to call."""
    return condition.find(exp.AggFunc, exp.Window) is not None or is_random(condition)


def _is_handed_on(select: exp.Select, item: exp.Expr) -> bool:
    """Whether a condition on this item is as good as one on the rows before."""
    if item.find(exp.AggFunc, exp.Window, exp.Query) is not None:
        return False
    windows = _windows(select)
    if windows and not isinstance(item, exp.Column):
        return False  # it is computed beside what the windows partition by
    kinds = [window.args.get("partition_by") or [] for window in windows]
    return all(any(are_same(item, key) for key in keys) for keys in kinds)


def _windows(select: exp.Select) -> list[exp.Window]:
    return [window for part in select.expressions for window in part.find_all(exp.Window)]


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
