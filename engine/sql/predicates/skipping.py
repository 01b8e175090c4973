"""Which files a condition cannot match, judged by their statistics alone.

Source: DataSkippingReader.scala: DataFiltersBuilder (constructDataFilters and its negation). A part
of a condition that says nothing about statistics keeps every file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

from sqlglot import exp

from whitecap.engine.log.columns.type_changes import char_letters
from whitecap.engine.log.schema import Field, Schema
from whitecap.engine.sql.expressions.filled_texts import UNFILLED, filled_together
from whitecap.engine.sql.expressions.membership import spread
from whitecap.engine.sql.expressions.terms import Parameters, Term
from whitecap.engine.sql.functions.function_nodes import MIRRORED, NEGATED
from whitecap.engine.sql.functions.operator_nodes import like_patterns
from whitecap.engine.sql.predicates.asked_statistics import (
    ALWAYS,
    BOTH_BOUNDS,
    NEVER,
    Statistic,
    StatisticsTest,
    both,
    bounds_test,
    either,
    nulls_test,
    ordered,
)
from whitecap.engine.sql.predicates.bound_tests import Bind, Joining
from whitecap.engine.sql.predicates.constants import Constants, is_day
from whitecap.engine.sql.predicates.normal_form import halves
from whitecap.engine.values.casts import caster
from whitecap.engine.values.types import TEMPORAL, Session

BindTest = Bind[StatisticsTest]
BoundView = Callable[[Any], Any]

_RANGE_TESTS: dict[type[exp.Expr], tuple[Sequence[Statistic], Callable[..., bool]]] = {
    exp.EQ: (BOTH_BOUNDS, lambda value, least, most: least <= value <= most),
    exp.NEQ: (BOTH_BOUNDS, lambda value, least, most: not least == value == most),
    exp.LT: ((Statistic.LEAST,), lambda value, least: least < value),
    exp.LTE: ((Statistic.LEAST,), lambda value, least: least <= value),
    exp.GT: ((Statistic.MOST,), lambda value, most: most > value),
    exp.GTE: ((Statistic.MOST,), lambda value, most: most >= value),
}
"""The bounds that a comparison asks for, and what it makes of a value and of these."""

_JOINED = Joining(both, either)
_NULLS_WANTED = {"isnull": True, "isnotnull": False}
"""The functions that say the same as IS NULL and IS NOT NULL."""
_INELIGIBLE = frozenset({"boolean", "binary"})


class SkippingCompiler:
    """Builds the test of one condition for the columns of one table that have statistics."""

    def __init__(self, columns: Schema, session: Session) -> None:
        self._constants = Constants(columns, session)
        self._session = session

    def build(self, node: exp.Expr) -> BindTest | None:
        """The test, `None` where the condition says nothing about statistics."""
        node = node.unnest()
        match node:
            case exp.And():
                return _JOINED.both(self.build(node.left), self.build(node.right))
            case exp.Or():
                return _JOINED.either(self.build(node.left), self.build(node.right))
            case exp.Not():
                return self._negation(node.this.unnest())
            case exp.Between():
                low, high = halves(node)
                return _JOINED.both(self._comparison(exp.GTE, low), self._comparison(exp.LTE, high))
            case exp.In():
                return self._membership(node)
            case exp.Is() if isinstance(node.expression, exp.Null):
                return self._nulls(node.this, wanted=True)
            case exp.Anonymous(name=name, expressions=[column]) if name.lower() in _NULLS_WANTED:
                return self._nulls(column, _NULLS_WANTED[name.lower()])
            case exp.NullSafeEQ():
                return self._null_safe(node, equal=True)
            case exp.Like() if not node.args.get("negate"):
                return self._prefix(node)
            case exp.StartsWith():
                return self._starting(node.this, node.expression)
        return self._comparison(type(node), node) if type(node) in _RANGE_TESTS else None

    def _negation(self, node: exp.Expr) -> BindTest | None:
        match node:
            case exp.Not():
                return self.build(node.this)
            case exp.And():
                return _JOINED.either(
                    self._negation(node.left.unnest()), self._negation(node.right.unnest())
                )
            case exp.Or():
                return _JOINED.both(
                    self._negation(node.left.unnest()), self._negation(node.right.unnest())
                )
            case exp.Is() if isinstance(node.expression, exp.Null):
                return self._nulls(node.this, wanted=False)
            case exp.NullSafeEQ():
                return self._null_safe(node, equal=False)
            case exp.Anonymous(name=name, expressions=[column]) if name.lower() in _NULLS_WANTED:
                return self._nulls(column, not _NULLS_WANTED[name.lower()])
        negated = NEGATED.get(type(node))
        return None if negated is None else self._comparison(negated, node)

    def _column(self, node: exp.Expr) -> Field | None:
        """The column a node is, if it has a range to compare."""
        field = self._constants.column(node)
        return None if field is None or field.nested or field.type in _INELIGIBLE else field

    def _side(self, node: exp.Expr) -> tuple[Field, str] | None:
        """A column with the type in which it is compared: instants may be seen as days."""
        field = self._column(node)
        if field is None:
            return None
        return field, "date" if field.type in TEMPORAL and is_day(node) else field.type

    def _comparison(
        self, kind: type[exp.Expr], node: exp.Expr, of_null: StatisticsTest = NEVER
    ) -> BindTest | None:
        """`of_null`: the test where a column is compared with NULL, which is never true."""
        left, right = node.this, node.args["expression"]
        side = self._side(left)
        if side is None:
            side, kind, right = self._side(right), MIRRORED[kind], left
        if side is None:
            return None
        field, seen_as = side
        value = self._constants.compared(right, seen_as)
        if value is None:
            return None
        letters = None if UNFILLED in node.meta else char_letters(field)
        view = self._view(field, seen_as, value.type)
        return _range_test(field, value, kind, view, letters, of_null)

    def _view(self, field: Field, seen_as: str, compared_as: str) -> BoundView | None:
        """How a bound becomes comparable: days and instants are cast, in the same order."""
        if field.type not in TEMPORAL:
            return None
        first = caster(field.type, seen_as, self._session)
        second = caster(seen_as, compared_as, self._session)
        if first is None or second is None:
            return first or second
        to_seen, to_compared = first, second
        return lambda bound: to_compared(to_seen(bound))

    def _membership(self, node: exp.In) -> BindTest | None:
        """An IN list counts as the range from its smallest to its largest member."""
        field = self._column(node.this)
        members = None if field is None else self._constants.members(node, field)
        return (
            None if field is None or members is None else _list_test(field, members, self._session)
        )

    def _nulls(self, node: exp.Expr, wanted: bool) -> BindTest | None:
        field = self._constants.column(node)
        return None if field is None else _null_test(field, wanted)

    def _null_safe(self, node: exp.NullSafeEQ, *, equal: bool) -> BindTest | None:
        """`c <=> v` is `c IS NOT NULL AND c = v`; denied, it is `c IS NULL OR c <> v`."""
        sides = (node.this, node.expression)
        for column, other in (sides, sides[::-1]):
            if isinstance(other, exp.Null):
                return self._nulls(column, wanted=equal)
        columns = [side for side in sides if self._column(side)]
        if any(map(is_day, columns)):
            return None
        if equal:
            return self._comparison(exp.EQ, node)
        differs = self._comparison(exp.NEQ, node, of_null=ALWAYS)
        return differs and _JOINED.either(self._nulls(columns[0], wanted=True), differs)

    def _prefix(self, node: exp.Like) -> BindTest | None:
        """LIKE 'abc%' is a prefix search, LIKE ANY and ALL are several."""
        if isinstance(node.expression, exp.Any | exp.All):
            join = _JOINED.either if isinstance(node.expression, exp.Any) else _JOINED.both
            patterns = like_patterns(node)
            likes = (exp.Like(this=node.this, expression=pattern) for pattern in patterns)
            return reduce(join, [self._prefix(like) for like in likes])
        prefix = _prefix_of(node.expression)
        return None if prefix is None else self._starting(node.this, node.expression, prefix)

    def _starting(
        self, column: exp.Expr, literal: exp.Expr, prefix: str | None = None
    ) -> BindTest | None:
        field = self._column(column)
        if field is None or not isinstance(literal, exp.Literal) or field.type != "string":
            return None
        test = _prefix_test(field, literal.name if prefix is None else prefix)
        return lambda _parameters: test


def _prefix_of(pattern: exp.Expr) -> str | None:
    """What a pattern like 'abc%' begins with; `None` if it asks for anything else."""
    if not isinstance(pattern, exp.Literal):
        return None
    prefix, _, rest = pattern.name.partition("%")
    return None if not prefix or any(mark in prefix + rest for mark in "%_\\") else prefix


def _range_test(
    field: Field,
    term: Term,
    kind: type[exp.Expr],
    view: BoundView | None,
    letters: int | None,
    of_null: StatisticsTest,
) -> BindTest:
    """`letters`: those of a CHAR column, which is filled up itself beside a longer constant."""
    bounds, compare = _RANGE_TESTS[kind]
    test_of = bounds_test(field, bounds, view)

    def bind(parameters: Parameters) -> StatisticsTest:
        bound = term.bind(parameters)
        if not bound.is_constant:
            return ALWAYS
        if bound.value is None:
            return of_null
        if letters is None:
            return test_of(partial(compare, ordered(bound.value)))
        if len(bound.value) > letters:
            return ALWAYS
        return test_of(partial(compare, bound.value.ljust(letters)))

    return bind


def _list_test(field: Field, members: list[Term], session: Session) -> BindTest:
    test_of = bounds_test(field, BOTH_BOUNDS, None)
    letters = char_letters(field)

    def bind(parameters: Parameters) -> StatisticsTest:
        bounds_of_members = spread(members, parameters, field.type, session)
        if not all(bound.is_constant for bound in bounds_of_members):
            return ALWAYS
        members_as_read = filled_together([b.value for b in bounds_of_members], letters)
        values = [ordered(value) for value in members_as_read if value is not None]
        if not values:
            return NEVER
        if letters is not None and max(map(len, values)) > letters:
            return ALWAYS
        low, high = min(values), max(values)
        return test_of(lambda least, most: bool(least <= high and most >= low))

    return bind


def _null_test(field: Field, wanted: bool) -> BindTest:
    test = nulls_test(field, wanted)
    return lambda _parameters: test


def _prefix_test(field: Field, prefix: str) -> StatisticsTest:
    length = len(prefix)
    test_of = bounds_test(field, BOTH_BOUNDS, None)
    return test_of(lambda least, most: bool(least[:length] <= prefix <= most[:length]))
