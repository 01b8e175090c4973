"""Functions of numbers. Source: Spark's mathExpressions.scala."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import (
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    Decimal,
    localcontext,
)
from typing import Any

from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.sql.expressions.terms import Term, apply, convert, each, literal
from whitecap.engine.sql.functions.guard import (
    DOUBLE,
    INT,
    NUMBER,
    Function,
    Kind,
    arguments,
    check_count,
    must_be_foldable,
    netted,
    strict,
)
from whitecap.engine.values.coercion import bounded_decimal, mismatch
from whitecap.engine.values.texts import to_scale, to_single
from whitecap.engine.values.types import (
    WIDE,
    Session,
    decimal_shape,
    fit_integer,
    is_decimal,
    is_integral,
)

RAND_VALUE = 0.5
"""What rand() gives. The engine has no randomness; any value in [0, 1) is a legal answer."""

_ONE_DOUBLE, _TWO_DOUBLES = arguments(DOUBLE), arguments(DOUBLE, DOUBLE)


def _sign(value: float) -> float:
    return math.copysign(1.0, value) if value else 0.0


def _root(value: float) -> float:
    return math.sqrt(value) if value >= 0 else math.nan


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except ValueError:
        return math.nan if base < 0 else math.inf
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 else math.inf


def _is_nan(terms: Sequence[Term], _session: Session) -> Term:
    """Never NULL."""
    return each(lambda value: value is not None and value != value, terms, "boolean")


# Rounding -----------------------------------------------------------------------------------------


def _rounded(rounding: str) -> Function:
    """round and bround, to so many places; the type of a decimal follows from them."""
    number_and_places = arguments(NUMBER, INT, optional=1)

    def takes(name: str, terms: Sequence[Term], session: Session) -> list[Term]:
        taken = [*number_and_places(name, terms, session), *[literal(0, "int")]][:2]
        must_be_foldable(taken[1], mismatch("NON_FOLDABLE_INPUT", f"the places of {name}"))
        return taken

    def build(terms: Sequence[Term], _session: Session) -> Term:
        number, places = terms
        digits = places.bind({}).value
        if digits is None:
            kind = number.type
            return literal(None, _rounded_type(kind, 0) if is_decimal(kind) else kind)
        return _to_places(number, digits, rounding)

    return Function(takes, build)


def _to_places(number: Term, digits: int, rounding: str) -> Term:
    result = _rounded_type(number.type, digits) if is_decimal(number.type) else number.type
    if not -_MOST_PLACES <= digits <= _MOST_PLACES:
        raise UnsupportedFeature(f"rounding to {digits} places")

    def cut(value: Any) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            return value
        with localcontext(WIDE):
            exact = Decimal(str(value)).quantize(Decimal(1).scaleb(-digits), rounding)
        return _as_before(exact, result)

    return netted(apply(cut, number, result))


_MOST_PLACES = 60  # beyond any DOUBLE's digits that matter, within those of `WIDE`


def _rounded_type(type_name: str, digits: int) -> str:
    """Source: RoundBase.dataType."""
    precision, scale = decimal_shape(type_name)
    whole = precision - scale + 1
    if digits < 0:
        return bounded_decimal(max(whole, -digits + 1), 0)
    kept = min(scale, digits)
    return bounded_decimal(whole + kept, kept)


def _as_before(exact: Decimal, type_name: str) -> Any:
    if is_decimal(type_name):
        return to_scale(exact, type_name)
    if is_integral(type_name):
        return fit_integer(int(exact), type_name)
    return to_single(float(exact)) if type_name == "float" else float(exact)


def _whole(rounding: str, function: Callable[[float], int]) -> Function:
    """ceil and floor: a whole number, of decimals a decimal; with places they round decimals."""
    number = arguments(Kind(("double", "decimal", "bigint")))

    def takes(name: str, terms: Sequence[Term], session: Session) -> Sequence[Term]:
        check_count(name, len(terms), 1, 2)
        if len(terms) == 1:
            kept = is_integral(terms[0].type)
            return [convert(terms[0], "bigint")] if kept else number(name, terms, session)
        refused_as = "AnalysisException", "NON_FOLDABLE_ARGUMENT"
        refusal = InvalidInput([Problem(name, "the places are no constant", None, refused_as)])
        must_be_foldable(terms[1], refusal)
        raise UnsupportedFeature(f"{name}() to so many places")

    def build(terms: Sequence[Term], _session: Session) -> Term:
        (term,) = terms
        if is_integral(term.type):
            return term
        if is_decimal(term.type):
            return _to_places(term, 0, rounding)
        return apply(lambda value: _saturated(value, function), term, "bigint")

    return Function(takes, build)


def _saturated(value: float, function: Callable[[float], int]) -> int:
    """A fraction as a BIGINT, as Java converts one: at the ends where it is beyond."""
    if value != value:
        return 0
    least, most = -(1 << 63), (1 << 63) - 1
    return least if value <= least else most if value >= most else function(value)


def _absolute(terms: Sequence[Term], _session: Session) -> Term:
    (number,) = terms
    if is_integral(number.type):
        return apply(lambda value: fit_integer(abs(value), number.type), number, number.type)
    # Python's own abs() rounds a decimal to the digits of its context.
    return apply(Decimal.copy_abs if is_decimal(number.type) else abs, number, number.type)


def _random(name: str, terms: Sequence[Term], _session: Session) -> Sequence[Term]:
    """A seed changes nothing here; NULL or a whole number is one."""
    check_count(name, len(terms), 0, 1)
    for term in terms:
        if term.type not in ("int", "bigint", "void"):
            raise mismatch("UNEXPECTED_INPUT_TYPE", f"the seed of {name} is {term.type}")
        refused_as = "ExtendedAnalysisException", "SEED_EXPRESSION_IS_UNFOLDABLE"
        problem = Problem(name, "the seed is no constant", None, refused_as)
        if term.type != "void":
            must_be_foldable(term, InvalidInput([problem]))
    return terms


_RANDOM = Function(_random, lambda _terms, _session: literal(RAND_VALUE, "double"))

NUMBERS: dict[str, Function] = {
    "abs": Function(arguments(NUMBER), _absolute),
    "sign": strict(_sign, _ONE_DOUBLE, "double"),
    "sqrt": strict(_root, _ONE_DOUBLE, "double"),
    "power": strict(_power, _TWO_DOUBLES, "double"),
    "round": _rounded(ROUND_HALF_UP),
    "bround": _rounded(ROUND_HALF_EVEN),
    "ceil": _whole(ROUND_CEILING, math.ceil),
    "floor": _whole(ROUND_FLOOR, math.floor),
    "isnan": Function(_ONE_DOUBLE, _is_nan),
    "rand": _RANDOM,
}
"""By Spark's names."""
