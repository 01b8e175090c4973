"""Spark SQL functions as terms, by name.

Source: Spark's stringExpressions.scala, datetimeExpressions.scala, mathExpressions.scala.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import reduce
from typing import Any

from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.sql.coercion import common_type
from whitecap.engine.sql.function_shapes import Build
from whitecap.engine.sql.number_functions import NUMBER_FUNCTIONS
from whitecap.engine.sql.operators import add_months, local, remainder
from whitecap.engine.sql.scope import nearest
from whitecap.engine.sql.spark_functions import SPARK_FUNCTIONS
from whitecap.engine.sql.terms import (
    Term,
    apply,
    combine,
    convert,
    each,
    is_null,
    literal,
    negation,
)
from whitecap.engine.sql.text_functions import TEXT_FUNCTIONS
from whitecap.engine.sql.time_functions import TIME_FUNCTIONS
from whitecap.engine.sql.types import Session, zone

RAND_VALUE = 0.5
"""What rand() gives. The engine has no randomness; any value in [0, 1) is a legal answer."""

NON_DETERMINISTIC = frozenset(
    {
        "rand",
        "random",
        "randn",
        "uuid",
        "monotonically_increasing_id",
        "shuffle",
        "spark_partition_id",
        "input_file_name",
    }
)
"""Functions that are `Nondeterministic` in Spark."""


def _unary(function: Callable[[Any], Any], takes: str | None, gives: str | None) -> Build:
    def build(terms: Sequence[Term], session: Session) -> Term:
        (term,) = terms
        term = convert(term, takes, session) if takes else term
        return apply(function, term, gives or term.type)

    return build


def _texts(function: Callable[[Any, Any], Any], gives: str) -> Build:
    def build(terms: Sequence[Term], session: Session) -> Term:
        left, right = (convert(term, "string", session) for term in terms)
        return combine(function, left, right, gives)

    return build


def _calendar(function: Callable[[Any], Any], takes: str = "date") -> Build:
    def build(terms: Sequence[Term], session: Session) -> Term:
        (term,) = terms
        where = zone(session.time_zone)
        moment = term if term.type == takes else convert(term, takes, session)
        return apply(lambda value: function(local(value, where)), moment, "int")

    return build


def _days(sign: int) -> Build:
    def build(terms: Sequence[Term], session: Session) -> Term:
        day, count = terms
        day, count = convert(day, "date", session), convert(count, "int", session)
        return combine(lambda d, n: d + timedelta(days=sign * n), day, count, "date")

    return build


def _date_difference(terms: Sequence[Term], session: Session) -> Term:
    end, start = (convert(term, "date", session) for term in terms)
    return combine(lambda one, two: (one - two).days, end, start, "int")


def _months(terms: Sequence[Term], session: Session) -> Term:
    day, count = terms
    return combine(
        add_months, convert(day, "date", session), convert(count, "int", session), "date"
    )


_UNITS = {"yyyy": "year", "yy": "year", "mon": "month", "mm": "month", "dd": "day"}


def _floor_to(moment: Any, unit: str) -> Any:
    unit = _UNITS.get(unit.lower(), unit.lower())
    if unit == "week":
        return _floor_to(moment, "day") - timedelta(days=moment.weekday())
    if unit == "quarter":
        return _floor_to(moment, "month").replace(month=(moment.month - 1) // 3 * 3 + 1)
    fields = ["year", "month", "day", "hour", "minute", "second", "microsecond"]
    firsts = {"month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0, "microsecond": 0}
    has_time = isinstance(moment, datetime)
    cut = [f for f in fields[fields.index(unit) + 1 :] if has_time or f in ("month", "day")]
    return moment.replace(**{f: firsts[f] for f in cut})


def _truncate_instant(terms: Sequence[Term], session: Session) -> Term:
    unit, moment = terms
    where = zone(session.time_zone)
    instant = convert(moment, "timestamp", session)

    def floor(name: str, value: datetime) -> datetime:
        return _floor_to(value.astimezone(where), name).astimezone(value.tzinfo)  # type: ignore[no-any-return]

    return combine(floor, unit, instant, "timestamp")


def _truncate_date(terms: Sequence[Term], session: Session) -> Term:
    day, unit = terms
    return combine(_floor_to, convert(day, "date", session), unit, "date")


def _coalesce(terms: Sequence[Term], session: Session) -> Term:
    common = reduce(common_type, (term.type for term in terms))

    def first(*values: Any) -> Any:
        return next((value for value in values if value is not None), None)

    return each(first, [convert(term, common, session) for term in terms], common)


def _extreme(choose: Callable[..., Any]) -> Build:
    def build(terms: Sequence[Term], session: Session) -> Term:
        common = reduce(common_type, (term.type for term in terms))

        def extreme(*values: Any) -> Any:
            return choose((v for v in values if v is not None), default=None)

        return each(extreme, [convert(term, common, session) for term in terms], common)

    return build


def _null_if(terms: Sequence[Term], session: Session) -> Term:
    left, right = terms
    other = convert(right, common_type(left.type, right.type), session)
    return each(lambda one, two: None if one == two else one, [left, other], left.type)


def _concat(terms: Sequence[Term], session: Session) -> Term:
    def join(*values: Any) -> Any:
        return None if None in values else "".join(values)

    return each(join, [convert(term, "string", session) for term in terms], "string")


def _substring(terms: Sequence[Term], session: Session) -> Term:
    text = convert(terms[0], "string", session)

    def cut(value: Any, start: Any, length: Any = None) -> Any:
        if value is None or start is None:
            return None
        begin = start - 1 if start > 0 else max(len(value) + start, 0) if start else 0
        return value[begin:] if length is None else value[begin : begin + max(length, 0)]

    return each(cut, [text, *terms[1:]], "string")


def _rounded(terms: Sequence[Term], session: Session) -> Term:
    number = terms[0]
    places = terms[1] if len(terms) > 1 else literal(0, "int")

    def half_up(value: Any, digits: int) -> Any:
        rounded = Decimal(str(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
        return type(value)(rounded)

    return combine(half_up, number, convert(places, "int", session), number.type)


def _whole(function: Callable[[Any], int]) -> Build:
    def build(terms: Sequence[Term], _session: Session) -> Term:
        return apply(function, terms[0], "bigint")

    return build


def _positive_remainder(terms: Sequence[Term], _session: Session) -> Term:
    left, right = terms

    def pmod(one: Any, two: Any) -> Any:
        return remainder(remainder(one, two) + two, two)

    return combine(pmod, left, right, common_type(left.type, right.type))


def _day_of_week(day: date) -> int:
    return day.isoweekday() % 7 + 1


def _length(terms: Sequence[Term], session: Session) -> Term:
    return apply(len, convert(terms[0], "string", session), "int")


def _absolute(terms: Sequence[Term], session: Session) -> Term:
    number = terms[0] if terms[0].type != "string" else convert(terms[0], "double", session)
    return apply(abs, number, number.type)


FUNCTIONS: dict[str, Build] = {
    **NUMBER_FUNCTIONS,
    **TEXT_FUNCTIONS,
    **TIME_FUNCTIONS,
    "rand": lambda _terms, _session: literal(RAND_VALUE, "double"),
    "year": _calendar(lambda day: day.year),
    "quarter": _calendar(lambda day: (day.month - 1) // 3 + 1),
    "month": _calendar(lambda day: day.month),
    "day": _calendar(lambda day: day.day),
    "day_of_week": _calendar(_day_of_week),
    "day_of_year": _calendar(lambda day: day.timetuple().tm_yday),
    "week_of_year": _calendar(lambda day: day.isocalendar().week),
    "hour": _calendar(lambda at: at.hour, "timestamp"),
    "minute": _calendar(lambda at: at.minute, "timestamp"),
    "second": _calendar(lambda at: at.second, "timestamp"),
    "date_add": _days(1),
    "date_sub": _days(-1),
    "date_diff": _date_difference,
    "add_months": _months,
    "date_trunc": _truncate_instant,
    "trunc": _truncate_date,
    "upper": _unary(str.upper, "string", "string"),
    "lower": _unary(str.lower, "string", "string"),
    "trim": _unary(lambda text: text.strip(" "), "string", "string"),
    "length": _length,
    "substring": _substring,
    "concat": _concat,
    "starts_with": _texts(str.startswith, "boolean"),
    "ends_with": _texts(str.endswith, "boolean"),
    "contains": _texts(lambda one, two: two in one, "boolean"),
    "coalesce": _coalesce,
    "nullif": _null_if,
    "isnull": lambda terms, _session: is_null(terms[0]),
    "isnotnull": lambda terms, _session: negation(is_null(terms[0])),
    "greatest": _extreme(max),
    "least": _extreme(min),
    "abs": _absolute,
    "ceil": _whole(math.ceil),
    "floor": _whole(math.floor),
    "round": _rounded,
    "pmod": _positive_remainder,
    "typeof": lambda terms, _session: literal(terms[0].type, "string"),
}
"""By the name that sqlglot gives a function, or the user's where it knows none."""


_NO_ROUTINE = "AnalysisException", "UNRESOLVED_ROUTINE"
_WRONG_COUNT = "AnalysisException", "WRONG_NUM_ARGS.WITHOUT_SUGGESTION"


def call(name: str, terms: Sequence[Term], session: Session) -> Term:
    """A function of terms. Raises `InvalidInput` for an unknown name or wrong arguments.

    Raises `UnsupportedFeature` for one of Spark's that is not modelled, with the nearest that is.
    """
    build = FUNCTIONS.get(name)
    if build is None and name not in SPARK_FUNCTIONS:
        like = nearest(name, FUNCTIONS)
        raise InvalidInput([Problem(f"{name}()", "no such function", like, _NO_ROUTINE)])
    if build is None:
        like = nearest(name, FUNCTIONS)
        hint = f" (the nearest that is: {like})" if like else ""
        raise UnsupportedFeature(f"the function {name}() is not modelled{hint}")
    try:
        return build(terms, session)
    except (ValueError, IndexError):
        text = f"cannot take {len(terms)} arguments"
        raise InvalidInput([Problem(f"{name}()", text, refused_as=_WRONG_COUNT)]) from None
