"""Patterns: those of LIKE, and regular expressions as far as Java's and Python's agree.

Source: Spark's regexpExpressions.scala, StringUtils.escapeLikeRegex; java.util.regex.Pattern.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from whitecap.engine.errors import DeltaError, InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.sql.expressions.terms import Term, combine
from whitecap.engine.sql.functions.guard import TEXT, Function, arguments, must_be_foldable, strict
from whitecap.engine.values.types import Session

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


def replaced(text: str, pattern: str, other: str) -> str:
    """regexp_replace."""
    compiled = _pattern(pattern)
    groups = [int(number) for number in re.findall(r"\$(\d)", other)]
    if "\\" in other or "${" in other or any(number > compiled.groups for number in groups):
        raise UnsupportedFeature(f"the replacement {other!r}")
    if other.count("$") != len(groups) or re.search(r"\$\d\d", other):
        raise UnsupportedFeature(f"the replacement {other!r}")
    return compiled.sub(re.sub(r"\$(\d)", r"\\g<\1>", other), text)


def extracted(text: str, pattern: str, group: int = 1) -> str:
    """regexp_extract."""
    compiled = _pattern(pattern)
    match = compiled.search(text)
    if match is None:
        return ""
    if not 0 <= group <= compiled.groups:
        error_class = "INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX"
        message = f"[{error_class}] The value of parameter(s) `idx` is invalid: {group}."
        raise DeltaError("SparkRuntimeException", error_class, message)
    return match.group(group) or ""


@lru_cache(maxsize=1024)
def like_pattern(pattern: str, escape: str, ignore_case: bool) -> re.Pattern[str]:
    """The regular expression of a LIKE pattern. Raises `DeltaError` for one that is none."""
    parts: list[str] = []
    letters = iter(pattern)
    for letter in letters:
        if letter == escape:
            parts.append(re.escape(_escaped(pattern, escape, next(letters, ""))))
        else:
            parts.append({"%": ".*", "_": "."}.get(letter) or re.escape(letter))
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
    return re.compile("".join(parts) + r"\Z", flags)


def _escaped(pattern: str, escape: str, letter: str) -> str:
    if letter and letter in ("_", "%", escape):
        return letter
    where = "ESC_IN_THE_MIDDLE" if letter else "ESC_AT_THE_END"
    message = f"[INVALID_FORMAT.{where}] The format is invalid: {pattern!r}."
    raise DeltaError("AnalysisException", f"INVALID_FORMAT.{where}", message)


def like(escape: str = "\\", *, ignore_case: bool = False) -> Function:
    """LIKE and ILIKE, with what takes a letter's meaning away."""

    def matches(text: str, pattern: str) -> bool:
        return like_pattern(pattern, escape, ignore_case).match(text) is not None

    def build(terms: Sequence[Term], _session: Session) -> Term:
        return combine(matches, terms[0], terms[1], "boolean")

    return Function(_like_takes, build)


def _like_takes(name: str, terms: Sequence[Term], session: Session) -> Sequence[Term]:
    if len(terms) == 3:  # like(text, pattern, escape)
        refused_as = "AnalysisException", "INVALID_ESCAPE_CHAR"
        problem = Problem(name, "the escape is no constant", refused_as=refused_as)
        must_be_foldable(terms[2], InvalidInput([problem]))
        raise UnsupportedFeature(f"{name}() with an escape of its own")
    return arguments(TEXT, TEXT)(name, terms, session)


def _occurs(text: str, pattern: str) -> bool:
    return _pattern(pattern).search(text) is not None


PATTERNS: dict[str, Function] = {
    "like": like(),
    "ilike": like(ignore_case=True),
    "rlike": strict(_occurs, arguments(TEXT, TEXT), "boolean"),
}
