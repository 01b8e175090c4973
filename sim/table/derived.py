"""Columns whose values follow from others of their row: generated ones, and instants of a day.

A table partitioned by the day of an instant (`day DATE GENERATED ALWAYS AS (CAST(at AS DATE))`)
lists its days, and each row's instant lies within its day.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, date, datetime, time, timedelta

from whitecap.engine.log.column_keys import GENERATION_EXPRESSION
from whitecap.engine.log.schema import Field, Schema
from whitecap.engine.values.types import Session, zone
from whitecap.engine.writing.generation import Completion, completion, instant_of_day

INSTANTS = frozenset({"timestamp", "timestamp_ntz"})

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


def days_of_instants(schema: Schema, listed: Collection[str], key: str | None) -> dict[str, str]:
    """Columns of instants, by name, with the `listed` column that is generated as their day."""
    days: dict[str, str] = {}
    for day in schema.select(tuple(listed)):
        source = schema.get(instant_of_day(day) or "")
        if source is None or source.name in (key, *listed) or is_generated(source):
            continue
        if source.type in INSTANTS:
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
