"""What Spark hands of a condition to a table that overwrites by it, as REPLACE WHERE does.

Source: Spark's V2Writes.scala (OverwriteByExpression), V2ExpressionBuilder.scala (what it can tell
a source), PredicateUtils.scala: toV1 (the filters that Delta takes). Those are flags, columns
compared with literals, IN lists, IS NULL, LIKE with a plain pattern, and AND, OR and NOT of these;
the optimizer has simplified the condition before.
"""

from __future__ import annotations

import re

from sqlglot import exp

from whitecap.engine.log.schema import Schema
from whitecap.engine.refusals import write_errors
from whitecap.engine.sql.expressions.terms import Parameters
from whitecap.engine.sql.functions.function_nodes import COMPARISONS, function_name
from whitecap.engine.sql.predicates.constants import Constants
from whitecap.engine.sql.predicates.normal_form import normal_form
from whitecap.engine.sql.predicates.predicate import Predicate
from whitecap.engine.values.types import Session, is_decimal

_TEXTS = ("endswith", "contains")
_NULL_TESTS = ("isnull", "isnotnull")

_FUNCTIONS = """
abs ceil floor greatest least mod power round sign sqrt
coalesce ifnull isnotnull isnull nullif nvl
date_add datediff trunc year quarter month weekofyear day dayofmonth dayofyear dayofweek weekday
hour minute second
concat contains endswith startswith left right substr substring length lower upper lpad trim ltrim
rtrim translate md5 sha2
"""
_TRANSLATED = frozenset(_FUNCTIONS.split())
"""Functions that V2ExpressionBuilder has a word for, or that the optimizer replaces by such."""
_UNTRANSLATED = (exp.RegexpLike, exp.IntDiv, exp.TryCast, exp.Tuple)
_TRANSLATED_PATTERN = re.compile(r"[^_%\\]*%?[^_%\\]*|%[^_%\\]+%")
"""Of LIKE: what is simplified to texts that begin, end, or are contained (LikeSimplification)."""


def handed_over(condition: Predicate, schema: Schema, session: Session) -> tuple[Predicate, ...]:
    """The filters that a table is handed, one for each condition that `condition` ANDs.

    Of an OR with one side that is no filter, the other side is all that Spark 4.2 hands over, and
    so all that is replaced. Raises `DeltaError` where a condition leaves nothing to hand over.
    """
    reader = _Reader(Constants(schema, session), condition.parameters)
    parts = condition.conjuncts()
    nodes = [normal_form(part.node).unnest() for part in parts]
    if not all(map(reader.is_translated, nodes)):
        raise write_errors.not_translated(condition.sql)
    filters = [reader.filter_of(node) for node in nodes]
    if None in filters:
        raise write_errors.no_overwrite_by(condition.sql)
    return tuple(
        part if handed is node else Predicate.of_node(handed, condition.parameters)
        for part, node, handed in zip(parts, nodes, filters, strict=True)
        if handed is not None
    )


def has_list_not_handed_over(node: exp.Expr, schema: Schema) -> bool:
    """Whether a column is looked for in a list that Spark fails to tell a source.

    Such are lists of decimals, and a NULL beside values; one member alone is a comparison.
    """
    lists = (part for part in node.find_all(exp.In) if len(part.expressions) > 1)
    return any(
        _is_not_handed_over(part, schema) for part in lists if isinstance(part.this, exp.Column)
    )


def _is_not_handed_over(node: exp.In, schema: Schema) -> bool:
    field = schema.get(node.this.name)
    if field is not None and is_decimal(field.type):
        return True
    return {isinstance(member.unnest(), exp.Null) for member in node.expressions} == {True, False}


class _Reader:
    def __init__(self, constants: Constants, parameters: Parameters) -> None:
        self._constants = constants
        self._parameters = parameters

    def filter_of(self, node: exp.Expr) -> exp.Expr | None:
        """What is handed over of a condition: itself, a part of it, or nothing."""
        node = node.unnest()
        match node:
            case exp.And() | exp.Or():
                return self._joined(node)
            case exp.Not():
                inner = self.filter_of(node.this)
                whole = inner is None or inner is node.this.unnest()
                return inner and (node if whole else exp.Not(this=exp.Paren(this=inner.copy())))
            case exp.Anonymous() if function_name(node) in _NULL_TESTS:
                return _null_test(node) if self._is_column(node.expressions[0]) else None
        return node if self._is_filter(node) else None

    def _joined(self, node: exp.And | exp.Or) -> exp.Expr | None:
        """What is handed over of both sides; an OR goes on without a side that is no filter."""
        left, right = self.filter_of(node.left), self.filter_of(node.right)
        if left is None or right is None:
            return (left or right) if isinstance(node, exp.Or) else None
        if left is node.left.unnest() and right is node.right.unnest():
            return node
        sides = [exp.Paren(this=side.copy()) for side in (left, right)]
        return type(node)(this=sides[0], expression=sides[1])

    def _is_filter(self, node: exp.Expr) -> bool:
        match node:
            case exp.Boolean():
                return True
            case exp.Column():
                return self._is_flag(node)
            case exp.Is() if isinstance(node.expression, exp.Null):
                return self._is_column(node.this)
            case exp.In():
                # The optimizer makes a comparison of a list with one member.
                lists_flags = len(node.expressions) > 1 and self._is_flag(node.this)
                members = (self._compares(node.this, member) for member in node.expressions)
                return not lists_flags and all(members)
            case exp.Like():
                plain = node.expression.name.strip("%")
                return not any(mark in plain for mark in "%_\\") and self._is_column(node.this)
            case exp.StartsWith():
                return self._is_column(node.this)
            case exp.Anonymous() if function_name(node) in _TEXTS and len(node.expressions) == 2:
                return self._is_column(node.expressions[0])
        return isinstance(node, COMPARISONS) and self._is_comparison(node)

    def _is_comparison(self, node: exp.Expr) -> bool:
        left, right = node.this, node.args["expression"]
        for column, value in ((left, right), (right, left)):
            if isinstance(node, exp.NullSafeEQ) and isinstance(value.unnest(), exp.Null):
                return self._is_column(column)  # to the optimizer the same as IS NULL
            if self._compares(column, value):
                # To a source TRUE and FALSE are conditions, and no values to compare with.
                return isinstance(node, exp.EQ | exp.NEQ) or not self._is_flag(column)
        return False

    def is_translated(self, node: exp.Expr) -> bool:
        """Whether Spark can tell a source the condition, whatever a table then takes of it."""
        node = node.unnest()
        match node:
            case exp.And() | exp.Or():
                return self.is_translated(node.left) and self.is_translated(node.right)
            case exp.Not():
                return self.is_translated(node.this)
        return self.filter_of(node) is not None or all(map(self._is_translated_part, node.walk()))

    def _is_translated_part(self, node: exp.Expr) -> bool:
        if node.find(exp.Column) is None:
            return True  # computed before
        match node:
            case exp.Anonymous():
                return function_name(node) in _TRANSLATED
            case exp.Like():
                return _TRANSLATED_PATTERN.fullmatch(node.expression.name) is not None
            case exp.Add() | exp.Sub():
                return self._is_translated_sum(node)
        return not isinstance(node, _UNTRANSLATED)

    def _is_translated_sum(self, node: exp.Add | exp.Sub) -> bool:
        """Of days only those beside an interval of days, or with days added, can be told."""
        by_interval = isinstance(node.right.unnest(), exp.Interval)
        field = self._constants.column(node.left)
        is_day = field is not None and field.type == "date"
        if by_interval:
            return is_day and node.right.unnest().text("unit").upper() in ("DAY", "DAYS")
        return isinstance(node, exp.Add) or not is_day

    def _is_flag(self, node: exp.Expr) -> bool:
        field = self._constants.column(node)
        return field is not None and field.type == "boolean"

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


def _null_test(node: exp.Anonymous) -> exp.Expr:
    """`isnull(a)` as `a IS NULL`, `isnotnull(a)` as its negation."""
    test = exp.Is(this=node.expressions[0].copy(), expression=exp.Null())
    return test if function_name(node) == "isnull" else exp.Not(this=test)
