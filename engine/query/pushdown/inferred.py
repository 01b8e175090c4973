"""Conditions on a relation that follow from others beside a join.

A comparison leaves out rows without a value, and what is said of a column goes for each that equals
it by `=`, not by `<=>`: for columns of the same type, and for one that is cast to the type of the
other. Source: Spark's InferFiltersFromConstraints, inferAdditionalConstraints, as observed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from sqlglot import exp

from whitecap.engine.query.pushdown.column_pruning import hears
from whitecap.engine.query.pushdown.column_types import (
    TypeOf,
    are_alike,
    cast,
    casts_to_type_of,
    type_beside,
)
from whitecap.engine.query.pushdown.non_joins import asks_around
from whitecap.engine.sql.expressions.columns import columns_outside_queries, in_lower_case
from whitecap.engine.sql.predicates.not_null import columns_never_null

_Columns = frozenset[exp.Column]
_Pair = tuple[exp.Column, exp.Column]


def inferred_from(
    conditions: Sequence[exp.Expr],
    is_own: Callable[[exp.Column], bool],
    type_of: TypeOf,
    select: exp.Select,
) -> Iterator[exp.Expr]:
    """What follows for a relation's own columns from conditions of a query that all hold."""
    conditions = [in_lower_case(part) for part in conditions]
    for part in conditions:
        columns = dict.fromkeys(columns_never_null(part))
        if not all(map(is_own, columns_outside_queries(part))):
            yield from (_has_value(column) for column in columns if is_own(column))
    for own, equals in _equals(conditions, type_of):
        column = next(own.find_all(exp.Column))
        if is_own(column):
            heard = (part for part in conditions if hears(column, part, select))
            said = (_said_of(own, part, equals) for part in heard)
            yield from (part for part in said if part is not None)


def _equals(conditions: Sequence[exp.Expr], type_of: TypeOf) -> Iterator[tuple[exp.Expr, _Columns]]:
    """Each column, and cast of one, that equals others by a condition, with these."""
    pairs = list(_compared(conditions))
    classes = _classes([pair for pair in pairs if are_alike(*pair, type_of)])
    yield from _alike(classes)
    yield from _cast(pairs, classes, type_of)
    yield from _written_casts(conditions, classes, type_of)


def _has_value(column: exp.Column) -> exp.Expr:
    return exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null()))


def _compared(conditions: Iterable[exp.Expr]) -> Iterator[_Pair]:
    """The columns that conditions say are equal."""
    for part in conditions:
        if isinstance(part, exp.EQ):
            left, right = part.this.unnest(), part.expression.unnest()
            if isinstance(left, exp.Column) and isinstance(right, exp.Column):
                yield left, right


def _classes(pairs: Iterable[_Pair]) -> list[_Columns]:
    """The columns that equal each other."""
    classes: list[_Columns] = []
    for pair in pairs:
        touched = [each for each in classes if not each.isdisjoint(pair)]
        classes = [each for each in classes if each not in touched]
        classes.append(frozenset(pair).union(*touched))
    return classes


def _alike(classes: Iterable[_Columns]) -> Iterator[tuple[exp.Expr, _Columns]]:
    """Each column that equals others, with these."""
    for equals in classes:
        yield from ((column, equals) for column in sorted(equals, key=str))


def _cast(
    pairs: Sequence[_Pair], classes: Sequence[_Columns], type_of: TypeOf
) -> Iterator[tuple[exp.Expr, _Columns]]:
    """Each column that equals others when it is cast to their type: the cast, and these."""
    for column, other in (*pairs, *((right, left) for left, right in pairs)):
        wider = type_beside(column, other, type_of)
        if wider is not None:
            for own in sorted(_class_of(column, classes), key=str):
                yield cast(own, wider), _class_of(other, classes)


def _written_casts(
    conditions: Iterable[exp.Expr], classes: Sequence[_Columns], type_of: TypeOf
) -> Iterator[tuple[exp.Expr, _Columns]]:
    """The same of casts that stand in conditions: `CAST(ts AS DATE) = day`."""
    for part in conditions:
        sides = (part.this.unnest(), part.expression.unnest()) if isinstance(part, exp.EQ) else ()
        for own, other in (sides, sides[::-1]) if sides else ():
            if isinstance(other, exp.Column) and casts_to_type_of(own, other, type_of):
                yield own, _class_of(other, classes)


def _class_of(column: exp.Column, classes: Iterable[_Columns]) -> _Columns:
    return next((each for each in classes if column in each), frozenset((column,)))


def _said_of(own: exp.Expr, condition: exp.Expr, equals: _Columns) -> exp.Expr | None:
    """A condition on a column that equals another one, or a cast of it, as one on that."""
    columns = set(columns_outside_queries(condition))
    if len(columns) != 1 or own in columns or not columns <= equals:
        return None
    (other,) = columns
    if other.name.lower() != own.name.lower() and condition.find(exp.Query) is not None:
        return None  # the query may speak of the row around it by that name too
    if asks_around(condition, ""):
        inner = [c for c in condition.find_all(exp.Column) if c.table.lower() == other.table]
        if len(inner) > len(columns_outside_queries(condition)):
            return None
    holder = exp.Paren(this=condition.copy())
    for column in columns_outside_queries(holder):
        column.replace(own.copy())
    return holder
