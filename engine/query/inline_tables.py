"""Literal rows. What fails in them fails early: Spark evaluates them before it runs anything.

Source: AstBuilder.visitInlineTable, EvaluateUnresolvedInlineTable.scala: in the parser where every
expression is resolved without the analyzer, else during analysis.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from msgspec.structs import replace
from sqlglot import exp

from whitecap.engine.errors import DeltaError, InvalidInput, Problem
from whitecap.engine.query.parameter_rows import check_widths, rows_of_parameter, value_names
from whitecap.engine.refusals.kinds import analysis
from whitecap.engine.sql.expressions.scope import UNRESOLVED, Scope
from whitecap.engine.sql.expressions.spark_text import CALLED, DIALECT
from whitecap.engine.sql.expressions.terms import Parameters, Term, convert
from whitecap.engine.sql.functions.function_nodes import is_random
from whitecap.engine.sql.parsing.statements import Values
from whitecap.engine.sql.predicates.compiler import compile_term
from whitecap.engine.storage.requests import Row
from whitecap.engine.values.coercion import check_texts, inline_type
from whitecap.engine.values.types import Session

LiteralRows = tuple[tuple[str, ...], tuple[str, ...], Sequence[Row]]


def literal_rows(values: Values, parameters: Parameters, session: Session) -> LiteralRows:
    """Names, types and rows of a VALUES, or of the parameter that holds its rows."""
    if values.rows_parameter is not None:
        types, rows = rows_of_parameter(values.rows_parameter, parameters, values.columns)
        types = values.types or types
        return value_names(values.columns, len(types)), types, rows
    scope = Scope((), session)
    table = [[_cell(node, scope, parameters) for node in row] for row in values.rows]
    check_widths(table)
    with _evaluated_early((node for row in values.rows for node in row), scope):
        rows = [tuple(term.bind(parameters).evaluate(()) for term in row) for row in table]
        types = tuple(_column_type(table, at, session) for at in range(len(table[0])))
        typed = _in_types(table, rows, types, session)
    return value_names(values.columns, len(types)), types, typed


@contextmanager
def _evaluated_early(cells: Iterable[exp.Expr], scope: Scope) -> Iterator[None]:
    """What fails here fails as expressions of VALUES do."""
    try:
        yield
    except DeltaError as error:
        by_parser = all(_is_resolved(cell, scope) for cell in cells)
        raise analysis(
            "INVALID_INLINE_TABLE.FAILED_SQL_EXPRESSION_EVALUATION",
            f"Failed to evaluate an SQL expression of VALUES: {error.message}",
            "ParseException" if by_parser else "AnalysisException",
        ) from error


def _is_resolved(node: exp.Expr, scope: Scope) -> bool:
    """Whether an expression needs neither a function looked up nor a type coerced."""
    match node:
        case exp.Literal() | exp.Null() | exp.Boolean():
            return True
        case exp.Cast() if node.meta.get(CALLED) not in (None, "literal"):
            return False
        case exp.Cast() | exp.Neg() | exp.Paren():
            return _is_resolved(node.this, scope)
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Mod() | exp.Div():
            kinds = {compile_term(side, scope).type for side in (node.left, node.right)}
            is_whole = kinds <= {"tinyint", "smallint", "int", "bigint"}
            return (
                (len(kinds) == 1 or all(kind.startswith("decimal") for kind in kinds))
                and "string" not in kinds
                and not (is_whole and isinstance(node, exp.Div))
                and _is_resolved(node.left, scope)
                and _is_resolved(node.right, scope)
            )
    return False


_NOT_EVALUATED = (
    "AnalysisException",
    "INVALID_INLINE_TABLE.CANNOT_EVALUATE_EXPRESSION_IN_INLINE_TABLE",
)


def _cell(node: exp.Expr, scope: Scope, parameters: Parameters) -> Term:
    """A value in VALUES, which knows no columns."""
    if is_random(node):
        text = "differs from call to call"
        raise InvalidInput([Problem(node.sql(DIALECT), text, refused_as=_NOT_EVALUATED)])
    try:
        return compile_term(node, scope).typed_by(parameters)
    except InvalidInput as error:
        first, *others = error.problems
        if first.refused_as != UNRESOLVED:
            raise
        refused_as = UNRESOLVED[0], "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION"
        problem = replace(first, refused_as=refused_as)
        raise InvalidInput([problem, *others]) from error


def _column_type(table: list[list[Term]], at: int, session: Session) -> str:
    check_texts((terms[at].type for terms in table), session)
    common = "void"
    for terms in table:
        common = inline_type(common, terms[at].type)
    return common


def _in_types(
    table: list[list[Term]], rows: list[Row], types: tuple[str, ...], session: Session
) -> list[Row]:
    if all(term.type == kind for terms in table for term, kind in zip(terms, types, strict=True)):
        return rows
    return [
        tuple(
            value if term.type == kind else convert(term, kind, session).bind({}).evaluate(())
            for term, kind, value in zip(terms, types, row, strict=True)
        )
        for terms, row in zip(table, rows, strict=True)
    ]
