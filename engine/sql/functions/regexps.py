"""Patterns: those of LIKE, and regular expressions as far as Java's and Python's agree.

Source: Spark's regexpExpressions.scala, StringUtils.escapeLikeRegex; java.util.regex.Pattern.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from whitecap.engine.errors import DeltaError, UnsupportedFeature
from whitecap.engine.refusals import not_modelled
from whitecap.engine.sql.expressions.terms import Term, combine
from whitecap.engine.sql.functions.guard import TEXT, Function, arguments, strict
from whitecap.engine.values.types import Session

_ESCAPE = "\\"  # takes the meaning from a letter of LIKE
_JAVA_ONLY = re.compile(
    r"(?<!\\)(?:\\\\)*(?:\\[pPQEhHRXzZGkKuxN0cVv]|&&|\[\[|\(\?(?![:=!]|<[=!])|[*+?}]\+)"
)
"""What Java reads otherwise than Python, or what only one of them has."""


@lru_cache(maxsize=256)
def _pattern(text: str) -> re.Pattern[str]:
    """Raises `UnsupportedFeature` for a pattern that Python does not read as Java does."""
    if _JAVA_ONLY.search(text):
        raise UnsupportedFeature(f"the regular expression {text!r}")
    try:
        return re.compile(text, re.ASCII)
    except (re.error, RecursionError, OverflowError):
        raise UnsupportedFeature(f"the regular expression {text!r}") from None


@lru_cache(maxsize=1024)
def _like_pattern(pattern: str) -> re.Pattern[str]:
    """The regular expression of a LIKE pattern. Raises `DeltaError` for one that is none."""
    parts: list[str] = []
    letters = iter(pattern)
    for letter in letters:
        if letter == _ESCAPE:
            parts.append(re.escape(_escaped(pattern, next(letters, ""))))
        else:
            parts.append({"%": ".*", "_": "."}.get(letter) or re.escape(letter))
    return re.compile("".join(parts) + r"\Z", re.DOTALL)


def _escaped(pattern: str, letter: str) -> str:
    if letter and letter in ("_", "%", _ESCAPE):
        return letter
    where = "ESC_IN_THE_MIDDLE" if letter else "ESC_AT_THE_END"
    message = f"The format is invalid: {pattern!r}."
    raise DeltaError.of_class("AnalysisException", f"INVALID_FORMAT.{where}", message)


def _is_like(text: str, pattern: str) -> bool:
    return _like_pattern(pattern).match(text) is not None


def _like_takes(name: str, terms: Sequence[Term], session: Session) -> Sequence[Term]:
    if len(terms) == 3:  # like(text, pattern, escape)
        raise not_modelled.form("escape", f"{name}(text, pattern, escape)")
    return arguments(TEXT, TEXT)(name, terms, session)


def _like(terms: Sequence[Term], _session: Session) -> Term:
    return combine(_is_like, terms[0], terms[1], "boolean")


def _occurs(text: str, pattern: str) -> bool:
    return _pattern(pattern).search(text) is not None


PATTERNS: dict[str, Function] = {
    "like": Function(_like_takes, _like),
    "rlike": strict(_occurs, arguments(TEXT, TEXT), "boolean"),
}
"""By Spark's names."""
