"""The guard: what functions and operators take, and what becomes of other arguments.

An argument is cast as Spark's ANSI mode casts it, or refused as Spark refuses it, or refused by
name where Spark would go on and nothing here does. Source: AnsiTypeCoercion.scala (implicitCast),
ExpectsInputTypes.scala, observed for every function (tests/sql/spark_answers.json).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from whitecap.engine.errors import DeltaError, InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.sql.expressions.terms import Parameters, Term, convert, failing, strictly
from whitecap.engine.values.coercion import (
    belongs,
    check_texts,
    common_of,
    implicit_type,
    mismatch,
)
from whitecap.engine.values.types import PARAMETER, Session, has_values, is_numeric

Build = Callable[[Sequence[Term], Session], Term]
"""Makes a function's term of arguments that it takes."""

Takes = Callable[[str, Sequence[Term], Session], Sequence[Term]]
"""Casts the arguments of the named function. Raises `InvalidInput` as Spark refuses others."""

Gives = str | Callable[..., str]
"""The type of what a function gives, or that type by those of its arguments."""


class Kind(Struct, frozen=True):
    """What an argument may be: types, or families of them, that it is taken as it is.

    `implicit`: whether Spark casts others to these; `numbers`: whether other numbers too.
    """

    types: tuple[str, ...]
    implicit: bool = True
    numbers: bool = True

    def taken_as(self, given: str) -> str | None:
        """The type that an argument is cast to, `None` if it is refused."""
        if any(belongs(given, wanted) for wanted in self.types):
            return given
        if given != "void" and not (self.implicit and (self.numbers or not is_numeric(given))):
            return None
        cast = (implicit_type(given, wanted) for wanted in self.types)
        return next((kind for kind in cast if kind is not None), None)

    def __str__(self) -> str:
        return " or ".join(self.types).upper()


TEXT, BINARY, BOOLEAN = Kind(("string",)), Kind(("binary",)), Kind(("boolean",))
INT, BIGINT, DOUBLE = Kind(("int",)), Kind(("bigint",)), Kind(("double",))
NUMBER, TEXT_OR_BINARY = Kind(("numeric",)), Kind(("string", "binary"))
DATE, TIMESTAMP = Kind(("date",)), Kind(("timestamp",))


class Function(Struct, frozen=True):
    """What a function takes and what is made of it.

    `any_type`: whether values of types that are not modelled may come too, as they are not looked
    at.
    """

    takes: Takes
    build: Build
    any_type: bool = False

    def call(self, name: str, terms: Sequence[Term], session: Session) -> Term:
        """The function of terms.

        Raises `InvalidInput` as Spark refuses arguments, `UnsupportedFeature` for what is not
        modelled; so does what the term gives, with `DeltaError` for what Spark fails with.
        """
        if any(term.type == PARAMETER for term in terms):
            return self._when_known(name, terms, session)
        unknown = [term.type for term in terms if not has_values(term.type)]
        if unknown and not self.any_type:
            raise UnsupportedFeature(f"values of type {unknown[0]} in {name}")
        try:
            taken = self.takes(name, terms, session)
        except InvalidInput as error:
            if session.ansi:
                raise
            raise UnsupportedFeature(f"{error}, without ANSI mode") from error
        term = self.build(taken, session)
        return term if session.ansi or term in taken else _without_errors(name, term)

    def _when_known(self, name: str, terms: Sequence[Term], session: Session) -> Term:
        """The term of arguments whose types the values of parameters decide."""

        def typed(parameters: Parameters) -> Term:
            return self.call(name, [term.typed_by(parameters) for term in terms], session)

        foldable = all(term.foldable for term in terms)
        return Term(PARAMETER, lambda p: typed(p).bind(p), foldable, typed)


def _without_errors(name: str, term: Term) -> Term:
    """Outside of ANSI mode: what fails in it goes on there, and nothing here does."""

    def refusal(error: Exception) -> UnsupportedFeature:
        return UnsupportedFeature(f"{name}: {error}, without ANSI mode")

    return failing(term, (DeltaError,), refusal)


def check_count(name: str, count: int, least: int, most: int | None) -> None:
    """Raises `InvalidInput` for a wrong number of arguments."""
    if count < least or (most is not None and count > most):
        suggestion = "WITH_SUGGESTION" if name == "count" else "WITHOUT_SUGGESTION"
        refused_as = "AnalysisException", f"WRONG_NUM_ARGS.{suggestion}"
        raise InvalidInput([Problem(name, f"cannot take {count} arguments", refused_as=refused_as)])


def as_kind(name: str, at: int, term: Term, kind: Kind, session: Session) -> Term:
    """An argument as the kind that is expected. Raises `InvalidInput` for any other."""
    target = kind.taken_as(term.type)
    if target is None:
        text = f"argument {at + 1} of {name} is {term.type.upper()}, not {kind}"
        raise mismatch("UNEXPECTED_INPUT_TYPE", text)
    return convert(term, target, session)


def arguments(*kinds: Kind, optional: int = 0, repeats: bool = False) -> Takes:
    """Arguments of these kinds; the last ones may be left out, the last may come several times."""

    def takes(name: str, terms: Sequence[Term], session: Session) -> list[Term]:
        check_count(name, len(terms), len(kinds) - optional, None if repeats else len(kinds))
        wanted = [*kinds, *kinds[-1:] * (len(terms) - len(kinds))]
        pairs = enumerate(zip(terms, wanted, strict=False))
        return [as_kind(name, at, term, kind, session) for at, (term, kind) in pairs]

    return takes


def in_common(least: int, most: int | None = None, *, with_texts: bool = True) -> Takes:
    """Arguments that get one type. See `common_of` for texts."""

    def takes(name: str, terms: Sequence[Term], session: Session) -> list[Term]:
        check_count(name, len(terms), least, most)
        common = common_of((term.type for term in terms), with_texts=with_texts)
        check_texts((term.type for term in terms), session)
        return [convert(term, common, session) for term in terms]

    return takes


def must_be_foldable(term: Term, refusal: InvalidInput) -> None:
    """Raises the refusal for an argument that is no constant."""
    if not term.foldable:
        raise refusal


def strict(function: Callable[..., Any], takes: Takes, gives: Gives) -> Function:
    """A function that is NULL if an argument is."""
    return Function(takes, lambda terms, _session: value_of(function, terms, gives))


def in_zone(function: Callable[..., Any], takes: Takes, gives: Gives) -> Function:
    """The same for one that is also told the session's time zone, by name, first."""

    def build(terms: Sequence[Term], session: Session) -> Term:
        zone_name = session.time_zone
        return value_of(lambda *values: function(zone_name, *values), terms, gives)

    return Function(takes, build)


def value_of(function: Callable[..., Any], terms: Sequence[Term], gives: Gives) -> Term:
    """The term of a function that is NULL if an argument is."""
    type_name = gives if isinstance(gives, str) else gives(*(term.type for term in terms))

    return netted(strictly(function, terms, type_name))


def netted(term: Term) -> Term:
    """The term; where Python cannot compute what Spark can, that is refused by name."""
    return failing(term, _BEYOND, lambda error: _beyond(term, error))


_BEYOND = (ArithmeticError, ValueError, MemoryError)
"""Days after the year 9999, numbers beyond Python's fractions, texts that do not fit."""


def _beyond(term: Term, error: Exception) -> UnsupportedFeature:
    return UnsupportedFeature(f"a value of type {term.type} beyond what is computed here: {error}")
