"""Shapes that many functions share, as builders of terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from whitecap.engine.sql.terms import Term, apply, each
from whitecap.engine.sql.types import Session, caster

Build = Callable[[Sequence[Term], Session], Term]
"""Makes a function's term of its arguments' terms. Raises `ValueError` for a wrong number."""


def cast(term: Term, to_type: str, session: Session) -> Term:
    """The term in a type."""
    change = caster(term.type, to_type, session)
    return Term(to_type, term.bind) if change is None else apply(change, term, to_type)


def strict(
    function: Callable[..., Any], takes: Sequence[str], gives: str, optional: int = 0
) -> Build:
    """A function that is NULL if an argument is; the last `optional` arguments may be left out."""

    def build(terms: Sequence[Term], session: Session) -> Term:
        if not len(takes) - optional <= len(terms) <= len(takes):
            raise ValueError(len(terms))
        arguments = [cast(term, kind, session) for term, kind in zip(terms, takes, strict=False)]

        def run(*values: Any) -> Any:
            return None if any(value is None for value in values) else function(*values)

        return each(run, arguments, gives)

    return build


def in_zone(
    function: Callable[..., Any], takes: Sequence[str], gives: str, optional: int = 0
) -> Build:
    """The same for a function whose first argument is the session's time zone, by name."""

    def build(terms: Sequence[Term], session: Session) -> Term:
        name = session.time_zone
        return strict(lambda *values: function(name, *values), takes, gives, optional)(
            terms, session
        )

    return build
