"""Functions of days and instants. Source: Spark's datetimeExpressions.scala.

The engine has no clock: what `current_date()` and its relatives give comes with a statement's
parameters, under `NOW`, from the clock of the store that it runs on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

from whitecap.engine.errors import DeltaError, UnsupportedFeature
from whitecap.engine.sql.expressions.terms import Bound, Parameters, Term, apply, constant_bound
from whitecap.engine.sql.functions.guard import (
    BOOLEAN,
    DATE,
    INT,
    TEXT,
    TIMESTAMP,
    Function,
    Gives,
    Kind,
    Takes,
    arguments,
    in_zone,
    strict,
    value_of,
)
from whitecap.engine.sql.functions.spans import add_months
from whitecap.engine.values.types import Session, zone

NOW = "current timestamp"
"""The parameter that holds the time of a statement; no user's parameter has such a name."""

_ASKS_TIME = re.compile(r"\b(?:current_date|current_timestamp|now|unix_timestamp)\b", re.I)

_DAYS = Kind(("int", "smallint", "tinyint"), numbers=False)


@lru_cache(maxsize=4096)
def asks_time(sql: str) -> bool:
    """Whether a statement may ask for the time; looked for once, though each run wants to know."""
    return _ASKS_TIME.search(sql) is not None


def _current(type_name: str, seen: Callable[[datetime, Session], Any]) -> Function:
    def build(_terms: Sequence[Term], session: Session) -> Term:
        def bind(parameters: Parameters) -> Bound:
            now = parameters.get(NOW)
            if now is None:
                raise UnsupportedFeature("the current time outside a statement's text")
            return constant_bound(seen(now, session))

        return Term(type_name, bind, foldable=True)

    return Function(arguments(), build)


def _local(at: datetime, session: Session) -> datetime:
    return at.astimezone(zone(session.time_zone))


_NOW = _current("timestamp", lambda at, _session: at)
_TODAY = _current("date", lambda at, session: _local(at, session).date())

# Fields -------------------------------------------------------------------------------------------


def _field(function: Callable[[date], int]) -> Function:
    """A field of a day."""
    return strict(function, arguments(DATE), "int")


def _clock(function: Callable[[datetime], Any], gives: Gives = "int") -> Function:
    """A field of an instant, as the session's clock shows it."""
    return in_zone(lambda name, at: function(at.astimezone(zone(name))), _one_moment, gives)


def _one_moment(name: str, terms: Sequence[Term], session: Session) -> Sequence[Term]:
    if len(terms) > 1:  # Spark looks at the first and takes any others
        raise UnsupportedFeature(f"{name}() of several arguments")
    return arguments(TIMESTAMP)(name, terms, session)


def _seconds(at: datetime) -> Decimal:
    return Decimal(at.second * 1_000_000 + at.microsecond).scaleb(-6)


_DAY_OF_WEEK = _field(lambda day: day.isoweekday() % 7 + 1)
FIELDS: dict[str, Function] = {
    "year": _field(lambda day: day.year),
    "yearofweek": _field(lambda day: day.isocalendar().year),
    "quarter": _field(lambda day: (day.month - 1) // 3 + 1),
    "month": _field(lambda day: day.month),
    "week": _field(lambda day: day.isocalendar().week),
    "day": _field(lambda day: day.day),
    "dayofweek": _DAY_OF_WEEK,
    "dayofweek_iso": _field(lambda day: day.isoweekday()),
    "doy": _field(lambda day: day.timetuple().tm_yday),
    "hour": _clock(lambda at: at.hour),
    "minute": _clock(lambda at: at.minute),
    "second": _clock(_seconds, "decimal(8,6)"),
}
"""What EXTRACT may ask for."""
FIELD_NAMES = {
    alias: field
    for field, aliases in {
        "year": "year y years yr yrs",
        "yearofweek": "yearofweek",
        "quarter": "quarter qtr",
        "month": "month mon mons months",
        "week": "week w weeks",
        "day": "day d days",
        "dayofweek": "dayofweek dow",
        "dayofweek_iso": "dayofweek_iso dow_iso",
        "doy": "doy",
        "hour": "hour h hours hr hrs",
        "minute": "minute m min mins minutes",
        "second": "second s sec seconds secs",
    }.items()
    for alias in aliases.split()
}
"""By what users call a field. Source: DatePart.parseExtractField."""

# Moving and cutting -------------------------------------------------------------------------------


def _moved(sign: int) -> Function:
    return strict(
        lambda day, count: day + timedelta(days=sign * count), arguments(DATE, _DAYS), "date"
    )


_CUTS = {
    "year": ("year", "yyyy", "yy"),
    "quarter": ("quarter",),
    "month": ("month", "mon", "mm"),
    "week": ("week",),
    "day": ("day", "dd"),
    "hour": ("hour",),
    "minute": ("minute",),
    "second": ("second",),
    "millisecond": ("millisecond",),
    "microsecond": ("microsecond",),
}
_CUT_NAMES = {alias: unit for unit, aliases in _CUTS.items() for alias in aliases}
_OF_DAYS = ("year", "quarter", "month", "week")


def _first_day(day: date, unit: str) -> date:
    match unit:
        case "year":
            return day.replace(month=1, day=1)
        case "quarter":
            return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case "month":
            return day.replace(day=1)
        case "week":
            return day - timedelta(days=day.weekday())
    return day


def _cut(cut: Callable[[str, str, Any], Any], units: Container[str], takes: Takes) -> Function:
    """trunc and date_trunc: NULL for a unit that they do not know, whatever is to be cut.

    `cut` is told the session's time zone, the unit and what is cut. Source: TruncInstant.
    """

    def unit_of(name: str) -> str | None:
        unit = _CUT_NAMES.get(name.lower())
        return unit if unit in units else None

    def build(terms: Sequence[Term], session: Session) -> Term:
        name, moment = sorted(terms, key=lambda term: term.type != "string")
        unit, zone_name = apply(unit_of, name, "string"), session.time_zone
        return value_of(lambda u, at: cut(zone_name, u, at), [unit, moment], moment.type)

    return Function(takes, build)


def _cut_day(_zone_name: str, unit: str, day: date) -> date:
    return _first_day(day, unit)


def _cut_instant(zone_name: str, unit: str, at: datetime) -> datetime:
    local = at.astimezone(zone(zone_name))
    clock = local.timetz()
    fields = ["hour", "minute", "second", "microsecond"]
    if unit == "millisecond":
        clock = clock.replace(microsecond=clock.microsecond // 1000 * 1000)
    else:
        cut = fields[fields.index(unit) + 1 :] if unit in fields else fields
        clock = clock.replace(**dict.fromkeys(cut, 0))  # type: ignore[arg-type]
    return datetime.combine(_first_day(local.date(), unit), clock).astimezone(UTC)


def _last_day(day: date) -> date:
    return add_months(day.replace(day=1), 1) - timedelta(days=1)


_DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def _next_day(day: date, name: str) -> date:
    word = name.strip().lower()
    weekdays = [at for at, full in enumerate(_DAY_NAMES) if word in (full[:2], full[:3], full)]
    if not weekdays:
        message = f"Illegal input for day of week: {name}."
        raise DeltaError.of_class("SparkIllegalArgumentException", "ILLEGAL_DAY_OF_WEEK", message)
    return day + timedelta(days=(weekdays[0] - day.weekday() - 1) % 7 + 1)


def _months_between(
    zone_name: str, first: datetime, second: datetime, rounds: bool = True
) -> float:
    """Whole months between same days or last days; else days count as parts of 31."""
    where = zone(zone_name)
    a, b = first.astimezone(where), second.astimezone(where)
    months = (a.year - b.year) * 12 + a.month - b.month
    ends = _last_day(a.date()) == a.date() and _last_day(b.date()) == b.date()
    if a.day == b.day or ends:
        return float(months)
    seconds = (a.day - b.day) * 86400.0 + _seconds_of_day(a) - _seconds_of_day(b)
    exact = months + seconds / (31 * 86400)
    return round(exact, 8) if rounds else exact


def _seconds_of_day(at: datetime) -> float:
    return at.hour * 3600.0 + at.minute * 60 + at.second + at.microsecond / 1e6


def _made_date(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError:
        if not 1 <= year <= 9999:
            raise
        name = "DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION"
        raise DeltaError.of_class("SparkDateTimeException", name, f"{year}-{month}-{day}") from None


TIMES: dict[str, Function] = {
    "current_date": _TODAY,
    "current_timestamp": _NOW,
    "now": _NOW,
    **{name: FIELDS[name] for name in ("year", "quarter", "month", "day", "hour", "minute")},
    "dayofweek": _DAY_OF_WEEK,
    "dayofyear": FIELDS["doy"],
    "weekofyear": FIELDS["week"],
    "second": _clock(lambda at: at.second),
    "weekday": _field(lambda day: day.weekday()),
    "date_add": _moved(1),
    "date_sub": _moved(-1),
    "datediff": strict(lambda end, start: (end - start).days, arguments(DATE, DATE), "int"),
    "add_months": strict(add_months, arguments(DATE, INT), "date"),
    "trunc": _cut(_cut_day, _OF_DAYS, arguments(DATE, TEXT)),
    "date_trunc": _cut(_cut_instant, _CUTS, arguments(TEXT, TIMESTAMP)),
    "last_day": strict(_last_day, arguments(DATE), "date"),
    "next_day": strict(_next_day, arguments(DATE, TEXT), "date"),
    "months_between": in_zone(
        _months_between, arguments(TIMESTAMP, TIMESTAMP, BOOLEAN, optional=1), "double"
    ),
    "make_date": strict(_made_date, arguments(INT, INT, INT), "date"),
}
"""By Spark's names."""
