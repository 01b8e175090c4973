"""Conditions as Spark's optimizer leaves them, as far as it changes what Delta can split off.

Source: BooleanSimplification (negations moved inwards, common factors of an OR taken out); BETWEEN
is parsed as two comparisons.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

_NEGATED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GTE,
    exp.GTE: exp.LT,
    exp.GT: exp.LTE,
    exp.LTE: exp.GT,
}


def conjuncts_of(node: exp.Expr) -> list[exp.Expr]:
    """The conditions that a condition ANDs, in order. Source: splitConjunctivePredicates."""
    return _split(normal_form(node))


def normal_form(node: exp.Expr) -> exp.Expr:
    """The condition with negations at its leaves and no factor common to both sides of an OR."""
    node = node.unnest()
    match node:
        case exp.And():
            return _and(normal_form(node.left), normal_form(node.right))
        case exp.Or():
            return _factored(normal_form(node.left), normal_form(node.right))
        case exp.Between():
            low = exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
            return _and(low, exp.LTE(this=node.this.copy(), expression=node.args["high"].copy()))
        case exp.Not():
            return _negated(node.this.unnest(), node)
    return node


def _negated(inner: exp.Expr, negation: exp.Expr) -> exp.Expr:
    match inner:
        case exp.Not():
            return normal_form(inner.this)
        case exp.And():
            return _factored(_not(inner.left), _not(inner.right))
        case exp.Or():
            return _and(_not(inner.left), _not(inner.right))
        case exp.Between():
            return normal_form(exp.Not(this=normal_form(inner)))
    opposite = _NEGATED.get(type(inner))
    if opposite is None:
        return negation
    return opposite(this=inner.this.copy(), expression=inner.args["expression"].copy())


def _not(node: exp.Expr) -> exp.Expr:
    return normal_form(exp.Not(this=node.unnest().copy()))


def _factored(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """An OR, with the conjuncts that both sides have taken out of it."""
    ones, others = _split(left), _split(right)
    shared = [node for node in ones if node in others]
    if not shared:
        return exp.Or(this=_wrapped(left), expression=_wrapped(right))
    first = join_and(node for node in ones if node not in shared)
    second = join_and(node for node in others if node not in shared)
    rest = [] if first is None or second is None else [_factored(first, second)]
    joined = join_and([*shared, *rest])
    assert joined is not None
    return joined


def _split(node: exp.Expr) -> list[exp.Expr]:
    node = node.unnest()
    return _split(node.left) + _split(node.right) if isinstance(node, exp.And) else [node]


def join_and(nodes: Iterable[exp.Expr]) -> exp.Expr | None:
    """The AND of conditions; `None` of none."""
    joined: exp.Expr | None = None
    for node in nodes:
        joined = node if joined is None else _and(joined, node)
    return joined


def _and(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.And(this=_wrapped(left), expression=_wrapped(right))


def _wrapped(node: exp.Expr) -> exp.Expr:
    return exp.Paren(this=node.copy()) if isinstance(node, exp.Or) else node.copy()
