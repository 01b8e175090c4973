"""Comparisons of CHAR columns: the shorter text is filled up with blanks.

Constants beside a column become as long as it is, or it as long as they are, if the comparison is
written as one of both. Source: Spark's ApplyCharTypePadding (rewriteStringComparisonExpressions).
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from whitecap.engine.sql.expressions.terms import Bound, Parameters, Term, applied, apply, compared
from whitecap.engine.values.types import PARAMETER, Session

UNFILLED = "unfilled"
"""Marks comparisons (in `meta`) in which nothing is filled up, as the halves of a BETWEEN."""


def filled_up(left: Term, right: Term, session: Session) -> tuple[Term, Term]:
    """Both sides of a comparison as Spark compares them; themselves where none is a CHAR column."""
    if left.letters is not None and right.letters is not None:
        return _filled(left, right.letters), _filled(right, left.letters)
    if left.letters is not None and _is_constant(right):
        return _beside(left, left.letters, right, session)
    if right.letters is not None and _is_constant(left):
        return _beside(right, right.letters, left, session)[::-1]
    return left, right


def with_letters(term: Term, letters: int) -> Term:
    """A text as a CHAR column of so many letters shows it."""
    return replace(apply(lambda text: text.ljust(letters), term, "string"), letters=letters)


def filled_together(members: list[Any], letters: int | None) -> list[Any]:
    """The constants of an IN beside a CHAR column of so many letters: all as long as the longest.

    With a NULL among them nothing is filled up.
    """
    if letters is None or None in members:
        return members
    longest = max(letters, *map(len, members))
    return [member.ljust(longest) for member in members]


def _is_constant(term: Term) -> bool:
    return term.foldable and term.type in ("string", PARAMETER)


def _filled(term: Term, letters: int) -> Term:
    is_shorter = term.letters is not None and term.letters < letters
    return with_letters(term, letters) if is_shorter else term


def _beside(column: Term, letters: int, constant: Term, session: Session) -> tuple[Term, Term]:
    text = compared(constant, "string", session)

    def bind(parameters: Parameters) -> Bound:
        bound, value = column.bind(parameters), text.bind(parameters).value
        if value is None or len(value) <= letters:
            return bound
        return applied(lambda each: each.ljust(len(value)), bound)

    return replace(column, bind=bind), apply(lambda each: each.ljust(letters), text, "string")
