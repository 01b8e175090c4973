"""Spark SQL text with parameters filled in as literals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from types import NoneType
from typing import Any

from msgspec import Struct

from whitecap.engine.column_names import plain_name, quoted_if_needed
from whitecap.engine.values.texts import to_text

_ROWS = (list, tuple)

_LONGEST = 1e15
"""Fractions below it are written without an exponent that Spark could read otherwise."""

# A parameter, or what may hold a colon without being one: a quoted text or name.
_TOKEN = re.compile(
    r"""('(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*"|`[^`]*`)"""
    r"""|(?<![:\w]):([A-Za-z_]\w*|`(?:[^`]|``)+`)""",
    re.DOTALL,
)


def sql_literal(value: Any) -> str:
    """A Python value as a Spark SQL literal of its type; of other types as a text."""
    make = _LITERALS.get(type(value))
    if make is None:
        bases = type(value).__mro__
        make = next((_LITERALS[kind] for kind in bases if kind in _LITERALS), _text_of)
    return make(value)


def _fraction(value: float) -> str:
    return f"{value!r}D" if abs(value) < _LONGEST else _cast_fraction(value)


def _instant(value: datetime) -> str:
    kind = "TIMESTAMP_LTZ" if value.tzinfo else "TIMESTAMP_NTZ"
    return f"{kind} {quoted(to_text(value) + ('Z' if value.tzinfo else ''))}"


def _text_of(value: object) -> str:
    return quoted(str(value))


def _cast_fraction(value: float) -> str:
    return f"CAST('{to_text(value)}' AS DOUBLE)"


def quoted(text: str) -> str:
    """A text literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_LITERALS: dict[type[Any], Callable[[Any], str]] = {
    NoneType: lambda _: "NULL",
    bool: lambda value: "TRUE" if value else "FALSE",
    int: str,
    Decimal: lambda value: f"{value:f}",
    float: _fraction,
    datetime: _instant,
    date: lambda value: f"DATE '{value.isoformat()}'",
    str: _text_of,
}


def _parameter_text(value: Any) -> str:
    if not isinstance(value, (list, tuple, set, frozenset)):
        return sql_literal(value)
    return _several(value)


def _several(values: Iterable[Any]) -> str:
    literal = _LITERALS.get
    return ", ".join(
        [
            _row_or_literal(value) if (make := literal(type(value))) is None else make(value)
            for value in values
        ]
    )


def _row_or_literal(value: Any) -> str:
    if type(value) is tuple and (row := _plain_row(tuple(map(type, value)))) is not None:
        return row.text(value)
    return f"({_several(value)})" if isinstance(value, _ROWS) else sql_literal(value)


class PlainRow(Struct, frozen=True):
    """How rows of certain Python types are written in one go, as `_several` writes them.

    `fractions` and `texts` are the places of values that have to be looked at.
    """

    form: str
    fractions: tuple[int, ...]
    texts: tuple[int, ...]

    def text(self, row: tuple[Any, ...]) -> str:
        """The literals of a row, in brackets."""
        for place in self.fractions:
            if not -_LONGEST < row[place] < _LONGEST:
                return f"({_several(row)})"
        for place in self.texts:
            if "'" in row[place] or "\\" in row[place]:
                return f"({_several(row)})"
        return self.form % row


_FORMS = {int: "%d", float: "%rD", date: "DATE '%s'", str: "'%s'"}
"""How `_LITERALS` writes values of a type, most of them, in `%` formats."""


@lru_cache(maxsize=256)
def _plain_row(kinds: tuple[type[Any], ...]) -> PlainRow | None:
    """`None` for rows with other values, which are written one by one."""
    forms = [_FORMS.get(kind) for kind in kinds]
    if None in forms:
        return None
    fractions, texts = (
        tuple(place for place, kind in enumerate(kinds) if kind is looked_at)
        for looked_at in (float, str)
    )
    return PlainRow(f"({', '.join(filter(None, forms))})", fractions, texts)


class Template(Struct, frozen=True):
    """A statement's text, cut at its parameters: `names[i]` stands between two `texts`."""

    texts: tuple[str, ...]
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, sql: str) -> Template:
        """Cut a text at its `:name`s, quoted ones too, other than those inside quotes."""
        texts, names, start = [""], [], 0
        for token in _TOKEN.finditer(sql):
            if token[2]:
                texts[-1] += sql[start : token.start()]
                names.append(plain_name(token[2]))
                texts.append("")
                start = token.end()
        texts[-1] += sql[start:]
        return cls(tuple(texts), tuple(names))

    @property
    def parameter_names(self) -> frozenset[str]:
        """The parameters that need a value."""
        return frozenset(self.names)

    def render(self, parameters: Mapping[str, Any]) -> str:
        """The text with the parameters' values as literals; one without value stays `:name`."""
        if not self.names:
            return self.texts[0]
        pieces = [self.texts[0]]
        for name, text in zip(self.names, self.texts[1:], strict=True):
            is_given = name in parameters
            value = _parameter_text(parameters[name]) if is_given else f":{quoted_if_needed(name)}"
            # Two dashes would begin a comment.
            apart = " " if value.startswith("-") and pieces[-1].endswith("-") else ""
            pieces += (apart + value, text)
        return "".join(pieces)
