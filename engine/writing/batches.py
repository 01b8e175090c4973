"""Making rows of a stream's batch into rows of the target, column by column by their names.

Source: DeltaSink.scala (getWriteSchema, castDataIfNeeded), ImplicitMetadataOperation.scala,
TransactionalWrite.scala (normalizeData), DeltaInvariantCheckerExec.scala.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from sqlglot import exp

from whitecap.engine.log.actions import Metadata
from whitecap.engine.log.column_keys import GENERATION_EXPRESSION
from whitecap.engine.log.schema import Field, Schema, schema_of_metadata
from whitecap.engine.query.sources import Projection, projection
from whitecap.engine.refusals import column_errors, write_errors
from whitecap.engine.refusals.kinds import IN_PLAN
from whitecap.engine.remembered import Plans
from whitecap.engine.sql.expressions.syntax_trees import parse_condition
from whitecap.engine.sql.expressions.terms import Term, column
from whitecap.engine.storage.requests import Row
from whitecap.engine.values.coercion import is_cast_by_stream
from whitecap.engine.values.types import Session
from whitecap.engine.writing.assigning import inserted
from whitecap.engine.writing.files import Check, in_task
from whitecap.engine.writing.generation import (
    Completion,
    Counted,
    Generated,
    check_given,
    completion,
    counted_columns,
    default_term,
    generated,
    is_made_up,
)
from whitecap.engine.writing.row_checks import row_check

_PLANS = Plans()


class BatchPlan(Struct, frozen=True):
    """How the rows of a batch become those of the table; `check` is what they have to pass.

    `complete` computes the generated columns that the batch lacks, `counted` are the identity
    columns that it lacks.
    """

    schema: Schema
    given: tuple[str, ...]
    make: Projection
    complete: Completion | None
    counted: Counted
    check: Check | None

    @property
    def only_maps(self) -> bool:
        """Whether the table makes up nothing, so that each row is made by itself."""
        return self.complete is None and not self.counted

    def rows(self, rows: Sequence[Row], metadata: Metadata) -> Generated:
        """The rows to write: one task writes them all."""
        complete = None if self.complete is None else in_task(self.complete, metadata)
        tasks = [[self.make(row) for row in rows]]
        partitioned = bool(metadata.partition_columns)
        return generated(tasks, self.schema, self.given, self.counted, complete, partitioned)


def check_batch(given: Schema, schema: Schema, adds_columns: bool = False) -> None:
    """Raises `DeltaError` for a batch's columns that those of the table cannot take in."""
    if any(field.type == "void" for field in given):
        raise write_errors.void_in_stream()
    check_given(schema, given.names)
    for field in given:
        own = schema.get(field.name)
        if own is not None and not is_cast_by_stream(field.type, own.type):
            raise write_errors.fields_not_merged(field.name)
    if not adds_columns and any(schema.get(name) is None for name in given.names):
        raise write_errors.too_many_columns()


def batch_plan(given: Schema, metadata: Metadata, session: Session) -> BatchPlan:
    """The plan, made once for these columns. Raises `DeltaError` for what the batch lacks."""
    key = given.names, given.types, session
    return _PLANS.of(metadata, key, lambda: _planned(given, metadata, session))


def _planned(given: Schema, metadata: Metadata, session: Session) -> BatchPlan:
    schema = schema_of_metadata(metadata)
    _check_expressions(given, schema)
    _check_left_out(given, schema, metadata.partition_columns)
    terms = [_term(given, field, session) for field in schema]
    names = given.names
    complete, counted = completion(schema, names, session), counted_columns(schema, names)
    make = in_task(projection(terms, {}, len(given)), metadata)
    check = row_check(metadata, session, frozenset(name.lower() for name in names))
    return BatchPlan(schema, names, make, complete, counted, check)


def _term(given: Schema, field: Field, session: Session) -> Term:
    own = given.get(field.name)
    if own is None:
        return default_term(field, session)
    at = given.index(field.name)
    return inserted(column(at, own.type), field, session)


def _check_expressions(given: Schema, schema: Schema) -> None:
    """A generated column that the batch lacks is computed from columns that have a value."""
    left_out = [field for field in schema if given.get(field.name) is None]
    lacking = {field.name.lower() for field in left_out if not is_made_up(field)}
    texts = (field.metadata.get(GENERATION_EXPRESSION) for field in left_out)
    for text in texts:
        for reference in () if text is None else parse_condition(str(text)).find_all(exp.Column):
            if reference.name.lower() in lacking:
                raise column_errors.no_such_column(reference.name, given.names, IN_PLAN)


def _check_left_out(given: Schema, schema: Schema, partitions: Sequence[str]) -> None:
    """What the table does not make up must be there of partitions and NOT NULL columns."""
    left_out = [field for field in schema if given.get(field.name) is None]
    needed = [field for field in left_out if not is_made_up(field)]
    for field in needed:
        if field.name in partitions:
            raise write_errors.no_partition_column(field.name, given.names)
    for field in needed:
        if not field.nullable:
            raise write_errors.column_not_null(field.name)
