"""Comparison, arithmetic and logic, as functions of their operands.

Source: Spark's predicates.scala, arithmetic.scala, binaryArithmetic in AnsiTypeCoercion.scala
(BinaryOperator, DateTimeOperations, DecimalPrecision).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from decimal import ROUND_DOWN, Decimal, localcontext
from typing import Any

from whitecap.engine.errors import DeltaError, InvalidInput, UnsupportedFeature
from whitecap.engine.sql.expressions.logic import conjunction, disjunction, negation
from whitecap.engine.sql.expressions.membership import membership
from whitecap.engine.sql.expressions.terms import (
    Term,
    apply,
    combine,
    compared,
    convert,
    each,
    elementwise,
)
from whitecap.engine.sql.functions.guard import (
    BOOLEAN,
    NUMBER,
    Function,
    Kind,
    arguments,
    check_count,
    netted,
)
from whitecap.engine.sql.functions.spans import moved, shifted
from whitecap.engine.values.coercion import (
    arithmetic_type,
    check_texts,
    common_type,
    compared_type,
    mismatch,
    promoted,
    tightest,
)
from whitecap.engine.values.keys import sort_key
from whitecap.engine.values.texts import to_scale
from whitecap.engine.values.types import (
    FRACTIONAL,
    PARAMETER,
    TEMPORAL,
    WIDE,
    Session,
    fit_integer,
    has_values,
    holds,
    is_decimal,
    is_integral,
    is_numeric,
    wrapped,
)

Compare = Callable[[Any, Any], Any]

# Comparison ---------------------------------------------------------------------------------------


def _nan_last(compare: Compare) -> Compare:
    """Spark's order of fractions: NaN equals itself and is greater than all."""
    return lambda left, right: compare(sort_key(left), sort_key(right))


def aligned(left: Term, right: Term, session: Session) -> tuple[Term, Term]:
    """Both terms in the type in which they are compared."""
    for term in (left, right):
        if not has_values(term.type):
            raise UnsupportedFeature(f"values of type {term.type} in a comparison")
    common = _compared_type(left.type, right.type, session)
    if common in (PARAMETER, "void"):
        return left, right
    return compared(left, common, session), compared(right, common, session)


def _compared_type(left: str, right: str, session: Session) -> str:
    """See `compared_type`; a text beside a whole number is one of that very type outside of ANSI.

    Source: TypeCoercion.findCommonTypeForBinaryComparison.
    """
    if session.ansi:
        return compared_type(left, right)
    try:
        common = compared_type(left, right)
    except InvalidInput as error:
        raise UnsupportedFeature(f"{error}, without ANSI mode") from error
    if "string" not in (left, right):
        return common
    if "float" in (left, right):
        raise UnsupportedFeature("a text beside a FLOAT, without ANSI mode")
    return max(left, right, key=is_integral) if common == "bigint" else common


def compare(function: Compare, left: Term, right: Term, session: Session) -> Term:
    """A comparison: NULL if either side is. Raises `InvalidInput` for types that do not compare."""
    left, right = aligned(left, right, session)
    if left.type in FRACTIONAL:
        function = _nan_last(function)
    return combine(function, left, right, "boolean")


def null_safe_equal(left: Term, right: Term, session: Session) -> Term:
    """`<=>`: never NULL; NULL equals NULL."""
    left, right = aligned(left, right, session)
    equal = _nan_safe_equal if left.type in FRACTIONAL else operator.eq
    return each(equal, [left, right], "boolean")


def _nan_safe_equal(left: Any, right: Any) -> bool:
    return left == right or (
        left is not None and right is not None and left != left and right != right
    )


def is_in(term: Term, members: Sequence[Term], session: Session) -> Term:
    """IN, in the common type of all members."""
    common = term.type
    for member in members:
        if not (has_values(common) and has_values(member.type)):
            raise UnsupportedFeature(f"values of types {common} and {member.type} in IN")
        common = common_type(common, member.type)
    check_texts([term.type, *(member.type for member in members)], session)
    inside = [m if m.type == PARAMETER else convert(m, common, session) for m in members]
    return membership(compared(term, common, session), inside, session)


# Operands -----------------------------------------------------------------------------------------


def _operand_types(
    left: str, right: str, accepts: Callable[[str], bool], of_nulls: str
) -> tuple[str, str]:
    """The types of two operands. Raises `InvalidInput` as Spark refuses others.

    A text becomes what stands beside it whether the operator takes that or not, other types only
    if it does: the error says which.
    """
    if left == right == "void":
        return of_nulls, of_nulls
    both = tightest(left, right)
    decimals = "double" in (left, right) and (is_decimal(left) or is_decimal(right))
    mixed = both if both is not None and (accepts(both) or decimals) else None
    common = promoted(left, right) or mixed
    left_type, right_type = (left, right) if common is None else (common, common)
    if left_type != right_type:
        raise mismatch("BINARY_OP_DIFF_TYPES", f"{left} and {right}")
    if not accepts(left_type):
        raise mismatch("BINARY_OP_WRONG_TYPE", f"{left} and {right}")
    return left_type, right_type


def _operands(
    accepts: Callable[[str], bool], of_nulls: str
) -> Callable[[str, Sequence[Term], Session], list[Term]]:
    """Two operands of one type that an operator accepts."""

    def takes(name: str, terms: Sequence[Term], session: Session) -> list[Term]:
        check_count(name, len(terms), 2, 2)
        left, right = terms
        if not session.ansi and promoted(left.type, right.type) not in (None, "string"):
            raise mismatch("BINARY_OP_DIFF_TYPES", f"{left.type} beside {right.type}")
        types = _operand_types(left.type, right.type, accepts, of_nulls)
        return [_operand(term, kind, session) for term, kind in zip(terms, types, strict=True)]

    return takes


def _operand(term: Term, common: str, session: Session) -> Term:
    """An operand in the common type; what is computed in decimals stays as wide as it is."""
    if is_decimal(common) and (is_integral(term.type) or is_decimal(term.type)):
        return term
    return convert(term, common, session)


# Arithmetic ---------------------------------------------------------------------------------------


def _divide_by_zero() -> DeltaError:
    text = "Division by zero."
    return DeltaError.of_class("SparkArithmeticException", "DIVIDE_BY_ZERO", text)


def divide(dividend: Any, divisor: Any) -> Any:
    """`/`. Raises `DeltaError` on zero."""
    if divisor == 0:
        raise _divide_by_zero()
    return dividend / divisor


def _whole_divide(dividend: Any, divisor: Any) -> int:
    """`DIV`: the quotient cut towards zero. Raises `DeltaError` on zero."""
    if divisor == 0:
        raise _divide_by_zero()
    quotient = abs(dividend) // abs(divisor)
    return int(quotient if (dividend < 0) == (divisor < 0) else -quotient)


def _remainder(dividend: Any, divisor: Any) -> Any:
    """`%`: the remainder with the dividend's sign. Raises `DeltaError` on zero."""
    if divisor == 0:
        raise DeltaError("SparkArithmeticException", "REMAINDER_BY_ZERO", "[REMAINDER_BY_ZERO]")
    if isinstance(dividend, float):
        return math.fmod(dividend, divisor)
    if isinstance(dividend, int) and isinstance(divisor, int):
        rest = abs(dividend) % abs(divisor)
        return rest if dividend >= 0 else -rest
    return dividend - divisor * (Decimal(dividend) / divisor).to_integral_value(ROUND_DOWN)


def _positive_remainder(dividend: Any, divisor: Any) -> Any:
    rest = _remainder(dividend, divisor)
    return _remainder(rest + divisor, divisor) if rest < 0 else rest


def _arithmetic(symbol: str, function: Compare) -> Function:
    """`+ - * / %` of numbers; `+` and `-` also move days and instants."""
    numbers = _operands(is_numeric, "double")

    def takes(name: str, terms: Sequence[Term], session: Session) -> Sequence[Term]:
        moves = moved(symbol, terms, session) if symbol in "+-" and len(terms) == 2 else None
        if moves is not None:
            return moves
        left, right = numbers(name, terms, session)
        of_null = symbol == "/" and terms[0].type == "void"
        return [convert(left, "double"), convert(right, "double")] if of_null else [left, right]

    def build(terms: Sequence[Term], session: Session) -> Term:
        left, right = terms
        if left.type in TEMPORAL:
            return netted(shifted(left, right, 1 if symbol == "+" else -1, session))
        result = arithmetic_type(symbol, left.type, right.type)
        if symbol == "/" and not is_decimal(result):
            left, right = convert(left, "double"), convert(right, "double")
        if result == "double" and symbol in "+-*":
            return netted(elementwise(function, left, right, result))
        return netted(combine(_checked(function, result, session), left, right, result))

    return Function(takes, build, any_type=symbol in "+-")


def _fit_small(value: int, type_name: str) -> int:
    if holds(type_name, value):
        return value
    text = f"{value} caused overflow."
    raise DeltaError.of_class("SparkArithmeticException", "BINARY_ARITHMETIC_OVERFLOW", text)


def _checked(function: Compare, result: str, session: Session) -> Compare:
    """What the function makes of two values, kept to the type that it gives."""
    if session.ansi:
        return _in_range(function, result)
    return _lenient(function if is_integral(result) else _in_range(function, result), result)


def _lenient(function: Compare, result: str) -> Compare:
    """Outside of ANSI mode whole numbers wrap; by zero, and beyond a decimal's digits, is NULL.

    Source: arithmetic.scala (DivModLike, nullOnOverflow).
    """

    def run(left: Any, right: Any) -> Any:
        try:
            value = function(left, right)
        except DeltaError:
            return None
        return wrapped(value, result) if is_integral(result) else value

    return run


def _in_range(function: Compare, result: str) -> Compare:
    if result in ("tinyint", "smallint"):
        return lambda left, right: _fit_small(function(left, right), result)
    if is_integral(result):
        return lambda left, right: fit_integer(function(left, right), result)
    if is_decimal(result):

        def rounded(left: Any, right: Any) -> Decimal:
            with localcontext(WIDE):
                return to_scale(function(Decimal(left), Decimal(right)), result)

        return rounded
    return function


def _whole_division(terms: Sequence[Term], session: Session) -> Term:
    left, right = terms
    return netted(combine(_checked(_whole_divide, "bigint", session), left, right, "bigint"))


def _common_of_numbers(function: Compare) -> Function:
    """Of two numbers in their common type."""

    def build(terms: Sequence[Term], session: Session) -> Term:
        left, right = terms
        result = arithmetic_type("%", left.type, right.type)
        return netted(combine(_checked(function, result, session), left, right, result))

    return Function(_operands(is_numeric, "double"), build)


def _negative(terms: Sequence[Term], session: Session) -> Term:
    (term,) = terms
    if is_integral(term.type):
        fit = fit_integer if session.ansi else wrapped
        return apply(lambda value: fit(-value, term.type), term, term.type)
    return apply(_negated if is_decimal(term.type) else operator.neg, term, term.type)


def _negated(value: Decimal) -> Decimal:
    """With all its digits, where Python's own sign rounds to its context; zero has no sign."""
    return value.copy_negate() if value else value


def _of_conditions(join: Callable[[Term, Term], Term]) -> Function:
    takes = _operands(lambda type_name: type_name == "boolean", "boolean")
    return Function(takes, lambda terms, _session: join(*terms))


OPERATORS: dict[str, Function] = {
    "+": _arithmetic("+", operator.add),
    "-": _arithmetic("-", operator.sub),
    "*": _arithmetic("*", operator.mul),
    "/": _arithmetic("/", divide),
    "%": _common_of_numbers(_remainder),
    "mod": _common_of_numbers(_remainder),
    "pmod": _common_of_numbers(_positive_remainder),
    "div": Function(
        _operands(lambda kind: is_integral(kind) or is_decimal(kind), "bigint"), _whole_division
    ),
    "~": Function(
        arguments(Kind(("integral",))),
        lambda terms, _session: apply(operator.invert, terms[0], terms[0].type),
    ),
    "negative": Function(arguments(NUMBER), _negative),
    "not": Function(arguments(BOOLEAN), lambda terms, _session: negation(terms[0])),
    "and": _of_conditions(conjunction),
    "or": _of_conditions(disjunction),
}
"""By their sign, or their name as a function."""
