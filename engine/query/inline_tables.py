"""VALUES whose expressions fail: Spark evaluates them before it runs anything.

Source: AstBuilder.visitInlineTable, EvaluateUnresolvedInlineTable.scala: in the parser where every
expression is resolved without the analyzer, else during analysis.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from sqlglot import exp

from whitecap.engine.errors import DeltaError
from whitecap.engine.refusals.command_errors import analysis
from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.expressions.spark_text import CALLED
from whitecap.engine.sql.predicates.compiler import compile_term


@contextmanager
def evaluated_early(cells: Iterable[exp.Expr], scope: Scope) -> Iterator[None]:
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
