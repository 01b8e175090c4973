"""Conditions as Spark's analyzer leaves them, before the optimizer has simplified them.

Whoever hands an analysed condition straight to a transaction skips fewer files by statistics than a
command does: a literal that has to be cast, BETWEEN, LIKE and constant arithmetic are not yet the
plain comparisons that skipping understands. Source: DataSkippingReader.scala: DataFiltersBuilder,
which matches on `Literal`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from whitecap.engine.errors import EngineError
from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.predicates.compiler import compile_term
from whitecap.engine.sql.predicates.predicate import Predicate, session_of

if TYPE_CHECKING:
    from whitecap.engine.log.schema import Schema
    from whitecap.engine.settings import Settings

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ)
_OPTIMIZED_FORMS = (exp.Between, exp.Like)


def skippable_part(predicate: Predicate, schema: Schema, settings: Settings) -> Predicate:
    """The condition with what statistics cannot judge before optimization taken as TRUE."""
    scope = Scope((), session_of(settings))
    node = predicate.node.copy().transform(lambda part: _kept(part, schema, scope))
    return Predicate.of_node(node)


def _kept(node: exp.Expr, schema: Schema, scope: Scope) -> exp.Expr:
    match node:
        case exp.In():
            plain = all(_is_plain(node.this, member, schema, scope) for member in node.expressions)
        case _ if isinstance(node, _COMPARISONS):
            left, right = node.this, node.args["expression"]
            plain = _is_plain(left, right, schema, scope) or _is_plain(right, left, schema, scope)
        case _:
            plain = not isinstance(node, _OPTIMIZED_FORMS)
    return node if plain else exp.true()


def _is_plain(column: exp.Expr, value: exp.Expr, schema: Schema, scope: Scope) -> bool:
    """Whether this compares a column with a literal of the column's own type."""
    plain = isinstance(column, exp.Column) and not column.table
    field = schema.get(column.name) if plain else None
    if field is None or not _is_literal(value):
        return False
    try:
        return compile_term(value, scope).type == field.type
    except EngineError:
        return False


def _is_literal(node: exp.Expr) -> bool:
    """A literal as Spark's parser makes it: signed, and typed as in `5L` or `DATE '2026-01-01'`."""
    inner = node.this if isinstance(node, exp.Neg | exp.Cast) else node
    return isinstance(inner, exp.Literal | exp.Boolean)
