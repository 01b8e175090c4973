"""Functions of the rows of a group. Source: Spark's aggregate expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from typing import Any

from msgspec import Struct

from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.sql.expressions.terms import Term, convert
from whitecap.engine.sql.functions.guard import BOOLEAN, NUMBER, Takes, arguments, check_count
from whitecap.engine.sql.functions.spans import OF_DAYS, OF_TIME
from whitecap.engine.values.keys import sort_key
from whitecap.engine.values.texts import to_scale
from whitecap.engine.values.types import (
    MAX_PRECISION,
    WIDE,
    Session,
    decimal_shape,
    fit_integer,
    has_values,
    is_decimal,
    is_integral,
)


class Fold(Struct, frozen=True):
    """What an aggregate takes, its type by that of its argument, and its value.

    `value` is told the values that are not NULL, and the type of what it gives.
    """

    takes: Takes
    gives: Callable[[str], str]
    value: Callable[[list[Any], str], Any]


def _any(name: str, terms: Sequence[Term], _session: Session) -> Sequence[Term]:
    check_count(name, len(terms), 1, 1)
    if not has_values(terms[0].type):
        raise UnsupportedFeature(f"values of type {terms[0].type} in {name}")
    return terms


def _countable(name: str, terms: Sequence[Term], _session: Session) -> Sequence[Term]:
    check_count(name, len(terms), 1, None)
    if len(terms) > 1:
        raise UnsupportedFeature(f"several columns in {name}")
    return terms


def _same(type_name: str) -> str:
    return type_name


def _bigint(_type_name: str) -> str:
    return "bigint"


def _capped(precision: int, scale: int) -> str:
    """Each at most as a decimal has them; no digit before the point is bought with one after it.

    Source: DecimalType.bounded.
    """
    return f"decimal({min(precision, MAX_PRECISION)},{min(scale, MAX_PRECISION)})"


def _sum_type(type_name: str) -> str:
    """Source: Sum.scala: resultType."""
    if is_decimal(type_name):
        precision, scale = decimal_shape(type_name)
        return _capped(precision + 10, scale)
    return "bigint" if is_integral(type_name) else "double"


def _average_type(type_name: str) -> str:
    """Source: Average.scala: resultType."""
    if is_decimal(type_name):
        precision, scale = decimal_shape(type_name)
        return _capped(precision + 4, scale + 4)
    return "double"


def _sum(values: list[Any], type_name: str) -> Any:
    if not values:
        return None
    if is_integral(type_name):
        return fit_integer(sum(values), type_name)
    if not is_decimal(type_name):
        return _total(values)
    with localcontext(WIDE):
        return to_scale(sum(values, Decimal(0)), type_name)


def _average(values: list[Any], type_name: str) -> Any:
    if not values:
        return None
    if not is_decimal(type_name):
        return _total(values) / len(values)
    with localcontext(WIDE):
        return to_scale(sum(values) / len(values), type_name)


def _total(values: list[Any]) -> float:
    """Numbers added as DOUBLEs one after the other: Python's own sum() corrects what that loses."""
    total = 0.0
    for value in values:
        total += float(value)
    return total


def _summed(name: str, terms: Sequence[Term], session: Session) -> Sequence[Term]:
    """Numbers; instants are counted in seconds."""
    for term in terms:
        if term.type in (OF_DAYS, OF_TIME):
            raise UnsupportedFeature(f"intervals in {name}")
    numbers = [convert(t, "double", session) if t.type == "timestamp" else t for t in terms]
    return arguments(NUMBER)(name, numbers, session)


AGGREGATES: dict[str, Fold] = {
    "count": Fold(_countable, _bigint, lambda values, _type: len(values)),
    "count_if": Fold(arguments(BOOLEAN), _bigint, lambda values, _type: sum(values)),
    "min": Fold(_any, _same, lambda values, _type: min(values, default=None, key=sort_key)),
    "max": Fold(_any, _same, lambda values, _type: max(values, default=None, key=sort_key)),
    "sum": Fold(_summed, _sum_type, _sum),
    "avg": Fold(_summed, _average_type, _average),
}
"""By Spark's names."""
