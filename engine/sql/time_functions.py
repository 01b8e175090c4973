"""Functions of dates and instants. Source: Spark's datetimeExpressions.scala.

The engine has no clock: what `current_date()` and its relatives give comes with a statement's
parameters, under `NOW`, from the clock of the store that it runs on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any

from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.sql.function_shapes import Build, cast, in_zone, strict
from whitecap.engine.sql.operators import add_months, to_datetime_span
from whitecap.engine.sql.terms import Bound, Parameters, Term, constant_bound
from whitecap.engine.sql.time_patterns import read, written
from whitecap.engine.sql.types import Session, invalid_cast, zone

NOW = "current timestamp"
"""The parameter that holds the time of a statement; no user's parameter has such a name."""

_ASKS_TIME = re.compile(
    r"\b(?:current_date|curdate|current_timestamp|now|localtimestamp|unix_timestamp)\b", re.I
)
_EPOCH = date(1970, 1, 1)
START = datetime(1970, 1, 1, tzinfo=UTC)
"""The instant from which milliseconds are counted."""

_STANDARD = "yyyy-MM-dd HH:mm:ss"


@lru_cache(maxsize=4096)
def asks_time(sql: str) -> bool:
    """Whether a statement may ask for the time; looked for once, though each run wants to know."""
    return _ASKS_TIME.search(sql) is not None


def _current(type_name: str, seen: Callable[[datetime, Session], Any]) -> Build:
    def build(terms: Sequence[Term], session: Session) -> Term:
        if terms:
            raise ValueError(len(terms))

        def bind(parameters: Parameters) -> Bound:
            now = parameters.get(NOW)
            if now is None:
                raise UnsupportedFeature("the current time outside a statement's text")
            return constant_bound(seen(now, session))

        return Term(type_name, bind)

    return build


def _local(at: datetime, session: Session) -> datetime:
    return at.astimezone(zone(session.time_zone))


_NOW = _current("timestamp", lambda at, _session: at)
_TODAY = _current("date", lambda at, session: _local(at, session).date())


def _last_day(day: date) -> date:
    return add_months(day.replace(day=1), 1) - timedelta(days=1)


_DAY_NAMES = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


def _next_day(day: date, name: str) -> date:
    short = name.upper()[:2]
    if short not in _DAY_NAMES:
        raise invalid_cast(name, "date")
    ahead = (_DAY_NAMES.index(short) - day.weekday() - 1) % 7 + 1
    return day + timedelta(days=ahead)


def _months_between(time_zone: str, one: datetime, other: datetime) -> float:
    """Whole months between same days or last days; else days count as parts of 31."""
    where = zone(time_zone)
    a, b = one.astimezone(where), other.astimezone(where)
    months = (a.year - b.year) * 12 + a.month - b.month
    ends = _last_day(a.date()) == a.date() and _last_day(b.date()) == b.date()
    if a.day == b.day or ends:
        return float(months)
    seconds = (a.day - b.day) * 86400.0 + _seconds_of_day(a) - _seconds_of_day(b)
    return round(months + seconds / (31 * 86400), 8)


def _seconds_of_day(at: datetime) -> float:
    return at.hour * 3600.0 + at.minute * 60 + at.second + at.microsecond / 1e6


def _made_date(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError:
        raise invalid_cast(f"{year}-{month}-{day}", "date") from None


def _unix_seconds(at: datetime) -> int:
    return int((at - START) // timedelta(seconds=1))


def _formatted(time_zone: str, at: datetime, pattern: str) -> str:
    return written(at.astimezone(zone(time_zone)), pattern)


def _read_instant(time_zone: str, text: str, pattern: str) -> datetime:
    return read(text, pattern, "timestamp").replace(tzinfo=zone(time_zone)).astimezone(UTC)


def _with_pattern(type_name: str, function: Callable[..., Any]) -> Build:
    """to_date and to_timestamp: a cast, or a text read in a pattern."""

    def build(terms: Sequence[Term], session: Session) -> Term:
        if len(terms) == 1 or terms[0].type != "string":
            return cast(terms[0], type_name, session)
        return in_zone(function, ("string", "string"), type_name)(terms, session)

    return build


def _to_unix(terms: Sequence[Term], session: Session) -> Term:
    """unix_timestamp: of now, of a moment, or of a text in a pattern."""
    if not terms:
        return strict(_unix_seconds, ("timestamp",), "bigint")([_NOW(terms, session)], session)
    moment, *pattern = terms
    if moment.type == "string" and pattern:
        moment = in_zone(_read_instant, ("string", "string"), "timestamp")(terms, session)
    return strict(_unix_seconds, ("timestamp",), "bigint")([moment], session)


def _from_unix(time_zone: str, seconds: int, pattern: str = _STANDARD) -> str:
    return _formatted(time_zone, START + timedelta(seconds=seconds), pattern)


def _since_start(unit: timedelta) -> Build:
    return strict(lambda count: START + count * unit, ("bigint",), "timestamp")


def _until(unit: timedelta) -> Build:
    return strict(lambda at: int((at - START) // unit), ("timestamp",), "bigint")


def shifted(unit: str) -> Build:
    """timestampadd, dateadd with a unit: an instant moved by so many of it."""

    def move(time_zone: str, at: datetime, count: int) -> datetime:
        months, span = to_datetime_span(count, unit)
        moved = add_months(at.astimezone(zone(time_zone)), months) + span
        assert isinstance(moved, datetime)
        return moved.astimezone(UTC)

    return in_zone(move, ("timestamp", "int"), "timestamp")


def _whole_months(end: datetime, start: datetime) -> int:
    """How often the start can move by a month without passing the end."""
    if end < start:
        return -_whole_months(start, end)
    months = (end.year - start.year) * 12 + end.month - start.month
    day = (end.day, end.timetz()) < (start.day, start.timetz())
    return months - 1 if day else months


def difference(unit: str) -> Build:
    """timestampdiff: whole units from the second instant to the first."""

    def count(time_zone: str, end: datetime, start: datetime) -> int:
        months, span = to_datetime_span(1, unit)
        if months:
            where = zone(time_zone)
            between = _whole_months(end.astimezone(where), start.astimezone(where))
            return int(between / months)
        return int((end - start) / span)

    return in_zone(count, ("timestamp", "timestamp"), "bigint")


_ONE_SECOND, _ONE_MILLISECOND = timedelta(seconds=1), timedelta(milliseconds=1)
TIME_FUNCTIONS: Mapping[str, Build] = {
    "current_date": _TODAY,
    "curdate": _TODAY,
    "current_timestamp": _NOW,
    "now": _NOW,
    "localtimestamp": _current(
        "timestamp_ntz", lambda at, session: _local(at, session).replace(tzinfo=None)
    ),
    "weekday": strict(lambda day: day.weekday(), ("date",), "int"),
    "last_day": strict(_last_day, ("date",), "date"),
    "next_day": strict(_next_day, ("date", "string"), "date"),
    "months_between": in_zone(_months_between, ("timestamp", "timestamp"), "double"),
    "make_date": strict(_made_date, ("int", "int", "int"), "date"),
    "unix_date": strict(lambda day: (day - _EPOCH).days, ("date",), "int"),
    "date_from_unix_date": strict(lambda n: _EPOCH + timedelta(days=n), ("int",), "date"),
    "date_format": in_zone(_formatted, ("timestamp", "string"), "string"),
    "to_date": _with_pattern("date", lambda _zone, text, how: read(text, how, "date").date()),
    "to_timestamp": _with_pattern("timestamp", _read_instant),
    "unix_timestamp": _to_unix,
    "to_unix_timestamp": _to_unix,
    "from_unixtime": in_zone(_from_unix, ("bigint", "string"), "string", optional=1),
    "timestamp_seconds": _since_start(_ONE_SECOND),
    "timestamp_millis": _since_start(_ONE_MILLISECOND),
    "timestamp_micros": _since_start(timedelta(microseconds=1)),
    "unix_seconds": _until(_ONE_SECOND),
    "unix_millis": _until(_ONE_MILLISECOND),
    "unix_micros": _until(timedelta(microseconds=1)),
}
"""By Spark's names."""
