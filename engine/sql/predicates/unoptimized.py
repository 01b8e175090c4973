"""Conditions as Spark's analyzer leaves them, before the optimizer has simplified them.

Whoever hands an analysed condition straight to a transaction skips fewer files by statistics than a
command does: a literal that has to be cast, BETWEEN, LIKE and constant arithmetic are not yet the
plain comparisons that skipping understands. Source: DataSkippingReader.scala: DataFiltersBuilder,
which matches on `Literal`.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import starmap
from math import isfinite
from typing import Any

from sqlglot import exp

from whitecap.engine.errors import EngineError
from whitecap.engine.log.schema import Schema
from whitecap.engine.settings import Settings
from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.functions.function_nodes import COMPARISONS
from whitecap.engine.sql.predicates.compiler import compile_term
from whitecap.engine.sql.predicates.constants import Constants
from whitecap.engine.sql.predicates.predicate import Predicate, session_of
from whitecap.engine.values.types import decimal_shape

_OPTIMIZED_FORMS = (exp.Between, exp.Like)
_PATTERNS = (exp.Like, exp.StartsWith)


def skippable_part(predicate: Predicate, schema: Schema, settings: Settings) -> Predicate:
    """The condition with what statistics cannot judge before optimization taken as TRUE."""
    scope = Scope((), session_of(settings))
    node = predicate.node.copy().transform(lambda part: _kept(part, schema, scope))
    return Predicate.of_node(node)


def readable_part(predicate: Predicate, schema: Schema, settings: Settings) -> Predicate:
    """A condition that was handed to a table as SQL, without what has to be cast when it is read.

    SQL has no literal for a number of type FLOAT, for one that is not finite, nor for a decimal of
    a wider type than its digits need; a pattern comes back as a function. Source: Literal.scala:
    sql, StartsWith; DeltaSourceUtils.translateFilters.
    """
    constants = Constants(schema, session_of(settings))
    parameters = predicate.parameters

    def is_read(column: exp.Expr, value: exp.Expr) -> bool:
        field = constants.column(column)
        term = None if field is None else constants.compared(value, field.type)
        return (
            field is None or term is None or _has_literal(term.bind(parameters).value, field.type)
        )

    def kept(part: exp.Expr) -> exp.Expr:
        is_plain = not isinstance(part, _PATTERNS) and all(starmap(is_read, _compared(part)))
        return part if is_plain else exp.true()

    return Predicate.of_node(predicate.node.copy().transform(kept), parameters)


def _compared(node: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    """The pairs that a comparison holds against each other."""
    if isinstance(node, exp.In):
        yield from ((node.this, member) for member in node.expressions)
    elif isinstance(node, exp.Between):
        yield from ((node.this, node.args[bound]) for bound in ("low", "high"))
    elif isinstance(node, COMPARISONS):
        yield node.this, node.args["expression"]
        yield node.args["expression"], node.this


def _has_literal(value: Any, kind: str) -> bool:
    """Whether SQL can write a value of a type, without a cast."""
    if isinstance(value, Decimal):
        precision, scale = decimal_shape(kind)
        return max(len(str(abs(int(value.scaleb(scale))))), scale) == precision
    return kind != "float" and (not isinstance(value, float) or isfinite(value))


def _kept(node: exp.Expr, schema: Schema, scope: Scope) -> exp.Expr:
    match node:
        case exp.In():
            plain = all(_is_plain(node.this, member, schema, scope) for member in node.expressions)
        case _ if isinstance(node, COMPARISONS):
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
    """A literal as Spark's parser makes it: signed, typed as in `-5L` and `DATE '2026-01-01'`."""
    unsigned = node.this if isinstance(node, exp.Neg) else node
    untyped = unsigned.this if isinstance(unsigned, exp.Cast) else unsigned
    return isinstance(untyped, exp.Literal | exp.Boolean)
