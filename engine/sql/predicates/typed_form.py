"""What Spark's optimizer makes of a condition once it knows its columns: some of it is decided.

A comparison with NULL is NULL, and a column that is NOT NULL is never NULL. `q = 1.5` of an INT is
compared as decimals; taking the cast off again, Spark finds that no INT is 1.5, and leaves `q IS
NULL AND NULL`: never true, and NULL where `q` is. A NULL by itself refers to no column, so that
Delta counts it among the conditions on partitions, and no file meets it. In the filter of a query a
condition that is NULL is FALSE.

What is found to be always true (`q < 3000000000`) is left as it is, as are parameters, whose values
are those of a column.

Source: UnwrapCastInBinaryComparison.scala (simplifyNumericComparison, simplifyIn, falseIfNotNull),
expressions.scala: NullPropagation, ReplaceNullWithFalseInPredicate.scala; observed on Delta Lake
4.4.0 with Spark 4.2.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from msgspec import Struct
from sqlglot import exp

from whitecap.engine.errors import EngineError
from whitecap.engine.log.schema import Schema
from whitecap.engine.sql.expressions.building import spark_type
from whitecap.engine.sql.expressions.scope import Scope, schema_scope
from whitecap.engine.sql.functions.function_nodes import COMPARISONS, MIRRORED, is_random
from whitecap.engine.sql.predicates.compiler import compile_term
from whitecap.engine.sql.predicates.constants import Constants, may_unwrap
from whitecap.engine.sql.predicates.normal_form import halves
from whitecap.engine.values.casts import caster
from whitecap.engine.values.types import INTEGRAL_BITS, Session, holds, is_integral

_EQUALITIES = (exp.EQ, exp.NullSafeEQ)
_COMPARING = (*COMPARISONS, exp.In, exp.Between)
_UNDECIDED = (exp.Placeholder, exp.Query)


def typed_form(
    node: exp.Expr, schema: Schema, session: Session, *, in_filter: bool = False
) -> exp.Expr:
    """The condition with what the columns' types decide of it; itself if that is nothing.

    `in_filter`: it is a query's, where NULL is FALSE.
    """
    rewritten: exp.Expr = node.transform(_Typing(schema, session, in_filter).of)
    return node if rewritten == node else rewritten


def unheld_constant(node: exp.Expr, schema: Schema, session: Session) -> exp.Expr | None:
    """The first constant that the type of what it is compared with does not hold, NULL included.

    Who casts a constant to that type compares with another one, or with none.
    """
    typing = _Typing(schema, session, in_filter=False)
    pairs = (pair for each in node.find_all(*_COMPARING) for pair in _sides(each))
    return next((c for operand, c in pairs if not typing.is_held(operand, c)), None)


def _sides(node: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    """Each operand with what it is compared with, which may be a constant."""
    match node:
        case exp.In():
            yield from ((node.this, member) for member in node.expressions)
        case exp.Between():
            yield from ((node.this, node.args[end]) for end in ("low", "high"))
        case _:
            left, right = node.this, node.args["expression"]
            yield from ((left, right), (right, left))


class _ComparedConstant(Struct, frozen=True):
    """A constant beside an operand of type `own`, in the type in which both are compared."""

    own: str
    compared_as: str
    value: Any


class _Typing(Struct, frozen=True):
    """The rules over the columns of one table."""

    schema: Schema
    session: Session
    in_filter: bool

    def of(self, node: exp.Expr) -> exp.Expr:
        """What is left of one node."""
        match node:
            case exp.Is() if isinstance(node.expression, exp.Null):
                return exp.false() if self._is_never_null(node.this) else node
            case exp.In():
                return self._membership(node)
            case exp.Between():
                return self._between(node)
            case exp.NEQ():
                sides = (node.this, node.expression)
                return self._null() if any(map(self._is_null, sides)) else node
        return self._comparison(node) if type(node) in MIRRORED else node

    def is_held(self, operand: exp.Expr, constant: exp.Expr) -> bool:
        """Whether a constant, if it is one, is a value of the operand's type."""
        if self._is_null(constant):
            return False
        compared = self._compared(operand, constant)
        if compared is None or compared.own == compared.compared_as:
            return True
        own, value = compared.own, compared.value
        if is_integral(own) and not (isfinite(value) and holds(own, int(value))):
            return False
        return self._survives(compared, uncast=False)

    def _is_never_null(self, operand: exp.Expr) -> bool:
        operand = operand.unnest()
        field = self.schema.get(operand.name) if isinstance(operand, exp.Column) else None
        return field is not None and not field.nullable

    def _is_null(self, node: exp.Expr) -> bool:
        """Whether a constant is NULL."""
        if node.find(exp.Column, *_UNDECIDED) or is_random(node):
            return False
        try:
            return compile_term(node, Scope((), self.session)).bind({}).value is None
        except EngineError:
            return False  # Spark says at run time what is wrong

    def _null(self) -> exp.Expr:
        return exp.false() if self.in_filter else exp.Null()

    def _comparison(self, node: exp.Expr) -> exp.Expr:
        left, right, kind = node.this, node.args["expression"], type(node)
        for operand, constant, as_kind in ((left, right, kind), (right, left, MIRRORED[kind])):
            if self._is_null(constant):
                return self._beside_null(operand, as_kind)
            compared = self._compared(operand, constant)
            if compared is not None and self._is_never(as_kind, compared):
                return self._never(operand, as_kind)
        return node

    def _beside_null(self, operand: exp.Expr, kind: type[exp.Expr]) -> exp.Expr:
        if kind is not exp.NullSafeEQ:
            return self._null()
        return self.of(exp.Is(this=operand.copy(), expression=exp.Null()))

    def _between(self, node: exp.Between) -> exp.Expr:
        low, high = halves(node)
        sides = self.of(low), self.of(high)
        if sides == (low, high):
            return node
        return exp.Paren(this=exp.And(this=sides[0], expression=sides[1]))

    def _membership(self, node: exp.In) -> exp.Expr:
        """IN without the members that no value equals; with none left it is never true."""
        if node.args.get("query") or not node.expressions:
            return node
        if all(map(self._is_null, node.expressions)):
            return self._null()
        members = [(member, self._compared(node.this, member)) for member in node.expressions]
        if any(compared is None for _, compared in members):
            return node
        held = [m for m, c in members if c is not None and not self._is_never(exp.EQ, c)]
        if len(held) == len(members):
            return node
        never = self._never(node.this, exp.EQ)
        if not held:
            return never
        some = exp.In(this=node.this.copy(), expressions=[member.copy() for member in held])
        return exp.Paren(this=exp.Or(this=never, expression=some))

    def _compared(self, operand: exp.Expr, constant: exp.Expr) -> _ComparedConstant | None:
        """The constant, if it is one that is no NULL and known before the statement runs."""
        if not operand.find(exp.Column) or operand.find(*_UNDECIDED) or is_random(operand):
            return None
        if constant.find(exp.Column, *_UNDECIDED):
            return None
        try:
            cast_to = self._type(operand)
            term = Constants(self.schema, self.session).compared(constant, cast_to)
            if term is None:
                return None
            value = term.bind({}).value
            own = self._type(self._without_casts(operand))
        except EngineError:
            return None  # Spark says at run time what is wrong
        return None if value is None else _ComparedConstant(own, term.type, value)

    def _type(self, node: exp.Expr) -> str:
        return compile_term(node, schema_scope(self.schema, session=self.session)).type

    def _without_casts(self, node: exp.Expr) -> exp.Expr:
        """What is under casts to types that hold all its values."""
        node = node.unnest()
        if not isinstance(node, exp.Cast) or isinstance(node, exp.TryCast):
            return node
        keeps = may_unwrap(self._type(node.this), spark_type(node.to))
        return self._without_casts(node.this) if keeps else node

    def _is_never(self, kind: type[exp.Expr], compared: _ComparedConstant) -> bool:
        """Whether no value of the operand's type is such beside the constant."""
        own, value = compared.own, compared.value
        if own == compared.compared_as or (isinstance(value, float) and not isfinite(value)):
            return False
        if is_integral(own):
            return _is_beyond(kind, value, own)
        return kind in _EQUALITIES and not self._survives(compared)

    def _survives(self, compared: _ComparedConstant, *, uncast: bool = True) -> bool:
        """Whether the constant is a value of the operand's type; `uncast` where it cannot be."""
        narrow = caster(compared.compared_as, compared.own, self.session)
        widen = caster(compared.own, compared.compared_as, self.session)
        try:
            narrowed = compared.value if narrow is None else narrow(compared.value)
            back = narrowed if widen is None else widen(narrowed)
        except EngineError:
            return uncast
        return uncast if back is None else bool(back == compared.value)

    def _never(self, operand: exp.Expr, kind: type[exp.Expr]) -> exp.Expr:
        if self.in_filter or kind is exp.NullSafeEQ:
            return exp.false()
        is_null = exp.Is(this=exp.Paren(this=operand.copy()), expression=exp.Null())
        return exp.Paren(this=exp.And(this=is_null, expression=exp.Null()))


def _is_beyond(kind: type[exp.Expr], value: Any, own: str) -> bool:
    """Whether no whole number of a type is such beside the value; at an end, none is beyond it."""
    limit = 1 << (INTEGRAL_BITS[own] - 1)
    least, most = -limit, limit - 1
    if kind is exp.GT:
        return bool(value >= most)
    if kind is exp.GTE:
        return bool(value > most)
    if kind is exp.LT:
        return bool(value <= least)
    if kind is exp.LTE:
        return bool(value < least)
    return value != int(value) or not holds(own, int(value))
