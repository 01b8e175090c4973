"""Columns whose values follow from others of their row: generated ones, and instants of a day.

A table may list the days of its instants, by their own name or by that of a column which is
generated as their day (`day DATE GENERATED ALWAYS AS (CAST(at AS DATE))`): each row's instant lies
within its day, and other columns (`month INT GENERATED ALWAYS AS (MONTH(at))`) follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta

from whitecap.engine.errors import DeltaError
from whitecap.engine.log.column_keys import GENERATION_EXPRESSION
from whitecap.engine.log.schema import Field, Schema
from whitecap.engine.sql.expressions.rendering import sql_literal
from whitecap.engine.storage.requests import Row
from whitecap.engine.values.types import INSTANT_TYPES, Session, zone
from whitecap.engine.writing.generation import Completion, completion, instant_of_day

SECONDS = 23 * 3600
"""From a day's midnight on, its instants lie within so many: the shortest day, when a zone sets its
clocks, has no more."""

InstantOf = Callable[[date, int], datetime]
"""The instant that lies so many seconds after a day's midnight."""


def is_generated(column: Field) -> bool:
    """Whether an expression computes a column."""
    return GENERATION_EXPRESSION in column.metadata


def completion_of(schema: Schema, listed: Collection[str], session: Session) -> Completion | None:
    """What computes the generated columns without `listed` values; `None` if there are none."""
    given = [c.name for c in schema if c.name in listed or not is_generated(c)]
    return completion(schema, given, session)


def completed_rows(rows: Iterable[Row], complete: Completion, schema: Schema) -> Iterator[Row]:
    """Rows with their generated columns. Raises `DeltaError` that names the column and the row."""
    for row in rows:
        try:
            yield complete(row)
        except DeltaError as error:
            raise _uncomputable(row, complete, schema, error) from error


def _uncomputable(row: Row, complete: Completion, schema: Schema, error: DeltaError) -> DeltaError:
    """The failure of an expression, with the column that it computes and the row."""
    failing = complete.failing(row)
    if failing is None:
        return error
    at, text = failing
    given = (place for place in range(len(row)) if not complete.computes(place))
    values = ", ".join(f"{schema.names[place]} = {sql_literal(row[place])}" for place in given)
    said = f"{schema.names[at]}: {text} cannot be computed of the row with {values}: {error}"
    return DeltaError(error.exception, error.error_class, said)


def days_of_instants(schema: Schema, listed: Collection[str], key: str | None) -> dict[str, str]:
    """Columns of instants, by name, with the `listed` column that says their days."""
    columns = schema.select(tuple(listed))
    days = {column.name: column.name for column in columns if column.type in INSTANT_TYPES}
    for day in columns:
        source = schema.get(instant_of_day(day) or "")
        if source is None or source.name in (key, *listed) or is_generated(source):
            continue
        if source.type in INSTANT_TYPES:
            days.setdefault(source.name, day.name)
    return days


def instants_of(column: Field, session: Session) -> InstantOf:
    """Makes instants of a column, of days as the session's clock has them."""
    if column.type == "timestamp_ntz":
        return lambda day, second: datetime.combine(day, time()) + timedelta(seconds=second)
    midnight = time(tzinfo=zone(session.time_zone))
    return lambda day, second: (
        datetime.combine(day, midnight).astimezone(UTC) + timedelta(seconds=second)
    )
