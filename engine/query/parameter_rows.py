"""The rows of a VALUES that a parameter holds, and the names of a VALUES' columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.sql.expressions.terms import Parameters
from whitecap.engine.storage.requests import Row
from whitecap.engine.values.types import type_of

_TUPLE = frozenset({tuple})
_LEAST, _MOST = -(2**63), 2**63 - 1
_MISMATCH = "ParseException", "INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH"


def rows_of_parameter(
    name: str, parameters: Parameters, columns: Sequence[str]
) -> tuple[tuple[str, ...], Sequence[Row]]:
    """Types and rows: Python types say what values are; whole numbers are BIGINT.

    Raises `InvalidInput` for a value that is no rows, or rows of different lengths.
    """
    rows = parameters[name]
    if not (isinstance(rows, Sequence) and _are_tuples(rows)):
        raise InvalidInput([Problem(f":{name}", "holds no rows")])
    if not rows:
        return ("void",) * len(columns), rows
    check_widths(rows)
    if None not in rows[0]:
        return tuple(map(_type_of, rows[0])), rows
    return tuple(map(_type, zip(*rows, strict=True))), rows


def _are_tuples(rows: Sequence[Any]) -> bool:
    return set(map(type, rows)) <= _TUPLE or all(isinstance(row, tuple) for row in rows)


def check_widths(rows: Sequence[Sequence[Any]]) -> None:
    """Raises `InvalidInput` unless all rows of a VALUES have as many values."""
    if len(set(map(len, rows))) > 1:
        text = "rows have different numbers of values"
        raise InvalidInput([Problem("VALUES", text, refused_as=_MISMATCH)])


def value_names(columns: Sequence[str], count: int) -> tuple[str, ...]:
    """The columns' names: those after the alias, else Spark's.

    Raises `InvalidInput` for more or fewer names than columns, as Spark's parser does.
    """
    if columns and len(columns) != count:
        text = f"{len(columns)} names for {count} columns"
        raise InvalidInput([Problem("VALUES", text, refused_as=_MISMATCH)])
    return tuple(columns) or tuple(f"col{at + 1}" for at in range(count))


def _type(values: Iterable[Any]) -> str:
    for value in values:
        if value is not None:
            return _type_of(value)
    return "void"


def _type_of(value: Any) -> str:
    if type(value) is int and _LEAST <= value <= _MOST:
        return "bigint"
    kind = type_of(value)
    return "bigint" if kind == "int" else kind
