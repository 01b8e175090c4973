"""Columns whose values the table makes up: defaults, expressions over other columns, identities.

Source: ColumnWithDefaultExprUtils.scala, GeneratedColumn.scala, GenerateIdentityValues.scala.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from whitecap.engine.commands import errors, write_errors
from whitecap.engine.log.identity import Identity, identity_of
from whitecap.engine.log.schema import Field, Schema
from whitecap.engine.sql.compiler import compile_term
from whitecap.engine.sql.scope import Scope, schema_scope
from whitecap.engine.sql.terms import Term, convert, literal
from whitecap.engine.sql.text import parse_condition
from whitecap.engine.sql.types import Session
from whitecap.engine.storage.requests import Row

DEFAULT = "CURRENT_DEFAULT"
EXPRESSION = "delta.generationExpression"


def default_term(column: Field, session: Session) -> Term:
    """The value of a column that a write leaves out: its default, else NULL."""
    text = column.metadata.get(DEFAULT)
    if text is None:
        return literal(None, column.type)
    return convert(compile_term(parse_condition(text), Scope((), session)), column.type, session)


def check_expressions(schema: Schema, session: Session) -> None:
    """Raises `DeltaError` for a generated column whose expression has another type."""
    scope = schema_scope(schema, session=session)
    for column in schema:
        text = column.metadata.get(EXPRESSION)
        kind = column.type if text is None else compile_term(parse_condition(text), scope).type
        if kind != column.type:
            raise write_errors.generated_type(column.name, kind, column.type)


def is_made_up(column: Field) -> bool:
    """Whether the table has a value of its own for a column that a write leaves out."""
    known = column.metadata.keys() & {DEFAULT, EXPRESSION}
    return bool(known) or identity_of(column) is not None


def check_given(schema: Schema, given: Sequence[str]) -> None:
    """Raises `DeltaError` for values of a column that only the table may fill."""
    for name in given:
        column = schema.get(name)
        identity = None if column is None else identity_of(column)
        if identity is not None and not identity.allows_explicit_insert:
            raise errors.identity_given(name)


@dataclass(frozen=True, slots=True)
class Generated:
    """Rows with what the table made up, and the identity columns' last values by physical name."""

    tasks: Sequence[Sequence[Row]]
    marks: dict[str, int]


def generated(
    tasks: Sequence[Sequence[Row]], schema: Schema, given: Sequence[str], session: Session
) -> Generated:
    """Fill the columns that a write leaves out, in rows that already have defaults."""
    left_out = _left_out(schema, given)
    expressions = [(at, _expression(column, schema, session)) for at, column in left_out]
    computed = [(at, compute) for at, compute in expressions if compute is not None]
    counted = [(at, i) for at, column in left_out if (i := identity_of(column)) is not None]
    if not computed and not counted:
        return Generated(tasks, {})
    filled = [
        [_filled(row, computed, counted, number, place, len(tasks)) for number, row in enumerate(r)]
        for place, r in enumerate(tasks)
    ]
    rows = [row for task in filled for row in task]
    names = schema.physical_names
    marks = {names[at]: identity.farthest([row[at] for row in rows]) for at, identity in counted}
    return Generated(filled, marks if rows else {})


def _left_out(schema: Schema, given: Sequence[str]) -> list[tuple[int, Field]]:
    named = {name.lower() for name in given}
    return [(at, column) for at, column in enumerate(schema) if column.name.lower() not in named]


def _expression(column: Field, schema: Schema, session: Session) -> Callable[[Row], object] | None:
    text = column.metadata.get(EXPRESSION)
    if text is None:
        return None
    term = compile_term(parse_condition(text), schema_scope(schema, session=session))
    return convert(term, column.type, session).bind({}).evaluate


def _filled(
    row: Row,
    computed: Sequence[tuple[int, Callable[[Row], object]]],
    counted: Sequence[tuple[int, Identity]],
    number: int,
    task: int,
    tasks: int,
) -> Row:
    """Each task counts on its own, in steps as wide as there are tasks."""
    values = list(row)
    for at, identity in counted:
        values[at] = identity.next_value + identity.step * (task + number * tasks)
    for at, compute in computed:
        values[at] = compute(tuple(values))
    return tuple(values)
