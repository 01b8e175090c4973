"""Aggregate functions over the rows of one group. Source: Spark's aggregate expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlglot import exp

from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.sql.compiler import DIALECT, compile_term
from whitecap.engine.sql.scope import Scope
from whitecap.engine.sql.terms import Parameters
from whitecap.engine.sql.types import is_decimal, is_integral
from whitecap.engine.storage.requests import Row

Fold = Callable[[list[Any]], Any]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate of a query: its type, and its value for the rows of a group."""

    type: str
    value: Callable[[Sequence[Row]], Any]


def compile_aggregate(node: exp.AggFunc, scope: Scope, parameters: Parameters) -> Aggregate:
    """Compile one. Raises `UnsupportedFeature` for an aggregate that is not modelled."""
    argument, distinct = node.this, False
    if isinstance(argument, exp.Distinct):
        argument, distinct = argument.expressions[0], True
    if isinstance(node, exp.Count) and (argument is None or isinstance(argument, exp.Star)):
        return Aggregate("bigint", len)
    term = compile_term(argument, scope)
    fold, type_name = _fold(node, term.type)
    evaluate = term.bind(parameters).evaluate

    def value(rows: Sequence[Row]) -> Any:
        values = [found for row in rows if (found := evaluate(row)) is not None]
        return fold(list(dict.fromkeys(values)) if distinct else values)

    return Aggregate(type_name, value)


def _fold(node: exp.AggFunc, type_name: str) -> tuple[Fold, str]:
    match node:
        case exp.CountIf():
            return lambda values: sum(value is True for value in values), "bigint"
        case exp.Count():
            return len, "bigint"
        case exp.Min():
            return lambda values: min(values, default=None), type_name
        case exp.Max():
            return lambda values: max(values, default=None), type_name
        case exp.Sum():
            return lambda values: sum(values) if values else None, _sum_type(type_name)
        case exp.Avg():
            return _average, type_name if is_decimal(type_name) else "double"
        case exp.AnyValue() | exp.First():
            return lambda values: values[0] if values else None, type_name
    raise UnsupportedFeature(f"the aggregate {node.sql(DIALECT)}")


def _sum_type(type_name: str) -> str:
    return "bigint" if is_integral(type_name) else type_name


def _average(values: list[Any]) -> Any:
    if not values:
        return None
    total = sum(values)
    return total / len(values) if isinstance(total, Decimal) else float(total) / len(values)
