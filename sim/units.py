"""Durations and rates as people write them: `5 min`, `250 ms`, `3 per min`.

Inside the simulator a duration is milliseconds and a rate is events per millisecond. A bare number
is refused, because nobody can see its unit.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

MS_PER = {"ms": 1.0, "s": 1e3, "min": 60e3, "h": 3600e3, "d": 86400e3}
"""Milliseconds in each unit of time."""

_DURATION = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?(?:[eE]-?\d+)?)\s*(?P<unit>ms|s|min|h|d)\s*")
_RATE = re.compile(
    r"\s*(?P<number>\d+(?:\.\d+)?(?:[eE]-?\d+)?)\s*(?:per|/)\s*(?P<unit>ms|s|min|h|d)\s*"
)


def parse_duration(text: Any) -> float:
    """Milliseconds of `5 min` and the like.

    Raises:
        ValueError: not a number with one of the units ms, s, min, h, d.
    """
    if text == 0:
        return 0.0
    found = _DURATION.fullmatch(str(text))
    if found is None:
        raise ValueError(f"{text!r} is not a duration: write a number and ms, s, min, h or d")
    return float(found["number"]) * MS_PER[found["unit"]]


def parse_rate(text: Any) -> float:
    """Events per millisecond of `3 per min` and the like.

    Raises:
        ValueError: not a positive number per ms, s, min, h or d.
    """
    found = _RATE.fullmatch(str(text))
    if found is None or float(found["number"]) <= 0:
        raise ValueError(f"{text!r} is not a rate: write for instance '3 per min'")
    return float(found["number"]) / MS_PER[found["unit"]]


def show_duration(duration_ms: float) -> str:
    """The shortest way to write a duration, `5 min` rather than `300000 ms`."""
    for unit in ("d", "h", "min", "s"):
        number = duration_ms / MS_PER[unit]
        if number >= 1 and number == round(number, 3):
            return f"{number:g} {unit}"
    return f"{duration_ms:g} ms"


Duration = Annotated[
    float,
    BeforeValidator(parse_duration),
    PlainSerializer(show_duration, return_type=str),
    WithJsonSchema({"type": "string", "pattern": _DURATION.pattern, "examples": ["5 min"]}),
]
"""A scenario field that holds a duration, in milliseconds."""

Rate = Annotated[
    float,
    BeforeValidator(parse_rate),
    PlainSerializer(lambda rate: f"{rate * MS_PER['s']!r} per s", return_type=str),
    WithJsonSchema({"type": "string", "pattern": _RATE.pattern, "examples": ["3 per min"]}),
]
"""A scenario field that holds a rate, in events per millisecond."""
