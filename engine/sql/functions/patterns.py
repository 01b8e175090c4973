"""Dates and instants as texts in a pattern. Source: Spark's "Datetime Patterns for Formatting".

Letters that are not here, and months and weekdays by name, are refused by name.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache

from whitecap.engine.errors import DeltaError, UnsupportedFeature

_TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")
_FIELDS = {"y": "year", "M": "month", "d": "day", "H": "hour", "m": "minute", "s": "second"}
_FRACTION = "S"
_MOST_LETTERS = {"M": 2, "d": 2, "H": 2, "m": 2, "s": 2}


@lru_cache(maxsize=256)
def _parts(pattern: str) -> tuple[tuple[str, int], ...]:
    """Letters with how many there are; plain text with 0."""
    parts = []
    for match in _TOKEN.finditer(pattern):
        letter, width = match[2], len(match[0])
        if letter:
            modelled = letter in _FIELDS or letter == _FRACTION
            if not modelled or width > _MOST_LETTERS.get(letter, width):
                raise UnsupportedFeature(f"{match[0]} in the pattern {pattern!r} is not modelled")
            parts.append((letter, width))
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
    return "".join(_written(at, *part) for part in _parts(pattern))


def _written(at: datetime, part: str, width: int) -> str:
    if not width:
        return part
    if part == _FRACTION:
        return f"{at.microsecond:06d}".ljust(width, "0")[:width]
    value: int = getattr(at, _FIELDS[part])
    return f"{value % 100:02d}" if part == "y" and width == 2 else f"{value:0{width}d}"


@lru_cache(maxsize=256)
def _reader(pattern: str) -> re.Pattern[str]:
    return re.compile("".join(_group(*part) for part in _parts(pattern)) + r"\Z")


def _group(part: str, width: int) -> str:
    if not width:
        return re.escape(part)
    count = r"{1,2}" if width == 1 else rf"{{{width}}}"
    return rf"(?P<{_FIELDS.get(part, 'fraction')}>\d{count})"


def _unreadable(text: str) -> DeltaError:
    message = f"Text {text!r} could not be parsed."
    return DeltaError.of_class("SparkDateTimeException", "CANNOT_PARSE_TIMESTAMP", message)


def read(text: str, pattern: str) -> datetime:
    """The instant that a text in a pattern says. Raises `DeltaError` for one that does not fit."""
    match = _reader(pattern).match(text)
    if match is None:
        raise _unreadable(text)
    parts = {name: value for name, value in match.groupdict().items() if value is not None}
    year = int(parts.get("year", 1970))
    try:
        return datetime(
            year + 2000 if len(parts.get("year", "1970")) == 2 else year,
            int(parts.get("month", 1)),
            int(parts.get("day", 1)),
            int(parts.get("hour", 0)),
            int(parts.get("minute", 0)),
            int(parts.get("second", 0)),
            int(parts.get("fraction", "0").ljust(6, "0")[:6]),
        )
    except ValueError:
        raise _unreadable(text) from None
