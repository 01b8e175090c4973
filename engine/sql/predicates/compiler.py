"""Expressions and conditions compiled: which builder compiles which node is said here, once."""

from __future__ import annotations

from sqlglot import exp

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.sql.expressions.building import Builders, Compiler
from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.terms import Term, convert
from whitecap.engine.sql.functions.function_nodes import FUNCTION_NODES
from whitecap.engine.sql.functions.operator_nodes import OPERATOR_NODES
from whitecap.engine.values.types import PARAMETER

BUILDERS: Builders = {**OPERATOR_NODES, **FUNCTION_NODES}


def compile_term(node: exp.Expr, scope: Scope) -> Term:
    """Compile an expression. Raises `InvalidInput` for unknown columns and functions.

    Raises `UnsupportedFeature` for forms and functions of Spark that are not modelled.
    """
    return Compiler(BUILDERS, scope).term(node)


NOT_BOOLEAN = "ExtendedAnalysisException", "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN"
"""How Spark refuses a filter that is no condition; a text and NULL are none either."""
JOIN_NOT_BOOLEAN = "ExtendedAnalysisException", "JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE"
CLAUSE_NOT_BOOLEAN = "ExtendedAnalysisException", "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"
CHECK_NOT_BOOLEAN = "DeltaAnalysisException", "DELTA_NON_BOOLEAN_CHECK_CONSTRAINT"
"""The same for what joins, for the clauses of MERGE, and for constraints."""


def compile_boolean(node: exp.Expr, scope: Scope) -> Term:
    """Compile a condition, or a part of one that Spark has cast. Raises `InvalidInput` if none."""
    term = compile_term(node, scope)
    if term.type in ("boolean", "void", PARAMETER):
        return term
    if term.type == "string":
        return convert(term, "boolean", scope.session)
    raise _no_condition(node, term, NOT_BOOLEAN)


def check_condition(
    node: exp.Expr, scope: Scope, refused_as: tuple[str, str] = NOT_BOOLEAN
) -> None:
    """Raises `InvalidInput` for a whole condition that is of another type than BOOLEAN."""
    term = compile_term(node, scope)
    if term.type not in ("boolean", PARAMETER):
        raise _no_condition(node, term, refused_as)


def _no_condition(node: exp.Expr, term: Term, refused_as: tuple[str, str]) -> InvalidInput:
    text = f"is {term.type}, not a condition"
    return InvalidInput([Problem(node.sql(DIALECT), text, refused_as=refused_as)])
