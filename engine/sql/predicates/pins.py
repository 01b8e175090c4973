"""Conditions that pin a column to a few values, so that an index can find the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any

from msgspec import Struct
from sqlglot import exp

from whitecap.engine.log.columns.type_changes import char_letters
from whitecap.engine.log.schema import Field, Schema
from whitecap.engine.sql.expressions.membership import spread
from whitecap.engine.sql.expressions.terms import Parameters, Term
from whitecap.engine.sql.predicates.constants import Constants
from whitecap.engine.values.types import FRACTIONAL, PARAMETER, Session, holds, is_integral

PinnedValues = tuple[str, list[Any]]
"""A column, and the values that it can only have."""


class Pin(Struct, frozen=True):
    """A column, by name, that can only have some values: those that `values` gives."""

    column: str
    values: Callable[[Parameters], list[Any]]


def pin_of(node: exp.Expr, schema: Schema, session: Session) -> Pin | None:
    """The pin that one conjunct is, `None` if it is none.

    Fractions are left out: NaN equals itself in SQL, but in no index. So are CHAR columns, whose
    texts are compared with blanks that may not be there.
    """
    constants = Constants(schema, session)
    node = node.unnest()
    if not isinstance(node, exp.EQ | exp.In):
        return None
    field = constants.column(node.this)
    if field is None or field.type in FRACTIONAL or char_letters(field) is not None:
        return None
    terms = _terms_beside(node, field, constants)
    return None if terms is None else Pin(field.name, _values_of(field, terms, session))


def _terms_beside(node: exp.EQ | exp.In, field: Field, constants: Constants) -> list[Term] | None:
    """What a column is compared with, `None` if some of that is no constant."""
    if isinstance(node, exp.In):
        return constants.members(node, field)
    term = constants.value(node.expression, field)
    return None if term is None else [term]


def _values_of(
    field: Field, terms: list[Term], session: Session
) -> Callable[[Parameters], list[Any]]:
    types = [_type_beside(term, field) for term in terms]

    def values(parameters: Parameters) -> list[Any]:
        bounds = (
            bound
            for term, kind in zip(terms, types, strict=True)
            for bound in spread([term], parameters, kind, session)
        )
        constants = dict.fromkeys(bound.value for bound in bounds if bound.value is not None)
        return [value for value in constants if _is_held(value, field.type)]

    return values


def _type_beside(term: Term, field: Field) -> str:
    """The type that a value of the list keeps: a constant may be more than its column holds."""
    return field.type if term.type == PARAMETER else term.type


def _is_held(value: Any, type_name: str) -> bool:
    """Whether a column of whole numbers can have this value; `UnwrapCastInBinaryComparison`."""
    if not is_integral(type_name):
        return True
    return isfinite(value) and value == int(value) and holds(type_name, int(value))


def pinned(pins: Iterable[Pin | None], parameters: Parameters) -> list[PinnedValues | None]:
    """What some conditions pin, given the values of their parameters."""
    return [None if pin is None else (pin.column, pin.values(parameters)) for pin in pins]
