"""Values as Spark writes them as text, and texts as it reads values in ANSI mode.

Source: Spark's Cast.scala, SparkDateTimeUtils.scala, UTF8StringUtils.scala.
"""

from __future__ import annotations

import math
import re
import struct
from datetime import UTC, date, datetime, time
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from whitecap.engine.errors import DeltaError, UnsupportedFeature
from whitecap.engine.values.types import (
    MAX_PRECISION,
    TEMPORAL,
    WIDE,
    decimal_shape,
    has_values,
    holds,
    is_decimal,
    zone,
)

_TRUE = frozenset({"t", "true", "y", "yes", "1"})
_FALSE = frozenset({"f", "false", "n", "no", "0"})
_INTEGER = re.compile(r"[+-]?[0-9]+\Z")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")
_NO_NUMBER = re.compile(r"[+-]?(?:inf|infinity|nan)\Z", re.IGNORECASE)
_DATE = re.compile(r"([+-]?[0-9]{4,7})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[T ].*)?)?)?\Z", re.DOTALL)
_TIMESTAMP = re.compile(
    r"([+-]?[0-9]{4,6})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?"
    r"(?:[T ]([0-9]{1,2})(?::([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]{0,9}))?\s*(\S.*)?)?)?)?\Z"
)
_TIME_ALONE = re.compile(r"T?[0-9]{1,2}:[0-9]{1,2}(?::[0-9.]*)?(?:\s*\S+)?\Z")
_MAX_YEAR = 9999  # of Python's dates; Spark's go from -290308 to 294247


def invalid_cast(value: Any, to_type: str) -> DeltaError:
    """What Spark throws in ANSI mode for a text that is not a value of the type."""
    exception = "SparkDateTimeException" if to_type in TEMPORAL else "SparkNumberFormatException"
    if to_type == "boolean":
        exception = "SparkRuntimeException"
    text = f"The value {value!r} cannot be cast to {to_type.upper()} because it is malformed."
    return DeltaError.of_class(exception, "CAST_INVALID_INPUT", text)


def beyond_years(shown: object) -> UnsupportedFeature:
    """For a day that Spark has and Python has not."""
    return UnsupportedFeature(f"days outside of the years 1 to {_MAX_YEAR}: {shown}")


def _day(match: re.Match[str]) -> date:
    year, month, day = int(match[1]), int(match[2] or 1), int(match[3] or 1)
    if 1 <= year <= _MAX_YEAR:
        return date(year, month, day)
    date(2000, month, day)  # malformed in any year
    raise beyond_years(match[0])


_BLANKS = "".join(map(chr, range(0x21)))
"""What Java's String.trim takes for blanks."""


def trimmed(text: str) -> str:
    """A text without blanks and control characters of ASCII around it; others are no blanks.

    Source: UTF8String.trimAll (Character.isWhitespace, Character.isISOControl of a byte).
    """
    return text.strip(f"{_BLANKS}\x7f")


def parse_date(text: str) -> date:
    """A date as Spark reads one: `2026`, `2026-1`, `2026-01-31`, with anything after a T."""
    match = _DATE.match(trimmed(text))
    if not match:
        raise ValueError(text)
    return _day(match)


def _clock_time(match: re.Match[str]) -> time:
    micros = int((match[7] or "").ljust(6, "0")[:6] or 0)
    return time(int(match[4] or 0), int(match[5] or 0), int(match[6] or 0), micros)


def parse_timestamp(text: str, time_zone: str) -> datetime:
    """An instant, in UTC; a text without a zone is read in the session's `time_zone`."""
    match = _TIMESTAMP.match(trimmed(text))
    if not match and _TIME_ALONE.match(trimmed(text)):
        raise UnsupportedFeature(f"a time of today: {text!r}")
    if not match:
        raise ValueError(text)
    clock = _clock_time(match)
    where = zone(match[8].strip()) if match[8] else zone(time_zone)
    try:
        return datetime.combine(_day(match), clock, where).astimezone(UTC)
    except OverflowError:
        raise beyond_years(text) from None


def _parse_ntz(text: str) -> datetime:
    match = _TIMESTAMP.match(trimmed(text))
    if not match:
        raise ValueError(text)
    if match[8]:
        zone(match[8].strip())  # must be one, although it changes nothing
    return datetime.combine(_day(match), _clock_time(match))


def _parse_integer(text: str, type_name: str) -> int:
    digits = trimmed(text)
    if not _INTEGER.match(digits) or not holds(type_name, value := int(digits)):
        raise ValueError(text)
    return value


def _parse_boolean(text: str) -> bool:
    word = trimmed(text).lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise ValueError(text)


def _parse_fraction(text: str) -> float:
    word = text.strip(_BLANKS)
    if word[-1:] in ("d", "D", "f", "F") and word[-2:-1] in set("0123456789."):
        word = word[:-1]
    if not (_NUMBER.match(word) or _NO_NUMBER.match(word)):
        raise ValueError(text)
    return float(word)


def _parse_decimal(text: str, type_name: str) -> Decimal:
    if not _NUMBER.match(digits := text.strip(_BLANKS)):
        raise ValueError(text)
    number = Decimal(digits)
    if number.adjusted() >= MAX_PRECISION:
        name = "NUMERIC_OUT_OF_SUPPORTED_RANGE"
        raise DeltaError.of_class("SparkArithmeticException", name, text)
    return to_scale(number, type_name)


def to_single(value: float) -> float:
    """The number as a FLOAT of 32 bits holds it."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def shortest_single(value: float) -> float:
    """The fraction with fewest digits that is the same FLOAT."""
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))
    return next((number for text in texts if to_single(number := float(text)) == value), value)


def to_scale(value: Decimal, type_name: str) -> Decimal:
    """A decimal rounded half up to the type's scale, without a sign of zero.

    Raises `DeltaError` if it does not fit.
    """
    precision, scale = decimal_shape(type_name)
    if value and value.adjusted() > precision - scale:
        raise out_of_range(value, type_name)
    rounded = value.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, WIDE)
    if rounded.copy_abs() >= Decimal(10) ** (precision - scale):
        raise out_of_range(value, type_name)
    return rounded or rounded.copy_abs()


def out_of_range(value: object, type_name: str) -> DeltaError:
    """What Spark throws for a number with more digits than its decimal type."""
    return DeltaError.of_class(
        "SparkArithmeticException",
        "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION",
        f"{value} does not fit {type_name}.",
    )


def from_text(text: str, type_name: str, time_zone: str = "UTC") -> Any:
    """A text as a value of a type (a cast from STRING). Raises `DeltaError` if malformed.

    Raises `UnsupportedFeature` for values and types that are not modelled.
    """
    if not has_values(type_name):
        raise UnsupportedFeature(f"values of type {type_name}")
    try:
        return _from_text(text, type_name, time_zone)
    except ValueError:
        raise invalid_cast(text, type_name) from None


def _from_text(text: str, type_name: str, time_zone: str) -> Any:
    match type_name:
        case "string":
            return text
        case "tinyint" | "smallint" | "int" | "bigint":
            return _parse_integer(text, type_name)
        case "float":
            return to_single(_parse_fraction(text))
        case "double":
            return _parse_fraction(text)
        case "boolean":
            return _parse_boolean(text)
        case "date":
            return parse_date(text)
        case "timestamp":
            return parse_timestamp(text, time_zone)
        case "timestamp_ntz":
            return _parse_ntz(text)
        case "binary":
            return text.encode()
        case _ if is_decimal(type_name):
            return _parse_decimal(text, type_name)
    raise UnsupportedFeature(f"a cast from string to {type_name}")


def _timestamp_text(value: datetime) -> str:
    text = f"{value.year:04d}{value:-%m-%d %H:%M:%S}"
    return f"{text}.{value.microsecond:06d}".rstrip("0") if value.microsecond else text


def fraction_text(value: float) -> str:
    """A FLOAT or DOUBLE as Java writes it."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    mantissa, _, exponent = f"{Decimal(repr(value)).normalize():E}".partition("E")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}E{int(exponent)}"


def to_text(value: Any, time_zone: str = "UTC") -> str:
    """A value as Spark casts it to STRING in ANSI mode: a decimal without an exponent."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return fraction_text(value)
        case datetime():
            local = value if value.tzinfo is None else value.astimezone(zone(time_zone))
            return _timestamp_text(local)
        case bytes():
            return value.decode(errors="replace")
        case Decimal():
            return f"{value:f}"
    return str(value)
