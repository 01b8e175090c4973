"""Which common type Spark gives two operands.

Source: Spark's AnsiTypeCoercion.scala (ANSI mode is Spark 4's default) and DecimalPrecision.
"""

from __future__ import annotations

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.sql.types import (
    FRACTIONAL,
    INTEGRAL_BITS,
    PARAMETER,
    TEMPORAL,
    decimal_shape,
    is_decimal,
    is_integral,
    is_numeric,
)

_DIFFERENT_TYPES = "ExtendedAnalysisException", "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES"
_TEMPORAL_ORDER = ("date", "timestamp_ntz", "timestamp")
_MAX_PRECISION = 38  # DecimalType.MAX_PRECISION


def common_type(left: str, right: str) -> str:
    """The type in which two values are compared or mixed. Raises `InvalidInput` if none."""
    if left == right or right in ("void", PARAMETER):
        return left
    if left in ("void", PARAMETER):
        return right
    if is_numeric(left) and is_numeric(right):
        return wider_number(left, right)
    if "string" in (left, right):
        return _with_string(right if left == "string" else left)
    if left in TEMPORAL and right in TEMPORAL:
        return max(left, right, key=_TEMPORAL_ORDER.index)
    text = f"{left} and {right} cannot be compared or mixed"
    raise InvalidInput([Problem("", text, refused_as=_DIFFERENT_TYPES)])


def _with_string(other: str) -> str:
    """A string beside an integral is a BIGINT, beside a fraction a DOUBLE, else the other type."""
    if is_integral(other):
        return "bigint"
    return "double" if is_numeric(other) else other


def wider_number(left: str, right: str) -> str:
    """The narrowest numeric type that holds both."""
    if is_integral(left) and is_integral(right):
        return max(left, right, key=INTEGRAL_BITS.__getitem__)
    if left in FRACTIONAL or right in FRACTIONAL:
        return "float" if left == right == "float" else "double"
    (p1, s1), (p2, s2) = decimal_shape(left), decimal_shape(right)
    scale = max(s1, s2)
    return bounded_decimal(max(p1 - s1, p2 - s2) + scale, scale)


def bounded_decimal(precision: int, scale: int) -> str:
    """A decimal type cut to 38 digits, keeping at least six after the point."""
    if precision <= _MAX_PRECISION:
        return f"decimal({precision},{scale})"
    whole = precision - scale
    return f"decimal({_MAX_PRECISION},{max(_MAX_PRECISION - whole, min(scale, 6))})"


def arithmetic_type(operator: str, left: str, right: str) -> str:
    """The type of `left operator right` for numbers, and of `/` which is never integral."""
    common = common_type(left, right)
    if common in ("void", PARAMETER):
        return "double" if operator == "/" else "bigint"
    if not is_numeric(common):
        raise InvalidInput([Problem("", f"{left} {operator} {right} is not arithmetic")])
    if is_decimal(common):
        return _decimal_result(operator, left, right)
    return "double" if operator == "/" else common


def _decimal_result(operator: str, left: str, right: str) -> str:
    (p1, s1), (p2, s2) = decimal_shape(left), decimal_shape(right)
    match operator:
        case "*":
            return bounded_decimal(p1 + p2 + 1, s1 + s2)
        case "/":
            scale = max(6, s1 + p2 + 1)
            return bounded_decimal(p1 - s1 + s2 + scale, scale)
        case "%":
            scale = max(s1, s2)
            return bounded_decimal(min(p1 - s1, p2 - s2) + scale, scale)
    scale = max(s1, s2)
    return bounded_decimal(max(p1 - s1, p2 - s2) + scale + 1, scale)
