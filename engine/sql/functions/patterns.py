"""Dates and instants as texts in a pattern. Source: Spark's "Datetime Patterns for Formatting".

Letters that are not here are refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache

from whitecap.engine.errors import DeltaError, UnsupportedFeature

_TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")
_MONTHS = [
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def _year(at: datetime, width: int) -> str:
    return f"{at.year % 100:02d}" if width == 2 else f"{at.year:0{width}d}"


def _month(at: datetime, width: int) -> str:
    name = _MONTHS[at.month - 1]
    return f"{at.month:0{width}d}" if width < 3 else name[:3] if width == 3 else name


def _weekday(at: datetime, width: int) -> str:
    name = _DAYS[at.weekday()]
    return name[:3] if width < 4 else name


_WRITERS: dict[str, Callable[[datetime, int], str]] = {
    "y": _year,
    "u": _year,
    "M": _month,
    "L": _month,
    "d": lambda at, width: f"{at.day:0{width}d}",
    "D": lambda at, width: f"{at.timetuple().tm_yday:0{width}d}",
    "E": _weekday,
    "Q": lambda at, width: f"{(at.month + 2) // 3:0{width}d}",
    "q": lambda at, width: f"{(at.month + 2) // 3:0{width}d}",
    "H": lambda at, width: f"{at.hour:0{width}d}",
    "k": lambda at, width: f"{at.hour or 24:0{width}d}",
    "h": lambda at, width: f"{at.hour % 12 or 12:0{width}d}",
    "K": lambda at, width: f"{at.hour % 12:0{width}d}",
    "m": lambda at, width: f"{at.minute:0{width}d}",
    "s": lambda at, width: f"{at.second:0{width}d}",
    "S": lambda at, width: f"{at.microsecond:06d}".ljust(width, "0")[:width],
    "a": lambda at, _width: "AM" if at.hour < 12 else "PM",
}
_READ = {"y": "year", "u": "year", "M": "month", "d": "day", "H": "hour", "h": "hour12",
         "m": "minute", "s": "second", "S": "fraction", "a": "half"}  # fmt: skip


@lru_cache(maxsize=256)
def _parts(pattern: str) -> tuple[tuple[str, int], ...]:
    """Letters with how many there are; plain text with 0."""
    parts = []
    for match in _TOKEN.finditer(pattern):
        if match[2]:
            if match[2] not in _WRITERS:
                raise UnsupportedFeature(f"the letter {match[2]} in the pattern {pattern!r}")
            parts.append((match[2], len(match[0])))
        else:
            text = match[0] if match[1] is None else match[1].replace("''", "'") or "'"
            parts.append((text, 0))
    return tuple(parts)


def checked_pattern(pattern: str) -> str:
    """The pattern. Raises `UnsupportedFeature` for letters that are not modelled."""
    _parts(pattern)
    return pattern


def written(at: datetime, pattern: str) -> str:
    """An instant, as the session's clock shows it, in a pattern."""
    return "".join(_WRITERS[part](at, width) if width else part for part, width in _parts(pattern))


@lru_cache(maxsize=256)
def _reader(pattern: str) -> re.Pattern[str]:
    texts = []
    for part, width in _parts(pattern):
        if not width:
            texts.append(re.escape(part))
            continue
        name = _READ.get(part)
        if name is None or (part == "M" and width > 3):
            raise UnsupportedFeature(f"reading the letter {part} of the pattern {pattern!r}")
        if part == "M" and width == 3:
            texts.append("(?P<name>[A-Za-z]{3})")
        elif part == "a":
            texts.append("(?P<half>AM|PM|am|pm)")
        else:
            count = rf"{{1,{max(width, 2)}}}" if width == 1 else rf"{{{width}}}"
            texts.append(rf"(?P<{name}>\d{count})")
    return re.compile("".join(texts) + r"\Z")


def _unreadable(text: str) -> DeltaError:
    message = f"[CANNOT_PARSE_TIMESTAMP] Text {text!r} could not be parsed."
    return DeltaError("SparkDateTimeException", "CANNOT_PARSE_TIMESTAMP", message)


def read(text: str, pattern: str) -> datetime:
    """The instant that a text in a pattern says. Raises `DeltaError` for one that does not fit."""
    match = _reader(pattern).match(text)
    if match is None:
        raise _unreadable(text)
    found = {name: value for name, value in match.groupdict().items() if value is not None}
    month = int(found.get("month", 1))
    if "name" in found:
        month = [name[:3].lower() for name in _MONTHS].index(found["name"].lower()) + 1
    year = int(found.get("year", 1970))
    hour = int(found.get("hour", 0))
    if "hour12" in found:
        hour = int(found["hour12"]) % 12 + 12 * (found.get("half", "am").lower() == "pm")
    try:
        return datetime(
            year + 2000 if len(found.get("year", "1970")) == 2 else year,
            month,
            int(found.get("day", 1)),
            hour,
            int(found.get("minute", 0)),
            int(found.get("second", 0)),
            int(found.get("fraction", "0").ljust(6, "0")[:6]),
        )
    except ValueError:
        raise _unreadable(text) from None
