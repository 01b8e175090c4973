"""What the ON of a MERGE says: to the scan of the target, and as keys of the join."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from math import nan

from msgspec import Struct
from sqlglot import exp

from whitecap.engine.commands.rows.merge_early_filter import early_filter
from whitecap.engine.commands.rows.merge_scopes import MergeScopes
from whitecap.engine.dialects import CheckRules
from whitecap.engine.sql.expressions.bound_once import BoundOnce, evaluation
from whitecap.engine.sql.expressions.columns import unqualified
from whitecap.engine.sql.expressions.terms import Evaluate, Term, apply
from whitecap.engine.sql.functions.operators import aligned
from whitecap.engine.sql.parsing.statements import Match, Merge, MergeClause
from whitecap.engine.sql.predicates.compiler import compile_boolean, compile_term
from whitecap.engine.sql.predicates.normal_form import conjuncts_of, join_and
from whitecap.engine.sql.predicates.pins import Pin, pin_of
from whitecap.engine.sql.predicates.predicate import TRUE, Predicate
from whitecap.engine.values.types import FRACTIONAL


class JoinKey(Struct, frozen=True):
    """One equality of ON between a target and a source expression, in their common type."""

    target: BoundOnce[Evaluate]
    source: BoundOnce[Evaluate]
    target_column: str | None
    """The target's column, where the expression is nothing but a column that is not cast.

    None of fractions: NaN equals itself in SQL, but in no index.
    """


class JoinCondition(Struct, frozen=True):
    """ON, parted into keys and what is left of it."""

    keys: tuple[JoinKey, ...]
    residual: Term
    pins: tuple[Pin, ...]
    """What ON asks beside the keys, if that is only what columns of the target have."""


def join_condition(statement: Merge, scopes: MergeScopes) -> JoinCondition:
    """How rows of the target and the source are matched."""
    conjuncts = conjuncts_of(statement.on)
    keys = [_join_key(node, scopes) for node in conjuncts]
    rest = [node for node, key in zip(conjuncts, keys, strict=True) if key is None]
    residual = join_and(rest)
    return JoinCondition(
        tuple(key for key in keys if key is not None),
        compile_boolean(exp.true() if residual is None else residual, scopes.joined),
        _pins(rest, scopes),
    )


def scan_predicates(
    statement: Merge, scopes: MergeScopes, checks: CheckRules
) -> tuple[Predicate, ...]:
    """What the scan of the target is told; delta-rs does not look at the clauses for it.

    Source: MergeIntoCommandBase.scala: getTargetOnlyPredicates.
    """
    if statement.of(Match.NOT_MATCHED_BY_SOURCE):
        return (TRUE,)
    if checks.reads_by_statement:
        return _typed(early_filter(statement.on, scopes.is_target_only), scopes)
    own = filter(scopes.is_target_only, conjuncts_of(statement.on))
    return _typed(own, scopes) + _clause_predicates(statement, scopes)


def _typed(nodes: Iterable[exp.Expr], scopes: MergeScopes) -> tuple[Predicate, ...]:
    typed = (_predicate(node).in_typed_form(scopes.schema, scopes.session) for node in nodes)
    return tuple(part for each in typed for part in each.conjuncts())


def check_constants(statement: Merge, scopes: MergeScopes) -> None:
    """Raises `UnsupportedFeature` for a constant that is no value of the target's column."""
    clauses = (clause.condition for clause in statement.clauses if clause.condition is not None)
    conjuncts = [node for each in (statement.on, *clauses) for node in conjuncts_of(each)]
    own = filter(scopes.is_target_only, conjuncts)
    for node in (*own, *early_filter(statement.on, scopes.is_target_only)):
        _predicate(node).check_constants(scopes.schema, scopes.session)


def _clause_predicates(statement: Merge, scopes: MergeScopes) -> tuple[Predicate, ...]:
    """What the clauses tell the scan besides, where rows are only changed that match."""
    if statement.of(Match.NOT_MATCHED):
        return ()
    return (_any_clause(statement.of(Match.MATCHED), scopes),)


def _any_clause(clauses: Iterable[MergeClause], scopes: MergeScopes) -> Predicate:
    """The OR of what clauses ask of the target; one that asks nothing makes it TRUE."""
    parts: list[exp.Expr] = []
    for clause in clauses:
        nodes = [] if clause.condition is None else conjuncts_of(clause.condition)
        own = join_and(node for node in nodes if scopes.is_target_only(node))
        if own is None:
            return TRUE
        parts.append(own)
    return _predicate(reduce(lambda a, b: exp.Or(this=a.copy(), expression=b.copy()), parts))


def _predicate(node: exp.Expr) -> Predicate:
    return Predicate.of_node(unqualified(node))


def _pins(nodes: Sequence[exp.Expr], scopes: MergeScopes) -> tuple[Pin, ...]:
    if not all(map(scopes.is_target_only, nodes)):
        return ()
    pins = [pin_of(unqualified(node), scopes.schema, scopes.session) for node in nodes]
    pinned = tuple(pin for pin in pins if pin is not None)
    return pinned if len(pinned) == len(pins) else ()


def _join_key(node: exp.Expr, scopes: MergeScopes) -> JoinKey | None:
    """The node as an equality between target and source, `None` if it is none."""
    if not isinstance(node, exp.EQ):
        return None
    for target, source in ((node.left, node.right), (node.right, node.left)):
        if (
            target.find(exp.Column)
            and scopes.is_target_only(target)
            and scopes.is_source_only(source)
        ):
            return _equality(target, source, scopes)
    return None


def _equality(target: exp.Expr, source: exp.Expr, scopes: MergeScopes) -> JoinKey:
    own = compile_term(target, scopes.joined)
    left, right = aligned(own, compile_term(source, scopes.joined), scopes.session)
    name = target.name if isinstance(target, exp.Column) and own.type == left.type else None
    if left.type in FRACTIONAL:
        left, right, name = _with_one_nan(left), _with_one_nan(right), None
    return JoinKey(evaluation(left), evaluation(right), name)


def _with_one_nan(fraction: Term) -> Term:
    """The same object for every NaN: it equals itself where rows are joined, as it does in Spark.

    Source: NormalizeFloatingNumbers.scala.
    """
    return apply(lambda value: value if value == value else nan, fraction, fraction.type)
