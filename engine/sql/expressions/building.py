"""From a node of the syntax tree to its term: what every kind of node shares.

A compiler is given one table of builders, by kind of node; a builder is given the compiler, for the
nodes inside of its own. What has no builder is refused with its text, never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.refusals import not_modelled
from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.terms import Term
from whitecap.engine.values.types import Session


class Compiler(Struct, frozen=True):
    """Compiles the nodes of one scope, each by the builder of its kind."""

    builders: Builders
    scope: Scope

    @property
    def session(self) -> Session:
        """What casts depend on."""
        return self.scope.session

    def term(self, node: exp.Expr) -> Term:
        """Compile an expression. Raises `InvalidInput` for unknown columns and functions.

        Raises `UnsupportedFeature` for forms and functions of Spark that are not modelled.
        """
        if isinstance(node, exp.AggFunc):
            raise UnsupportedFeature(f"aggregates: {node.sql(DIALECT)}")
        build = self.builders.get(type(node))
        if build is None:
            raise not_modelled.form(node.key, node.sql(DIALECT))
        try:
            return build(node, self)
        except InvalidInput as error:
            raise InvalidInput([_placed(problem, node) for problem in error.problems]) from error

    def terms(self, nodes: Sequence[exp.Expr]) -> list[Term]:
        """Compile several, in order."""
        return [self.term(node) for node in nodes]


Builder = Callable[[Any, Compiler], Term]
"""Makes the term of a node, with the compiler of what is in it."""

Builders = Mapping[type[exp.Expr], Builder]
"""By the node's class."""


def _placed(problem: Problem, node: exp.Expr) -> Problem:
    return problem if problem.place else replace(problem, place=node.sql(DIALECT))


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
