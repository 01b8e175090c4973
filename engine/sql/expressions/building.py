"""From a node of the syntax tree to its term: what every kind of node shares.

The kinds register their builders here: operators in `compiler`, functions in `functions.nodes`.
What has no builder is refused with its text, never guessed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from sqlglot import exp

from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.terms import Term, convert
from whitecap.engine.values.types import PARAMETER

BUILDERS: dict[type[exp.Expr], Callable[[Any, Scope], Term]] = {}
"""By the node's class."""


def spark_type(node: exp.DataType) -> str:
    """A data type node as Spark's simple string."""
    plain = all(value is node.this or not value for value in node.args.values())
    return _plain_type(node.this) if plain else _type_name(node)


@lru_cache(maxsize=256)
def _plain_type(kind: exp.DType) -> str:
    """A type that has no parameters; asked for each time that a query is planned."""
    return _type_name(exp.DataType(this=kind))


def _type_name(node: exp.DataType) -> str:
    name = node.sql(DIALECT).lower().replace(" ", "")
    aliases = {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}
    aliases["timestamp_ltz"] = "timestamp"
    if name.startswith(("varchar", "char")):
        return "string"
    return "decimal(10,0)" if name == "decimal" else aliases.get(name, name)


def compile_term(node: exp.Expr, scope: Scope) -> Term:
    """Compile an expression. Raises `InvalidInput` for unknown columns and functions.

    Raises `UnsupportedFeature` for forms and functions of Spark that are not modelled.
    """
    if isinstance(node, exp.AggFunc):
        raise UnsupportedFeature(f"aggregates: {node.sql(DIALECT)}")
    build = BUILDERS.get(type(node))
    if build is None:
        raise UnsupportedFeature(f"expressions of this form: {node.sql(DIALECT)}")
    try:
        return build(node, scope)
    except InvalidInput as error:
        raise InvalidInput([_placed(problem, node) for problem in error.problems]) from error


def _placed(problem: Problem, node: exp.Expr) -> Problem:
    return problem if problem.place else dataclasses.replace(problem, place=node.sql(DIALECT))


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
