"""Making rows of a source into rows of the target, checked as Delta checks what is written.

Source: DeltaAnalysis (by ordinal and by name resolution), PreprocessTableInsert (store
assignment), schema/DeltaInvariantCheckerExec (NOT NULL and CHECK constraints).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from engine.commands.generation import Generated, check_given, default_term, generated
from engine.commands.sources import Source, projection
from engine.errors import DeltaError
from engine.log.actions import Metadata
from engine.log.properties import CONSTRAINT_PREFIX
from engine.log.schema import Field, Schema, schema_of_metadata
from engine.sql.compiler import compile_term
from engine.sql.predicates import Predicate, parse_predicate
from engine.sql.scope import Scope, schema_scope
from engine.sql.statements import Insert
from engine.sql.terms import Term, column, convert
from engine.sql.types import Session
from engine.storage.requests import Row


def arity_mismatch(schema: Schema, given: int) -> DeltaError:
    """The source has too few or too many columns. Source: DeltaErrors.notEnoughColumnsInInsert."""
    error_class = "DELTA_INSERT_COLUMN_ARITY_MISMATCH"
    text = f"the table has {len(schema)} column(s), the data {given}"
    return DeltaError("DeltaAnalysisException", error_class, f"[{error_class}] {text}")


def duplicate_columns(names: Iterable[str]) -> DeltaError:
    """The source has a column that a PARTITION clause gives as well."""
    error_class = "DELTA_DUPLICATE_COLUMNS_FOUND.DATA"
    text = f"Found duplicate column(s) in the data to save: {', '.join(names)}."
    return DeltaError("DeltaAnalysisException", error_class, f"[{error_class}] {text}")


@dataclass(frozen=True, slots=True)
class InsertPlan:
    """How a row of the source becomes one of the target, and which columns the source gives."""

    terms: list[Term]
    given: tuple[str, ...]


def insert_plan(statement: Insert, source: Source, schema: Schema, session: Session) -> InsertPlan:
    """The plan, compiled once for these columns."""
    key = (id(schema), source.names, source.types, session)
    known = statement.plans.get(key)
    if known is None or known[0] is not schema:
        plan = _planned(statement, source, schema, session)
        known = statement.plans[key] = (schema, plan)
    return known[1]


def _planned(statement: Insert, source: Source, schema: Schema, session: Session) -> InsertPlan:
    """One term for each target column. Raises `DeltaError` if the columns do not fit."""
    given: dict[str, Term] = {}
    scope = Scope((), session)
    for name, node in statement.partition:
        if node is not None:
            given[name.lower()] = compile_term(node, scope)
    order = statement.columns or (source.names if statement.by_name else ())
    names = [n for n in order or schema.names if n.lower() not in given]
    if len(names) != len(source.names):
        if {name.lower() for name in source.names} & given.keys():
            raise duplicate_columns(source.names)
        raise arity_mismatch(schema, len(source.names) + len(given))
    for at, name in enumerate(names):
        schema_scope(schema).find(name, "")
        given[name.lower()] = column(at, source.types[at])
    check_given(schema, tuple(given))
    terms = [_term(column, given, session) for column in schema]
    return InsertPlan(terms, tuple(given))


def _term(column: Field, given: Mapping[str, Term], session: Session) -> Term:
    found = given.get(column.name.lower())
    if found is None:
        return default_term(column, session)
    return convert(found, column.type, session)


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


def rows_for(statement: Insert, source: Source, metadata: Metadata, session: Session) -> Generated:
    """The rows to write, by task. Raises `DeltaError` for a row that may not be in the table."""
    schema = schema_of_metadata(metadata)
    plan = insert_plan(statement, source, schema, session)
    project = projection(plan.terms, statement.parameters, len(source.names))
    tasks = [[project(row) for row in task] for task in source.tasks]
    made = generated(tasks, schema, plan.given, session)
    check = row_check(metadata, session)
    if check is not None:
        for task in made.tasks:
            for row in task:
                check(row)
    return made
