"""Comparison, arithmetic and text operators as terms.

Source: Spark's predicates.scala, arithmetic.scala, regexpExpressions.scala (ANSI mode).
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta, tzinfo
from decimal import ROUND_DOWN, Decimal, localcontext
from functools import lru_cache
from typing import Any

from whitecap.engine.errors import DeltaError
from whitecap.engine.sql.coercion import arithmetic_type, common_type
from whitecap.engine.sql.terms import Term, combine, convert, each, membership
from whitecap.engine.sql.types import (
    FRACTIONAL,
    PARAMETER,
    WIDE,
    Session,
    fit_integer,
    is_decimal,
    is_integral,
    to_scale,
)

Compare = Callable[[Any, Any], Any]


def _nan_last(compare: Compare) -> Compare:
    """Spark's order of fractions: NaN equals itself and is greater than all."""
    return lambda one, two: compare((one != one, 0 if one != one else one), _nan_key(two))


def _nan_key(value: float) -> tuple[bool, float]:
    return (value != value, 0 if value != value else value)


def aligned(left: Term, right: Term, session: Session) -> tuple[Term, Term]:
    """Both terms in their common type."""
    common = common_type(left.type, right.type)
    if common in (PARAMETER, "void"):
        return left, right
    return convert(left, common, session), convert(right, common, session)


def compare(function: Compare, left: Term, right: Term, session: Session) -> Term:
    """A comparison: NULL if either side is."""
    left, right = aligned(left, right, session)
    if left.type in FRACTIONAL:
        function = _nan_last(function)
    return combine(function, left, right, "boolean")


def null_safe_equal(left: Term, right: Term, session: Session) -> Term:
    """`<=>`: never NULL; NULL equals NULL."""
    left, right = aligned(left, right, session)
    return each(operator.eq, [left, right], "boolean")


def is_in(term: Term, members: Sequence[Term], session: Session) -> Term:
    """IN, in the common type of all members."""
    common = term.type
    for member in members:
        common = common_type(common, member.type)
    return membership(
        convert(term, common, session), [convert_member(m, common, session) for m in members]
    )


def convert_member(member: Term, to_type: str, session: Session) -> Term:
    """A member in the list's type; a parameter stays itself, as it may hold several values."""
    return member if member.type == PARAMETER else convert(member, to_type, session)


def _divide_by_zero() -> DeltaError:
    text = "[DIVIDE_BY_ZERO] Division by zero."
    return DeltaError("SparkArithmeticException", "DIVIDE_BY_ZERO", text)


def divide(one: Any, two: Any) -> Any:
    """`/`. Raises `DeltaError` on zero."""
    if two == 0:
        raise _divide_by_zero()
    return one / two


def whole_divide(one: Any, two: Any) -> int:
    """`DIV`: the quotient cut towards zero. Raises `DeltaError` on zero."""
    if two == 0:
        raise _divide_by_zero()
    quotient = abs(one) // abs(two)
    return int(quotient if (one < 0) == (two < 0) else -quotient)


def remainder(one: Any, two: Any) -> Any:
    """`%`: the remainder with the dividend's sign. Raises `DeltaError` on zero."""
    if two == 0:
        raise _divide_by_zero()
    if isinstance(one, int):
        rest = abs(one) % abs(two)
        return rest if one >= 0 else -rest
    if isinstance(one, Decimal):
        return one - two * (one / two).to_integral_value(ROUND_DOWN)
    return math.fmod(one, two)


_ARITHMETIC: dict[str, Compare] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": divide,
    "%": remainder,
}


def arithmetic(symbol: str, left: Term, right: Term, session: Session) -> Term:
    """Numbers with `+ - * / %`, dates with `+ -`. Overflow is an error, as in ANSI mode."""
    if left.type in ("date", "timestamp", "timestamp_ntz") or right.type == "date":
        return _calendar(symbol, left, right)
    result = arithmetic_type(symbol, left.type, right.type)
    operand = common_type(left.type, right.type)
    if symbol == "/" and not is_decimal(operand):
        operand = "double"
    if operand != PARAMETER:
        left, right = convert(left, operand, session), convert(right, operand, session)
    return combine(_checked(_ARITHMETIC[symbol], result), left, right, result)


def _checked(function: Compare, result: str) -> Compare:
    if is_integral(result):
        return lambda one, two: fit_integer(function(one, two), result)
    if is_decimal(result):

        def rounded(one: Any, two: Any) -> Decimal:
            with localcontext(WIDE):
                return to_scale(Decimal(function(one, two)), result)

        return rounded
    return function


def _calendar(symbol: str, left: Term, right: Term) -> Term:
    if right.type == "date" and left.type != "date":
        left, right = right, left
    sign = 1 if symbol == "+" else -1
    if left.type == "date" and right.type == "date":
        return combine(lambda one, two: (one - two).days, left, right, "int")
    return combine(lambda one, two: shift(one, two, sign), left, right, left.type)


def shift(moment: date, amount: Any, sign: int = 1) -> date:
    """A date or instant moved by days, or by an interval of months and a span."""
    if isinstance(amount, tuple):
        months, span = amount
        return add_months(moment, sign * months) + sign * span  # type: ignore[no-any-return]
    return moment + timedelta(days=sign * int(amount))


def add_months(moment: date, months: int) -> date:
    """The same day of another month, or that month's last day."""
    index = moment.year * 12 + moment.month - 1 + months
    year, month = divmod(index, 12)
    last = (date(year + (month == 11), (month + 1) % 12 + 1, 1) - timedelta(days=1)).day
    return moment.replace(year=year, month=month + 1, day=min(moment.day, last))


@lru_cache(maxsize=1024)
def like_pattern(pattern: str, escape: str, ignore_case: bool) -> re.Pattern[str]:
    """The regular expression of a LIKE pattern."""
    parts: list[str] = []
    letters = iter(pattern)
    for letter in letters:
        if letter == escape:
            parts.append(re.escape(next(letters, "")))
        else:
            parts.append({"%": ".*", "_": "."}.get(letter) or re.escape(letter))
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
    return re.compile("".join(parts) + r"\Z", flags)


def like(left: Term, right: Term, escape: str = "\\", ignore_case: bool = False) -> Term:
    """LIKE and ILIKE."""

    def matches(text: str, pattern: str) -> bool:
        return like_pattern(pattern, escape, ignore_case).match(text) is not None

    return combine(matches, convert(left, "string"), convert(right, "string"), "boolean")


def regexp_like(left: Term, right: Term) -> Term:
    """RLIKE: the pattern occurs somewhere."""

    def matches(text: str, pattern: str) -> bool:
        return re.search(pattern, text) is not None

    return combine(matches, convert(left, "string"), convert(right, "string"), "boolean")


def to_datetime_span(value: int, unit: str) -> tuple[int, timedelta]:
    """An INTERVAL literal as months and a span."""
    unit = unit.lower().rstrip("s")
    if unit in ("year", "quarter", "month"):
        return value * {"year": 12, "quarter": 3, "month": 1}[unit], timedelta()
    seconds = {"week": 604800, "day": 86400, "hour": 3600, "minute": 60, "second": 1}[unit]
    return 0, timedelta(seconds=value * seconds)


def local(moment: date, time_zone: tzinfo) -> date:
    """An instant as the session's wall clock shows it; dates as they are."""
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        return moment.astimezone(time_zone)
    return moment
