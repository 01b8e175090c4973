"""What a row must be that a table may hold: NOT NULL, limits of texts, CHECK, generated columns.

Source: schema/DeltaInvariantCheckerExec.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache, partial
from typing import NamedTuple

from whitecap.engine.errors import DeltaError
from whitecap.engine.log.actions import Metadata
from whitecap.engine.log.columns.type_changes import text_limit, without_limits
from whitecap.engine.log.properties import CONSTRAINT_PREFIX
from whitecap.engine.log.schema import Schema, schema_of_metadata
from whitecap.engine.remembered import Plans
from whitecap.engine.sql.predicates.predicate import Predicate, parse_predicate
from whitecap.engine.storage.requests import Row
from whitecap.engine.values.texts import to_text
from whitecap.engine.values.types import EPOCH, Session
from whitecap.engine.writing.files import Check
from whitecap.engine.writing.generation import generation_conditions

INVARIANT = "DeltaInvariantViolationException"

_CHECKS = Plans()


def row_check(
    metadata: Metadata, session: Session, given: Collection[str] | None = None
) -> Check | None:
    """Raises `DeltaError` for a row that the table may not hold; `None` if it may hold any.

    NOT NULL, the limits of texts, CHECK constraints and generated columns say what it may; of the
    latter only the given ones, by names in lower case, are checked, all of them by default.
    """
    key = session, None if given is None else frozenset(given)
    return _CHECKS.of(metadata, key, lambda: _made_check(metadata, session, given))


class _Rule(NamedTuple):
    """What no row may be, with the error's class and what it says of a row that is it."""

    is_broken: Callable[[Row], bool]
    error_class: str
    text_of: Callable[[Row], str]


def _made_check(
    metadata: Metadata, session: Session, given: Collection[str] | None
) -> Check | None:
    schema = schema_of_metadata(metadata)
    names = {name.lower() for name in schema.names} if given is None else given
    # What fills up constants beside CHAR columns passes over partitions here, and over what is
    # generated. Seen on Delta Lake 4.4.0.
    checks, generations = (
        [_condition_holds(name, each, columns, session) for name, each in _conditions(named)]
        for named, columns in (
            (_named_checks(metadata), without_limits(schema, metadata.partition_columns)),
            (tuple(generation_conditions(schema, names)), without_limits(schema, schema.names)),
        )
    )
    # Of several that a row breaks, the first in this order is told. Seen on Delta Lake 4.4.0.
    rules = (*checks, *_not_null(schema), *_text_limits(schema), *generations)
    if not rules:
        return None

    def check(row: Row) -> None:
        for rule in rules:
            if rule.is_broken(row):
                raise DeltaError.of_class(INVARIANT, rule.error_class, rule.text_of(row))

    return check


@lru_cache(maxsize=256)
def _conditions(named: tuple[tuple[str, str], ...]) -> tuple[tuple[str, Predicate], ...]:
    return tuple((name, parse_predicate(text)) for name, text in named)


def _named_checks(metadata: Metadata) -> tuple[tuple[str, str], ...]:
    return tuple(
        (key.removeprefix(CONSTRAINT_PREFIX), text)
        for key, text in sorted(metadata.configuration.items())
        if key.startswith(CONSTRAINT_PREFIX)
    )


def _not_null(schema: Schema) -> Iterator[_Rule]:
    error_class = "DELTA_NOT_NULL_CONSTRAINT_VIOLATED"
    for at, field in enumerate(schema):
        if not field.nullable:
            text = f"NOT NULL constraint violated for column: {field.name}."
            yield _Rule(partial(_is_null, at), error_class, partial(_always, text))


def _always(text: str, _: Row) -> str:
    return text


def _is_null(at: int, row: Row) -> bool:
    return row[at] is None


def _text_limits(schema: Schema) -> Iterator[_Rule]:
    error_class = "DELTA_EXCEED_CHAR_VARCHAR_LIMIT"
    for at, field in enumerate(schema):
        limit = text_limit(field)
        if limit is not None:
            condition = f"(({field.name} IS NULL) OR (length({field.name}) <= {limit.letters}))"
            text_of = partial(_too_long, at, condition)
            yield _Rule(partial(_is_longer, at, limit.letters), error_class, text_of)


def _too_long(at: int, condition: str, row: Row) -> str:
    """Source: CharVarcharConstraint.scala, InvariantViolationException.scala."""
    text = f'Value "{row[at]}" exceeds char/varchar type length limitation.'
    return f"{text} Failed check: {condition}."


def _is_longer(at: int, letters: int, row: Row) -> bool:
    return len(row[at] or "") > letters


def _condition_holds(name: str, condition: Predicate, schema: Schema, session: Session) -> _Rule:
    """Broken too where the condition is NULL."""
    test = condition.bind(schema, session)
    error_class = "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"
    read = [(each, at) for at, each in enumerate(schema.names) if each.lower() in condition.columns]
    text_of = partial(_violated, name, condition.sql, sorted(read))
    return _Rule(lambda row: test(row) is not True, error_class, text_of)


def _violated(name: str, condition: str, read: Sequence[tuple[str, int]], row: Row) -> str:
    """With the values that the constraint reads. Source: InvariantViolationException.scala."""
    values = "\n".join(f" - {column} : {_inside(row[at])}" for column, at in read)
    return f"CHECK constraint {name} ({condition}) violated by row with values:\n{values}"


def _inside(value: object) -> str:
    """A value as Spark's rows hold it: days and microseconds since 1970."""
    match value:
        case None:
            return "null"
        case datetime():
            instant = value if value.tzinfo else value.replace(tzinfo=UTC)
            return str((instant - EPOCH) // timedelta(microseconds=1))
        case date():
            return str((value - EPOCH.date()).days)
        case _:
            return to_text(value)
