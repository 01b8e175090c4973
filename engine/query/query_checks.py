"""The shape of queries: how many columns go with how many, and which query is a value.

Source: CheckAnalysis.scala, observed on Spark 4.2 (tests/conformance/cases/numbering.json).
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.query.rows import Rows
from whitecap.engine.refusals import write_errors
from whitecap.engine.sql.expressions.rendering import sql_literal
from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.syntax_trees import parse_condition
from whitecap.engine.storage.requests import Row

_ANALYSIS, _IN_PLAN = "AnalysisException", "ExtendedAnalysisException"
_SCALAR = "INVALID_SUBQUERY_EXPRESSION.SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN"


def _refused(place: str, text: str, exception: str, error_class: str) -> InvalidInput:
    return InvalidInput([Problem(place, text, refused_as=(exception, error_class))])


def check_same_width(left: Rows, right: Rows) -> None:
    """Raises `InvalidInput` for sides of a set operation that do not have as many columns."""
    if len(left.types) != len(right.types):
        text = f"{len(left.types)} and {len(right.types)} columns do not go together"
        raise _refused("", text, _IN_PLAN, "NUM_COLUMNS_MISMATCH")


def check_in_query(node: exp.In, query: Rows) -> None:
    """Raises `InvalidInput` where a value is looked for among rows of several columns.

    And `UnsupportedFeature` where several values are.
    """
    if isinstance(node.this, exp.Tuple):
        raise UnsupportedFeature(f"several values in a query: {node.this.sql(DIALECT)} IN (query)")
    if len(query.types) != 1:
        text = f"one value is not among rows of {len(query.types)} columns"
        raise _refused("IN", text, _IN_PLAN, "DATATYPE_MISMATCH.IN_SUBQUERY_LENGTH_MISMATCH")


def value_of(planned: Rows, query: exp.Subquery | exp.Exists) -> exp.Expr:
    """The value of a planned subquery, as a literal.

    Raises `InvalidInput` for several columns, `DeltaError` for several rows.
    """
    if isinstance(query, exp.Exists):
        return exp.Boolean(this=bool(planned.of(())))
    if len(planned.types) != 1:
        text = f"has {len(planned.types)} columns, not one"
        raise _refused(query.sql(DIALECT), text, _IN_PLAN, _SCALAR)
    return typed_literal(_only(planned.of(())), planned.types[0])


def typed_literal(value: object, kind: str) -> exp.Expr:
    """A value of a type as SQL writes it."""
    text = sql_literal(value)
    return parse_condition(text if kind == "void" else f"CAST({text} AS {kind})").copy()


def check_no_having(node: exp.Select) -> None:
    """Raises `InvalidInput` for a HAVING where nothing is grouped."""
    having = node.args.get("having")
    if having is not None:
        text = "there is no GROUP BY"
        raise _refused(having.sql(DIALECT), text, _IN_PLAN, "MISSING_GROUP_BY")


def not_grouped(column: exp.Column, *, has_keys: bool) -> InvalidInput:
    """Of a column that is selected beside aggregates, and is neither in one nor a key."""
    error_class = "MISSING_AGGREGATION" if has_keys else "MISSING_GROUP_BY"
    text = "is in no aggregate, and nothing is grouped by it"
    return _refused(column.sql(DIALECT), text, _IN_PLAN, error_class)


def _only(rows: Sequence[Row]) -> object:
    """The one value of these rows; NULL if there are none."""
    if len(rows) > 1:
        raise write_errors.several_rows_for_a_value()
    return rows[0][0] if rows else None


def renamed(names: Sequence[str], columns: Sequence[str], alias: str) -> tuple[str, ...]:
    """The names that an alias gives to columns, if any. Raises `InvalidInput` for too few."""
    if columns and len(columns) != len(names):
        text = f"{len(columns)} names for {len(names)} columns"
        raise _refused(alias, text, _ANALYSIS, "ASSIGNMENT_ARITY_MISMATCH")
    return tuple(columns or names)


def first_column(name: str, scope: Scope) -> exp.Column:
    """A column of the first relation that has it. Raises `InvalidInput` if none has."""
    for relation in scope.relations:
        if name.lower() in (column.lower() for column in relation.columns):
            return exp.column(name, next(iter(relation.names)))
    raise _refused(
        f"USING ({name})", "no such column", _ANALYSIS, "UNRESOLVED_USING_COLUMN_FOR_JOIN"
    )
