"""Conditions on a relation that follow from others beside a join.

A comparison leaves out rows without a value, and what is said of a column goes for each that equals
it. Source: Spark's InferFiltersFromConstraints, inferAdditionalConstraints, as observed: equal
columns of one type by `=`, no `<=>`, no casts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

from whitecap.engine.query.pushdown.handed import asks_around
from whitecap.engine.sql.expressions.columns import columns_outside_queries
from whitecap.engine.sql.predicates.not_null import columns_never_null

_Columns = frozenset[exp.Column]


def inferred_from(
    conditions: Sequence[exp.Expr], is_own: Callable[[exp.Column], bool]
) -> Iterator[exp.Expr]:
    """What follows for a relation's own columns from conditions that all hold."""
    for part in conditions:
        columns = dict.fromkeys(columns_never_null(part))
        if not all(map(is_own, columns_outside_queries(part))):
            yield from (_has_value(column) for column in columns if is_own(column))
    for equals in _classes(conditions):
        for own in filter(is_own, sorted(equals, key=str)):
            said = (_said_of(own, part, equals) for part in conditions)
            yield from (part for part in said if part is not None)


def _has_value(column: exp.Column) -> exp.Expr:
    return exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null()))


def _classes(conditions: Sequence[exp.Expr]) -> list[_Columns]:
    """The columns that equal each other."""
    classes: list[_Columns] = []
    for part in conditions:
        sides = (part.this.unnest(), part.expression.unnest()) if isinstance(part, exp.EQ) else ()
        columns = [side for side in sides if isinstance(side, exp.Column)]
        if len(columns) == 2:
            touched = [each for each in classes if not each.isdisjoint(columns)]
            classes = [each for each in classes if each not in touched]
            classes.append(frozenset(columns).union(*touched))
    return classes


def _said_of(own: exp.Column, condition: exp.Expr, equals: _Columns) -> exp.Expr | None:
    """A condition on a column that equals another one, as one on that."""
    columns = set(columns_outside_queries(condition))
    if len(columns) != 1 or own in columns or not columns <= equals:
        return None
    (other,) = columns
    if other.name.lower() != own.name.lower() and condition.find(exp.Query) is not None:
        return None  # the query may speak of the row around it by that name too
    if asks_around(condition, ""):
        inner = [c for c in condition.find_all(exp.Column) if c.table == other.table]
        if len(inner) > len(columns_outside_queries(condition)):
            return None
    holder = exp.Paren(this=condition.copy())
    for column in columns_outside_queries(holder):
        column.replace(own.copy())
    return holder
