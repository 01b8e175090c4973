"""Cutting a statement's text at its keywords, without being misled by brackets and quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from whitecap.engine.column_names import column_paths
from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.log.ddl import split_top_level
from whitecap.engine.sql.expressions.syntax_trees import SYNTAX_ERROR

HEAD = ""
"""The key of what stands before the first keyword."""

_QUOTED = re.compile(r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`", re.DOTALL)
_PROPERTY = re.compile(
    r"\s*(['\"]?)([\w.\-]+)\1\s*(?:=?\s*(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"|=\s*(?P<word>\S+?))?\s*\Z",
    re.DOTALL,
)


_COMMENT = re.compile(rf"({_QUOTED.pattern})|--[^\n]*|/\*(?!\+).*?\*/", re.DOTALL)


def without_comments(text: str) -> str:
    """The text with a blank for each comment; hints (`/*+ ... */`) and quoted text stay."""
    return _COMMENT.sub(lambda match: match[1] or " ", text)


def cut_clauses(text: str, keywords: Sequence[str], rest: str | None = None) -> dict[str, str]:
    """The text after each keyword, up to the next one. Nothing is cut after the keyword `rest`.

    Only keywords outside brackets and quotes count. Raises `InvalidInput` for one that comes twice.
    """
    marks = _marks(text, [*keywords, *([rest] if rest else [])], rest)
    clauses = {HEAD: text[: marks[0][1]].strip() if marks else text.strip()}
    for at, (keyword, _, end) in enumerate(marks):
        if keyword in clauses:
            raise InvalidInput([Problem(text.strip(), f"has {keyword} twice")])
        until = marks[at + 1][1] if at + 1 < len(marks) else len(text)
        clauses[keyword] = text[end:until].strip()
    return clauses


def _marks(text: str, keywords: Sequence[str], rest: str | None) -> list[tuple[str, int, int]]:
    """Each keyword with where it begins and ends."""
    patterns = [(word, re.compile(word.replace(" ", r"\s+") + r"\b", re.I)) for word in keywords]
    marks: list[tuple[str, int, int]] = []
    at, depth = 0, 0
    while at < len(text):
        quoted = _QUOTED.match(text, at)
        if quoted:
            at = quoted.end()
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        hit = None
        if depth == 0 and not (at and (text[at - 1].isalnum() or text[at - 1] in "_.")):
            hit = next(((w, m) for w, p in patterns if (m := p.match(text, at))), None)
        if hit is None:
            at += 1
            continue
        marks.append((hit[0], at, hit[1].end()))
        if hit[0] == rest:
            break
        at = hit[1].end()
    return marks


def unbracketed(text: str) -> str:
    """The text inside the one pair of brackets that is around it, if there is one."""
    text = text.strip()
    return text[1:-1].strip() if text.startswith("(") and text.endswith(")") else text


def names_in(text: str) -> tuple[str, ...]:
    """Column names in a list, with or without brackets around it."""
    parts = (part.strip().strip("`") for part in unbracketed(text).split(","))
    return tuple(part for part in parts if part)


def columns_in(text: str, clause: str) -> tuple[str, ...]:
    """The columns that a clause lays files out by.

    Raises `UnsupportedFeature` for the field of a struct.
    """
    try:
        paths = column_paths(unbracketed(text))
    except ValueError as error:
        raise InvalidInput([Problem(text, str(error), refused_as=SYNTAX_ERROR)]) from error
    if not paths:
        raise InvalidInput([Problem(f"{clause} ()", "needs columns", refused_as=SYNTAX_ERROR)])
    for path in paths:
        if len(path) > 1:
            shown = ".".join(path)
            raise UnsupportedFeature(f"{clause} {shown}, a field of a struct; name it as a whole")
    return tuple(column for (column,) in paths)


def properties_in(text: str) -> tuple[tuple[str, str], ...]:
    """Keys and values of a list of table properties; a key without value has an empty one.

    Raises `InvalidInput` for what is no property.
    """
    pairs = []
    for part in split_top_level(unbracketed(text)):
        match = _PROPERTY.match(part)
        if not match:
            raise InvalidInput([Problem(part.strip(), "is not a table property")])
        value = match["word"] or ""
        pairs.append((match[2], unquoted(match["text"]) if match["text"] else value))
    return tuple(pairs)


_NO_VALUE = "ParseException", "_LEGACY_ERROR_TEMP_0035"
_VALUE = re.compile(r"true|false|[+-]?[0-9][0-9.]*|:\w+", re.IGNORECASE)
"""Without quotes; a parameter too. Source: Spark's SqlBaseParser.g4 (propertyValue)."""


def values_in(text: str) -> tuple[tuple[str, str], ...]:
    """The same where every key needs a value. Raises `InvalidInput` for one that has none."""
    for part in split_top_level(unbracketed(text)):
        match = _PROPERTY.match(part)
        if match and not (match["text"] or match["word"]):
            raise InvalidInput([Problem(match[2], "needs a value", refused_as=_NO_VALUE)])
        if match and match["word"] and not _VALUE.fullmatch(match["word"]):
            problem = "text stands in quotes"
            raise InvalidInput([Problem(match["word"], problem, refused_as=SYNTAX_ERROR)])
    return properties_in(text)


def unquoted(text: str) -> str:
    """A text literal's content."""
    text = text.strip()
    if text[:1] in ("'", '"') and text[-1:] == text[:1]:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    raise InvalidInput([Problem(text, "is not a text literal")])
