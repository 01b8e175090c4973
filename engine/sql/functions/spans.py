"""Days and instants that are moved by days, months or spans of time.

Source: AnsiTypeCoercion.DateTimeOperations, intervalExpressions.scala. An interval is only known as
a literal that moves a day or an instant; it is no value of its own here.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import TypeVar

from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.sql.expressions.terms import Term, combine, constant_bound, convert, literal
from whitecap.engine.values.coercion import mismatch
from whitecap.engine.values.types import TEMPORAL, Session, has_values, zone

OF_DAYS, OF_TIME = "interval of days", "interval of time"
"""The types of interval literals, whose values are a number of months and a span."""

_OF_TIME = ("hour", "minute", "second", "millisecond", "microsecond")
_DAY_COUNTS = ("tinyint", "smallint", "int")
_MONTHS = {"year": 12, "quarter": 3, "month": 1}
_SPANS = {
    "week": timedelta(weeks=1),
    "day": timedelta(days=1),
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
    "millisecond": timedelta(milliseconds=1),
    "microsecond": timedelta(microseconds=1),
}


def interval(count: int, unit: str) -> Term:
    """An INTERVAL literal. Raises `UnsupportedFeature` for a unit or size that is not modelled."""
    try:
        months, span = span_of(count, unit)
    except OverflowError:
        raise UnsupportedFeature(f"an interval of {count} {unit}") from None
    kind = OF_TIME if unit.lower().removesuffix("s") in _OF_TIME else OF_DAYS
    return Term(kind, lambda _parameters: constant_bound((months, span)), foldable=True)


def is_unit(word: str) -> bool:
    """Whether a word is a unit of time."""
    return word.lower().removesuffix("s") in {*_MONTHS, *_SPANS}


def span_of(count: int, unit: str) -> tuple[int, timedelta]:
    """So many of a unit, as months and a span. Raises `UnsupportedFeature` for an unknown unit."""
    word = unit.lower().removesuffix("s")
    if word in _MONTHS:
        return count * _MONTHS[word], timedelta()
    if word not in _SPANS:
        raise UnsupportedFeature(f"the unit {unit}")
    return 0, count * _SPANS[word]


def moved(symbol: str, terms: Sequence[Term], session: Session) -> Sequence[Term] | None:
    """The operands of `+` or `-` that move a day or an instant, the moment first.

    `None` for other operands. Raises `InvalidInput` as Spark refuses them.
    """
    left, right = terms
    types = {left.type, right.type}
    if not types & {*TEMPORAL, OF_DAYS, OF_TIME}:
        return None
    if symbol == "+" and left.type not in TEMPORAL:
        left, right = right, left
    if left.type in TEMPORAL and right.type in (OF_DAYS, OF_TIME):
        return _by_interval(left, right, session)
    if left.type == "date" and right.type in _DAY_COUNTS:
        return left, convert(right, "int")
    if not all(map(has_values, types)):
        raise UnsupportedFeature(f"{left.type} {symbol} {right.type}: intervals as values")
    if symbol == "-":
        raise _difference(left, right)
    if right.type == "void":
        kind = "timestamp" if left.type == "date" else left.type
        return literal(None, kind), literal(None, OF_DAYS)
    if "date" in types:
        raise mismatch("UNEXPECTED_INPUT_TYPE", f"{left.type} + {right.type}")
    return None


def _by_interval(moment: Term, amount: Term, session: Session) -> Sequence[Term]:
    """A day that is moved by less than days becomes an instant."""
    if moment.type == "date" and amount.type == OF_TIME:
        return convert(moment, "timestamp", session), amount
    return moment, amount


def _difference(left: Term, right: Term) -> Exception:
    """Between two moments there is an interval; nothing else is taken from a moment."""
    sides = {left.type, right.type}
    if sides <= {*TEMPORAL, "string", "void"}:
        return UnsupportedFeature(f"{left.type} - {right.type}: intervals as values")
    return mismatch("UNEXPECTED_INPUT_TYPE", f"{left.type} - {right.type}")


def shifted(moment: Term, amount: Term, sign: int, session: Session) -> Term:
    """The moment moved by days or by an interval; an instant by the session's clock."""
    if moment.type != "timestamp":
        return combine(lambda at, span: _shift(at, span, sign), moment, amount, moment.type)
    where = zone(session.time_zone)

    def run(at: datetime, span: tuple[int, timedelta]) -> datetime:
        months, rest = span
        return moved_by_clock(at, sign * months, sign * rest, where)

    return combine(run, moment, amount, moment.type)


def moved_by_clock(at: datetime, months: int, span: timedelta, where: tzinfo) -> datetime:
    """An instant moved by months and whole days on the clock of a zone, and then by the rest.

    Source: SparkDateTimeUtils.timestampAddMonths, timestampAddDayTime.
    """
    days = timedelta(days=int(span / timedelta(days=1)))
    if months or days:
        at = _as_before(add_months(at.astimezone(where), months) + days, at.astimezone(where))
    return at.astimezone(UTC) + (span - days)


def _as_before(moved: datetime, before: datetime) -> datetime:
    """Of an hour that comes twice the one with the offset before. Source: ZonedDateTime.ofLocal."""
    second = moved.replace(fold=1)
    first_offset, offset = moved.utcoffset(), second.utcoffset()
    comes_twice = first_offset is not None and offset is not None and offset < first_offset
    return second if comes_twice and offset == before.utcoffset() else moved


def _shift(moment: date, amount: int | tuple[int, timedelta], sign: int) -> date:
    if isinstance(amount, tuple):
        months, span = amount
        return add_months(moment, sign * months) + sign * span
    return moment + timedelta(days=sign * amount)


D = TypeVar("D", bound=date)


def add_months(moment: D, months: int) -> D:
    """The same day of another month, or that month's last day."""
    index = moment.year * 12 + moment.month - 1 + months
    year, month = divmod(index, 12)
    last = (date(year + (month == 11), (month + 1) % 12 + 1, 1) - timedelta(days=1)).day
    return moment.replace(year=year, month=month + 1, day=min(moment.day, last))
