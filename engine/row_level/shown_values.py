"""Values as a table's columns show them, where they were written otherwise.

A file keeps the values of a column as they were before it was widened, and the texts of a CHAR
column without the blanks that it shows them with. Source: PROTOCOL.md "Reader Requirements for Type
Widening"; Spark's ApplyCharTypePadding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from whitecap.engine.log.column_keys import TYPE_CHANGES
from whitecap.engine.log.columns.type_changes import char_letters
from whitecap.engine.log.schema import Field, Schema
from whitecap.engine.remembered import once_for_each
from whitecap.engine.storage.requests import Row
from whitecap.engine.values.casts import from_python

RowsAsRead = Callable[[Sequence[Row]], Sequence[Row]]


@once_for_each
def as_read(schema: Schema) -> RowsAsRead:
    """What makes stored rows those that a reader sees; the very same ones where nothing differs."""
    shown = [(at, show) for at, column in enumerate(schema) if (show := _shown(column))]
    if not shown:
        return lambda rows: rows

    def seen(row: Row) -> Row:
        values = list(row)
        for at, show in shown:
            values[at] = None if values[at] is None else show(values[at])
        return tuple(values)

    return lambda rows: [seen(row) for row in rows]


def _shown(column: Field) -> Callable[[Any], Any] | None:
    if TYPE_CHANGES in column.metadata:
        return lambda value: from_python(value, column.type)
    letters = char_letters(column)
    return None if letters is None else lambda text: text.ljust(letters)
