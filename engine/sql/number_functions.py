"""Functions of numbers, and of whether values are there.

Source: Spark's mathExpressions.scala, nullExpressions.scala, tryExpressions (try_divide).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from functools import reduce
from typing import Any

from whitecap.engine.sql.coercion import common_type
from whitecap.engine.sql.function_shapes import Build, cast, strict
from whitecap.engine.sql.terms import Term, apply, each, literal
from whitecap.engine.sql.types import FRACTIONAL, Session, fit_integer, is_integral

_NUMBER = ("double",)


def _sign(value: float) -> float:
    return math.copysign(1.0, value) if value else 0.0


def _root(value: float) -> float:
    return math.sqrt(value) if value >= 0 else math.nan


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except (ValueError, OverflowError):
        return math.nan if base < 0 else math.inf


def _logarithm(base: float | None) -> Callable[[float], float | None]:
    """NULL for what has no logarithm, as Spark says."""

    def run(value: float) -> float | None:
        if value <= 0:
            return None
        return math.log(value) if base is None else math.log(value, base)

    return run


def _log(one: float, other: float | None = None) -> float | None:
    if other is None:
        return _logarithm(None)(one)
    return None if one <= 0 or other <= 0 else math.log(other) / math.log(one)


def _half_even(terms: Sequence[Term], session: Session) -> Term:
    places = terms[1] if len(terms) > 1 else literal(0, "int")

    def rounded(value: Any, digits: Any) -> Any:
        if value is None or digits is None:
            return None
        cut = Decimal(str(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_EVEN)
        return type(value)(cut)

    return each(rounded, [terms[0], cast(places, "int", session)], terms[0].type)


def _is_nan(terms: Sequence[Term], session: Session) -> Term:
    (term,) = terms
    return each(lambda value: value is not None and value != value,
                [cast(term, "double", session)], "boolean")  # fmt: skip


def _without_nan(terms: Sequence[Term], session: Session) -> Term:
    one, other = (cast(term, "double", session) for term in terms)
    return each(lambda a, b: b if a is not None and a != a else a, [one, other], "double")


def _negative(terms: Sequence[Term], _session: Session) -> Term:
    (term,) = terms
    if is_integral(term.type):
        return apply(lambda value: fit_integer(-value, term.type), term, term.type)
    return apply(lambda value: -value, term, term.type)


def _positive(terms: Sequence[Term], _session: Session) -> Term:
    (term,) = terms
    return term


def _try_divide(terms: Sequence[Term], session: Session) -> Term:
    one, other = (cast(term, "double", session) for term in terms)
    return each(lambda a, b: None if a is None or not b else a / b, [one, other], "double")


def _if_there(terms: Sequence[Term], session: Session) -> Term:
    """nvl2: the second if the first is there, else the third."""
    asked, yes, no = terms
    common = common_type(yes.type, no.type)
    choices = [cast(term, common, session) for term in (yes, no)]
    return each(lambda a, b, c: c if a is None else b, [asked, *choices], common)


def _null_if_zero(terms: Sequence[Term], _session: Session) -> Term:
    (term,) = terms
    return apply(lambda value: None if value == 0 else value, term, term.type)


def _zero_if_null(terms: Sequence[Term], session: Session) -> Term:
    (term,) = terms
    common = reduce(common_type, (term.type, "int"))
    zero: Any = 0.0 if common in FRACTIONAL else 0
    return each(lambda value: zero if value is None else value,
                [cast(term, common, session)], common)  # fmt: skip


NUMBER_FUNCTIONS: dict[str, Build] = {
    "sign": strict(_sign, _NUMBER, "double"),
    "signum": strict(_sign, _NUMBER, "double"),
    "sqrt": strict(_root, _NUMBER, "double"),
    "power": strict(_power, ("double", "double"), "double"),
    "pow": strict(_power, ("double", "double"), "double"),
    "exp": strict(math.exp, _NUMBER, "double"),
    "ln": strict(_logarithm(None), _NUMBER, "double"),
    "log2": strict(_logarithm(2), _NUMBER, "double"),
    "log10": strict(_logarithm(10), _NUMBER, "double"),
    "log": strict(_log, ("double", "double"), "double", optional=1),
    "bround": _half_even,
    "isnan": _is_nan,
    "nanvl": _without_nan,
    "negative": _negative,
    "positive": _positive,
    "try_divide": _try_divide,
    "nvl2": _if_there,
    "nullifzero": _null_if_zero,
    "zeroifnull": _zero_if_null,
}
"""By Spark's names."""
