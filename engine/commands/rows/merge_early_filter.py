"""What of the ON of a MERGE tells delta-rs which rows of the target are read.

Source: `operations/merge/filter.rs: try_construct_early_filter, generalize_filter`, and the
`predicate` that deltalake 1.6.3 and 1.6.6 write into the commit of a MERGE.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from whitecap.engine.sql.functions.function_nodes import COMPARISONS
from whitecap.engine.sql.predicates.normal_form import conjuncts_of


def early_filter(on: exp.Expr, is_target_only: Callable[[exp.Expr], bool]) -> list[exp.Expr]:
    """The conjuncts of what is left of ON without what the target alone does not decide.

    Of an OR both sides are left or nothing.
    """
    kept = (_kept(node, is_target_only) for node in conjuncts_of(on))
    return [node for node in kept if node is not None]


def _kept(node: exp.Expr, is_target_only: Callable[[exp.Expr], bool]) -> exp.Expr | None:
    node = node.unnest()
    if not isinstance(node, exp.And | exp.Or):
        return node if is_target_only(node) and not _is_overlooked(node) else None
    left, right = _kept(node.left, is_target_only), _kept(node.right, is_target_only)
    if left is not None and right is not None:
        return type(node)(this=exp.paren(left), expression=exp.paren(right))
    return (left or right) if isinstance(node, exp.And) else None


def _is_overlooked(node: exp.Expr) -> bool:
    """LIKE, IS TRUE, and what is denied but for comparisons and IN: IS NOT NULL, NOT b."""
    if isinstance(node, exp.Not):
        return not isinstance(node.this.unnest(), (*COMPARISONS, exp.In))
    is_truth = isinstance(node, exp.Is) and not isinstance(node.expression, exp.Null)
    return is_truth or node.find(exp.Like) is not None
