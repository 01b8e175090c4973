"""Columns whose values the table makes up: defaults, expressions over other columns, identities.

Source: ColumnWithDefaultExprUtils.scala, GeneratedColumn.scala, GenerateIdentityValues.scala.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from whitecap.engine.column_names import quoted_name
from whitecap.engine.log.column_keys import CURRENT_DEFAULT, GENERATION_EXPRESSION
from whitecap.engine.log.columns.identity import Identity, identity_of, is_computed
from whitecap.engine.log.schema import Field, Schema
from whitecap.engine.query.sources import Projection, projection
from whitecap.engine.refusals import command_errors, write_errors
from whitecap.engine.sql.expressions.scope import Scope, schema_scope
from whitecap.engine.sql.expressions.terms import Bound, Parameters, Term, convert, literal
from whitecap.engine.sql.expressions.text import parse_condition
from whitecap.engine.sql.functions.nodes import is_random
from whitecap.engine.sql.predicates.compiler import compile_term
from whitecap.engine.storage.requests import Row
from whitecap.engine.values.types import Session


def default_term(column: Field, session: Session) -> Term:
    """The value of a column that a write leaves out: its default, else NULL."""
    text = column.metadata.get(CURRENT_DEFAULT)
    if text is None:
        return literal(None, column.type)
    return convert(compile_term(parse_condition(text), Scope((), session)), column.type, session)


def check_expressions(schema: Schema, session: Session) -> None:
    """Raises `DeltaError` for a generated column whose expression has another type."""
    scope = schema_scope(schema, session=session)
    for column in schema:
        text = column.metadata.get(GENERATION_EXPRESSION)
        if text is not None and is_random(parse_condition(text)):
            raise write_errors.generated_at_random(column.name, text)
        kind = column.type if text is None else compile_term(parse_condition(text), scope).type
        if kind != column.type:
            raise write_errors.generated_type(column.name, kind, column.type)


def is_made_up(column: Field) -> bool:
    """Whether the table has a value of its own for a column that a write leaves out."""
    keys = column.metadata.keys() & {CURRENT_DEFAULT, GENERATION_EXPRESSION}
    return bool(keys) or identity_of(column) is not None


def given_columns(schema: Schema, rows: Sequence[Mapping[str, Any]]) -> Schema:
    """The columns of rows by name, but for those that the table computes and no row has."""
    return Schema(tuple(c for c in schema if not is_computed(c) or any(c.name in r for r in rows)))


def check_given(schema: Schema, given: Sequence[str]) -> None:
    """Raises `DeltaError` for values of a column that only the table may fill."""
    for name in given:
        column = schema.get(name)
        identity = None if column is None else identity_of(column)
        if identity is not None and not identity.allows_explicit_insert:
            raise command_errors.identity_given(name)


def check_changeable(column: Field) -> None:
    """Raises `DeltaError` for an identity column, which nobody may give another value.

    Source: IdentityColumn.scala: blockIdentityColumnUpdate.
    """
    if identity_of(column) is not None:
        raise command_errors.identity_updated(column.name)


Tasks = Sequence[Sequence[Row]]
"""Rows by the task that writes them."""


@dataclass(frozen=True, slots=True)
class Generated:
    """Rows with what the table made up, and the identity columns' last values by physical name.

    `given` are the columns that it did not make up, in lower case.
    """

    tasks: Tasks
    marks: dict[str, int]
    given: frozenset[str]


def generated(
    tasks: Tasks,
    schema: Schema,
    given: Sequence[str],
    counted: Counted,
    complete: Callable[[Row], Row] | None,
    is_partitioned: bool,
) -> Generated:
    """Fill the columns that a write leaves out, in rows that already have defaults.

    Where no rows come to a table with partitions, no file is opened and no mark is set, not even to
    where it was. Source: DynamicPartitionDataSingleWriter; seen on Delta Lake 4.4.0.
    """
    filled = numbered(tasks, counted)
    if complete is not None:
        filled = [[complete(row) for row in task] for task in filled]
    marks = identity_marks(filled, schema, counted, of_none=not is_partitioned)
    return Generated(filled, marks, frozenset(name.lower() for name in given))


class _Expression:
    """What computes one generated column, at position `at`, from those at positions `reads`."""

    def __init__(self, at: int, text: str, column: Field, schema: Schema, session: Session) -> None:
        node = parse_condition(text)
        term = compile_term(node, schema_scope(schema, session=session))
        references = node.find_all(exp.Column)
        names = {part.name.lower() for reference in references for part in reference.parts}
        self.at = at
        self.reads = [place for place, f in enumerate(schema) if f.name.lower() in names]
        self.compute = convert(term, column.type, session).bind({}).evaluate


@dataclass(frozen=True, slots=True)
class Completion:
    """Computes a row's generated columns."""

    expressions: tuple[_Expression, ...]

    def __call__(self, row: Row) -> Row:
        """The row with its generated columns."""
        values = list(row)
        for expression in self.expressions:
            values[expression.at] = expression.compute(row)
        return tuple(values)

    def check_constants(self, bounds: Sequence[Bound]) -> None:
        """Raises `DeltaError` for what fails whatever the rows are.

        Spark's optimizer computes it, before any row is read. Source: ConstantFolding.
        """
        row = [bound.value for bound in bounds]
        for expression in self.expressions:
            if all(bounds[at].is_constant for at in expression.reads):
                expression.compute(row)


def completion(schema: Schema, given: Sequence[str], session: Session) -> Completion | None:
    """What computes a row's generated columns, but for the given ones; `None` if there are none.

    Source: UpdateExpressionsSupport.scala: generateUpdateExprsForGeneratedColumns (UPDATE and MERGE
    compute them from the row's new values), ColumnWithDefaultExprUtils.scala (INSERT).
    """
    expressions = tuple(
        _Expression(at, str(text), column, schema, session)
        for at, column in _left_out(schema, given)
        if (text := column.metadata.get(GENERATION_EXPRESSION)) is not None
    )
    return Completion(expressions) if expressions else None


def completed(
    terms: Sequence[Term], parameters: Parameters, width: int, complete: Completion | None
) -> Projection:
    """What makes of a row of `width` values another one, with its generated columns.

    Raises `DeltaError` where constants alone make a generated column fail.
    """
    make = projection(terms, parameters, width)
    if complete is None:
        return make
    complete.check_constants([term.bind(parameters) for term in terms])
    return lambda row: complete(make(row))


def generation_conditions(schema: Schema, given: Collection[str]) -> list[tuple[str, str]]:
    """What must hold of given generated columns, with a name for it; their names in lower case.

    Source: ColumnWithDefaultExprUtils.scala: addDefaultExprsOrReturnConstraints.
    """
    texts = ((column, column.metadata.get(GENERATION_EXPRESSION)) for column in schema)
    return [
        ("Generated Column", f"{quoted_name(column.name)} <=> ({text})")
        for column, text in texts
        if text is not None and column.name.lower() in given
    ]


def _left_out(schema: Schema, given: Sequence[str]) -> list[tuple[int, Field]]:
    named = {name.lower() for name in given}
    return [(at, column) for at, column in enumerate(schema) if column.name.lower() not in named]


Counted = Sequence[tuple[int, Identity]]
"""Identity columns whose values a write counts, with their positions."""


def counted_columns(schema: Schema, given: Sequence[str]) -> Counted:
    """The identity columns that a write leaves out."""
    identities = [(at, i) for at, c in enumerate(schema) if (i := identity_of(c)) is not None]
    if not identities:
        return ()
    left_out = {at for at, _ in _left_out(schema, given)}
    return [(at, identity) for at, identity in identities if at in left_out]


def numbered(tasks: Tasks, counted: Counted) -> Tasks:
    """Rows with the next values of identity columns: each task counts on its own.

    In steps as wide as there are tasks. Source: GenerateIdentityValues.scala.
    """
    if not counted:
        return tasks
    return [
        [_counted(row, counted, place + number * len(tasks)) for number, row in enumerate(rows)]
        for place, rows in enumerate(tasks)
    ]


def identity_marks(
    tasks: Tasks, schema: Schema, counted: Counted, of_none: bool = False
) -> dict[str, int]:
    """How far the identity columns got in rows that a write makes up values for.

    By physical name. Rows that only move along count too; of no rows at all, with `of_none`, it is
    as far as they were. Source: DeltaIdentityColumnStatsTracker.
    """
    marks = {}
    for at, identity in counted:
        name = schema.fields[at].physical_name
        values = [row[at] for rows in tasks for row in rows if row[at] is not None]
        if values:
            marks[name] = identity.farthest(values)
        elif of_none and identity.high_water_mark is not None:
            marks[name] = identity.high_water_mark
    return marks


def _counted(row: Row, counted: Counted, steps: int) -> Row:
    values = list(row)
    for at, identity in counted:
        values[at] = identity.next_value + identity.step * steps
    return tuple(values)
