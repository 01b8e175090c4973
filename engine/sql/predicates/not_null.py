"""The columns that must have a value where a condition is to hold.

Spark's optimizer adds `IS NOT NULL` of each to a scan's filters, so that partitions and files
without any are left out. Source: QueryPlanConstraints.scala: inferIsNotNullConstraints,
scanNullIntolerantAttribute.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from whitecap.engine.column_names import quoted_name
from whitecap.engine.errors import EngineError
from whitecap.engine.remembered import once_for_each
from whitecap.engine.sql.expressions.columns import columns_outside_queries
from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.functions.function_nodes import function_name, is_random
from whitecap.engine.sql.predicates.compiler import compile_boolean
from whitecap.engine.sql.predicates.predicate import Predicate, parse_predicate

_TWO_SIDED_TESTS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg)
_NULL_INTOLERANT = (*_TWO_SIDED_TESTS, *_ARITHMETIC, exp.Not, exp.Paren, exp.Cast, exp.Extract)
_TEXT_TESTS = (exp.StartsWith, exp.RegexpLike)
_FUNCTIONS = frozenset({
    "abs", "add_months", "ascii", "ceil", "contains", "date_add", "date_format", "date_part",
    "date_sub", "datediff", "day", "dayofmonth", "dayofweek", "dayofyear", "endswith", "floor",
    "initcap", "instr", "last_day", "left", "length", "lower", "lpad", "md5", "month",
    "months_between", "next_day", "pmod", "power", "quarter", "repeat", "replace", "reverse",
    "sha2", "sign", "sqrt", "substring", "translate", "upper", "weekofyear", "year",
})  # fmt: skip
"""What is NULL as soon as one operand is. Observed on Spark 4.2 in the filters of scans: concat(),
trim(), locate(), trunc(), date_trunc(), unix_timestamp() and round() are not among it."""


@once_for_each
def never_null(node: exp.Expr) -> tuple[Predicate, ...]:
    """That each column has a value, of those without which the condition does not hold."""
    names = {column.name.lower(): column.name for column in columns_never_null(node)}
    return tuple(parse_predicate(f"{quoted_name(name)} IS NOT NULL") for name in names.values())


def refuses_null(node: exp.Expr) -> bool:
    """Whether a condition does not hold where none of its columns has a value.

    Source: EliminateOuterJoin.scala: canFilterOutNull, which evaluates it so.
    """
    if node.find(exp.Query, exp.Placeholder) is not None or is_random(node):
        return any(columns_never_null(node))
    holder = exp.Paren(this=node.copy())
    for column in columns_outside_queries(holder):
        column.replace(exp.Null())
    try:
        return compile_boolean(holder, Scope(())).bind({}).evaluate(()) is not True
    except EngineError:
        return any(columns_never_null(node))


def columns_never_null(node: exp.Expr) -> Iterator[exp.Column]:
    """The columns without which the condition does not hold."""
    if isinstance(node, exp.Column):
        yield node
    elif isinstance(node, (*_NULL_INTOLERANT, *_TEXT_TESTS)) or _is_called(node):
        for operand in node.iter_expressions():
            yield from columns_never_null(operand)


def _is_called(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and function_name(node) in _FUNCTIONS
