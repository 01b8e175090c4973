"""Spark's types and casts, on Python values.

A type is its Spark simple string ("int", "decimal(10,2)"). A value is an `int`, `float`, `str`,
`bool`, `Decimal`, `date`, `bytes`, an aware `datetime` in UTC (timestamp) or a naive one
(timestamp_ntz). Casts follow ANSI mode, Spark 4's default: a text that does not parse is an error.
Source: Spark's Cast.scala, SparkDateTimeUtils.scala, UTF8StringUtils.scala.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from whitecap.engine.errors import DeltaError, UnsupportedFeature

INTEGRAL_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
FRACTIONAL = frozenset({"float", "double"})
TEMPORAL = frozenset({"date", "timestamp", "timestamp_ntz"})
PARAMETER = "parameter"
"""The type of a value that is only known when a statement is bound."""

_TRUE = frozenset({"t", "true", "y", "yes", "1"})
_FALSE = frozenset({"f", "false", "n", "no", "0"})
_INTEGER = re.compile(r"[+-]?\d+\Z")
_DATE = re.compile(r"([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ].*)?)?)?\Z", re.DOTALL)
_TIMESTAMP = re.compile(
    r"(\d{4,6})(?:-(\d{1,2})(?:-(\d{1,2}))?)?"
    r"(?:[T ](\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d{0,9}))?)?)?\s*(\S.*)?)?\Z"
)
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?\Z")


@dataclass(frozen=True, slots=True)
class Session:
    """What casts depend on: the time zone, and whether a malformed text is an error or NULL."""

    time_zone: str = "UTC"
    ansi: bool = True


DEFAULT_SESSION = Session()


def is_integral(type_name: str) -> bool:
    """Whether a type holds whole numbers of a fixed width."""
    return type_name in INTEGRAL_BITS


def is_decimal(type_name: str) -> bool:
    """Whether a type is a DECIMAL."""
    return type_name.startswith("decimal")


def is_numeric(type_name: str) -> bool:
    """Whether a type is a number."""
    return is_integral(type_name) or type_name in FRACTIONAL or is_decimal(type_name)


def decimal_shape(type_name: str) -> tuple[int, int]:
    """Precision and scale of a decimal type, or of the decimal that holds an integral one."""
    if is_integral(type_name):
        return {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}[type_name], 0
    match = re.match(r"decimal\((\d+),\s*(\d+)\)", type_name)
    return (int(match[1]), int(match[2])) if match else (10, 0)


def invalid_cast(value: Any, to_type: str) -> DeltaError:
    """What Spark throws in ANSI mode for a text that is not a value of the type."""
    exception = "SparkDateTimeException" if to_type in TEMPORAL else "SparkNumberFormatException"
    if to_type == "boolean":
        exception = "SparkRuntimeException"
    text = f"The value {value!r} cannot be cast to {to_type.upper()} because it is malformed."
    return DeltaError(exception, "CAST_INVALID_INPUT", f"[CAST_INVALID_INPUT] {text}")


def overflow(type_name: str) -> DeltaError:
    """What Spark throws in ANSI mode for a number that its type cannot hold."""
    text = f"[ARITHMETIC_OVERFLOW] {type_name} overflow."
    return DeltaError("SparkArithmeticException", "ARITHMETIC_OVERFLOW", text)


def fit_integer(value: int, type_name: str) -> int:
    """The value itself if the type can hold it. Raises `DeltaError` otherwise."""
    limit = 1 << (INTEGRAL_BITS[type_name] - 1)
    if -limit <= value < limit:
        return value
    raise overflow(type_name)


@lru_cache(maxsize=64)
def zone(name: str) -> tzinfo:
    """A time zone by its Spark name: `UTC`, `Europe/Berlin`, `+02:00`, `Z`."""
    if name in ("Z", "UTC", "GMT", "UT"):
        return UTC
    match = _OFFSET.match(name)
    if not match:
        return ZoneInfo(name)
    sign, hours, minutes, seconds = match.groups()
    span = timedelta(hours=int(hours), minutes=int(minutes or 0), seconds=int(seconds or 0))
    return timezone(span if sign == "+" else -span)


def parse_date(text: str) -> date:
    """A date as Spark reads one: `2026`, `2026-1`, `2026-01-31`, with anything after a T."""
    match = _DATE.match(text.strip())
    if not match:
        raise ValueError(text)
    return date(int(match[1]), int(match[2] or 1), int(match[3] or 1))


def _clock_time(match: re.Match[str]) -> time:
    micros = int((match[7] or "").ljust(6, "0")[:6] or 0)
    return time(int(match[4] or 0), int(match[5] or 0), int(match[6] or 0), micros)


def parse_timestamp(text: str, time_zone: str = "UTC") -> datetime:
    """An instant, in UTC; a text without a zone is read in the session's `time_zone`."""
    match = _TIMESTAMP.match(text.strip())
    if not match:
        raise ValueError(text)
    day = date(int(match[1]), int(match[2] or 1), int(match[3] or 1))
    where = zone(match[8].strip()) if match[8] else zone(time_zone)
    return datetime.combine(day, _clock_time(match), where).astimezone(UTC)


def _parse_ntz(text: str) -> datetime:
    match = _TIMESTAMP.match(text.strip())
    if not match:
        raise ValueError(text)
    day = date(int(match[1]), int(match[2] or 1), int(match[3] or 1))
    return datetime.combine(day, _clock_time(match))


def _parse_integer(text: str, type_name: str) -> int:
    if not _INTEGER.match(text.strip()):
        raise ValueError(text)
    return fit_integer(int(text), type_name)


def _parse_boolean(text: str) -> bool:
    word = text.strip().lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise ValueError(text)


def _parse_fraction(text: str) -> float:
    word = text.strip()
    if "_" in word:
        raise ValueError(text)
    return float(word[:-1] if word[-1:] in "dDfF" and word[-2:-1].isdigit() else word)


WIDE = Context(prec=100, rounding=ROUND_HALF_UP)
"""For arithmetic with decimals: Spark's have 38 digits, and products of two of them more."""


def to_single(value: float) -> float:
    """The number as a FLOAT of 32 bits holds it."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _shortest_single(value: float) -> float:
    """The fraction with fewest digits that is the same FLOAT."""
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))
    return next((found for text in texts if to_single(found := float(text)) == value), value)


def to_scale(value: Decimal, type_name: str) -> Decimal:
    """A decimal rounded half up to the type's scale. Raises `DeltaError` if it does not fit."""
    precision, scale = decimal_shape(type_name)
    rounded = value.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, WIDE)
    if len(rounded.as_tuple().digits) > precision and abs(rounded) >= Decimal(10) ** (
        precision - scale
    ):
        raise DeltaError(
            "SparkArithmeticException",
            "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION",
            f"[NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION] {value} does not fit {type_name}.",
        )
    return rounded


def from_text(text: str, type_name: str, time_zone: str = "UTC") -> Any:
    """A text as a value of a type (a cast from STRING). Raises `DeltaError` if malformed."""
    try:
        return _from_text(text, type_name, time_zone)
    except (ValueError, InvalidOperation, KeyError):
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
    if is_decimal(type_name):
        return to_scale(Decimal(text.strip()), type_name)
    raise UnsupportedFeature(f"values of type {type_name}")


def _timestamp_text(value: datetime) -> str:
    text = value.strftime("%Y-%m-%d %H:%M:%S")
    return f"{text}.{value.microsecond:06d}".rstrip("0") if value.microsecond else text


def _fraction_text(value: float) -> str:
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    mantissa, _, exponent = f"{Decimal(repr(value)).normalize():E}".partition("E")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}E{int(exponent)}"


def to_text(value: Any, time_zone: str = "UTC") -> str:
    """A value as Spark casts it to STRING."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return _fraction_text(value)
        case datetime():
            local = value if value.tzinfo is None else value.astimezone(zone(time_zone))
            return _timestamp_text(local)
        case bytes():
            return value.decode(errors="replace")
    return str(value)


def _to_integer(value: Any, to_type: str) -> int:
    if isinstance(value, datetime):
        return fit_integer(int(value.timestamp() // 1), to_type)
    return fit_integer(int(value), to_type)


def _to_timestamp(value: Any, time_zone: str) -> datetime:
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=zone(time_zone)).astimezone(UTC)
    if isinstance(value, date):
        return datetime.combine(value, time(), zone(time_zone)).astimezone(UTC)
    return datetime.fromtimestamp(float(value), UTC)


def _to_date(value: Any, time_zone: str) -> date:
    if isinstance(value, datetime):
        return (value if value.tzinfo is None else value.astimezone(zone(time_zone))).date()
    return value  # type: ignore[no-any-return]


def lenient_from_text(text: str, type_name: str, time_zone: str) -> Any:
    """A cast from STRING outside ANSI mode: NULL if malformed."""
    try:
        return from_text(text, type_name, time_zone)
    except DeltaError:
        return None


def caster(
    from_type: str, to_type: str, session: Session = DEFAULT_SESSION
) -> Callable[[Any], Any] | None:
    """The cast of non-null values between two types; `None` where values stay as they are."""
    if from_type == to_type or from_type == "void":
        return None
    time_zone = session.time_zone
    if from_type == PARAMETER:
        return lambda value: from_python(value, to_type, session)
    if to_type == "string" and from_type == "float":
        return lambda value: _fraction_text(_shortest_single(value))
    if to_type == "string":
        return lambda value: to_text(value, time_zone)
    if from_type == "string":
        read = from_text if session.ansi else lenient_from_text
        return lambda value: read(value, to_type, time_zone)
    return _typed_caster(from_type, to_type, time_zone)


def _typed_caster(from_type: str, to_type: str, time_zone: str) -> Callable[[Any], Any] | None:
    if is_integral(to_type):
        if is_integral(from_type) and INTEGRAL_BITS[from_type] <= INTEGRAL_BITS[to_type]:
            return None
        return lambda value: _to_integer(value, to_type)
    if to_type == "float":
        return lambda value: to_single(float(value))
    if to_type == "double":
        return float
    if is_decimal(to_type):
        return lambda value: to_scale(Decimal(str(value)), to_type)
    match to_type:
        case "boolean":
            return bool
        case "date":
            return lambda value: _to_date(value, time_zone)
        case "timestamp":
            return lambda value: _to_timestamp(value, time_zone)
        case "timestamp_ntz":
            return lambda value: _to_timestamp(value, "UTC").replace(tzinfo=None)
    raise UnsupportedFeature(f"a cast from {from_type} to {to_type}")


def type_of(value: Any) -> str:
    """The Spark type that a Python value has by itself."""
    match value:
        case None:
            return "void"
        case bool():
            return "boolean"
        case int():
            return integer_type(value)
        case float():
            return "double"
        case Decimal():
            return decimal_type(value)
        case datetime():
            return "timestamp" if value.tzinfo else "timestamp_ntz"
        case date():
            return "date"
        case bytes():
            return "binary"
    return "string"


def integer_type(value: int) -> str:
    """The type of an integer literal: INT, else BIGINT, else DECIMAL."""
    if -(1 << 31) <= value < 1 << 31:
        return "int"
    return "bigint" if -(1 << 63) <= value < 1 << 63 else f"decimal({len(str(abs(value)))},0)"


def decimal_type(value: Decimal) -> str:
    """The type of a decimal literal: as many digits as it has."""
    _, digits, exponent = value.as_tuple()
    scale = max(0, -int(exponent))
    return f"decimal({max(len(digits), scale)},{scale})"


# Python types whose values are values of a Spark type as they are.
_NATURAL = frozenset(
    {
        (int, "bigint"),
        (float, "double"),
        (str, "string"),
        (bool, "boolean"),
        (date, "date"),
        (bytes, "binary"),
    }
)


def from_python(value: Any, to_type: str, session: Session = DEFAULT_SESSION) -> Any:
    """A parameter's Python value as a value of a type. Raises `DeltaError` if it is none."""
    if value is None or (type(value), to_type) in _NATURAL:
        return value
    change = caster(type_of(value), to_type, session)
    return value if change is None else change(value)
