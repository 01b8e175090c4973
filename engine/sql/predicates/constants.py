"""Columns compared with constants: the conditions that statistics and indexes can answer."""

from __future__ import annotations

from sqlglot import exp

from whitecap.engine.errors import EngineError
from whitecap.engine.log.columns.type_changes import char_letters
from whitecap.engine.log.schema import Field, Schema
from whitecap.engine.sql.expressions.building import spark_type
from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.expressions.terms import Term, convert, parameter
from whitecap.engine.sql.functions.function_nodes import is_random
from whitecap.engine.sql.predicates.compiler import compile_term
from whitecap.engine.values.coercion import common_type
from whitecap.engine.values.types import (
    INTEGRAL_BITS,
    Session,
    decimal_shape,
    is_decimal,
    is_integral,
    is_numeric,
)


def may_unwrap(type_name: str, wider: str) -> bool:
    """Whether a cast of a column between these types goes away when it is compared.

    Source: UnwrapCastInBinaryComparison.scala: canUnwrapCast; a fraction does not hold every whole
    number of the longer types.
    """
    if type_name == wider:
        return True
    if type_name in ("date", "timestamp", "timestamp_ntz"):
        return wider in ("date", "timestamp")
    if type_name == "float":
        return wider == "double"
    if is_decimal(type_name):
        return is_decimal(wider) and _is_wider(decimal_shape(type_name), decimal_shape(wider))
    if not is_integral(type_name) or not is_numeric(wider):
        return False
    if is_integral(wider):
        return INTEGRAL_BITS[type_name] <= INTEGRAL_BITS[wider]
    if is_decimal(wider):
        return _is_wider(decimal_shape(type_name), decimal_shape(wider))
    return INTEGRAL_BITS[type_name] <= {"float": 16, "double": 32}[wider]


def is_day(node: exp.Expr) -> bool:
    """Whether a node is a cast to a day: CAST AS DATE, date(), to_date()."""
    node = node.unnest()
    return isinstance(node, exp.Cast) and spark_type(node.to) == "date"


def _is_wider(shape: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether decimals of the other shape hold all of the first. Source: Decimal.isWiderThan."""
    return other[0] - other[1] >= shape[0] - shape[1] and other[1] >= shape[1]


def _literal_type(type_name: str, node: exp.Expr) -> str | None:
    """A decimal beside a whole literal: as wide as its digits, not as its type.

    Source: DecimalPrecision (literals in comparisons), DecimalType.fromLiteral.
    """
    inner = node.this if isinstance(node, exp.Neg) else node
    if not (is_decimal(type_name) and isinstance(inner, exp.Literal) and inner.is_int):
        return None
    return common_type(type_name, f"decimal({max(len(inner.this), 1)},0)")


class Constants:
    """Reads nodes as columns of a schema and as constants of their types."""

    def __init__(self, columns: Schema, session: Session) -> None:
        self._columns = columns
        self._no_columns = Scope((), session)

    def column(self, node: exp.Expr) -> Field | None:
        """The column that a node is, `None` if it is anything else.

        Nothing added, multiplied by one, or cast to what holds all its values, it is still itself.
        Source: UnwrapCastInBinaryComparison.scala, ReorderAssociativeOperator, SimplifyCasts.
        """
        node = node.unnest()
        match node:
            case exp.Column() if not node.table:
                return self._columns.get(node.name)
            case exp.Add() | exp.Mul():
                return self._unchanged(node, 0 if isinstance(node, exp.Add) else 1)
            case exp.Cast() if not isinstance(node, exp.TryCast):
                field = self.column(node.this)
                to_type = spark_type(node.to)
                if field is None or char_letters(field) is not None:
                    return None
                return field if may_unwrap(field.type, to_type) else None
        return None

    def _unchanged(self, node: exp.Add | exp.Mul, neutral: int) -> Field | None:
        for operand, other in ((node.left, node.right), (node.right, node.left)):
            inner = other.this if isinstance(other, exp.Cast) else other  # 0L is a cast
            if isinstance(inner, exp.Literal) and inner.is_int and int(inner.this) == neutral:
                field = self.column(operand)
                return field if field is not None and is_integral(field.type) else None
        return None

    def value(self, node: exp.Expr, field: Field) -> Term | None:
        """A constant that a column can be compared with as it is, `None` if it would be cast."""
        term = self.compared(node, field.type)
        if term is None or not (term.type == field.type or is_integral(field.type)):
            return None
        return term

    def compared(self, node: exp.Expr, type_name: str) -> Term | None:
        """A constant in the type in which it is compared with one of `type_name`.

        `None` for what is no constant, or where Spark would cast the column for good.
        """
        if node.find(exp.Column) or is_random(node):
            return None
        try:
            term = compile_term(node, self._no_columns)
            common = _literal_type(type_name, node) or common_type(type_name, term.type)
        except EngineError:
            return None
        if not may_unwrap(type_name, common):
            return None
        return convert(term, common, self._no_columns.session)

    def member(self, node: exp.Expr, field: Field) -> Term | None:
        """A member of an IN list; a parameter stays as it is, for it may hold several values."""
        if isinstance(node, exp.Placeholder):
            return parameter(node.name)
        return self.value(node, field)

    def members(self, node: exp.In, field: Field) -> list[Term] | None:
        """All members of an IN list, `None` if one of them is no constant."""
        if node.args.get("query"):
            return None
        terms = [self.member(member, field) for member in node.expressions]
        constants = [term for term in terms if term is not None]
        return constants if len(constants) == len(terms) else None
