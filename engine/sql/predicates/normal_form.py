"""Conditions as Spark's optimizer leaves them, as far as it changes what Delta can split off.

Source: BooleanSimplification (negations moved inwards, common factors of an OR taken out, TRUE and
FALSE beside other conditions gone, a condition beside its negation), ConstantFolding; BETWEEN is
parsed as two comparisons.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from whitecap.engine.errors import EngineError
from whitecap.engine.sql.expressions.filled_texts import UNFILLED
from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.functions.function_nodes import is_random
from whitecap.engine.sql.predicates.compiler import compile_boolean

_NO_COLUMNS = Scope(())
_UNKNOWN = (exp.Column, exp.Placeholder, exp.Query, exp.Func)
"""What has no value before the statement runs; some functions are not deterministic."""
_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.In, exp.Between, exp.Is)
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
            return _joined(exp.And, normal_form(node.left), normal_form(node.right))
        case exp.Or():
            return _joined(exp.Or, normal_form(node.left), normal_form(node.right))
        case exp.EQ() if isinstance(_folded(node), exp.EQ):
            return _compared(node)
        case exp.If() | exp.Case() if not node.args.get("this") or isinstance(node, exp.If):
            return _chosen(node)
        case exp.Between():
            return _and(*halves(node))
        case exp.Not():
            return _negated(_folded(node.this.unnest()), node)
    return _folded(node)


def halves(node: exp.Between) -> tuple[exp.Expr, exp.Expr]:
    """The two comparisons that a BETWEEN is."""
    low = exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
    high = exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
    for half in (low, high):
        half.meta[UNFILLED] = True
    return low, high


def _is_itself(node: exp.Expr) -> bool:
    """Whether it holds something against itself by `<=>`. Source: SimplifyBinaryComparison."""
    if not isinstance(node, exp.NullSafeEQ):
        return False
    return bool(node.this == node.expression) and not is_random(node.this)


def _truth(node: exp.Expr) -> bool | None:
    """The truth that a literal is, `None` for anything else."""
    node = node.unnest()
    return bool(node.this) if isinstance(node, exp.Boolean) else None


def _compared(node: exp.EQ) -> exp.Expr:
    """`condition = TRUE` is the condition, `condition = FALSE` its negation."""
    for literal, condition in ((node.this, node.expression), (node.expression, node.this)):
        truth = _truth(_folded(literal.unnest()))
        if truth is not None:
            return normal_form(condition) if truth else _not(condition)
    return node


def _chosen(node: exp.If | exp.Case) -> exp.Expr:
    """CASE and IF whose first condition is decided. Source: SimplifyConditionals."""
    branches = [node] if isinstance(node, exp.If) else node.args["ifs"]
    default = node.args.get("false" if isinstance(node, exp.If) else "default")
    for branch in branches:
        truth = _truth(_folded(branch.this.unnest()))
        if truth is None:
            return node
        if truth:
            return normal_form(branch.args["true"])
    return normal_form(default) if default is not None else node


def _folded(node: exp.Expr) -> exp.Expr:
    """A comparison of literals as what it comes to, if that is TRUE or FALSE."""
    if _is_itself(node):
        return exp.Boolean(this=True)
    if not isinstance(node, _COMPARED) or node.find(*_UNKNOWN) is not None:
        return node
    try:
        value = compile_boolean(node, _NO_COLUMNS).bind({}).value
    except EngineError:
        return node  # Spark says at run time what is wrong
    return node if value is None else exp.Boolean(this=value)


def _joined(kind: type[exp.Expr], left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """An AND or OR; a literal decides it, or does nothing to it."""
    decides = kind is exp.Or
    for side, other in ((left, right), (right, left)):
        if _truth(side) is not None:
            return side if _truth(side) is decides else other
    if kind is exp.And and (_denies(left, right) or _denies(right, left)):
        return _and(exp.Is(this=exp.Paren(this=left.copy()), expression=exp.Null()), exp.Null())
    return _factored(left, right) if kind is exp.Or else _and(left, right)


def _denies(node: exp.Expr, other: exp.Expr) -> bool:
    """Whether a condition is the negation of another one: both are never true.

    Where the other is NULL, so are both together: Spark keeps that apart, and reads nothing.
    """
    denied: exp.Expr | None
    match node:
        case exp.NEQ():
            denied = exp.EQ(this=node.this.copy(), expression=node.expression.copy())
        case exp.Not():
            inner = node.this.unnest()
            denied = None if isinstance(inner, exp.Is) else inner  # IS NULL has its own opposite
        case _:
            denied = _opposite(node)
    return denied == other and other.find(exp.Query) is None and not is_random(other)


def _negated(inner: exp.Expr, negation: exp.Expr) -> exp.Expr:
    match inner:
        case exp.Not():
            return normal_form(inner.this)
        case exp.And():
            return _joined(exp.Or, _not(inner.left), _not(inner.right))
        case exp.Or():
            return _joined(exp.And, _not(inner.left), _not(inner.right))
        case exp.Boolean():
            return exp.Boolean(this=not inner.this)
        case exp.Between():
            return normal_form(exp.Not(this=normal_form(inner)))
    opposite = _opposite(inner)
    return negation if opposite is None else opposite


def _opposite(node: exp.Expr) -> exp.Expr | None:
    """The order that holds where this one does not; `None` for what is no order."""
    kind = _NEGATED.get(type(node))
    if kind is None:
        return None
    opposite = kind(this=node.this.copy(), expression=node.args["expression"].copy())
    opposite.meta.update(node.meta)
    return opposite


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
