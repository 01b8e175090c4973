"""Window functions of a SELECT: numbers, ranks and aggregates over the rows around each row.

Source: Spark's windowExpressions.scala. Each window's values become further columns of the rows,
before the SELECT list is computed. Frames other than the default are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from sqlglot import exp

from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.query.aggregates import compile_aggregate
from whitecap.engine.sql.expressions.scope import Relation, Scope
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.terms import Evaluate, Parameters
from whitecap.engine.sql.functions.function_nodes import function_name
from whitecap.engine.sql.predicates.compiler import compile_term
from whitecap.engine.storage.requests import Row
from whitecap.engine.values.coercion import check_modelled
from whitecap.engine.values.keys import keyed, sort_key


class Windows(Struct, frozen=True):
    """The windows of a SELECT list: what adds their values to rows, and the list without them."""

    scope: Scope
    items: list[exp.Expr]
    added: Callable[[list[Row]], list[Row]]


def with_windows(items: Sequence[exp.Expr], scope: Scope, parameters: Parameters) -> Windows:
    """Replace the windows in a list by columns. Raises `UnsupportedFeature` for other forms."""
    windows: list[exp.Window] = []
    names: list[str] = []

    def replaced(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Window):
            return part
        windows.append(part)
        names.append(f"window {len(names)}")
        return exp.column(names[-1])

    nodes = [item.transform(replaced) for item in items]
    planned = [_window(node, scope, parameters) for node in windows]
    types = tuple(type_name for type_name, _ in planned)
    relation = Relation(frozenset(), tuple(names), types, scope.width, scope.depth)

    def added(rows: list[Row]) -> list[Row]:
        columns = [values(rows) for _, values in planned]
        return [(*row, *(column[at] for column in columns)) for at, row in enumerate(rows)]

    return Windows(scope.beside(relation), nodes, added)


def _window(
    node: exp.Window, scope: Scope, parameters: Parameters
) -> tuple[str, Callable[[list[Row]], list[Any]]]:
    if node.args.get("spec") is not None:
        raise UnsupportedFeature(f"window frames: {node.sql(DIALECT)}")
    keys = [_key(key, scope, parameters) for key in node.args.get("partition_by") or ()]
    order = node.args.get("order")
    sorting = [
        (_key(key.this, scope, parameters), bool(key.args.get("desc")))
        for key in (order.expressions if order is not None else ())
    ]
    type_name, values = _function(node, scope, parameters, bool(sorting))

    def run(rows: list[Row]) -> list[Any]:
        groups: dict[Row, list[int]] = {}
        for at, row in enumerate(rows):
            groups.setdefault(tuple(key(row) for key in keys), []).append(at)
        column: list[Any] = [None] * len(rows)
        for places in groups.values():
            for evaluate, descending in reversed(sorting):
                places.sort(key=lambda at: sort_key(evaluate(rows[at])), reverse=descending)
            peers = [tuple(evaluate(rows[at]) for evaluate, _ in sorting) for at in places]
            results = values([rows[at] for at in places], peers)
            for at, value in zip(places, results, strict=True):
                column[at] = value
        return column

    return type_name, run


WindowFunction = Callable[[list[Row], list[Row]], list[Any]]


def _function(
    node: exp.Window, scope: Scope, parameters: Parameters, is_sorted: bool
) -> tuple[str, WindowFunction]:
    function = node.this
    if isinstance(function, exp.AggFunc):
        aggregate = compile_aggregate(function, scope, parameters)
        if is_sorted:
            return aggregate.type, lambda rows, peers: [
                aggregate.value(rows[: len(peers) - peers[::-1].index(peer)]) for peer in peers
            ]
        return aggregate.type, lambda rows, _peers: [aggregate.value(rows)] * len(rows)
    name = function_name(function) if isinstance(function, exp.Anonymous) else ""
    match name:
        case "row_number" | "rank":
            if not function.expressions:
                return "int", _NUMBERINGS[name]
        case "lag" | "lead":
            return _neighbour(name, function.expressions, scope, parameters)
    raise UnsupportedFeature(f"the window function {function.sql(DIALECT)}")


_NUMBERINGS: dict[str, WindowFunction] = {
    "row_number": lambda rows, _peers: list(range(1, len(rows) + 1)),
    "rank": lambda _rows, peers: [peers.index(peer) + 1 for peer in peers],
}


def _neighbour(
    name: str, nodes: Sequence[exp.Expr], scope: Scope, parameters: Parameters
) -> tuple[str, WindowFunction]:
    are_whole = all(isinstance(node, exp.Literal) and node.is_int for node in nodes[1:])
    if not (1 <= len(nodes) <= 2 and are_whole):
        raise UnsupportedFeature(f"{name}({', '.join(node.sql(DIALECT) for node in nodes)})")
    term = compile_term(nodes[0], scope)
    check_modelled(term.type, name)
    evaluate = term.bind(parameters).evaluate
    steps = int(nodes[1].name) if nodes[1:] else 1
    ahead = steps if name == "lead" else -steps

    def values(rows: list[Row], _peers: list[Row]) -> list[Any]:
        return [
            evaluate(rows[at + ahead]) if 0 <= at + ahead < len(rows) else None
            for at in range(len(rows))
        ]

    return term.type, values


def _key(node: exp.Expr, scope: Scope, parameters: Parameters) -> Evaluate:
    term = compile_term(node, scope)
    return keyed(term.type, term.bind(parameters).evaluate)
