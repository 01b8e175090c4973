"""Spark SQL text of syntax trees, with parameters filled in as literals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlglot import exp

from engine.sql.types import to_text


def literal_node(value: Any) -> exp.Expr:
    """A Python value as a Spark SQL literal of its type."""
    match value:
        case None:
            return exp.Null()
        case bool():
            return exp.Boolean(this=value)
        case int():
            return _signed(exp.Literal.number(abs(value)), value < 0)
        case float():
            return exp.cast(exp.Literal.string(to_text(value)), "double")
        case Decimal():
            return _signed(exp.Literal.number(f"{abs(value):f}"), value < 0)
        case datetime():
            kind = "timestamptz" if value.tzinfo else "timestampntz"
            return exp.cast(exp.Literal.string(to_text(value)), kind)
        case date():
            return exp.cast(exp.Literal.string(value.isoformat()), "date")
    return exp.Literal.string(str(value))


def _signed(number: exp.Expr, negative: bool) -> exp.Expr:
    return exp.Neg(this=number) if negative else number


def substitute(node: exp.Expr, parameters: Mapping[str, Any]) -> exp.Expr:
    """The tree with every known parameter replaced by its value.

    A sequence in an IN list or a VALUES list is spread; the tree itself is left alone.
    """
    if not parameters:
        return node
    copy = node.copy()
    for place in list(copy.find_all(exp.Placeholder)):
        if place.name in parameters:
            copy = _replaced(copy, place, parameters[place.name])
    return copy


def _replaced(root: exp.Expr, place: exp.Placeholder, value: Any) -> exp.Expr:
    if not isinstance(value, list | tuple | set | frozenset):
        new = literal_node(value)
        place.replace(new)
        return new if place is root else root
    _spread(place, value)
    return root


def _spread(place: exp.Placeholder, values: Sequence[Any] | set[Any] | frozenset[Any]) -> None:
    parent = place.parent
    if isinstance(parent, exp.Tuple) and isinstance(parent.parent, exp.Values):
        outer = parent.parent
        rows = [exp.Tuple(expressions=[literal_node(v) for v in row]) for row in values]
        outer.set("expressions", rows)
    elif parent is not None:
        siblings = parent.expressions
        index = siblings.index(place)
        nodes = [literal_node(value) for value in values]
        parent.set("expressions", siblings[:index] + nodes + siblings[index + 1 :])
