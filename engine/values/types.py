"""Spark's types by name, and which Python values are theirs.

A type is its Spark simple string ("int", "decimal(10,2)"). A value is an `int`, `float`, `str`,
`bool`, `Decimal`, `date`, `bytes`, an aware `datetime` in UTC (timestamp) or a naive one
(timestamp_ntz). Values of other types (nested ones, intervals, VARIANT) are not modelled.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from msgspec import Struct

from whitecap.engine.errors import DeltaError, InvalidInput, Problem

INTEGRAL_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
FRACTIONAL = frozenset({"float", "double"})
INSTANT_TYPES = frozenset({"timestamp", "timestamp_ntz"})
TEMPORAL = INSTANT_TYPES | {"date"}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""The instant from which milliseconds are counted."""
PARAMETER = "parameter"
"""The type of a value that is only known when a statement is bound."""

LIMITED_TYPE = re.compile(r"(var)?char\((\d+)\)")
"""A text of so many letters, as it is declared: CHAR fills it up with blanks, VARCHAR does not."""

_OTHER_ATOMIC = frozenset({"boolean", "string", "binary", "void", PARAMETER})
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?\Z")
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)\Z")


class Session(Struct, frozen=True):
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


def has_values(type_name: str) -> bool:
    """Whether values of a type are modelled."""
    return is_numeric(type_name) or type_name in TEMPORAL or type_name in _OTHER_ATOMIC


def decimal_shape(type_name: str) -> tuple[int, int]:
    """Precision and scale of a decimal type, or of the decimal that holds an integral one."""
    if is_integral(type_name):
        return {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}[type_name], 0
    match = _DECIMAL.match(type_name)
    return (int(match[1]), int(match[2])) if match else (10, 0)


def overflow(type_name: str) -> DeltaError:
    """What Spark throws in ANSI mode for a result that its type cannot hold."""
    text = f"{type_name} overflow."
    return DeltaError.of_class("SparkArithmeticException", "ARITHMETIC_OVERFLOW", text)


def holds(type_name: str, value: int) -> bool:
    """Whether an integral type can hold a whole number."""
    limit = 1 << (INTEGRAL_BITS[type_name] - 1)
    return -limit <= value < limit


def fit_integer(value: int, type_name: str) -> int:
    """The value itself if the type can hold it. Raises `DeltaError` otherwise."""
    if holds(type_name, value):
        return value
    raise overflow(type_name)


def wrapped(value: int, type_name: str) -> int:
    """A whole number as it is kept outside of ANSI mode: what is beyond its bits is cut off."""
    half = 1 << (INTEGRAL_BITS[type_name] - 1)
    return (value + half) % (2 * half) - half


@lru_cache(maxsize=64)
def zone(name: str) -> tzinfo:
    """A time zone by its Spark name: `UTC`, `Europe/Berlin`, `+02:00`, `Z`.

    Raises `ValueError` for a name that is none.
    """
    if name in ("Z", "UTC", "GMT", "UT"):
        return UTC
    match = _OFFSET.match(name)
    if not match:
        try:
            return ZoneInfo(name)
        except (KeyError, OSError):  # no such file, or a folder
            raise ValueError(name) from None
    sign, hours, minutes, seconds = match.groups()
    span = timedelta(hours=int(hours), minutes=int(minutes or 0), seconds=int(seconds or 0))
    return timezone(span if sign == "+" else -span)


MAX_PRECISION = 38
"""The most digits that a decimal has. Source: DecimalType.MAX_PRECISION."""
WIDE = Context(prec=100, rounding=ROUND_HALF_UP)
"""For arithmetic with decimals: Spark's have 38 digits, and products of two of them more."""


_PLAIN_TYPES = {float: "double", str: "string", date: "date", bool: "boolean"}
"""Types of Python whose values have one type each, whatever they are."""


def type_of(value: Any) -> str:
    """The Spark type that a Python value has by itself. Raises `InvalidInput` if it has none."""
    plain = _PLAIN_TYPES.get(type(value))
    if plain is not None:
        return plain
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
        case str():
            return "string"
    raise InvalidInput([Problem(repr(value), "is no value of a column: lists go into IN (...)")])


def integer_type(value: int) -> str:
    """The type of an integer literal: INT, else BIGINT, else DECIMAL."""
    if holds("int", value):
        return "int"
    return "bigint" if holds("bigint", value) else f"decimal({len(str(abs(value)))},0)"


def decimal_type(value: Decimal) -> str:
    """The type of a decimal literal: as many digits as it has."""
    _, digits, exponent = value.as_tuple()
    scale = max(0, -int(exponent))
    return f"decimal({max(len(digits), scale)},{scale})"
