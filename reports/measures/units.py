"""Numbers keep their units where lines are broken: `12 to 15 %` never before its `%`."""

from __future__ import annotations

import re

_BEFORE_UNIT = re.compile(
    r"(?<=\d) (?=(?:%|(?:ms|s|min|h|d|points?|values?)\b))|(?<=\d) (?=/ min\b)|(?<=\d /) (?=min\b)"
)


def units_held(text: str, by: str = "\u00a0") -> str:
    """A text whose blanks between numbers and their units are others, at which no line ends."""
    return _BEFORE_UNIT.sub(by, text)
