"""Which type Spark gives to operands and arguments of other types.

Source: Spark's AnsiTypeCoercion.scala (ANSI mode is Spark 4's default) and DecimalPrecision,
observed for each pair of types (tests/sql/spark_answers.json).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.values.types import (
    FRACTIONAL,
    INTEGRAL_BITS,
    MAX_PRECISION,
    PARAMETER,
    TEMPORAL,
    Session,
    decimal_shape,
    has_values,
    is_decimal,
    is_integral,
    is_numeric,
)

_TEMPORAL_ORDER = ("date", "timestamp_ntz", "timestamp")
_OF_NULL = {"numeric": "double", "integral": "int", "decimal": "decimal(10,0)"}
"""Families of types, with what NULL is where one is expected (`defaultConcreteType`)."""
_OF_TEXT = {"numeric": "double", "decimal": "decimal(38,18)"}


def mismatch(kind: str, text: str) -> InvalidInput:
    """How Spark refuses arguments for their types: the last part of its error class."""
    refused_as = "ExtendedAnalysisException", f"DATATYPE_MISMATCH.{kind}"
    return InvalidInput([Problem("", text, refused_as=refused_as)])


def can_assign(from_type: str, to_type: str) -> bool:
    """Whether a value goes into another type by itself. Source: Cast.canANSIStoreAssign."""
    if from_type in (to_type, "void", PARAMETER):
        return True
    if is_numeric(from_type) and is_numeric(to_type):
        return True
    return to_type == "string" or (from_type in TEMPORAL and to_type in TEMPORAL)


def can_up_cast(from_type: str, to_type: str) -> bool:
    """Whether a type holds every value of another. Source: Cast.canUpCast."""
    if from_type in (to_type, "void") or to_type == "string":
        return True
    if is_numeric(from_type) and is_numeric(to_type):
        if is_integral(from_type) and to_type in FRACTIONAL:
            return True
        return wider_number(from_type, to_type) == to_type
    return from_type in TEMPORAL and to_type in TEMPORAL and to_type != "date"


def implicit_type(given: str, wanted: str) -> str | None:
    """The type that an argument is cast to where another is expected, `None` if Spark does not.

    `wanted` is a type or a family of types. Source: AnsiTypeCoercion.implicitCast.
    """
    if given == "void":
        return _OF_NULL.get(wanted, wanted)
    if wanted in _OF_NULL:
        return _OF_TEXT.get(wanted) if given == "string" else None
    return wanted if given == "string" or can_assign(given, wanted) else None


def is_cast_by_stream(given: str, wanted: str) -> bool:
    """Whether a stream's sink casts what it is given to a column's type.

    Source: SchemaMergingUtils.scala: typeForImplicitCast, which asks TypeCoercion.implicitCast, the
    rules without ANSI mode.
    """
    if given == wanted or (is_numeric(given) and is_numeric(wanted)):
        return True
    if given == "string":
        return is_numeric(wanted) or wanted in TEMPORAL or wanted == "binary"
    return wanted == "string" or (given in TEMPORAL and wanted in TEMPORAL)


def belongs(type_name: str, wanted: str) -> bool:
    """Whether a type is the wanted one, or of the wanted family."""
    match wanted:
        case "numeric":
            return is_numeric(type_name)
        case "integral":
            return is_integral(type_name)
        case "decimal":
            return is_decimal(type_name)
    return type_name == wanted


def tightest(left: str, right: str) -> str | None:
    """The narrowest type that holds both, texts aside; `None` if there is none."""
    if left == right or right in ("void", PARAMETER):
        return left
    if left in ("void", PARAMETER):
        return right
    if is_numeric(left) and is_numeric(right):
        return wider_number(left, right)
    if left in TEMPORAL and right in TEMPORAL:
        return max(left, right, key=_TEMPORAL_ORDER.index)
    return None


def promoted(left: str, right: str) -> str | None:
    """The type of a text beside another value, `None` if neither is a text.

    A text beside an integral is a BIGINT, beside a fraction a DOUBLE, else of the other type.
    """
    if "string" not in (left, right):
        return None
    other = right if left == "string" else left
    if other in ("void", PARAMETER):
        return "string"
    if is_integral(other):
        return "bigint"
    return "double" if is_numeric(other) else other


def common_type(left: str, right: str) -> str:
    """The type in which two values are mixed. Raises `InvalidInput` if there is none."""
    common = tightest(left, right) or promoted(left, right)
    if common is None:
        raise mismatch("DATA_DIFF_TYPES", f"{left} and {right} cannot be mixed")
    return common


def mixed(left: str, right: str, refused_as: tuple[str, str]) -> str:
    """The same, where Spark refuses types that do not mix in words of its own."""
    common = tightest(left, right) or promoted(left, right)
    if common is None:
        raise InvalidInput([Problem("", f"{left} and {right} cannot be mixed", None, refused_as)])
    return common


def inline_type(left: str, right: str) -> str:
    """The type of a column of VALUES: a text stays a text. Raises `InvalidInput` if there is none.

    Source: ResolveInlineTables, EvaluateUnresolvedInlineTable.
    """
    common = tightest(left, right)
    if common is None:
        error_class = "INVALID_INLINE_TABLE.INCOMPATIBLE_TYPES_IN_INLINE_TABLE"
        text = f"a column of {left} and {right}"
        raise InvalidInput([Problem("VALUES", text, refused_as=("ParseException", error_class))])
    return common


def compared_type(left: str, right: str) -> str:
    """The type in which two values are compared. Raises `InvalidInput` if there is none."""
    common = tightest(left, right) or promoted(left, right)
    if common is None:
        raise mismatch("BINARY_OP_DIFF_TYPES", f"{left} and {right} cannot be compared")
    return common


def common_of(types: Iterable[str], *, with_texts: bool = True) -> str:
    """The type in which several values are mixed. Raises `InvalidInput` if there is none.

    `with_texts`: whether a text becomes what stands beside it; for `greatest` it does not.
    """
    types = list(types)
    if not with_texts and "string" in types and set(types) - {"string", "void", PARAMETER}:
        raise mismatch("DATA_DIFF_TYPES", f"{', '.join(types)} cannot be mixed")
    return reduce(common_type, types)


def check_texts(types: Iterable[str], session: Session) -> None:
    """Raises `UnsupportedFeature` for a text among others where these become texts like it.

    They do outside of ANSI mode, where values are mixed and not compared. Source:
    TypeCoercion.findWiderCommonType (stringPromotion).
    """
    others = {*types} - {"void", PARAMETER}
    if not session.ansi and "string" in others and len(others) > 1:
        names = " and ".join(sorted(others))
        raise UnsupportedFeature(f"{names} in one place without ANSI mode, where all become texts")


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
    if precision <= MAX_PRECISION:
        return f"decimal({precision},{scale})"
    whole = precision - scale
    return f"decimal({MAX_PRECISION},{max(MAX_PRECISION - whole, min(scale, 6))})"


def arithmetic_type(operator: str, left: str, right: str) -> str:
    """The type of `left operator right` for numbers; of `/` it is never integral."""
    common = wider_number(left, right)
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


def check_modelled(type_name: str, where: str) -> None:
    """Raises `UnsupportedFeature` for values of a type that is not modelled."""
    if not has_values(type_name):
        raise UnsupportedFeature(f"values of type {type_name} in {where}")
