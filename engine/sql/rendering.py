"""Spark SQL text with parameters filled in: of whole statements, and of syntax trees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlglot import exp

from engine.sql.types import to_text

# A parameter, or what may hold a colon without being one: a quoted text or name.
_TOKEN = re.compile(
    r"""('(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*"|`[^`]*`)|(?<![:\w]):([A-Za-z_]\w*)""", re.DOTALL
)


def sql_literal(value: Any) -> str:
    """A Python value as a Spark SQL literal of its type."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | Decimal():
            return f"{value:f}" if isinstance(value, Decimal) else str(value)
        case float():
            return f"{value!r}D" if value == value and abs(value) < 1e15 else _cast_fraction(value)
        case datetime():
            kind = "TIMESTAMP_LTZ" if value.tzinfo else "TIMESTAMP_NTZ"
            return f"{kind} {quoted(to_text(value) + ('Z' if value.tzinfo else ''))}"
        case date():
            return f"DATE '{value.isoformat()}'"
    return quoted(str(value))


def _cast_fraction(value: float) -> str:
    return f"CAST('{to_text(value)}' AS DOUBLE)"


def quoted(text: str) -> str:
    """A text literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _parameter_text(value: Any) -> str:
    if not isinstance(value, list | tuple | set | frozenset):
        return sql_literal(value)
    return ", ".join(
        f"({_parameter_text(member)})" if isinstance(member, list | tuple) else sql_literal(member)
        for member in value
    )


@dataclass(frozen=True, slots=True)
class Template:
    """A statement's text, cut at its parameters: `names[i]` stands between two `texts`."""

    texts: tuple[str, ...]
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, sql: str) -> Template:
        """Cut a text at its `:name`s, other than those inside quotes."""
        texts, names, start = [""], [], 0
        for token in _TOKEN.finditer(sql):
            if token[2]:
                texts[-1] += sql[start : token.start()]
                names.append(token[2])
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
            known = name in parameters
            pieces += (_parameter_text(parameters[name]) if known else f":{name}", text)
        return "".join(pieces)


def literal_node(value: Any) -> exp.Expr:
    """A Python value as a literal in a syntax tree."""
    match value:
        case None:
            return exp.Null()
        case bool():
            return exp.Boolean(this=value)
        case int() | Decimal():
            number = exp.Literal.number(
                f"{abs(value):f}" if isinstance(value, Decimal) else abs(value)
            )
            return exp.Neg(this=number) if value < 0 else number
        case float():
            return exp.cast(exp.Literal.string(to_text(value)), "double")
        case datetime():
            kind = "timestamptz" if value.tzinfo else "timestampntz"
            return exp.cast(exp.Literal.string(to_text(value)), kind)
        case date():
            return exp.cast(exp.Literal.string(value.isoformat()), "date")
    return exp.Literal.string(str(value))


def substitute(node: exp.Expr, parameters: Mapping[str, Any]) -> exp.Expr:
    """The tree with every known parameter replaced by its value; the given tree is left alone."""
    if not parameters:
        return node
    copy = node.copy()
    for place in list(copy.find_all(exp.Placeholder)):
        if place.name in parameters:
            copy = _replaced(copy, place, parameters[place.name])
    return copy


def _replaced(root: exp.Expr, place: exp.Placeholder, value: Any) -> exp.Expr:
    if isinstance(value, list | tuple | set | frozenset):
        _spread(place, value)
        return root
    new = literal_node(value)
    place.replace(new)
    return new if place is root else root


def _spread(place: exp.Placeholder, values: Iterable[Any]) -> None:
    """Several values take the place of one member of an IN list."""
    parent = place.parent
    if parent is not None:
        siblings = parent.expressions
        index = siblings.index(place)
        nodes = [literal_node(value) for value in values]
        parent.set("expressions", siblings[:index] + nodes + siblings[index + 1 :])
