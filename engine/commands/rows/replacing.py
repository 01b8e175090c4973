"""Which rows of the table an INSERT replaces: those of a condition, or those with a counterpart.

Source: WriteIntoDelta.scala (replaceWhere, extractConstraints),
DeltaInsertReplaceOnOrUsingCommand.scala (REPLACE ON and USING as an EXISTS over the source).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from sqlglot import exp

from whitecap.engine.errors import DeltaError
from whitecap.engine.log.schema import Field, Schema
from whitecap.engine.query.overwrite_filters import handed_over, has_list_not_handed_over
from whitecap.engine.query.sources import Source
from whitecap.engine.refusals import write_errors
from whitecap.engine.sql.expressions.scope import Relation, Scope
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.terms import Evaluate
from whitecap.engine.sql.parsing.statements import Insert
from whitecap.engine.sql.predicates.compiler import compile_boolean
from whitecap.engine.sql.predicates.predicate import TRUE, Predicate, parse_predicate
from whitecap.engine.storage.requests import Row
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.values.types import Session, holds, is_integral
from whitecap.engine.writing.files import Check
from whitecap.engine.writing.generation import Generated
from whitecap.engine.writing.inserting import partition_text
from whitecap.engine.writing.row_checks import INVARIANT


class Replacement(Struct, frozen=True):
    """The conditions of the rows that go, and tests besides that only the source can decide."""

    conditions: tuple[Predicate, ...] = ()
    tests: tuple[Evaluate, ...] = ()


NOTHING_REPLACED = Replacement()


def replaced_rows(
    statement: Insert, txn: Transaction, rows: Generated, source: Source, session: Session
) -> Replacement:
    """What is replaced other than everything, or the partitions that are written."""
    if statement.replace_using or statement.replace_on is not None:
        return Replacement((TRUE,), (_counterpart(statement, txn, rows, source, session),))
    if statement.replace_where is not None:
        condition = statement.replace_where.with_parameters(statement.parameters)
        return Replacement(_handed_over(condition, txn, session))
    conditions = _conditions(statement, txn)
    return Replacement(conditions) if conditions else NOTHING_REPLACED


def _handed_over(condition: Predicate, txn: Transaction, session: Session) -> tuple[Predicate, ...]:
    """The filters of REPLACE WHERE. Raises `DeltaError` if Spark does not hand it to tables."""
    if condition.node.find(exp.Query) is not None:
        raise write_errors.no_overwrite_by_subquery()
    if not condition.is_deterministic:
        raise write_errors.non_deterministic(condition.sql)
    schema = txn.snapshot.schema
    # Refuses a column that is not there.
    condition.check(schema, session, write_errors.NO_FILTER)
    if txn.dialect.narrows_constants:
        condition.check_constants(schema, session)
    if has_list_not_handed_over(condition.node, schema):
        raise write_errors.no_overwrite_by_list(condition.sql)
    filters = handed_over(condition, schema, session)
    if txn.dialect.narrows_constants and filters != condition.conjuncts():
        raise write_errors.no_overwrite_by(condition.sql)  # delta-rs leaves nothing out
    return filters


def _conditions(statement: Insert, txn: Transaction) -> tuple[Predicate, ...]:
    text = statement.option("replaceWhere")
    if text is not None and statement.overwrite:
        return parse_predicate(text).conjuncts()
    static = [(name, value) for name, value in statement.partition if value is not None]
    if not statement.overwrite or is_dynamic(statement, txn):
        return ()
    schema = txn.snapshot.schema
    return tuple(_is_partition(name, value, statement, schema) for name, value in static)


def is_dynamic(statement: Insert, txn: Transaction) -> bool:
    """Whether an overwrite replaces the partitions that it writes."""
    return bool(txn.metadata.partition_columns) and has_dynamic_mode(statement, txn)


def has_dynamic_mode(statement: Insert, txn: Transaction) -> bool:
    """Whether the mode of overwrites is dynamic, which a commit says whatever it writes."""
    mode = statement.option("partitionOverwriteMode") or txn.settings.partition_overwrite_mode
    return mode.upper() == "DYNAMIC"


def check_partition_clause(statement: Insert, txn: Transaction) -> None:
    """Raises `DeltaError` for a PARTITION clause that the table cannot take."""
    if not statement.partition:
        return
    columns = {name.lower() for name in txn.metadata.partition_columns}
    for name, _ in statement.partition:
        if name.lower() not in columns:
            raise write_errors.partition_of_another_column(name)


def _is_partition(name: str, value: exp.Expr, statement: Insert, schema: Schema) -> Predicate:
    """Raises `DeltaError` for a flag: as a condition it is not handed to tables (Spark 4.2)."""
    column = schema.get(name)
    node = exp.NullSafeEQ(this=exp.column(name), expression=_as_text(value, column))
    predicate = Predicate.of_node(node, statement.parameters)
    if column is not None and column.type == "boolean" and not isinstance(value, exp.Null):
        raise write_errors.no_overwrite_by(predicate.sql)
    return predicate


def _as_text(value: exp.Expr, column: Field | None) -> exp.Expr:
    """A value of a PARTITION clause: a number in it is a text to Spark, cast to the column."""
    if column is None or not isinstance(value, exp.Literal):
        return value.copy()
    text = partition_text(value)
    if column.type == "string":
        return text
    if value.is_int and is_integral(column.type) and holds(column.type, int(value.name)):
        return value.copy()  # the cast of its text, as users write it
    return exp.Cast(this=text, to=exp.DataType.build(column.type, DIALECT))


def replacing_check(
    replacement: Replacement, check: Check | None, schema: Schema, session: Session
) -> Check | None:
    """Also raises `DeltaError` for a new row that is not among those that a condition replaces.

    `check` is what rows have to pass anyway; with a condition its refusals are told as this one's.
    Source: WriteIntoDelta.scala: writeFiles (replaceWhereMismatchException).
    """
    conditions = replacement.conditions
    if not conditions or replacement.tests:
        return check
    tests = [predicate.bind(schema, session) for predicate in conditions if predicate.columns]

    def conforms(row: Row) -> None:
        try:
            if check is not None:
                check(row)
            wrong = not all(test(row) is True for test in tests)
        except DeltaError as error:
            wrong = error.exception == INVARIANT
            if not wrong:
                raise
        if wrong:
            shown = " AND ".join(predicate.sql for predicate in conditions)
            raise write_errors.replaced_condition_mismatch(shown)

    return conforms


def _counterpart(
    statement: Insert, txn: Transaction, rows: Generated, source: Source, session: Session
) -> Evaluate:
    """Whether a row of the table has a counterpart among the new rows."""
    schema = txn.snapshot.schema
    if statement.replace_on is None:
        new = [row for task in rows.tasks for row in task]
        return _same_values([schema.index(name) for name in statement.replace_using], new)
    target = Relation.of(schema, *statement.table.names)
    other = source.relation((statement.query.alias,), offset=len(schema))
    condition = compile_boolean(statement.replace_on, Scope((target, other), session))
    test = condition.bind(statement.parameters).evaluate
    return lambda row: any(test(tuple(row) + new) is True for new in source.rows)


def _same_values(places: Sequence[int], new: Sequence[Row]) -> Evaluate:
    keys = {tuple(row[at] for at in places) for row in new}
    return lambda row: (key := tuple(row[at] for at in places)) in keys and None not in key
