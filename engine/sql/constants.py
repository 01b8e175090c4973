"""Columns compared with constants: the conditions that statistics and indexes can answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from engine.errors import EngineError
from engine.sql.coercion import common_type
from engine.sql.compiler import compile_term
from engine.sql.scope import Scope
from engine.sql.terms import Term, convert, parameter
from engine.sql.types import PARAMETER, Session, is_integral, is_numeric

if TYPE_CHECKING:
    from engine.log.schema import Field, Schema


class Constants:
    """Reads nodes as columns of a schema and as constants of their types."""

    def __init__(self, columns: Schema, session: Session) -> None:
        self._columns = columns
        self._no_columns = Scope((), session)

    def column(self, node: exp.Expr) -> Field | None:
        """The column that a node is, `None` if it is anything else."""
        return self._columns.get(node.name) if isinstance(node, exp.Column) else None

    def value(self, node: exp.Expr, field: Field) -> Term | None:
        """A constant that a column can be compared with as it is, `None` if it would be cast.

        Beside a whole number any number will do: Spark unwraps the cast of the column then.
        Source: UnwrapCastInBinaryComparison.scala.
        """
        if node.find(exp.Column):
            return None
        try:
            term = compile_term(node, self._no_columns)
            common = common_type(field.type, term.type)
        except EngineError:
            return None
        if common == field.type:
            return convert(term, common)
        return convert(term, common) if is_numeric(common) and is_integral(field.type) else None

    def member(self, node: exp.Expr, field: Field) -> Term | None:
        """A member of an IN list; a parameter stays as it is, for it may hold several values."""
        if isinstance(node, exp.Placeholder):
            return parameter(node.name, PARAMETER)
        return self.value(node, field)

    def members(self, node: exp.In, field: Field) -> list[Term] | None:
        """All members of an IN list, `None` if one of them is no constant."""
        if node.args.get("query"):
            return None
        terms = [self.member(member, field) for member in node.expressions]
        known = [term for term in terms if term is not None]
        return known if len(known) == len(terms) else None
