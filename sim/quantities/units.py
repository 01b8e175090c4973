"""Durations, rates and numbers as people write them: `5 min`, `250 ms`, `3 per min`, `1e6`.

Inside the simulator a duration is milliseconds and a rate is events per millisecond. A bare number
is refused as a duration, because nobody can see its unit, and `true` as a number.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from whitecap.engine.recorded import AUTO_WARM_UP

MS_PER = {"ms": 1.0, "s": 1e3, "min": 60e3, "h": 3600e3, "d": 86400e3}
"""Milliseconds in each unit of time."""

DAY_MS = int(MS_PER["d"])

MAX_DURATION_MS = 3650 * MS_PER["d"]
"""Ten years: more than any run needs, and dates stay before the year 9999."""

MAX_RATE = 1000.0
"""Events per millisecond: a thousand times what a store answers."""

_DURATION = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?(?:[eE]-?\d+)?)\s*(?P<unit>ms|s|min|h|d)\s*")
_RATE = re.compile(
    r"\s*(?P<number>\d+(?:\.\d+)?(?:[eE]-?\d+)?)\s*(?:per|/)\s*(?P<unit>ms|s|min|h|d)\s*"
)


def parse_duration(text: Any) -> float:
    """Milliseconds of `5 min` and the like.

    Raises:
        ValueError: not a number with one of the units ms, s, min, h, d; or more than ten years.
    """
    if text == 0 and not isinstance(text, bool):
        return 0.0
    match = _DURATION.fullmatch(str(text))
    if match is None:
        raise ValueError(f"{shown(text)} is not a duration: write a number and ms, s, min, h or d")
    duration_ms = float(match["number"]) * MS_PER[match["unit"]]
    if duration_ms > MAX_DURATION_MS:
        raise ValueError(f"{shown(text)} is longer than {show_duration(MAX_DURATION_MS)}")
    return duration_ms


def parse_rate(text: Any) -> float:
    """Events per millisecond of `3 per min` and the like.

    Raises:
        ValueError: not a positive number per ms, s, min, h or d; or beyond all use.
    """
    match = _RATE.fullmatch(str(text))
    if match is None or float(match["number"]) <= 0:
        raise ValueError(f"{shown(text)} is not a rate: write for instance '3 per min'")
    rate = float(match["number"]) / MS_PER[match["unit"]]
    if not 1 / MAX_DURATION_MS <= rate <= MAX_RATE:
        bounds = f"1 per {show_duration(MAX_DURATION_MS)} and {MAX_RATE:g} per ms"
        raise ValueError(f"{shown(text)} is not between {bounds}")
    return rate


def plain_number(given: Any) -> Any:
    """A number as it is, and of text like `1e6`, which YAML does not take for one, its number.

    Raises:
        ValueError: `true` or `false`, which Python takes for 1 and 0.
    """
    if isinstance(given, bool):
        raise ValueError(f"needs a number, not {shown(given)}")
    if isinstance(given, str) and _EXPONENT.fullmatch(given):
        number = float(given)
        return int(number) if number.is_integer() else number
    return given


def shown(value: Any, longest: int = 60) -> str:
    """A value of a scenario as its reader knows it, cut where it is long."""
    match value:
        case None:
            return "nothing"
        case bool():
            text = "true" if value else "false"
        case date():
            text = str(value)
        case _:
            text = repr(value)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def show_duration(duration_ms: float) -> str:
    """The shortest way to write a duration, `5 min` rather than `300000 ms`, for people to read
    and `parse_duration` too: whole milliseconds as they are, others to six digits."""
    for unit in ("d", "h", "min", "s"):
        number = duration_ms / MS_PER[unit]
        if number >= 1 and number == round(number, 3):
            return f"{f'{number:.3f}'.rstrip('0').rstrip('.')} {unit}"
    short = f"{duration_ms:g}"
    return f"{short if 'e+' not in short else f'{duration_ms:.0f}'} ms"


def about(duration_ms: float) -> str:
    """A duration in three digits, for people who only want to know how far something is."""
    unit = next((unit for unit in ("d", "h", "min", "s") if duration_ms >= MS_PER[unit]), "ms")
    return f"{float(f'{duration_ms / MS_PER[unit]:.3g}'):g} {unit}"


_EXPONENT = re.compile(r"[+-]?\d+(\.\d*)?[eE][+-]?\d{1,3}")

Whole = Annotated[int, BeforeValidator(plain_number)]
"""A scenario field that holds a whole number."""

Number = Annotated[float, BeforeValidator(plain_number)]
"""A scenario field that holds a number."""

DURATION_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "string", "pattern": _DURATION.pattern, "examples": ["250 ms", "5 s", "2 min"]},
        {"const": 0},
    ]
}
"""A duration in JSON Schema."""

Duration = Annotated[
    float,
    BeforeValidator(parse_duration),
    PlainSerializer(show_duration, return_type=str),
    WithJsonSchema(DURATION_SCHEMA),
]
"""A scenario field that holds a duration, in milliseconds."""


def _parse_warm_up(given: Any) -> Any:
    return None if given == AUTO_WARM_UP else parse_duration(given)


def _show_warm_up(warm_up_ms: float | None) -> str:
    return AUTO_WARM_UP if warm_up_ms is None else show_duration(warm_up_ms)


WarmUp = Annotated[
    float | None,
    BeforeValidator(_parse_warm_up),
    PlainSerializer(_show_warm_up, return_type=str),
    WithJsonSchema({"anyOf": [*DURATION_SCHEMA["anyOf"], {"const": AUTO_WARM_UP}]}),
]
"""A scenario field that holds a duration in milliseconds, or `auto`: none, it is to be found."""

Rate = Annotated[
    float,
    BeforeValidator(parse_rate),
    PlainSerializer(lambda rate: f"{rate * MS_PER['s']!r} per s", return_type=str),
    WithJsonSchema({"type": "string", "pattern": _RATE.pattern, "examples": ["3 per min"]}),
]
"""A scenario field that holds a rate, in events per millisecond."""
