"""IN: whether a value is among others, which may be constants, parameters or computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from whitecap.engine.sql.expressions.filled_texts import filled_together
from whitecap.engine.sql.expressions.terms import (
    Bound,
    Evaluate,
    Parameters,
    RowValues,
    Term,
    applied,
    compared,
    constant_bound,
    in_branch,
)
from whitecap.engine.values.casts import compared_value
from whitecap.engine.values.types import Session


def spread(
    terms: Iterable[Term],
    parameters: Parameters,
    to_type: str,
    session: Session,
    *,
    waits: bool = False,
) -> list[Bound]:
    """The members of an IN list; a parameter that holds several values gives one for each.

    `waits`: whether what is wrong with a constant waits until it is looked at.
    """
    bounds: list[Bound] = []
    for term in terms:
        bound = in_branch(term, parameters) if waits else term.bind(parameters)
        if bound.is_constant and isinstance(bound.value, list | tuple | set | frozenset):
            values = [compared_value(value, to_type, session) for value in bound.value]
            bounds.extend(constant_bound(value) for value in values)
        else:
            member = compared(term, to_type, session)
            bounds.append(in_branch(member, parameters) if waits else member.bind(parameters))
    return bounds


def membership(term: Term, members: Sequence[Term], session: Session) -> Term:
    """IN: true if equal to a member, else NULL if the value or a member is NULL."""

    foldable = term.foldable and all(member.foldable for member in members)

    def bind(parameters: Parameters) -> Bound:
        if term.is_null:
            return constant_bound(None)
        needle = term.bind(parameters)
        bounds = spread(members, parameters, term.type, session, waits=foldable)
        if all(bound.is_constant for bound in bounds):
            values = filled_together([bound.value for bound in bounds], term.letters)
            return _in_constants(_as_long(needle, term.letters, values), values)
        run = _in_anything(needle.evaluate, [bound.evaluate for bound in bounds])
        return constant_bound(run(())) if foldable else Bound(run)

    return Term("boolean", bind, foldable, is_null=term.is_null)


def _as_long(needle: Bound, letters: int | None, members: list[Any]) -> Bound:
    """A CHAR column filled up to the length of longer members."""
    if letters is None or None in members or not members or len(members[0]) <= letters:
        return needle
    return applied(lambda text: text.ljust(len(members[0])), needle)


def _in_constants(needle: Bound, values: list[Any]) -> Bound:
    constants = frozenset(value for value in values if value is not None)
    absent = None if None in values else False
    has_nan = any(value != value for value in constants)

    def member(value: Any) -> Any:
        return True if value in constants or (has_nan and value != value) else absent

    return applied(member, needle)


def _in_anything(needle: Evaluate, members: list[Evaluate]) -> Evaluate:
    """One member after the other until one is equal; those after it are not computed."""

    def run(row: RowValues) -> Any:
        value = needle(row)
        if value is None:
            return None
        absent: bool | None = False
        for evaluate in members:
            member = evaluate(row)
            if member is None:
                absent = None
            elif value == member or (value != value and member != member):
                return True
        return absent

    return run
