"""Which type a column may be changed to.

Source: Spark's Cast.canUpCast and CheckAnalysis.scala (what ALTER COLUMN may ask of any table);
TypeWidening.scala (what Delta takes of it with `delta.enableTypeWidening`, and what a write with
schema evolution widens by itself).
"""

from __future__ import annotations

import re

from whitecap.engine.values.types import (
    INTEGRAL_BITS,
    LIMITED_TYPE,
    decimal_shape,
    is_decimal,
    is_integral,
)

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")
_SMALL = ("tinyint", "smallint", "int")
_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
"""How many digits a whole number's type takes as a decimal. Source: DecimalType.forType."""
_MOMENTS = {
    "date": ("timestamp", "timestamp_ntz"),
    "timestamp": ("timestamp_ntz", "bigint"),
    "timestamp_ntz": ("timestamp",),
    "bigint": ("timestamp",),
}


def may_upcast(old: str, new: str) -> bool:
    """Whether Spark takes the change for one that loses nothing."""
    limits = LIMITED_TYPE.fullmatch(old), LIMITED_TYPE.fullmatch(new)
    if any(limits):
        return _holds_text(limits, new)
    if new in (old, "string", *_MOMENTS.get(old, ())):
        return True
    if is_decimal(new):
        return (is_decimal(old) and _is_wider(old, new)) or _holds_whole(old, new)
    if is_decimal(old):
        return is_integral(new) and _fits_whole(old, new)
    return old in _NUMBERS and new in _NUMBERS and _NUMBERS.index(old) < _NUMBERS.index(new)


def may_widen(old: str, new: str) -> bool:
    """Whether Delta changes the type of a column that has rows."""
    if is_decimal(new):
        wide_enough = _holds_whole("int" if old in _SMALL else old, new)
        return (is_decimal(old) and _is_wider(old, new)) or wide_enough
    if old in _SMALL and new == "double":
        return True
    return may_evolve(old, new)


def may_evolve(old: str, new: str) -> bool:
    """Whether a write with schema evolution widens a column to the type of what it brings."""
    if is_integral(old) and is_integral(new):
        return INTEGRAL_BITS[old] < INTEGRAL_BITS[new]
    if is_decimal(old) and is_decimal(new):
        return _is_wider(old, new)
    return (old, new) in {("float", "double"), ("date", "timestamp_ntz")}


def is_text_change(old: str, new: str) -> bool:
    """Whether only the limit of a text changes, which needs no feature."""
    return LIMITED_TYPE.fullmatch(old) is not None and (
        new == "string" or LIMITED_TYPE.fullmatch(new) is not None
    )


def _holds_text(limits: tuple[re.Match[str] | None, re.Match[str] | None], new: str) -> bool:
    """Texts may become longer, or lose their limit; only the very same CHAR is a CHAR."""
    old_limit, new_limit = limits
    if old_limit is None or new_limit is None:
        return old_limit is not None and new == "string"
    if new_limit[1] is None:
        return old_limit[0] == new_limit[0]
    return int(old_limit[2]) <= int(new_limit[2])


def _is_wider(old: str, new: str) -> bool:
    """Whether a decimal holds all of another. Source: DecimalType.isWiderThan."""
    (p1, s1), (p2, s2) = decimal_shape(old), decimal_shape(new)
    return p2 - s2 >= p1 - s1 and s2 >= s1


def _holds_whole(old: str, new: str) -> bool:
    """Whether a decimal holds all whole numbers of a type."""
    precision, scale = decimal_shape(new)
    return old in _DIGITS and precision - scale >= _DIGITS[old]


def _fits_whole(old: str, new: str) -> bool:
    """Whether a type of whole numbers holds a decimal. Source: DecimalType.isTighterThan."""
    precision, scale = decimal_shape(old)
    return scale == 0 and precision < _DIGITS[new]
