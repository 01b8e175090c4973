"""Which conditions Spark can hand to a table that overwrites by them, as REPLACE WHERE does.

Source: Spark's DataSourceV2Strategy.scala (OverwriteByExpression), DataSourceStrategy.scala:
translateFilter. Flags, columns compared with literals, IN lists, IS NULL, LIKE with a plain
pattern, and AND, OR and NOT of these; the optimizer has simplified the condition before.
"""

from __future__ import annotations

from sqlglot import exp

from whitecap.engine.log.schema import Schema
from whitecap.engine.sql.expressions.terms import Parameters
from whitecap.engine.sql.functions.nodes import COMPARISONS, function_name
from whitecap.engine.sql.predicates.constants import Constants
from whitecap.engine.sql.predicates.normal_form import normal_form
from whitecap.engine.values.types import Session, is_decimal

_TEXTS = ("endswith", "contains")


def is_filter(node: exp.Expr, schema: Schema, session: Session, parameters: Parameters) -> bool:
    """Whether the condition is one that a source knows."""
    return _Reader(Constants(schema, session), parameters).knows(normal_form(node))


def lists_decimals(node: exp.Expr, schema: Schema) -> bool:
    """Whether a decimal column is looked for in a list, which is more than one comparison."""
    lists = (part for part in node.find_all(exp.In) if len(part.expressions) > 1)
    fields = (schema.get(part.this.name) for part in lists if isinstance(part.this, exp.Column))
    return any(field is not None and is_decimal(field.type) for field in fields)


class _Reader:
    def __init__(self, constants: Constants, parameters: Parameters) -> None:
        self._constants = constants
        self._parameters = parameters

    def knows(self, node: exp.Expr) -> bool:
        node = node.unnest()
        match node:
            case exp.And() | exp.Or():
                return self.knows(node.left) and self.knows(node.right)
            case exp.Not():
                return self.knows(node.this)
            case exp.Boolean():
                return True
            case exp.Column():
                flag = self._constants.column(node)
                return flag is not None and flag.type == "boolean"
            case exp.Is() if isinstance(node.expression, exp.Null):
                return self._constants.column(node.this) is not None
            case exp.In():
                return all(self._compares(node.this, member) for member in node.expressions)
            case exp.Like():
                plain = node.expression.name.strip("%")
                return not any(mark in plain for mark in "%_\\") and self._is_column(node.this)
            case exp.StartsWith():
                return self._is_column(node.this)
            case exp.Anonymous() if function_name(node) in _TEXTS and len(node.expressions) == 2:
                return self._is_column(node.expressions[0])
        if not isinstance(node, COMPARISONS):
            return False
        left, right = node.this, node.args["expression"]
        if isinstance(node, exp.NullSafeEQ) and isinstance(right.unnest(), exp.Null):
            return self._is_column(left)  # to the optimizer the same as IS NULL
        if isinstance(node, exp.NullSafeEQ) and isinstance(left.unnest(), exp.Null):
            return self._is_column(right)
        return self._compares(left, right) or self._compares(right, left)

    def _is_column(self, node: exp.Expr) -> bool:
        return self._constants.column(node) is not None

    def _compares(self, column: exp.Expr, value: exp.Expr) -> bool:
        """Whether a column is compared with a value that is not NULL, without a lasting cast."""
        field = self._constants.column(column)
        term = None if field is None else self._constants.compared(value, field.type)
        if term is None:
            return False
        bound = term.bind(self._parameters)
        return bound.is_constant and bound.value is not None
