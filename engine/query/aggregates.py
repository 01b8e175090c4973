"""Aggregates of a query: their values for the rows of a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.terms import Parameters
from whitecap.engine.sql.functions.aggregates import AGGREGATES
from whitecap.engine.sql.predicates.compiler import compile_term
from whitecap.engine.storage.requests import Row


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate of a query: its type, and its value for the rows of a group."""

    type: str
    value: Callable[[Sequence[Row]], Any]


def compile_aggregate(node: exp.AggFunc, scope: Scope, parameters: Parameters) -> Aggregate:
    """Compile one. Raises `UnsupportedFeature` for an aggregate that is not modelled.

    Raises `InvalidInput` for arguments that Spark refuses.
    """
    name = node.name.lower()
    fold, nodes = AGGREGATES.get(name), list(node.expressions)
    if fold is None:
        raise UnsupportedFeature(f"the aggregate {node.sql(DIALECT)}")
    if name == "count" and len(nodes) == 1 and isinstance(nodes[0], exp.Star):
        return Aggregate("bigint", len)
    distinct = len(nodes) == 1 and isinstance(nodes[0], exp.Distinct)
    if distinct:
        nodes = nodes[0].expressions
    terms = [compile_term(one, scope).known(parameters) for one in nodes]
    (term,) = fold.takes(name, terms, scope.session)
    type_name, evaluate = fold.gives(term.type), term.bind(parameters).evaluate

    def value(rows: Sequence[Row]) -> Any:
        values = [evaluate(row) for row in rows]
        kept = [one for one in values if one is not None]
        return fold.value(list(dict.fromkeys(kept)) if distinct else kept, type_name)

    return Aggregate(type_name, value)
