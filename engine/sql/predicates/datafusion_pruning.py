"""Which files a condition cannot match as DataFusion judges it, whose rules delta-rs checks by.

Partition columns have bounds as others do, so a condition over both kinds is judged as a whole, and
no function of a partition column is computed. What it cannot judge keeps every file.

Source: DataFusion's pruning_predicate.rs (build_predicate_expression, build_is_null_column_expr,
build_single_column_expr, build_like_match, build_not_like_match, MAX_LIST_VALUE_SIZE_REWRITE) and
literal_guarantee.rs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from whitecap.engine.log.schema import Field, Schema
from whitecap.engine.sql.expressions.columns import columns_of
from whitecap.engine.sql.expressions.membership import spread
from whitecap.engine.sql.expressions.terms import Parameters, Term
from whitecap.engine.sql.functions.function_nodes import MIRRORED, NEGATED
from whitecap.engine.sql.predicates.bound_tests import Bind, Joining
from whitecap.engine.sql.predicates.constants import Constants
from whitecap.engine.values.types import Session

LONGEST_LIST = 20
"""The members up to which IN is judged. Source: MAX_LIST_VALUE_SIZE_REWRITE."""


class ColumnFacts(Struct, frozen=True):
    """What is known of a column in a file; `None` is not known.

    `longest_lookup`: how many values may be named for its own to be looked up among them, which a
    partition's can be.
    """

    least: Any = None
    most: Any = None
    nulls: int | None = None
    records: int | None = None
    longest_lookup: int = 0

    @property
    def is_all_null(self) -> bool:
        """Whether it is known to have no value."""
        return self.nulls is not None and self.nulls == self.records


FileFacts = Callable[[Field], ColumnFacts]
PruningTest = Callable[[FileFacts], bool]
"""Whether a row of a file may match: False leaves it out."""
BindPruning = Bind[PruningTest]

WithinBounds = Callable[[Any, Any], bool]
"""Whether a value may match that lies between a smallest and a largest one, as far as these are
known: each is asked for itself."""

_COMPARED: dict[type[exp.Expr], Callable[[Any], WithinBounds]] = {
    exp.EQ: lambda value: lambda least, most: _in_order(least, value) and _in_order(value, most),
    exp.NullSafeEQ: lambda value: _COMPARED[exp.EQ](value),
    exp.NEQ: lambda value: lambda least, most: not least == value == most,
    exp.LT: lambda value: lambda least, _: least is None or least < value,
    exp.LTE: lambda value: lambda least, _: _in_order(least, value),
    exp.GT: lambda value: lambda _, most: most is None or most > value,
    exp.GTE: lambda value: lambda _, most: _in_order(value, most),
}


def _in_order(low: Any, high: Any) -> bool:
    """Whether one may be as large as the other; nothing speaks against one that is not known."""
    return low is None or high is None or bool(low <= high)


class PruningCompiler:
    """Builds the test of one condition over the columns of one table."""

    def __init__(self, schema: Schema, session: Session) -> None:
        self._constants = Constants(schema, session)
        self._session = session

    def build(self, node: exp.Expr, negated: bool = False) -> BindPruning | None:
        """The test, `None` where every file is kept."""
        node = node.unnest()
        match node:
            case exp.And() | exp.Or():
                left, right = self.build(node.left, negated), self.build(node.right, negated)
                if isinstance(node, exp.And) is not negated:
                    return _JOINED.both(left, right)
                joined = _JOINED.either(left, right)
                return joined if len(columns_of(node)) == 1 else _without_looking_up(joined)
            case exp.Not():
                return self.build(node.this, not negated)
            case exp.Between():
                return self._between(node, negated)
            case exp.In():
                return self._membership(node, negated)
            case exp.Is():
                return self._is(node, negated)
            case exp.Like():
                return self._like(node, negated is not bool(node.args.get("negate")))
            case exp.Column():
                return _truth(self._column(node), wanted=not negated)
        kind = NEGATED.get(type(node)) if negated else type(node)
        return self._comparison(kind, node) if kind in _COMPARED else None

    def _column(self, node: exp.Expr) -> Field | None:
        """The column that a node is; not where a nothing is added, which stays there."""
        return None if node.find(exp.Add) else self._constants.column(node)

    def _between(self, node: exp.Between, negated: bool) -> BindPruning | None:
        low = exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
        high = exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
        return self.build(exp.And(this=low, expression=high), negated)

    def _comparison(self, kind: type[exp.Expr], node: exp.Expr) -> BindPruning | None:
        left, right = node.this, node.args["expression"]
        field = self._column(left)
        if field is None:
            field, kind, right = self._column(right), MIRRORED[kind], left
        if field is None:
            return None
        if isinstance(right, exp.Boolean) and kind in (exp.EQ, exp.NEQ):
            return _truth(field, wanted=right.this is (kind is exp.EQ))
        value = self._constants.value(right, field)
        return None if value is None else _membership(field, kind, [value], self._session)

    def _membership(self, node: exp.In, negated: bool) -> BindPruning | None:
        """IN is an OR of equalities, NOT IN an AND of the opposite."""
        field = self._column(node.this)
        if field is not None and field.type == "boolean":
            return self._truths(node, negated)
        members = None if field is None else self._constants.members(node, field)
        if field is None or members is None:
            return None
        return _membership(field, exp.NEQ if negated else exp.EQ, members, self._session)

    def _truths(self, node: exp.In, negated: bool) -> BindPruning | None:
        equalities = [
            exp.EQ(this=node.this.copy(), expression=member.copy()) for member in node.expressions
        ]
        return self.build(exp.or_(*equalities), negated) if equalities else None

    def _is(self, node: exp.Is, negated: bool) -> BindPruning | None:
        """IS TRUE is an equality that a NULL does not meet; IS NOT TRUE is not judged."""
        field = self._column(node.this)
        if field is None:
            return None
        if isinstance(node.expression, exp.Null):
            return self._nulls(field, wanted=not negated)
        if negated or not isinstance(node.expression, exp.Boolean):
            return None
        test = _bounded(field, _COMPARED[exp.EQ](node.expression.this))
        return lambda _parameters: test

    def _nulls(self, field: Field, wanted: bool) -> BindPruning:
        if wanted:
            return lambda _parameters: lambda facts: facts(field).nulls != 0
        return lambda _parameters: lambda facts: not facts(field).is_all_null

    def _like(self, node: exp.Like, negated: bool) -> BindPruning | None:
        """Of letters alone it is an equality; one that begins with letters asks for bounds.

        A denied one does so only if nothing but `%` follows.
        """
        pattern = _LIKE.fullmatch(node.expression.name) if node.expression.is_string else None
        field = self._column(node.this)
        if pattern is None or field is None or field.type != "string":
            return None
        if not pattern["rest"]:
            return self._comparison(exp.NEQ if negated else exp.EQ, node)
        if not pattern["prefix"] or (negated and pattern["rest"] != "%"):
            return None
        test = _bounded(field, (_other_prefix if negated else _prefix)(pattern["prefix"]))
        return lambda _parameters: test


_LIKE = re.compile(r"(?P<prefix>[^%_\\]*)(?P<rest>[^\\]*)", re.DOTALL)
"""What a pattern begins with, and what follows; what is escaped keeps every file."""


def _truth(field: Field | None, wanted: bool) -> BindPruning | None:
    """A column as a condition: its bounds are asked, and NULLs are not."""
    if field is None:
        return None

    def test(facts: FileFacts) -> bool:
        bounds = (facts(field).least, facts(field).most)
        return None in bounds or wanted in bounds

    return lambda _parameters: test


def _membership(
    field: Field, kind: type[exp.Expr], members: Sequence[Term], session: Session
) -> BindPruning:
    """One of several values is equal to the column's; where `kind` is another, all are such."""
    compared, join = _COMPARED[kind], any if kind is exp.EQ else all

    def bind(parameters: Parameters) -> PruningTest:
        bounds = spread(members, parameters, field.type, session)
        values = [bound.value for bound in bounds if bound.is_constant]
        if None in values or len(values) < len(bounds):
            return _keeps
        look_up = _looked_up(field, kind, values)
        if len(values) > LONGEST_LIST:
            return look_up
        tests = [_bounded(field, compared(value)) for value in values]
        return lambda facts: join(test(facts) for test in tests) and look_up(facts)

    return bind


def _looked_up(field: Field, kind: type[exp.Expr], values: Sequence[Any]) -> PruningTest:
    """What the very value of a partition says, NULL included. Source: literal_guarantee.rs."""

    def test(facts: FileFacts) -> bool:
        column = facts(field)
        if len(values) > column.longest_lookup or kind not in (exp.EQ, exp.NEQ):
            return True
        return (column.least in values) is (kind is exp.EQ)

    return test


def _keeps(_facts: FileFacts) -> bool:
    return True


def _bounded(field: Field, within: WithinBounds) -> PruningTest:
    """What only values within some bounds can meet; where these are not known, any file may."""

    def test(facts: FileFacts) -> bool:
        column = facts(field)
        if column.is_all_null:
            return False
        return within(column.least, column.most)

    return test


def _prefix(prefix: str) -> WithinBounds:
    """A little wide, as there: the first text after those that begin so counts too."""
    after = prefix[:-1] + chr(ord(prefix[-1]) + 1)
    return lambda least, most: _in_order(least, after) and _in_order(prefix, most)


def _other_prefix(prefix: str) -> WithinBounds:
    return lambda least, most: (
        None in (least, most) or not (least.startswith(prefix) and most.startswith(prefix))
    )


def _holding_both(left: PruningTest, right: PruningTest) -> PruningTest:
    return lambda facts: left(facts) and right(facts)


def _holding_either(left: PruningTest, right: PruningTest) -> PruningTest:
    return lambda facts: left(facts) or right(facts)


_JOINED = Joining(_holding_both, _holding_either)


def _without_looking_up(bind: BindPruning | None) -> BindPruning | None:
    """An OR over several columns: no value is looked up for it. Source: LiteralGuarantee."""
    if bind is None:
        return None
    joined = bind

    def bind_alike(parameters: Parameters) -> PruningTest:
        test = joined(parameters)
        return lambda facts: test(lambda field: replace(facts(field), longest_lookup=0))

    return bind_alike
