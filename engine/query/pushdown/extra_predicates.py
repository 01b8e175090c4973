"""What a condition over several relations says of one of them alone.

A part of it, if all of it has to hold, or what is common to the sides of an OR: of
`(t.day = 'a' AND b.k = 0) OR (t.day = 'b' AND b.k = 1)` it is `t.day = 'a' OR t.day = 'b'`. Source:
Spark's PushExtraPredicateThroughJoin, extractPredicatesWithinOutputSet.
"""

from __future__ import annotations

from sqlglot import exp

from whitecap.engine.query.pushdown.non_joins import asks_around
from whitecap.engine.sql.expressions.columns import columns_outside_queries
from whitecap.engine.sql.functions.function_nodes import is_random
from whitecap.engine.sql.predicates.normal_form import join_and


def said_alone(condition: exp.Expr, relation: exp.Expr, is_alone: bool) -> exp.Expr | None:
    """The condition itself or a part that speaks of a relation alone, `None` if there is none.

    `is_alone`: whether the query selects from nothing else.
    """
    if _concerns(condition, relation, is_alone):
        return condition
    condition = condition.unnest()
    if not isinstance(condition, exp.And | exp.Or):
        return None
    sides = [said_alone(side, relation, is_alone) for side in (condition.left, condition.right)]
    shares = [exp.paren(side.copy()) for side in sides if side is not None]
    if isinstance(condition, exp.And):
        return join_and(shares)
    return exp.Or(this=shares[0], expression=shares[1]) if len(shares) == 2 else None


def _concerns(condition: exp.Expr, relation: exp.Expr, is_alone: bool) -> bool:
    """Whether a condition may speak of a relation's columns alone, but for queries in it.

    A name without qualifier that is no column of the relation is found out where its columns are.
    What speaks of no column concerns all: where it is not TRUE, none is read.
    """
    columns = columns_outside_queries(condition)
    if not columns:
        return is_alone if condition.find(exp.Query) is not None else not is_random(condition)
    if not is_alone and asks_around(condition, relation.alias_or_name):
        return False
    return all(may_be_of(column, relation) for column in columns)


def speaks_of(condition: exp.Expr, relation: exp.Expr) -> bool:
    """Whether a condition may speak of a column of a relation."""
    return any(may_be_of(column, relation) for column in columns_outside_queries(condition))


def may_be_of(column: exp.Column, relation: exp.Expr) -> bool:
    """Whether a column is named as one of a relation, or without a qualifier."""
    return column.table.lower() in ("", relation.alias_or_name.lower())
