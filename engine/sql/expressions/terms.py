"""Compiled expressions: closures over row tuples.

A `Term` is compiled once per statement. Binding it to parameter values gives a `Bound`, whose
`evaluate` takes a row. Constants are folded when they are bound, and the shapes that occur in
hot loops (a column against a constant) get their own closures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.errors import DeltaError, UnsupportedFeature
from whitecap.engine.values.casts import caster, compared_value, no_words
from whitecap.engine.values.types import DEFAULT_SESSION, PARAMETER, Session, type_of

RowValues = Sequence[Any]
Evaluate = Callable[[Any], Any]
Parameters = Mapping[str, Any]


ArrayOf = Callable[[int], Any]
"""The values of a column, by its position, as an array of fractions; `None`: there is none."""


class Bound(Struct, frozen=True):
    """An expression ready to run: `column` where it is a bare column, `value` where constant.

    `of_arrays` computes it for many rows at once, where the columns it asks for are arrays; what it
    gives are the very same values, and nothing can go wrong with it.
    """

    evaluate: Evaluate
    column: int | None = None
    is_constant: bool = False
    value: Any = None
    of_arrays: Callable[[ArrayOf], Any] | None = None


class Term(Struct, frozen=True):
    """A compiled expression: its Spark type, and how to bind it to parameters.

    `foldable`: whether it speaks of no column. `typed`: what it is once parameters are known, for
    one whose type is `PARAMETER` until then. `is_null`: whether the text says that it is NULL, so
    that nothing beside it is computed (NullPropagation comes before ConstantFolding). `letters`:
    how many a CHAR column has, for a term that is one.
    """

    type: str
    bind: Callable[[Parameters], Bound]
    foldable: bool = False
    typed: Callable[[Parameters], Term] | None = None
    is_null: bool = False
    letters: int | None = None

    def typed_by(self, parameters: Parameters) -> Term:
        """The term with the type that the parameters' values give it."""
        return self if self.typed is None else self.typed(parameters)


def constant_bound(value: Any) -> Bound:
    """A `Bound` that has one value for every row."""
    return Bound(lambda _row: value, is_constant=True, value=value)


def bound_to(parts: Iterable[Bound], run: Evaluate) -> Bound:
    """What `run` makes of its parts, computed at once where all of them are constants."""
    return constant_bound(run(())) if all(part.is_constant for part in parts) else Bound(run)


def literal(value: Any, type_name: str) -> Term:
    """A constant."""
    bound = constant_bound(value)
    return Term(type_name, lambda _parameters: bound, foldable=True, is_null=value is None)


def column(index: int, type_name: str, letters: int | None = None) -> Term:
    """The value at a position of the row; NULL where it can be nothing else."""
    if type_name == "void":
        return replace(literal(None, type_name), foldable=False)
    bound = Bound(itemgetter(index), column=index)
    return Term(type_name, lambda _parameters: bound, letters=letters)


def parameter(name: str) -> Term:
    """A value that is given when the statement is bound.

    Binding raises `UnsupportedFeature` where it is not given, as in a text that a table keeps.
    """

    def value_in(parameters: Parameters) -> Any:
        if name not in parameters:
            written = name if name == "?" else f":{name}"
            raise UnsupportedFeature(f"the parameter {written}, which has no value here")
        return parameters[name]

    def typed(parameters: Parameters) -> Term:
        value = value_in(parameters)
        return literal(value, type_of(value))

    return Term(PARAMETER, lambda parameters: constant_bound(value_in(parameters)), True, typed)


def apply(function: Callable[[Any], Any], term: Term, type_name: str) -> Term:
    """`function` of a non-null value; NULL stays NULL."""
    return Term(
        type_name,
        lambda parameters: applied(function, term.bind(parameters)),
        term.foldable,
        is_null=term.is_null,
    )


def applied(function: Callable[[Any], Any], inner: Bound) -> Bound:
    """`function` of what is bound, unless that is NULL."""
    if inner.is_constant:
        return constant_bound(None if inner.value is None else function(inner.value))
    evaluate = inner.evaluate

    def run(row: RowValues) -> Any:
        value = evaluate(row)
        return None if value is None else function(value)

    return Bound(run)


def combine(function: Callable[[Any, Any], Any], left: Term, right: Term, type_name: str) -> Term:
    """`function` of two non-null values; NULL if either is NULL."""

    def bind(parameters: Parameters) -> Bound:
        bounds = _bound_unless_null((left, right), parameters)
        return constant_bound(None) if bounds is None else _bound_combine(function, *bounds)

    return Term(type_name, bind, *_marks((left, right)))


def _marks(terms: Sequence[Term]) -> tuple[bool, None, bool]:
    """`foldable`, `typed` and `is_null` of a function that is NULL if one of the terms is."""
    return all(term.foldable for term in terms), None, any(term.is_null for term in terms)


def _bound_unless_null(terms: Sequence[Term], parameters: Parameters) -> list[Bound] | None:
    """The terms bound; `None` if one is NULL for good.

    Constants alone are computed one after the other until one is NULL; beside columns each is
    computed when the statement is planned, and what is wrong with it is refused then. Source:
    NullPropagation, ConstantFolding.
    """
    if any(term.is_null for term in terms):
        return None
    constant = all(term.foldable for term in terms)
    bounds: list[Bound] = []
    for term in terms:
        bounds.append(term.bind(parameters))
        if constant and bounds[-1].is_constant and bounds[-1].value is None:
            return None
    return None if any(bound.is_constant and bound.value is None for bound in bounds) else bounds


def elementwise(
    function: Callable[[Any, Any], Any], left: Term, right: Term, type_name: str
) -> Term:
    """`combine` for a function of fractions that does the same to arrays of them."""
    term = combine(function, left, right, type_name)

    def bind(parameters: Parameters) -> Bound:
        bound = term.bind(parameters)
        if bound.is_constant:
            return bound
        sides = [_of_arrays(side.bind(parameters)) for side in (left, right)]

        def of_arrays(fractions: ArrayOf) -> Any:
            lefts, rights = (side(fractions) for side in sides)
            return None if lefts is None or rights is None else function(lefts, rights)

        return replace(bound, of_arrays=of_arrays)

    return replace(term, bind=bind)


def _of_arrays(bound: Bound) -> Callable[[ArrayOf], Any]:
    if bound.is_constant:
        return lambda _: bound.value
    if bound.column is not None:
        column = bound.column
        return lambda fractions: fractions(column)
    return bound.of_arrays or (lambda _: None)


def _bound_combine(function: Callable[[Any, Any], Any], left: Bound, right: Bound) -> Bound:
    if right.is_constant:
        return _with_constant(function, left, right.value)
    first, second = left.evaluate, right.evaluate

    def run(row: RowValues) -> Any:
        left_value = first(row)
        if left_value is None:
            return None
        right_value = second(row)
        return None if right_value is None else function(left_value, right_value)

    return Bound(run)


def _with_constant(function: Callable[[Any, Any], Any], left: Bound, value: Any) -> Bound:
    if left.is_constant:
        return constant_bound(function(left.value, value))
    if left.column is not None:
        return Bound(_column_against(function, left.column, value))
    return applied(lambda left_value: function(left_value, value), left)


def _column_against(function: Callable[[Any, Any], Any], index: int, value: Any) -> Evaluate:
    def run(row: RowValues) -> Any:
        cell = row[index]
        return None if cell is None else function(cell, value)

    return run


def each(function: Callable[..., Any], terms: Sequence[Term], type_name: str) -> Term:
    """`function` of all values, NULLs included."""

    def bind(parameters: Parameters) -> Bound:
        bounds = [term.bind(parameters) for term in terms]
        if all(bound.is_constant for bound in bounds):
            return constant_bound(function(*(bound.value for bound in bounds)))
        evaluates = [bound.evaluate for bound in bounds]
        return Bound(lambda row: function(*[evaluate(row) for evaluate in evaluates]))

    return Term(type_name, bind, all(term.foldable for term in terms))


def failing(
    term: Term, caught: tuple[type[Exception], ...], with_error: Callable[[Any], Exception]
) -> Term:
    """The term; what goes wrong in computing it is told by another error."""

    def bind(parameters: Parameters) -> Bound:
        try:
            bound = term.bind(parameters)
        except caught as error:
            raise with_error(error) from error
        evaluate = bound.evaluate

        def run(row: RowValues) -> Any:
            try:
                return evaluate(row)
            except caught as error:
                raise with_error(error) from error

        return bound if bound.is_constant else Bound(run, of_arrays=bound.of_arrays)

    return Term(term.type, bind, term.foldable, is_null=term.is_null)


def strictly(function: Callable[..., Any], terms: Sequence[Term], type_name: str) -> Term:
    """`function` of values that are all there; after the first NULL no other is asked for."""

    def bind(parameters: Parameters) -> Bound:
        bounds = _bound_unless_null(terms, parameters)
        if bounds is None:
            return constant_bound(None)
        evaluates = [bound.evaluate for bound in bounds]

        def run(row: RowValues) -> Any:
            values = []
            for evaluate in evaluates:
                value = evaluate(row)
                if value is None:
                    return None
                values.append(value)
            return function(*values)

        return bound_to(bounds, run)

    return Term(type_name, bind, *_marks(terms))


def convert(term: Term, to_type: str, session: Session = DEFAULT_SESSION) -> Term:
    """The term cast to a type; the term itself where its values need no change.

    Raises `InvalidInput` where Spark has no such cast.
    """
    if term.type == to_type:
        return term
    change = caster(term.type, to_type, session)
    if change is None:
        return Term(to_type, term.bind, term.foldable, is_null=term.is_null)
    if term.foldable and term.type == "string":
        change = no_words(change, to_type)
    return apply(change, term, to_type)


def compared(term: Term, to_type: str, session: Session) -> Term:
    """The term in the type in which it is compared: a parameter's value must be one of it."""
    if term.type != PARAMETER:
        return convert(term, to_type, session)
    return apply(lambda value: compared_value(value, to_type, session), term, to_type)


def in_branch(term: Term, parameters: Parameters) -> Bound:
    """The term bound where it may not be asked for: what is wrong with a constant waits until then.

    Source: ConstantFolding.scala (isConditionalBranch).
    """
    try:
        return term.bind(parameters)
    except DeltaError as error:
        refusal = error

    def run(_row: RowValues) -> Any:
        raise refusal

    return Bound(run)
