"""Instants as numbers and as texts, and moved by units. Source: datetimeExpressions.scala."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.sql.expressions.terms import Term, apply, convert, literal
from whitecap.engine.sql.functions.guard import (
    BIGINT,
    TEXT,
    TIMESTAMP,
    Function,
    Kind,
    Takes,
    arguments,
    check_count,
    in_zone,
    strict,
    value_of,
)
from whitecap.engine.sql.functions.patterns import checked_pattern, read, written
from whitecap.engine.sql.functions.spans import add_months, moved_by_clock, span_of
from whitecap.engine.sql.functions.times import TIMES
from whitecap.engine.values.types import EPOCH, Session, zone

_STANDARD = "yyyy-MM-dd HH:mm:ss"
_WHOLE, _INSTANT, _DAY = (
    Kind(("integral",), implicit=False),
    Kind(("timestamp",), implicit=False),
    Kind(("date",), implicit=False),
)
_MOMENT = Kind(("string", "date", "timestamp", "timestamp_ntz"))

# Counting since 1970 ------------------------------------------------------------------------------


def _unix_seconds(at: datetime) -> int:
    """Whole seconds, cut towards 1970; of a time without a zone as it stands.

    Source: datetimeExpressions.scala: ToTimestamp.
    """
    since = (at.replace(tzinfo=UTC) if at.tzinfo is None else at) - EPOCH
    whole: int = abs(since) // timedelta(seconds=1)
    return whole if since >= timedelta() else -whole


def _since_start(unit: timedelta) -> Function:
    return strict(lambda count: EPOCH + count * unit, arguments(_WHOLE), "timestamp")


_FARTHEST = 1e15
"""Seconds, long after the year 9999: what lies beyond is refused without being computed."""


def _from_seconds(seconds: Any) -> datetime | None:
    if isinstance(seconds, float) and not -_FARTHEST < seconds < _FARTHEST:
        return None if seconds != seconds or seconds in (float("inf"), -float("inf")) else _far()
    return EPOCH + timedelta(microseconds=int(Decimal(str(seconds)).scaleb(6)))


def _far() -> datetime:
    raise OverflowError("an instant far away")


# Patterns -----------------------------------------------------------------------------------------


def _formatted(zone_name: str, at: datetime, pattern: str) -> str:
    return written(at.astimezone(zone(zone_name)), pattern)


def _in_pattern(function: Callable[..., Any], takes: Takes) -> Function:
    """A moment as a text: what is wrong with a constant pattern is refused before any moment."""

    def build(terms: Sequence[Term], session: Session) -> Term:
        moment, *pattern = terms
        checked = [apply(checked_pattern, term, "string") for term in pattern]
        zone_name = session.time_zone
        return value_of(lambda *v: function(zone_name, *v), [moment, *checked], "string")

    return Function(takes, build)


def _read_instant(zone_name: str, text: str, pattern: str) -> datetime:
    return read(text, pattern).replace(tzinfo=zone(zone_name)).astimezone(UTC)


def _read_day(_zone_name: str, text: str, pattern: str) -> date:
    return read(text, pattern).date()


def _with_pattern(type_name: str, kind: Kind, function: Callable[..., Any]) -> Function:
    """to_date and to_timestamp: a cast, or a text read in a pattern."""

    def build(terms: Sequence[Term], session: Session) -> Term:
        moment, *pattern = terms
        if not pattern or moment.type not in ("string", "void"):
            if pattern and moment.type not in _MOMENT.types:
                raise UnsupportedFeature(f"{moment.type} read in a pattern")
            return convert(moment, type_name, session)
        zone_name = session.time_zone
        return value_of(lambda *values: function(zone_name, *values), terms, type_name)

    return Function(arguments(kind, TEXT, optional=1), build)


def _to_unix_takes(name: str, terms: Sequence[Term], session: Session) -> Sequence[Term]:
    check_count(name, len(terms), 0, 2)
    kinds = Kind(_MOMENT.types, implicit=False), Kind(("string",), implicit=False)
    return arguments(*kinds, optional=2)(name, terms, session)


def _to_unix(terms: Sequence[Term], session: Session) -> Term:
    """unix_timestamp: of now, of a moment, or of a text in a pattern."""
    if not terms:
        return value_of(_unix_seconds, [TIMES["now"].build(terms, session)], "bigint")
    moment, *pattern = terms
    if moment.type == "string":
        zone_name = session.time_zone
        standard = literal(_STANDARD, "string")
        moment = value_of(
            lambda text, how: _read_instant(zone_name, text, how),
            [moment, *(pattern or [standard])],
            "timestamp",
        )
    if moment.type != "timestamp_ntz":
        moment = convert(moment, "timestamp", session)
    return value_of(_unix_seconds, [moment], "bigint")


def _from_unix(zone_name: str, seconds: int, pattern: str = _STANDARD) -> str:
    return _formatted(zone_name, EPOCH + timedelta(seconds=seconds), pattern)


# With units ---------------------------------------------------------------------------------------


def added(unit: str) -> Function:
    """dateadd, timestampadd: an instant moved by so many of a unit."""

    def move(zone_name: str, count: int, at: datetime) -> datetime:
        months, span = span_of(count, unit)
        if at.tzinfo is None:
            return add_months(at, months) + span
        return moved_by_clock(at, months, span, zone(zone_name))

    kind = Kind(("timestamp", "timestamp_ntz"))
    return in_zone(move, arguments(BIGINT, kind), lambda _count, moment: moment)


def between(unit: str) -> Function:
    """datediff, timestampdiff: whole units from the first instant to the second, on the clock.

    Source: SparkDateTimeUtils.timestampDiff.
    """

    def count(zone_name: str, start: datetime, end: datetime) -> int:
        months, span = span_of(1, unit)
        where = zone(zone_name)
        begin, until = (at.astimezone(where).replace(tzinfo=None) for at in (start, end))
        if months:
            return int(_whole_months(until, begin) / months)
        return (until - begin) // span if until >= begin else -((begin - until) // span)

    return in_zone(count, arguments(TIMESTAMP, TIMESTAMP), "bigint")


def _whole_months(end: datetime, start: datetime) -> int:
    """How often the start can move by a month without passing the end."""
    if end < start:
        return -_whole_months(start, end)
    months = (end.year - start.year) * 12 + end.month - start.month
    day = (end.day, end.time()) < (start.day, start.time())
    return months - 1 if day else months


INSTANTS: dict[str, Function] = {
    "unix_date": strict(lambda day: (day - EPOCH.date()).days, arguments(_DAY), "int"),
    "date_format": _in_pattern(_formatted, arguments(TIMESTAMP, TEXT)),
    "to_date": _with_pattern("date", _MOMENT, _read_day),
    "to_timestamp": _with_pattern("timestamp", Kind((*_MOMENT.types, "numeric")), _read_instant),
    "unix_timestamp": Function(_to_unix_takes, _to_unix),
    "from_unixtime": _in_pattern(_from_unix, arguments(BIGINT, TEXT, optional=1)),
    "timestamp_seconds": strict(
        _from_seconds, arguments(Kind(("numeric",), implicit=False)), "timestamp"
    ),
    "timestamp_millis": _since_start(timedelta(milliseconds=1)),
    "timestamp_micros": _since_start(timedelta(microseconds=1)),
}
"""By Spark's names."""
