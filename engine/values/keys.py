"""What values are grouped and ordered by: of fractions NaN is one value, and the two zeros are one.

Source: Spark's NormalizeFloatingNumbers.scala, SQLOrderingUtil.scala; observed on Spark 4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan
from typing import Any

from whitecap.engine.values.types import FRACTIONAL, PARAMETER

_OF_FRACTIONS = frozenset({*FRACTIONAL, PARAMETER})
"""Types of values that may be fractions; what a parameter is shows when it is bound."""


def key_of(value: Any) -> Any:
    """The value by which equal ones are told in sets and dictionaries; others as they are."""
    if type(value) is not float:
        return value
    return nan if value != value else value + 0.0  # the object `nan` equals itself in a set


def keyed(type_name: str, evaluate: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What gives values of a type, as keys: itself for all types but those of fractions."""
    if type_name not in _OF_FRACTIONS:
        return evaluate
    return lambda row: key_of(evaluate(row))


def keyed_rows(types: Sequence[str], rows: Sequence[Any]) -> Sequence[Any]:
    """Rows of columns of such types, as keys."""
    if _OF_FRACTIONS.isdisjoint(types):
        return rows
    return [tuple(map(key_of, row)) for row in rows]


def sort_key(value: Any) -> tuple[int, Any]:
    """What values are ordered by: NULL comes first, NaN last."""
    if value is None:
        return 0, 0
    return (2, 0) if value != value else (1, value)
