"""Compiled expressions: closures over row tuples, with SQL's three-valued logic.

A `Term` is compiled once per statement. Binding it to parameter values gives a `Bound`, whose
`evaluate` takes a row. Constants are folded when they are bound, and the shapes that occur in
hot loops (a column against a constant) get their own closures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import msgspec

from whitecap.engine.sql.types import DEFAULT_SESSION, Session, caster, from_python

Row = Sequence[Any]
Evaluate = Callable[[Any], Any]
Parameters = Mapping[str, Any]


class Bound(msgspec.Struct, frozen=True):
    """An expression ready to run: `column` where it is a bare column, `value` where constant."""

    evaluate: Evaluate
    column: int | None = None
    is_constant: bool = False
    value: Any = None


@dataclass(frozen=True, slots=True)
class Term:
    """A compiled expression: its Spark type, and how to bind it to parameters."""

    type: str
    bind: Callable[[Parameters], Bound]


def constant_bound(value: Any) -> Bound:
    """A `Bound` that has one value for every row."""
    return Bound(lambda _row: value, is_constant=True, value=value)


def literal(value: Any, type_name: str) -> Term:
    """A constant."""
    bound = constant_bound(value)
    return Term(type_name, lambda _parameters: bound)


def column(index: int, type_name: str) -> Term:
    """The value at a position of the row."""
    bound = Bound(itemgetter(index), column=index)
    return Term(type_name, lambda _parameters: bound)


def parameter(name: str, type_name: str) -> Term:
    """A value that is given when the statement is bound."""
    return Term(type_name, lambda parameters: constant_bound(parameters[name]))


def apply(function: Callable[[Any], Any], term: Term, type_name: str) -> Term:
    """`function` of a non-null value; NULL stays NULL."""
    return Term(type_name, lambda parameters: _bound_apply(function, term.bind(parameters)))


def _bound_apply(function: Callable[[Any], Any], inner: Bound) -> Bound:
    if inner.is_constant:
        return constant_bound(None if inner.value is None else function(inner.value))
    evaluate = inner.evaluate

    def run(row: Row) -> Any:
        value = evaluate(row)
        return None if value is None else function(value)

    return Bound(run)


def combine(function: Callable[[Any, Any], Any], left: Term, right: Term, type_name: str) -> Term:
    """`function` of two non-null values; NULL if either is NULL."""
    return Term(
        type_name,
        lambda parameters: _bound_combine(function, left.bind(parameters), right.bind(parameters)),
    )


def _bound_combine(function: Callable[[Any, Any], Any], left: Bound, right: Bound) -> Bound:
    if right.is_constant:
        return _with_constant(function, left, right.value)
    first, second = left.evaluate, right.evaluate

    def run(row: Row) -> Any:
        one = first(row)
        if one is None:
            return None
        two = second(row)
        return None if two is None else function(one, two)

    return Bound(run)


def _with_constant(function: Callable[[Any, Any], Any], left: Bound, value: Any) -> Bound:
    if value is None:
        return constant_bound(None)
    if left.is_constant:
        return constant_bound(None if left.value is None else function(left.value, value))
    if left.column is not None:
        return Bound(_column_against(function, left.column, value))
    return _bound_apply(lambda one: function(one, value), left)


def _column_against(function: Callable[[Any, Any], Any], index: int, value: Any) -> Evaluate:
    def run(row: Row) -> Any:
        one = row[index]
        return None if one is None else function(one, value)

    return run


def each(function: Callable[..., Any], terms: Sequence[Term], type_name: str) -> Term:
    """`function` of all values, NULLs included."""

    def bind(parameters: Parameters) -> Bound:
        bounds = [term.bind(parameters) for term in terms]
        if all(bound.is_constant for bound in bounds):
            return constant_bound(function(*(bound.value for bound in bounds)))
        evaluates = [bound.evaluate for bound in bounds]
        return Bound(lambda row: function(*[evaluate(row) for evaluate in evaluates]))

    return Term(type_name, bind)


def convert(term: Term, to_type: str, session: Session = DEFAULT_SESSION) -> Term:
    """The term cast to a type; the term itself where its values need no change."""
    change = caster(term.type, to_type, session)
    if change is None:
        return Term(to_type, term.bind)
    return apply(change, term, to_type)


def conjunction(left: Term, right: Term) -> Term:
    """AND: false wins over NULL."""
    return Term("boolean", lambda p: _bound_and(left.bind(p), right.bind(p)))


def _bound_and(left: Bound, right: Bound) -> Bound:
    for one, other in ((left, right), (right, left)):
        if one.is_constant and one.value is True:
            return other
        if one.is_constant and one.value is False:
            return constant_bound(False)
    first, second = left.evaluate, right.evaluate

    def run(row: Row) -> Any:
        one = first(row)
        if one is False:
            return False
        two = second(row)
        return two if one is True or two is False else None

    return Bound(run)


def disjunction(left: Term, right: Term) -> Term:
    """OR: true wins over NULL."""
    return Term("boolean", lambda p: _bound_or(left.bind(p), right.bind(p)))


def _bound_or(left: Bound, right: Bound) -> Bound:
    for one, other in ((left, right), (right, left)):
        if one.is_constant and one.value is False:
            return other
        if one.is_constant and one.value is True:
            return constant_bound(True)
    first, second = left.evaluate, right.evaluate

    def run(row: Row) -> Any:
        one = first(row)
        if one is True:
            return True
        two = second(row)
        return two if one is False or two is True else None

    return Bound(run)


def is_null(term: Term) -> Term:
    """IS NULL: never NULL itself."""

    def bind(parameters: Parameters) -> Bound:
        bound = term.bind(parameters)
        if bound.is_constant:
            return constant_bound(bound.value is None)
        if bound.column is not None:
            index = bound.column
            return Bound(lambda row: row[index] is None)
        evaluate = bound.evaluate
        return Bound(lambda row: evaluate(row) is None)

    return Term("boolean", bind)


def negation(term: Term) -> Term:
    """NOT: NULL stays NULL."""
    return apply(lambda value: not value, term, "boolean")


def spread(terms: Iterable[Term], parameters: Parameters, to_type: str) -> list[Bound]:
    """The members of an IN list; a parameter that holds several values gives one for each."""
    bounds: list[Bound] = []
    for term in terms:
        bound = term.bind(parameters)
        if bound.is_constant and isinstance(bound.value, list | tuple | set | frozenset):
            bounds.extend(constant_bound(from_python(value, to_type)) for value in bound.value)
        else:
            change = caster(term.type, to_type)
            bounds.append(bound if change is None else _bound_apply(change, bound))
    return bounds


def membership(term: Term, members: Sequence[Term]) -> Term:
    """IN: true if equal to a member, else NULL if the value or a member is NULL."""

    def bind(parameters: Parameters) -> Bound:
        needle = term.bind(parameters)
        bounds = spread(members, parameters, term.type)
        if all(bound.is_constant for bound in bounds):
            return _in_constants(needle, [bound.value for bound in bounds])
        return _in_anything(needle.evaluate, [bound.evaluate for bound in bounds])

    return Term("boolean", bind)


def _in_constants(needle: Bound, values: list[Any]) -> Bound:
    found = frozenset(value for value in values if value is not None)
    absent = None if None in values else False

    def member(value: Any) -> Any:
        return True if value in found else absent

    return _bound_apply(member, needle)


def _in_anything(needle: Evaluate, members: list[Evaluate]) -> Bound:
    def run(row: Row) -> Any:
        value = needle(row)
        if value is None:
            return None
        found = [member(row) for member in members]
        if value in found:
            return True
        return None if None in found else False

    return Bound(run)
