"""From a node of the syntax tree to its term: what every kind of node shares.

The kinds register their builders here: operators in `compiler`, functions in `function_nodes`. What
has no builder is refused with its text, never guessed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from sqlglot import exp

from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.sql.scope import Scope
from whitecap.engine.sql.spark_text import DIALECT
from whitecap.engine.sql.terms import Term, convert
from whitecap.engine.sql.types import PARAMETER

__all__ = ["BUILDERS", "DIALECT", "compile_boolean", "compile_term", "spark_type"]

BUILDERS: dict[type[exp.Expr], Callable[[Any, Scope], Term]] = {}
"""By the node's class; `exp.Func` is any function without an entry of its own."""


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
    if build is None and isinstance(node, exp.Func):
        build = BUILDERS[exp.Func]
    if build is None:
        raise UnsupportedFeature(f"expressions of this form: {node.sql(DIALECT)}")
    try:
        return build(node, scope)
    except InvalidInput as error:
        raise InvalidInput([_placed(problem, node) for problem in error.problems]) from error


def _placed(problem: Problem, node: exp.Expr) -> Problem:
    return problem if problem.place else dataclasses.replace(problem, place=node.sql(DIALECT))


_NOT_BOOLEAN = "ExtendedAnalysisException", "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN"


def compile_boolean(node: exp.Expr, scope: Scope) -> Term:
    """Compile a condition. Raises `InvalidInput` if it is not one."""
    term = compile_term(node, scope)
    if term.type in ("boolean", "void", PARAMETER):
        return term
    if term.type == "string":
        return convert(term, "boolean", scope.session)
    text = f"is {term.type}, not a condition"
    raise InvalidInput([Problem(node.sql(DIALECT), text, refused_as=_NOT_BOOLEAN)])
