"""Literals, columns and operators in the syntax tree, one function per kind of node.

What is compiled by `compile_term` is found in `building`, and functions in `function_nodes`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal
from functools import reduce
from typing import Any

from sqlglot import exp

from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.sql import operators
from whitecap.engine.sql.building import (
    BUILDERS,
    DIALECT,
    compile_boolean,
    compile_term,
    spark_type,
)
from whitecap.engine.sql.coercion import common_type
from whitecap.engine.sql.function_nodes import function_name
from whitecap.engine.sql.scope import Scope
from whitecap.engine.sql.terms import (
    Term,
    apply,
    combine,
    conjunction,
    convert,
    disjunction,
    is_null,
    literal,
    negation,
    parameter,
)
from whitecap.engine.sql.types import (
    PARAMETER,
    decimal_type,
    fit_integer,
    integer_type,
    is_decimal,
    is_integral,
)

__all__ = [
    "DIALECT",
    "compile_boolean",
    "compile_term",
    "function_name",
    "like_patterns",
    "spark_type",
]


def _literal(node: exp.Literal, _scope: Scope) -> Term:
    if node.is_string:
        return literal(node.this, "string")
    text: str = node.this
    if "e" in text.lower():
        return literal(float(text), "double")
    if "." in text:
        number = Decimal(text)
        return literal(number, decimal_type(number))
    whole = int(text)
    type_name = integer_type(whole)
    return literal(whole if is_integral(type_name) else Decimal(whole), type_name)


def _raw_text(node: exp.RawString, _scope: Scope) -> Term:
    return literal(node.this, "string")


def _bytes(node: exp.HexString, _scope: Scope) -> Term:
    digits: str = node.this
    return literal(bytes.fromhex(digits.zfill(len(digits) + len(digits) % 2)), "binary")


def _column(node: exp.Column, scope: Scope) -> Term:
    return scope.resolve(node)


def _placeholder(node: exp.Placeholder, _scope: Scope) -> Term:
    return parameter(node.name, PARAMETER)


def _paren(node: exp.Paren, scope: Scope) -> Term:
    return compile_term(node.this, scope)


def _boolean(node: exp.Boolean, _scope: Scope) -> Term:
    return literal(bool(node.this), "boolean")


def _null(_node: exp.Expr, _scope: Scope) -> Term:
    return literal(None, "void")


def _and(node: exp.And, scope: Scope) -> Term:
    return conjunction(compile_boolean(node.left, scope), compile_boolean(node.right, scope))


def _or(node: exp.Or, scope: Scope) -> Term:
    return disjunction(compile_boolean(node.left, scope), compile_boolean(node.right, scope))


def _not(node: exp.Not, scope: Scope) -> Term:
    return negation(compile_boolean(node.this, scope))


def _sides(node: exp.Expr, scope: Scope) -> tuple[Term, Term]:
    return compile_term(node.this, scope), compile_term(node.expression, scope)


_COMPARISONS: dict[type[exp.Expr], tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    exp.EQ: (operator.eq, operator.eq),
    exp.NEQ: (operator.ne, operator.ne),
    exp.LT: (operator.lt, operator.gt),
    exp.LTE: (operator.le, operator.ge),
    exp.GT: (operator.gt, operator.lt),
    exp.GTE: (operator.ge, operator.le),
}


def _comparison(node: exp.Expr, scope: Scope) -> Term:
    if isinstance(node.this, exp.Tuple):
        return _tuples(node, scope)
    left, right = _sides(node, scope)
    function, mirrored = _COMPARISONS[type(node)]
    if not any(True for _ in node.expression.find_all(exp.Column)):
        return operators.compare(function, left, right, scope.session)
    # The column first: comparing a column with a constant is the cheapest shape to run.
    return operators.compare(mirrored, right, left, scope.session)


def _tuples(node: exp.Expr, scope: Scope) -> Term:
    """Tuples are structs: never NULL themselves, and NULL inside them equals NULL."""
    other = node.args["expression"]
    pairs = zip(node.this.expressions, other.expressions, strict=False)
    if type(node) not in (exp.EQ, exp.NEQ) or len(node.this.expressions) != len(other.expressions):
        raise UnsupportedFeature(f"comparisons of this form: {node.sql(DIALECT)}")
    terms = [
        operators.null_safe_equal(compile_term(one, scope), compile_term(two, scope), scope.session)
        for one, two in pairs
    ]
    equal = reduce(conjunction, terms)
    return equal if isinstance(node, exp.EQ) else negation(equal)


def _null_safe_unequal(node: exp.NullSafeNEQ, scope: Scope) -> Term:
    return negation(operators.null_safe_equal(*_sides(node, scope), scope.session))


def _bitwise_not(node: exp.BitwiseNot, scope: Scope) -> Term:
    term = compile_term(node.this, scope)
    return apply(operator.invert, term, term.type)


def _null_safe(node: exp.NullSafeEQ, scope: Scope) -> Term:
    return operators.null_safe_equal(*_sides(node, scope), scope.session)


def _in(node: exp.In, scope: Scope) -> Term:
    if node.args.get("query"):
        raise UnsupportedFeature(f"a subquery here: {node.sql(DIALECT)}")
    if isinstance(node.this, exp.Tuple):
        _check_same_types(node, scope)
        choices = [
            _tuples(exp.EQ(this=node.this, expression=one), scope) for one in node.expressions
        ]
        return reduce(disjunction, choices)
    if not node.expressions:
        raise InvalidInput([Problem(node.sql(DIALECT), "the list is empty")])
    members = [compile_term(member, scope) for member in node.expressions]
    return operators.is_in(compile_term(node.this, scope), members, scope.session)


def _check_same_types(node: exp.In, scope: Scope) -> None:
    """Raises `InvalidInput` for tuples of other types: Spark casts no structs in a list."""
    kinds = {
        tuple(compile_term(cell, scope).type for cell in one.expressions)
        for one in (node.this, *node.expressions)
    }
    if len(kinds) > 1:
        refused_as = "ExtendedAnalysisException", "DATATYPE_MISMATCH.DATA_DIFF_TYPES"
        text = "tuples in an IN list must have the same types"
        raise InvalidInput([Problem(node.sql(DIALECT), text, refused_as=refused_as)])


def _between(node: exp.Between, scope: Scope) -> Term:
    value = compile_term(node.this, scope)
    low, high = (compile_term(node.args[key], scope) for key in ("low", "high"))
    return conjunction(
        operators.compare(operator.ge, value, low, scope.session),
        operators.compare(operator.le, value, high, scope.session),
    )


def _is(node: exp.Is, scope: Scope) -> Term:
    term = compile_term(node.this, scope)
    if isinstance(node.expression, exp.Null):
        return is_null(term)
    expected = compile_term(node.expression, scope)
    return operators.null_safe_equal(term, expected, scope.session)


def _arithmetic(symbol: str) -> Callable[[Any, Scope], Term]:
    def build(node: exp.Binary, scope: Scope) -> Term:
        left, right = _sides(node, scope)
        left, right = _beside(left, node.left, right), _beside(right, node.right, left)
        return operators.arithmetic(symbol, left, right, scope.session)

    return build


def _beside(term: Term, node: exp.Expr, other: Term) -> Term:
    """A whole literal beside a decimal is as wide as its digits. Source: DecimalPrecision."""
    if isinstance(node, exp.Literal) and node.is_int and is_decimal(other.type):
        return convert(term, f"decimal({len(node.this)},0)")
    return term


def _whole_division(node: exp.IntDiv, scope: Scope) -> Term:
    return combine(operators.whole_divide, *_sides(node, scope), "bigint")


def _negative(node: exp.Neg, scope: Scope) -> Term:
    if isinstance(node.this, exp.Literal) and node.this.is_int:
        value = -int(node.this.this)
        return literal(value, integer_type(value))
    term = compile_term(node.this, scope)
    if is_integral(term.type):
        return apply(lambda value: fit_integer(-value, term.type), term, term.type)
    return apply(operator.neg, term, term.type)


def _bits(function: Callable[[int, int], int]) -> Callable[[Any, Scope], Term]:
    def build(node: exp.Binary, scope: Scope) -> Term:
        left, right = _sides(node, scope)
        return combine(function, left, right, common_type(left.type, right.type))

    return build


def _like(node: exp.Expr, scope: Scope, escape: str = "\\") -> Term:
    """LIKE and ILIKE, of one pattern or several; sqlglot keeps their NOT inside the node."""
    text, ignore_case = compile_term(node.this, scope), isinstance(node, exp.ILike)
    matches = [
        operators.like(text, compile_term(pattern, scope), escape, ignore_case)
        for pattern in like_patterns(node)
    ]
    if node.args.get("negate"):
        matches = [negation(match) for match in matches]
    return reduce(conjunction if isinstance(node.expression, exp.All) else disjunction, matches)


def like_patterns(node: exp.Expr) -> list[exp.Expr]:
    """The pattern of a LIKE, or those of LIKE ANY and LIKE ALL."""
    if not isinstance(node.expression, exp.Any | exp.All):
        return [node.expression]
    inner = node.expression.this.unnest()
    return list(inner.expressions) if isinstance(inner, exp.Tuple) else [inner]


def _escaped_like(node: exp.Escape, scope: Scope) -> Term:
    return _like(node.this, scope, node.expression.name)


def _rlike(node: exp.RegexpLike, scope: Scope) -> Term:
    return operators.regexp_like(*_sides(node, scope))


def _cast(node: exp.Cast, scope: Scope) -> Term:
    return convert(compile_term(node.this, scope), spark_type(node.to), scope.session)


def _try_cast(node: exp.TryCast, scope: Scope) -> Term:
    session = type(scope.session)(scope.session.time_zone, ansi=False)
    return convert(compile_term(node.this, scope), spark_type(node.to), session)


OPERATORS: dict[type[exp.Expr], Callable[[Any, Scope], Term]] = {
    exp.Literal: _literal,
    exp.RawString: _raw_text,
    exp.HexString: _bytes,
    exp.Column: _column,
    exp.Placeholder: _placeholder,
    exp.Paren: _paren,
    exp.Boolean: _boolean,
    exp.Null: _null,
    exp.And: _and,
    exp.Or: _or,
    exp.Not: _not,
    **dict.fromkeys(_COMPARISONS, _comparison),
    exp.NullSafeEQ: _null_safe,
    exp.NullSafeNEQ: _null_safe_unequal,
    exp.BitwiseNot: _bitwise_not,
    exp.In: _in,
    exp.Between: _between,
    exp.Is: _is,
    exp.Add: _arithmetic("+"),
    exp.Sub: _arithmetic("-"),
    exp.Mul: _arithmetic("*"),
    exp.Div: _arithmetic("/"),
    exp.Mod: _arithmetic("%"),
    exp.IntDiv: _whole_division,
    exp.Neg: _negative,
    exp.BitwiseAnd: _bits(operator.and_),
    exp.BitwiseOr: _bits(operator.or_),
    exp.BitwiseXor: _bits(operator.xor),
    exp.Like: _like,
    exp.ILike: _like,
    exp.Escape: _escaped_like,
    exp.RegexpLike: _rlike,
    exp.Cast: _cast,
    exp.TryCast: _try_cast,
}
BUILDERS.update(OPERATORS)
