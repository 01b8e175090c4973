"""Literals, columns and operators in the syntax tree, one function per kind of node."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import Decimal
from functools import reduce
from typing import Any

from msgspec.structs import replace
from sqlglot import exp

from whitecap.engine.errors import DeltaError, InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.sql.expressions.building import Builder, Builders, Compiler, spark_type
from whitecap.engine.sql.expressions.filled_texts import UNFILLED, filled_up, with_letters
from whitecap.engine.sql.expressions.logic import conjunction, disjunction, is_null, negation
from whitecap.engine.sql.expressions.spark_text import CALLED, DIALECT
from whitecap.engine.sql.expressions.terms import Term, apply, convert, literal, parameter
from whitecap.engine.sql.functions.function_nodes import operator_call
from whitecap.engine.sql.functions.operators import compare, is_in, null_safe_equal
from whitecap.engine.sql.functions.table import call
from whitecap.engine.values.casts import no_words, try_caster
from whitecap.engine.values.coercion import mismatch
from whitecap.engine.values.types import (
    INTEGRAL_BITS,
    MAX_PRECISION,
    decimal_type,
    integer_type,
    is_integral,
)


def _literal(node: exp.Literal, _compiler: Compiler) -> Term:
    if node.is_string:
        return literal(node.this, "string")
    text: str = node.this
    if sum(letter.isdigit() for letter in text) > MAX_PRECISION:
        refused_as = "SparkArithmeticException", "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION"
        raise InvalidInput([Problem(text, "has too many digits", refused_as=refused_as)])
    if "e" in text.lower():
        return _fraction(text)
    if "." in text:
        number = Decimal(text)
        return literal(number, decimal_type(number))
    whole = int(text)
    type_name = integer_type(whole)
    return literal(whole if is_integral(type_name) else Decimal(whole), type_name)


def _fraction(text: str) -> Term:
    if math.isinf(float(text)):
        refused_as = "ParseException", "INVALID_NUMERIC_LITERAL_RANGE"
        raise InvalidInput([Problem(text, "is no DOUBLE", refused_as=refused_as)])
    return literal(float(text), "double")


def _bytes(node: exp.HexString, _compiler: Compiler) -> Term:
    digits: str = node.this
    return literal(bytes.fromhex(digits.zfill(len(digits) + len(digits) % 2)), "binary")


def _column(node: exp.Column, compiler: Compiler) -> Term:
    return compiler.scope.resolve(node)


def _placeholder(node: exp.Placeholder, _compiler: Compiler) -> Term:
    return parameter(node.name)


def _paren(node: exp.Paren, compiler: Compiler) -> Term:
    return compiler.term(node.this)


def _boolean(node: exp.Boolean, _compiler: Compiler) -> Term:
    return literal(bool(node.this), "boolean")


def _null(_node: exp.Expr, _compiler: Compiler) -> Term:
    return literal(None, "void")


def _compared_sides(node: exp.Expr, compiler: Compiler) -> tuple[Term, Term]:
    left, right = compiler.term(node.this), compiler.term(node.expression)
    return (left, right) if UNFILLED in node.meta else filled_up(left, right, compiler.session)


_COMPARISONS: dict[type[exp.Expr], tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    exp.EQ: (operator.eq, operator.eq),
    exp.NEQ: (operator.ne, operator.ne),
    exp.LT: (operator.lt, operator.gt),
    exp.LTE: (operator.le, operator.ge),
    exp.GT: (operator.gt, operator.lt),
    exp.GTE: (operator.ge, operator.le),
}


def _comparison(node: exp.Expr, compiler: Compiler) -> Term:
    if isinstance(node.this, exp.Tuple):
        return _tuples(node, compiler)
    left, right = _compared_sides(node, compiler)
    function, mirrored = _COMPARISONS[type(node)]
    if left.foldable and not right.foldable:
        # The column first: comparing a column with a constant is the cheapest shape to run.
        return compare(mirrored, right, left, compiler.session)
    # Where the left is NULL nobody asks for the right. Source: BinaryExpression.eval.
    return compare(function, left, right, compiler.session)


def _tuples(node: exp.Expr, compiler: Compiler) -> Term:
    """Tuples are structs: never NULL themselves, and NULL inside them equals NULL."""
    other = node.args["expression"]
    if type(node) not in (exp.EQ, exp.NEQ) or not isinstance(other, exp.Tuple):
        raise UnsupportedFeature(f"comparisons of this form: {node.sql(DIALECT)}")
    equal = _equal_tuples(node.this, other, compiler, "BINARY_OP_DIFF_TYPES")
    return equal if isinstance(node, exp.EQ) else negation(equal)


def _equal_tuples(left: exp.Tuple, right: exp.Tuple, compiler: Compiler, error_class: str) -> Term:
    """Raises `InvalidInput` for tuples of other types: Spark casts nothing inside of them."""
    left_terms, right_terms = (compiler.terms(side.expressions) for side in (left, right))
    if [term.type for term in left_terms] != [term.type for term in right_terms]:
        if all(term.foldable for term in (*left_terms, *right_terms)):
            raise UnsupportedFeature(f"constants of other types in {left.sql(DIALECT)}")
        raise mismatch(error_class, f"{left.sql(DIALECT)} and {right.sql(DIALECT)}")
    pairs = zip(left_terms, right_terms, strict=True)
    return reduce(conjunction, [null_safe_equal(*pair, compiler.session) for pair in pairs])


def _null_safe(node: exp.Expr, compiler: Compiler) -> Term:
    return null_safe_equal(*_compared_sides(node, compiler), compiler.session)


def _in(node: exp.In, compiler: Compiler) -> Term:
    if node.args.get("query"):
        raise UnsupportedFeature(f"a subquery here: {node.sql(DIALECT)}")
    if not node.expressions:
        is_bare = node.args.get("field") is not None
        wanted = "IN needs its list in parentheses" if is_bare else "the list is empty"
        raise InvalidInput([Problem(node.sql(DIALECT), wanted)])
    if isinstance(node.this, exp.Tuple):
        return _tuple_in(node.this, node.expressions, compiler)
    members, term = compiler.terms(node.expressions), compiler.term(node.this)
    if UNFILLED in node.meta:
        term = replace(term, letters=None)
    return is_in(term, members, compiler.session)


def _tuple_in(tuple_node: exp.Tuple, members: list[exp.Expr], compiler: Compiler) -> Term:
    nodes = [member.unnest() if isinstance(member, exp.Paren) else member for member in members]
    tuples = [node for node in nodes if isinstance(node, exp.Tuple)]
    if len(tuples) < len(nodes):
        raise UnsupportedFeature(f"a list beside {tuple_node.sql(DIALECT)}")
    choices = [_equal_tuples(tuple_node, choice, compiler, "DATA_DIFF_TYPES") for choice in tuples]
    return reduce(disjunction, choices)


def _between(node: exp.Between, compiler: Compiler) -> Term:
    value = compiler.term(node.this)
    low, high = (compiler.term(node.args[key]) for key in ("low", "high"))
    return conjunction(
        compare(operator.ge, value, low, compiler.session),
        compare(operator.le, value, high, compiler.session),
    )


def _is(node: exp.Is, compiler: Compiler) -> Term:
    term = compiler.term(node.this)
    if isinstance(node.expression, exp.Null):
        return is_null(term)
    return null_safe_equal(term, compiler.term(node.expression), compiler.session)


def _operator(sign: str) -> Builder:
    """An operator with two operands, or one."""

    def build(node: exp.Expr, compiler: Compiler) -> Term:
        operands = node.this, node.args.get("expression")
        nodes = [operand for operand in operands if operand is not None]
        return operator_call(sign, nodes, compiler)

    return build


def _negative(node: exp.Neg, compiler: Compiler) -> Term:
    if isinstance(node.this, exp.Literal) and node.this.is_int:
        value = -int(node.this.this)
        return literal(value, integer_type(value))
    if isinstance(node.this, exp.Cast) and isinstance(node.this.this, exp.Literal):
        least = _least(spark_type(node.this.to), node.this.this.name)
        if least is not None:
            return least
    return call("negative", [compiler.term(node.this)], compiler.session)


def _least(type_name: str, digits: str) -> Term | None:
    """The least number of a type, such as -128Y: one more than the greatest without its sign."""
    if not is_integral(type_name) or digits != str(1 << (INTEGRAL_BITS[type_name] - 1)):
        return None
    return literal(-int(digits), type_name)


def _like(node: exp.Like, compiler: Compiler) -> Term:
    """LIKE, of one pattern or several; sqlglot keeps its NOT inside the node."""
    text, patterns = compiler.term(node.this), compiler.terms(like_patterns(node))
    matches = [call("like", [text, pattern], compiler.session) for pattern in patterns]
    if node.args.get("negate"):
        matches = [negation(match) for match in matches]
    return reduce(conjunction if isinstance(node.expression, exp.All) else disjunction, matches)


def like_patterns(node: exp.Expr) -> list[exp.Expr]:
    """The pattern of a LIKE, or those of LIKE ANY and LIKE ALL."""
    if not isinstance(node.expression, exp.Any | exp.All):
        return [node.expression]
    inner = node.expression.this.unnest()
    return list(inner.expressions) if isinstance(inner, exp.Tuple) else [inner]


def _cast(node: exp.Cast, compiler: Compiler) -> Term:
    term, to_type = compiler.term(node.this), spark_type(node.to)
    match node.meta.get(CALLED):
        case "to_date":
            return call("to_date", [term], compiler.session)
        case "literal":
            return _typed_literal(convert(term, to_type, compiler.session), node)
    return replace(convert(term, to_type, compiler.session), letters=None)


def _typed_literal(term: Term, node: exp.Cast) -> Term:
    """DATE '...' and TIMESTAMP '...'. Raises `InvalidInput` for a text that is none."""
    try:
        return literal(term.bind({}).value, term.type)
    except DeltaError:
        refused_as = "ParseException", "INVALID_TYPED_LITERAL"
        problem = Problem(node.this.sql(DIALECT), f"is no {term.type}", refused_as=refused_as)
        raise InvalidInput([problem]) from None


def _try_cast(node: exp.TryCast, compiler: Compiler) -> Term:
    term, to_type = compiler.term(node.this), spark_type(node.to)
    cast = try_caster(term.type, to_type, compiler.session)
    if cast is None:
        return convert(term, to_type)
    if term.foldable and term.type == "string":
        cast = no_words(cast, to_type)
    return apply(cast, term, to_type)


def _pad(node: exp.Pad, compiler: Compiler) -> Term:
    """What a query reads of a CHAR column: we write it so, users' own calls are `Anonymous`."""
    return with_letters(compiler.term(node.this), int(node.expression.name))


OPERATOR_NODES: Builders = {
    exp.Literal: _literal,
    exp.HexString: _bytes,
    exp.Column: _column,
    exp.Placeholder: _placeholder,
    exp.Paren: _paren,
    exp.Boolean: _boolean,
    exp.Null: _null,
    exp.And: _operator("and"),
    exp.Or: _operator("or"),
    exp.Not: _operator("not"),
    **dict.fromkeys(_COMPARISONS, _comparison),
    exp.NullSafeEQ: _null_safe,
    exp.BitwiseNot: _operator("~"),
    exp.In: _in,
    exp.Between: _between,
    exp.Is: _is,
    exp.Add: _operator("+"),
    exp.Sub: _operator("-"),
    exp.Mul: _operator("*"),
    exp.Div: _operator("/"),
    exp.Mod: _operator("%"),
    exp.IntDiv: _operator("div"),
    exp.Neg: _negative,
    exp.Like: _like,
    exp.RegexpLike: _operator("rlike"),
    exp.Cast: _cast,
    exp.TryCast: _try_cast,
    exp.Pad: _pad,
}
