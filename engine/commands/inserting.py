"""Making rows of a source into rows of the target, checked as Delta checks what is written.

Source: DeltaAnalysis (by ordinal and by name resolution), PreprocessTableInsert (store
assignment), schema/DeltaInvariantCheckerExec (NOT NULL and CHECK constraints).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from engine.commands.queries import Projection, Source, projection
from engine.errors import DeltaError
from engine.log.actions import Metadata
from engine.log.properties import CONSTRAINT_PREFIX
from engine.log.schema import Schema, schema_of_metadata
from engine.sql.compiler import compile_term
from engine.sql.predicates import Predicate, parse_predicate
from engine.sql.scope import Scope, schema_scope
from engine.sql.statements import Insert
from engine.sql.terms import Term, column, convert, literal
from engine.sql.types import Session
from engine.storage.requests import Row


def arity_mismatch(schema: Schema, given: int) -> DeltaError:
    """The source has too few or too many columns. Source: DeltaErrors.notEnoughColumnsInInsert."""
    error_class = "DELTA_INSERT_COLUMN_ARITY_MISMATCH"
    text = f"the table has {len(schema)} column(s), the data {given}"
    return DeltaError("DeltaAnalysisException", error_class, f"[{error_class}] {text}")


def insert_projection(
    statement: Insert, source: Source, schema: Schema, session: Session
) -> Projection:
    """How a row of the source becomes a row of the target, compiled once for these columns."""
    key = (id(schema), source.names, source.types, session)
    known = statement.plans.get(key)
    if known is None or known[0] is not schema:
        terms = insert_terms(statement, source, schema, session)
        known = statement.plans[key] = (schema, terms)
    return projection(known[1], statement.parameters, len(source.names))


def insert_terms(statement: Insert, source: Source, schema: Schema, session: Session) -> list[Term]:
    """One term for each target column. Raises `DeltaError` if the columns do not fit."""
    given: dict[str, Term] = {}
    scope = Scope((), session)
    for name, node in statement.partition:
        if node is not None:
            given[name.lower()] = compile_term(node, scope)
    order = statement.columns or (source.names if statement.by_name else ())
    names = [n for n in order or _insert_order(statement, schema) if n.lower() not in given]
    if len(names) != len(source.names):
        raise arity_mismatch(schema, len(source.names) + len(given))
    for at, name in enumerate(names):
        schema_scope(schema).find(name, "")
        given[name.lower()] = column(at, source.types[at])
    null = literal(None, "void")
    return [convert(given.get(f.name.lower(), null), f.type, session) for f in schema]


def _insert_order(statement: Insert, schema: Schema) -> Sequence[str]:
    """Columns by position; dynamic PARTITION columns come last, as Spark places them."""
    dynamic = [name.lower() for name, node in statement.partition if node is None]
    others = [name for name in schema.names if name.lower() not in dynamic]
    return [*others, *(name for name, node in statement.partition if node is None)]


@lru_cache(maxsize=256)
def _constraints(configuration: frozenset[tuple[str, str]]) -> tuple[tuple[str, Predicate], ...]:
    return tuple(
        (key.removeprefix(CONSTRAINT_PREFIX), parse_predicate(text))
        for key, text in sorted(configuration)
    )


def row_check(metadata: Metadata, session: Session) -> Callable[[Row], None] | None:
    """Raises `DeltaError` for a row that NOT NULL or a CHECK constraint forbids; `None` if none."""
    schema = schema_of_metadata(metadata)
    checks = frozenset(
        (key, text)
        for key, text in metadata.configuration.items()
        if key.startswith(CONSTRAINT_PREFIX)
    )
    required = [(at, f.name) for at, f in enumerate(schema) if not f.nullable]
    if not checks and not required:
        return None
    tests = [(name, p.sql, p.bind(schema, session)) for name, p in _constraints(checks)]

    def check(row: Row) -> None:
        for at, name in required:
            if row[at] is None:
                raise _violation("DELTA_NOT_NULL_CONSTRAINT_VIOLATED", name, "NOT NULL")
        for name, text, test in tests:
            if test(row) is not True:
                raise _violation("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", name, text)

    return check


def _violation(error_class: str, name: str, text: str) -> DeltaError:
    return DeltaError(
        "DeltaInvariantViolationException",
        error_class,
        f"[{error_class}] constraint {name} ({text}) is violated by a row",
    )


def rows_for(
    statement: Insert, source: Source, metadata: Metadata, session: Session
) -> list[list[Row]]:
    """The rows to write, by task. Raises `DeltaError` for a row that may not be in the table."""
    schema = schema_of_metadata(metadata)
    project = insert_projection(statement, source, schema, session)
    tasks = [[project(row) for row in task] for task in source.tasks]
    check = row_check(metadata, session)
    if check is not None:
        for task in tasks:
            for row in task:
                check(row)
    return tasks
