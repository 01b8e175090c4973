"""CHECK constraints: ALTER TABLE ADD and DROP CONSTRAINT.

Source: alterDeltaTableCommands.scala (AlterTableAddConstraintDeltaCommand and its neighbour),
Constraints.scala.
"""

from __future__ import annotations

from msgspec.structs import replace

from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.log.actions import Metadata
from whitecap.engine.log.column_keys import GENERATION_EXPRESSION
from whitecap.engine.log.properties import CONSTRAINT_PREFIX
from whitecap.engine.log.schema import schema_of_metadata
from whitecap.engine.outcomes import Outcome
from whitecap.engine.refusals import column_errors, table_errors
from whitecap.engine.session.table import Table
from whitecap.engine.sql.expressions.columns import columns_of
from whitecap.engine.sql.expressions.rendering import Template
from whitecap.engine.sql.expressions.syntax_trees import parse_condition
from whitecap.engine.sql.parsing.check_text import kept_text
from whitecap.engine.sql.parsing.table_statements import AddConstraint, DropConstraint
from whitecap.engine.sql.predicates.compiler import CHECK_NOT_BOOLEAN
from whitecap.engine.sql.predicates.predicate import parse_predicate
from whitecap.engine.storage.requests import Steps
from whitecap.engine.writing.beginning import begin
from whitecap.engine.writing.search import search
from whitecap.engine.writing.spark_job import job


def add_constraint(table: Table, statement: AddConstraint) -> Steps[Outcome]:
    """ALTER TABLE ADD CONSTRAINT: reads every file, as all rows must satisfy it."""
    txn = yield from begin(table)
    key = CONSTRAINT_PREFIX + statement.name.lower()
    old = txn.metadata.configuration.get(key)
    if old is not None:
        raise table_errors.constraint_exists(statement.name, old)
    text = kept_text(Template.of(statement.condition).render(statement.parameters))
    parse_predicate(text).check(txn.snapshot.schema, table.session, CHECK_NOT_BOOLEAN)
    violating = parse_predicate(f"NOT coalesce({text}, FALSE)")
    yield from txn.read_state()
    violations = yield from search(table, txn, txn.filter_all_files(), [violating])
    yield from job("ADD CONSTRAINT", [file_rows for file_rows, _ in violations])
    if violations:
        count = sum(len(positions) for _, positions in violations)
        raise table_errors.constraint_violated_by_table(count, table.name, text)
    configuration = {**txn.metadata.configuration, key: text}
    metadata = replace(txn.metadata, configuration=configuration)
    parameters = {"name": statement.name, "expr": text}
    return (yield from txn.commit([metadata], Operation("ADD CONSTRAINT", parameters)))


def drop_constraint(table: Table, statement: DropConstraint) -> Steps[Outcome]:
    """ALTER TABLE DROP CONSTRAINT; with IF EXISTS it commits whether there is one or not."""
    txn = yield from begin(table)
    key = CONSTRAINT_PREFIX + statement.name.lower()
    old = txn.metadata.configuration.get(key)
    if old is None and not statement.if_exists:
        raise table_errors.no_such_constraint(statement.name, table.name)
    kept = {k: v for k, v in txn.metadata.configuration.items() if k != key}
    metadata = replace(txn.metadata, configuration=kept)
    existence = {"existed": "false"} if old is None else {"expr": old, "existed": "true"}
    operation = Operation("DROP CONSTRAINT", {"name": statement.name, **existence})
    return (yield from txn.commit([metadata], operation))


def constraint_names(metadata: Metadata) -> list[str]:
    """The names of the table's CHECK constraints."""
    keys = (key for key in metadata.configuration if key.startswith(CONSTRAINT_PREFIX))
    return sorted(key.removeprefix(CONSTRAINT_PREFIX) for key in keys)


def constraints_on(column: str, metadata: Metadata) -> list[str]:
    """The CHECK constraints that speak of a column, as messages show them."""
    named = ((n, metadata.configuration[CONSTRAINT_PREFIX + n]) for n in constraint_names(metadata))
    return [f"{name} -> {text}" for name, text in named if _speaks_of(text, column)]


def generated_from(column: str, metadata: Metadata) -> list[str]:
    """The generated columns that are computed from a column, as messages show them."""
    named = ((c.name, c.metadata.get(GENERATION_EXPRESSION)) for c in schema_of_metadata(metadata))
    return [f"{name} -> {text}" for name, text in named if text and _speaks_of(text, column)]


def _speaks_of(text: str, column: str) -> bool:
    return column.lower() in columns_of(parse_condition(text))


def check_nothing_depends_on(column: str, metadata: Metadata) -> None:
    """Raises `DeltaError` for a column that a constraint or a generated column speaks of."""
    constraints = constraints_on(column, metadata)
    if constraints:
        raise column_errors.constraint_on_column(column, constraints)
    generated = generated_from(column, metadata)
    if generated:
        raise column_errors.generated_from_column(column, generated)
