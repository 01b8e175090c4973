"""Casts between Spark's types, in ANSI mode: which there are, and what they make of a value.

Source: Spark's Cast.scala (canAnsiCast, canTryCast, typeCheckFailureMessage), observed for each
pair of types (tests/sql/spark_answers.json).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_DOWN, Decimal
from functools import lru_cache
from typing import Any

from whitecap.engine.errors import DeltaError, InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.values.texts import (
    beyond_years,
    fraction_text,
    from_text,
    invalid_cast,
    shortest_single,
    to_scale,
    to_single,
    to_text,
)
from whitecap.engine.values.types import (
    DEFAULT_SESSION,
    EPOCH,
    INTEGRAL_BITS,
    PARAMETER,
    TEMPORAL,
    Session,
    has_values,
    holds,
    is_decimal,
    is_integral,
    is_numeric,
    type_of,
    zone,
)

Cast = Callable[[Any], Any]
"""Of a value that is not NULL."""

_MICROSECOND = timedelta(microseconds=1)
_SPECIAL_WORDS = frozenset({"epoch", "now", "today", "tomorrow", "yesterday"})


def is_number_like(type_name: str) -> bool:
    """Whether a type is a number or BOOLEAN, which casts to one."""
    return is_numeric(type_name) or type_name == "boolean"


def can_cast(from_type: str, to_type: str) -> bool:
    """Whether ANSI mode has a cast between two types. Source: Cast.canAnsiCast."""
    if from_type in (to_type, "void", "string") or to_type == "string":
        return to_type != "void" or from_type in ("void", "string")
    if is_number_like(from_type) and is_number_like(to_type):
        return True
    if "timestamp" in (from_type, to_type) and is_numeric(
        to_type if from_type == "timestamp" else from_type
    ):
        return True
    return from_type in TEMPORAL and to_type in TEMPORAL


def no_cast(from_type: str, to_type: str, tries: bool) -> InvalidInput:
    """How Spark refuses a cast that ANSI mode does not have: the class says what would help."""
    hint = "CAST_WITHOUT_SUGGESTION"
    if (to_type == "date" and is_numeric(from_type)) or (
        from_type == "date" and is_numeric(to_type)
    ):
        hint = "CAST_WITH_FUNC_SUGGESTION"
    elif not tries and _is_legacy_cast(from_type, to_type):
        hint = "CAST_WITH_CONF_SUGGESTION"
    refused_as = "ExtendedAnalysisException", f"DATATYPE_MISMATCH.{hint}"
    return InvalidInput([Problem("", f"no cast of {from_type} to {to_type}", None, refused_as)])


def _is_legacy_cast(from_type: str, to_type: str) -> bool:
    """Whether there is such a cast outside of ANSI mode."""
    if to_type == "boolean":
        return from_type in ("date", "timestamp")
    if to_type == "binary":
        return is_integral(from_type)
    return (from_type, to_type) == ("boolean", "timestamp")


def caster(from_type: str, to_type: str, session: Session) -> Cast | None:
    """The cast of non-null values between two types; `None` where values stay as they are.

    Raises `InvalidInput` where Spark has none, `UnsupportedFeature` where it is not modelled.
    """
    if from_type in (to_type, "void"):
        return None
    if from_type == PARAMETER:
        return lambda value: from_python(value, to_type, session)
    if not session.ansi:
        return _lenient(from_type, to_type, session)
    return _ansi(from_type, to_type, session.time_zone)


_TEXTS = 1024
"""Texts of one type whose values are remembered: those of three years' days, say."""


@lru_cache(maxsize=64)
def text_caster(to_type: str, session: Session) -> Cast | None:
    """The cast of texts that come again, as those of partitions do: each is cast once."""
    cast = caster("string", to_type, session)
    return None if cast is None else lru_cache(_TEXTS)(cast)


def try_caster(from_type: str, to_type: str, session: Session) -> Cast | None:
    """The same for try_cast: NULL for a value that cannot be cast."""
    _check(from_type, to_type, tries=True)
    cast = _ansi(from_type, to_type, session.time_zone)
    return None if cast is None else _tried(cast)


def _tried(cast: Cast) -> Cast:
    def run(value: Any) -> Any:
        try:
            return cast(value)
        except DeltaError:
            return None

    return run


def _lenient(from_type: str, to_type: str, session: Session) -> Cast | None:
    """Outside ANSI mode: a text that is malformed is NULL. What else differs is not modelled."""
    if not can_cast(from_type, to_type):
        raise UnsupportedFeature(f"a cast of {from_type} to {to_type} without ANSI mode")
    cast = _ansi(from_type, to_type, session.time_zone)
    if cast is None:
        return None
    if is_decimal(from_type) and to_type == "string":
        return str  # with an exponent where BigDecimal.toString has one. Source: ToStringBase.scala
    if from_type == "string":
        return _uncut(cast) if is_integral(to_type) else _tried(cast)

    def run(value: Any) -> Any:
        try:
            return cast(value)
        except DeltaError:
            text = f"{value!r} as {to_type} without ANSI mode, which cuts what does not fit"
            raise UnsupportedFeature(text) from None

    return run


_FRACTION = re.compile(r"\s*[+-]?\d*\.\d*\s*")


def _uncut(cast: Cast) -> Cast:
    """Of texts that are whole numbers; NULL for others, but for those that Spark cuts to one.

    Source: UTF8String.toInt (allowDecimal).
    """
    tried = _tried(cast)

    def run(text: str) -> Any:
        if _FRACTION.fullmatch(text):
            raise UnsupportedFeature(f"{text!r} as a whole number, without ANSI mode")
        return tried(text)

    return run


def _check(from_type: str, to_type: str, tries: bool = False) -> None:
    if not (has_values(from_type) and has_values(to_type)):
        raise UnsupportedFeature(f"a cast from {from_type} to {to_type}")
    if not can_cast(from_type, to_type):
        raise no_cast(from_type, to_type, tries)


@lru_cache(maxsize=1024)
def _ansi(from_type: str, to_type: str, time_zone: str) -> Cast | None:
    _check(from_type, to_type)
    if from_type in (to_type, "void"):
        return None
    if from_type == "string":
        return lambda value: from_text(value, to_type, time_zone)
    match to_type:
        case "string" if from_type == "float":
            return lambda value: fraction_text(shortest_single(value))
        case "string":
            return lambda value: to_text(value, time_zone)
        case "boolean":
            return bool
        case "date":
            return lambda value: _to_date(value, time_zone)
        case "timestamp":
            return lambda value: _to_timestamp(value, time_zone)
        case "timestamp_ntz":
            return lambda value: _to_ntz(value, time_zone)
    return _to_number(from_type, to_type)


def _to_number(from_type: str, to_type: str) -> Cast | None:
    if is_integral(from_type) and is_integral(to_type):
        if INTEGRAL_BITS[from_type] <= INTEGRAL_BITS[to_type]:
            return None
        return _narrowing(to_type)
    number: Cast = _seconds if from_type == "timestamp" else _same
    if is_integral(to_type):
        whole: Cast = _whole_seconds if from_type == "timestamp" else _same
        return lambda value: _to_integer(whole(value), to_type)
    if is_decimal(to_type):
        return lambda value: _to_decimal(number(value), to_type)
    if to_type == "float":
        return lambda value: to_single(float(number(value)))
    return lambda value: float(number(value))


def _narrowing(to_type: str) -> Cast:
    limit = 1 << (INTEGRAL_BITS[to_type] - 1)

    def narrowed(value: int) -> int:
        return value if -limit <= value < limit else _fitted(value, value, to_type)

    return narrowed


def _same(value: Any) -> Any:
    return value


def _seconds(value: datetime) -> Decimal:
    return Decimal((value - EPOCH) // _MICROSECOND).scaleb(-6)


def _whole_seconds(value: datetime) -> int:
    """Those that have passed, before 1970 too."""
    return (value - EPOCH) // timedelta(seconds=1)


def _fitted(whole: int, value: object, to_type: str) -> int:
    if holds(to_type, whole):
        return whole
    text = f"The value {value} cannot be cast to {to_type.upper()}."
    raise DeltaError.of_class("SparkArithmeticException", "CAST_OVERFLOW", text)


def _to_integer(value: Any, to_type: str) -> int:
    """Fractions are cut; 2 to the 63rd, as a DOUBLE its greatest bound, is the greatest BIGINT.

    Source: numerics.scala: DoubleExactNumeric.toLong.
    """
    if isinstance(value, float) and to_type == "bigint" and value == 1 << 63:
        return (1 << 63) - 1
    finite = not isinstance(value, float) or math.isfinite(value)
    return _fitted(int(value) if finite else 1 << 64, value, to_type)


def _to_decimal(value: Any, to_type: str) -> Decimal | None:
    """NaN and infinity are no decimals, but no error."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return to_scale(Decimal(int(value) if isinstance(value, bool) else str(value)), to_type)


def _to_timestamp(value: Any, time_zone: str) -> datetime:
    if isinstance(value, datetime):
        return _instant(value, time_zone) if value.tzinfo is None else value
    if isinstance(value, date):
        return _instant(datetime.combine(value, time()), time_zone)
    if isinstance(value, float) and not math.isfinite(value):
        raise invalid_cast(value, "timestamp")
    exact = Decimal(value) if isinstance(value, int) else Decimal(str(value))
    micros = int(exact.scaleb(6).to_integral_value(ROUND_DOWN))
    if isinstance(value, float):
        _fitted_micros(micros, value)
    try:
        return EPOCH + micros * _MICROSECOND
    except OverflowError:
        raise beyond_years(value) from None


def _fitted_micros(micros: int, value: float) -> None:
    if not holds("bigint", micros):
        text = f"The value {value} cannot be cast to TIMESTAMP."
        raise DeltaError.of_class("SparkArithmeticException", "CAST_OVERFLOW", text)


def _instant(local: datetime, time_zone: str) -> datetime:
    try:
        return local.replace(tzinfo=zone(time_zone)).astimezone(UTC)
    except OverflowError:
        raise beyond_years(local) from None


def _local(value: datetime, time_zone: str) -> datetime:
    try:
        return value.astimezone(zone(time_zone))
    except OverflowError:
        raise beyond_years(value) from None


def _to_ntz(value: date, time_zone: str) -> datetime:
    if isinstance(value, datetime):
        return _local(value, time_zone).replace(tzinfo=None)
    return datetime.combine(value, time())


def _to_date(value: datetime, time_zone: str) -> date:
    return (value if value.tzinfo is None else _local(value, time_zone)).date()


def no_words(cast: Cast, to_type: str) -> Cast:
    """The cast of a constant text, where 'today' and its relatives stand for days.

    Its value raises `UnsupportedFeature` for such a word. Source: SpecialDatetimeValues.
    """
    if to_type not in TEMPORAL:
        return cast

    def run(text: str) -> Any:
        if text.strip().split(" ")[0].lower() in _SPECIAL_WORDS:
            raise UnsupportedFeature(f"the word {text!r} as a {to_type}")
        return cast(text)

    return run


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


def compared_value(value: Any, to_type: str, session: Session) -> Any:
    """A parameter's value as one of the type that it is compared with.

    Raises `UnsupportedFeature` for one that would lose something: Spark compares such a value in a
    wider type.
    """
    cast = from_python(value, to_type, session)
    if cast is not value and _loses(value, cast):
        raise UnsupportedFeature(f"a parameter {value!r} compared with {to_type}")
    return cast


def _loses(value: Any, cast: Any) -> bool:
    if isinstance(value, datetime):
        return not isinstance(cast, datetime | str) and value.time() != time()
    numbers = isinstance(value, int | float | Decimal) and isinstance(cast, int | float | Decimal)
    return numbers and value == value and float(value) != float(cast)


def from_python(value: Any, to_type: str, session: Session = DEFAULT_SESSION) -> Any:
    """A parameter's Python value as a value of a type. Raises `DeltaError` if it is none."""
    if value is None or (type(value), to_type) in _NATURAL:
        return value
    change = caster(type_of(value), to_type, session)
    return value if change is None else change(value)
