"""CREATE TABLE AS VALUES :rows, with the types that its text gives the rows.

A new table has its columns' types from the literals: 7 is an INT there, while a parameter's whole
numbers are BIGINT. Of most values the literal's type is known without writing and reading it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from msgspec.structs import replace

from whitecap.engine.sql.parsing.statements import Statement, Values
from whitecap.engine.sql.parsing.table_statements import CreateTable
from whitecap.engine.values.types import integer_type

LITERAL_TYPES: dict[type, str] = {
    bool: "boolean",
    date: "date",
    float: "double",
    str: "string",
}
"""Python types whose literals have one type, whatever the value."""

_WHOLE = ("int", "bigint")
"""Types of the literals of whole numbers that have few enough digits, the narrower one first."""


def with_literal_types(statement: Statement) -> Statement | None:
    """The statement with the types of its rows, if it creates a table of a parameter's rows.

    `None` for another statement, and for rows whose literals have to be read to know their types.
    """
    match statement:
        case CreateTable(query=Values(rows_parameter=str(name)) as values):
            only_rows = statement.template.names == (name,)
            types = _types(statement.parameters[name]) if only_rows else None
            if types is not None:
                typed = replace(values, types=types)
                return replace(statement, query=typed)
    return None


def _types(rows: Any) -> tuple[str, ...] | None:
    if not (isinstance(rows, list) and rows and set(map(type, rows)) == {tuple}):
        return None
    if len(set(map(len, rows))) > 1:
        return None
    types = [kind for kind in map(_type, zip(*rows, strict=True)) if kind is not None]
    return tuple(types) if types and len(types) == len(rows[0]) else None


def _type(column: Sequence[Any]) -> str | None:
    """The type of a column of literals; `None` where values differ in it, or say too little."""
    kinds = set(map(type, column))
    if kinds == {int}:
        ends = {integer_type(min(column)), integer_type(max(column))}
        return next((kind for kind in _WHOLE if ends <= {"int", kind}), None)
    return LITERAL_TYPES.get(kinds.pop()) if len(kinds) == 1 else None
