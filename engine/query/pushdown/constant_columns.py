"""Columns of queries that hold the same constant in each row, as those of a WITH of parameters.

In `WITH p AS (SELECT DATE '2026-01-01' AS day) ... FROM t, p WHERE t.day = p.day` Spark puts the
constant in the column's place. Rows that are written out are computed before anything is inferred.
Source: Spark's QueryPlanConstraints.scala (literals of a SELECT list), InferFiltersFromConstraints,
observed on Delta Lake 4.4.0 (tests/conformance/cases/pushed_constants.json).
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from whitecap.engine.query.pushdown.constraints import is_stored, items_of
from whitecap.engine.query.pushdown.extra_predicates import may_be_of
from whitecap.engine.query.pushdown.relations import joins_of, query_of, relations_in
from whitecap.engine.sql.expressions.columns import columns_outside_queries
from whitecap.engine.sql.functions.function_nodes import is_random

_NOT_CONSTANT = (exp.Column, exp.Star, exp.Query, exp.AggFunc, exp.Window)


def with_constants(condition: exp.Expr, relations: Sequence[exp.Expr]) -> exp.Expr:
    """The condition with the constants that columns of these relations hold; itself if none is."""
    columns = columns_outside_queries(condition)
    if all(_constant_of(column, relations) is None for column in columns):
        return condition
    holder = exp.Paren(this=condition.copy())
    for column in columns_outside_queries(holder):
        constant = _constant_of(column, relations)
        if constant is not None:
            column.replace(exp.paren(constant.copy()))
    changed: exp.Expr = holder.this
    return changed


def _constant_of(column: exp.Column, relations: Sequence[exp.Expr]) -> exp.Expr | None:
    """What a column is in each row of the relation that has it, `None` if that differs."""
    own = (each for each in relations if may_be_of(column, each))
    constants = (_constant_called(column.name, each) for each in own)
    return next((each for each in constants if each is not None), None)


def _constant_called(name: str, relation: exp.Expr) -> exp.Expr | None:
    query = query_of(relation)
    if not isinstance(query, exp.Select) or not is_stored(relation):
        return None
    items = (item for item, called in items_of(relation, query) if called.lower() == name.lower())
    item = next(items, None)
    if isinstance(item, exp.Column) and not item.is_star:
        fills_up = any(join.side for join in joins_of(query))
        return None if fills_up else _constant_of(item, relations_in(query))
    is_constant = item is not None and item.find(*_NOT_CONSTANT) is None and not is_random(item)
    return item if is_constant else None
