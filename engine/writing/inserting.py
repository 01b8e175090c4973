"""Making rows of a source into rows of the target.

Source: DeltaAnalysis (by ordinal and by name resolution), PreprocessTableInsert (store
assignment).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from sqlglot import exp

from whitecap.engine.errors import DeltaError
from whitecap.engine.log.actions import Metadata
from whitecap.engine.log.schema import Field, Schema, schema_of_metadata
from whitecap.engine.query.sources import Projection, Source, projection
from whitecap.engine.refusals import column_errors, write_errors
from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.expressions.terms import Term, column
from whitecap.engine.sql.parsing.statements import Insert, reads_tables
from whitecap.engine.sql.predicates.compiler import compile_term
from whitecap.engine.storage.requests import Row
from whitecap.engine.values.types import Session
from whitecap.engine.writing.assigning import inserted
from whitecap.engine.writing.files import in_task
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


class InsertPlan(Struct, frozen=True):
    """How a row of the source becomes one of the target, and which columns the source gives.

    `complete` computes the generated columns that it gives no value for; `counted` are the identity
    columns that are numbered. `project` makes rows, `None` where parameters say how.
    """

    terms: list[Term]
    given: tuple[str, ...]
    complete: Completion | None
    counted: Counted
    project: Projection | None


def insert_plan(statement: Insert, source: Source, schema: Schema, session: Session) -> InsertPlan:
    """The plan, compiled once for these columns."""
    key = source.names, source.types, session
    return statement.plans.of(schema, key, lambda: _planned(statement, source, schema, session))


def _planned(statement: Insert, source: Source, schema: Schema, session: Session) -> InsertPlan:
    """One term for each target column. Raises `DeltaError` if the columns do not fit."""
    check_names(statement, schema)
    scope = Scope((), session)
    static = {
        name.lower(): _static_value(node, scope)
        for name, node in statement.partition
        if node is not None
    }
    filled = enumerate(_filled_by_source(statement, source, schema, static))
    given = static | {name.lower(): column(at, source.types[at]) for at, name in filled}
    names = tuple(given)
    check_given(schema, names)
    if statement.columns:
        _check_required(schema, names)
    terms = [_term(field, given, session) for field in schema]
    complete, counted = completion(schema, names, session), counted_columns(schema, names)
    project = None if statement.partition else projection(terms, {}, len(source.names))
    return InsertPlan(terms, names, complete, counted, project)


def _filled_by_source(
    statement: Insert, source: Source, schema: Schema, static: Mapping[str, Term]
) -> list[str]:
    """The target's columns that the source's fill, in the source's order. Raises `DeltaError`."""
    order = statement.columns or (source.names if statement.by_name else ())
    names = [name for name in order or schema.names if name.lower() not in static]
    if len(names) != len(source.names):
        if {name.lower() for name in source.names} & static.keys():
            raise _given_beside_partition(statement, source, static)
        raise _wrong_arity(statement, schema, len(source.names), len(names), len(static))
    if statement.by_name and not statement.columns:
        if len(names) + len(static) < len(schema):
            _check_required(schema, [*(name.lower() for name in names), *static])
        _check_source_fits(source, schema)
    return names


def _given_beside_partition(
    statement: Insert, source: Source, static: Mapping[str, Term]
) -> DeltaError:
    """What Spark says about a column that PARTITION gives a value and the query as well."""
    if statement.by_name:
        return write_errors.static_column_given(source.names)
    return write_errors.given_twice([*source.names, *static])


def _check_required(schema: Schema, given: Sequence[str]) -> None:
    """What is given leaves out no column that must have a value. Raises `DeltaError`."""
    for field in schema:
        if not (field.nullable or field.name.lower() in given or is_made_up(field)):
            raise write_errors.required_column(field.name)


def _static_value(node: exp.Expr, scope: Scope) -> Term:
    return compile_term(partition_text(node) if isinstance(node, exp.Literal) else node, scope)


def partition_text(number: exp.Literal) -> exp.Literal:
    """The text that a number in a PARTITION clause is to Spark: of `01` it is '1'."""
    text = compile_term(exp.cast(number.copy(), "string"), Scope(())).bind({}).value
    return exp.Literal.string(text)


def _term(field: Field, given: Mapping[str, Term], session: Session) -> Term:
    term = given.get(field.name.lower())
    if term is None:
        return default_term(field, session)
    return inserted(term, field, session)


def check_names(statement: Insert, schema: Schema) -> None:
    """The names in a column list, which no evolution makes. Raises `DeltaError` for wrong ones."""
    seen: set[str] = set()
    for name in statement.columns:
        if schema.get(name) is None:
            raise column_errors.no_such_column(name, schema.names)
        if name.lower() in seen:
            raise write_errors.column_named_twice(name)
        seen.add(name.lower())


def _check_source_fits(source: Source, schema: Schema) -> None:
    """Raises `DeltaError` for columns that the table lacks, or that come twice.

    Delta counts them, and looks for each, only where one has to be cast or is spelt in another
    case; else its command finds them. Source: DeltaAnalysis.scala: needsSchemaAdjustmentByName,
    resolveQueryColumnsByName; SchemaUtils.scala: isReadCompatible.
    """
    names, columns = source.names, [schema.get(name) for name in source.names]
    if len({name.lower() for name in names}) < len(names):
        raise write_errors.read_twice(names)
    given = zip(names, source.types, columns, strict=True)
    adjusted = any(c is not None and (c.name, c.type) != (name, kind) for name, kind, c in given)
    if adjusted and len(names) > len(schema):
        raise write_errors.wrong_number_of_columns(len(names), len(schema))
    lacking = [name for name, c in zip(names, columns, strict=True) if c is None]
    if lacking:
        refused = write_errors.missing_column(lacking[0], schema.names)
        raise refused if adjusted else write_errors.too_many_columns()


def _wrong_arity(
    statement: Insert, schema: Schema, given: int, wanted: int, static: int
) -> DeltaError:
    """What Spark says about too many or too few columns: it depends on how they are named."""
    if statement.columns:
        return write_errors.wrong_number_of_columns(given, wanted)
    if given > wanted:
        return write_errors.too_many_columns()
    return write_errors.not_enough_columns(statement.table.name, given + static, len(schema))


def rows_for(statement: Insert, source: Source, metadata: Metadata, session: Session) -> Generated:
    """The rows to write, by task. Raises `DeltaError` if the columns do not fit."""
    schema = schema_of_metadata(metadata)
    if schema.fields and len(metadata.partition_columns) == len(schema):
        raise write_errors.only_partition_columns()
    plan = insert_plan(statement, source, schema, session)
    project = plan.project
    if project is None:
        project = projection(plan.terms, statement.parameters, len(source.names))
    complete: Callable[[Row], Row] | None = plan.complete
    if reads_tables(statement.query):  # else the optimizer computes it
        project = in_task(project, metadata)
        complete = None if complete is None else in_task(complete, metadata)
    tasks = [[project(row) for row in task] for task in source.tasks]
    partitioned = bool(metadata.partition_columns)
    return generated(tasks, schema, plan.given, plan.counted, complete, partitioned)
