"""Reading column definitions in Spark's DDL, `name TYPE [NOT NULL] [COMMENT '...'] ...`.

A type is returned as its simple name, or as `("array", element)`, `("map", key, value)` or
`("struct", (name, type), ...)`. Only what Delta stores in a schema is understood.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NoReturn

from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem, nearest
from whitecap.engine.log.column_keys import (
    CURRENT_DEFAULT,
    GENERATION_EXPRESSION,
    IDENTITY_ALLOWS_EXPLICIT_INSERT,
    IDENTITY_START,
    IDENTITY_STEP,
    LIMITED_TEXT,
)
from whitecap.engine.values.types import MAX_PRECISION

# Spark's spellings of a type and the simple string that Spark itself shows for it.
# Source: Spark SQL reference, "Data Types".
_TYPES = {
    "int": "int",
    "integer": "int",
    "bigint": "bigint",
    "long": "bigint",
    "smallint": "smallint",
    "short": "smallint",
    "tinyint": "tinyint",
    "byte": "tinyint",
    "string": "string",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp_ltz": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
    "double": "double",
    "float": "float",
    "real": "float",
    "boolean": "boolean",
    "binary": "binary",
    "variant": "variant",
    "void": "void",
}
_DECIMALS = frozenset({"decimal", "dec", "numeric"})
_NESTED = frozenset({"array", "map", "struct"})
_TOKEN = re.compile(r"\s*(?:(`(?:[^`]|``)*`)|('(?:[^'\\]|\\.)*')|(\w+)|(\S))", re.DOTALL)
_DIGITS = re.compile(r"\s*(\d+)\s*(?:,\s*(\d+)\s*)?")
# Source: Spark's SqlBaseParser.g4: sequenceGeneratorOption.
_IDENTITY_OPTION = re.compile(r"(START\s+WITH|INCREMENT\s+BY)\s+(-?\s*\d+)", re.IGNORECASE)
REPEATED = "AnalysisException", "COLUMN_ALREADY_EXISTS"
"""How Spark refuses a column that comes twice."""

_END = ""
_OPTIONS = frozenset({_END, "NOT", "COMMENT", "GENERATED", "DEFAULT"})


class ColumnText(Struct, frozen=True):
    """One column definition, read."""

    name: str
    type: Any
    nullable: bool
    metadata: Mapping[str, Any]


def read_columns(text: str) -> list[ColumnText]:
    """Read a comma-separated list of definitions. Raises `InvalidInput` with every problem."""
    columns: list[ColumnText] = []
    problems: list[Problem] = []
    for part in split_top_level(text):
        try:
            columns.append(_Reader(part).column())
        except InvalidInput as error:
            problems.extend(error.problems)
    problems.extend(_repeated(columns))
    if problems:
        raise InvalidInput(problems)
    return columns


def read_type(text: str) -> Any:
    """Read one type. Raises `InvalidInput`."""
    reader = _Reader(text)
    kind = reader.type()
    reader.expect(_END)
    return kind


def split_top_level(text: str) -> list[str]:
    """Split at the commas that stand in no bracket and no quotes."""
    parts, start, last = [], 0, ""
    depth = {"(": 0, "<": 0}
    for match in _TOKEN.finditer(text):
        mark, before, last = match.group(4), last, match.group().strip().lower()
        if mark == "(" or (mark == "<" and before in _NESTED):  # else it compares
            depth[mark] += 1
        elif mark == ")" or (mark == ">" and depth["<"]):
            depth["(" if mark == ")" else "<"] -= 1
        elif mark == "," and not any(depth.values()):
            parts.append(text[start : match.start(4)])
            start = match.end()
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def _repeated(columns: list[ColumnText]) -> list[Problem]:
    names = [column.name.lower() for column in columns]
    again = {name for name in names if names.count(name) > 1}
    text = "column is defined more than once"
    return [Problem(name, text, refused_as=REPEATED) for name in sorted(again)]


class _Reader:
    """Reads one definition or type, token by token."""

    def __init__(self, text: str) -> None:
        self._text = text.strip()
        matches = list(_TOKEN.finditer(self._text))
        self._tokens = [match.group().strip() for match in matches]
        self._ends = [match.end() for match in matches]
        self._at = 0
        self._limited: str | None = None

    def column(self) -> ColumnText:
        name = _unquoted(self._next())
        kind = self.type()
        limit = {} if self._limited is None else {LIMITED_TEXT: self._limited}
        nullable, metadata = self._options()
        return ColumnText(name, kind, nullable, {**limit, **metadata})

    def type(self) -> Any:
        name = self._next().lower()
        if name in _DECIMALS:
            return self._decimal()
        if name in {"char", "varchar"}:
            self._limited = f"{name}({self._letters()})"
            return "string"
        match name:
            case "array":
                return ("array", *self._parameters(1))
            case "map":
                return ("map", *self._parameters(2))
            case "struct":
                return ("struct", *self._members())
        if name not in _TYPES:
            self._fail(f"unknown type {name!r}", _nearest(name))
        return _TYPES[name]

    def expect(self, token: str) -> None:
        actual = self._next()
        if actual.upper() != token:
            self._fail(f"expected {token or 'the end'!r}, found {actual or 'the end'!r}")

    def _options(self) -> tuple[bool, dict[str, Any]]:
        nullable, metadata = True, dict[str, Any]()
        while (word := self._next().upper()) != _END:
            match word:
                case "NOT":
                    self.expect("NULL")
                    nullable = False
                case "COMMENT":
                    metadata["comment"] = _unquoted(self._next())
                case "GENERATED":
                    metadata |= self._generated()
                case "DEFAULT":
                    metadata[CURRENT_DEFAULT] = self._expression()
                case _:
                    self._fail(f"unknown column option {word!r}")
        return nullable, metadata

    def _generated(self) -> dict[str, Any]:
        """What stands after GENERATED: an expression, or an identity."""
        always = self._next().upper() == "ALWAYS"
        if not always:
            self.expect("DEFAULT")
        self.expect("AS")
        if self._peek().upper() != "IDENTITY":
            return {GENERATION_EXPRESSION: self._brackets()}
        return {**self._identity(), IDENTITY_ALLOWS_EXPLICIT_INSERT: not always}

    def _identity(self) -> dict[str, int]:
        """IDENTITY, with `START WITH n` and `INCREMENT BY n` in brackets; 1 without them."""
        self.expect("IDENTITY")
        text = self._brackets() if self._peek() == "(" else ""
        rest = _IDENTITY_OPTION.sub("", text).strip()
        if rest:
            self._fail(f"expected START WITH and INCREMENT BY with numbers, found {rest!r}")
        pairs = _IDENTITY_OPTION.findall(text)
        numbers = {name.split()[0].upper(): int(digits.replace(" ", "")) for name, digits in pairs}
        if numbers.get("INCREMENT") == 0:
            self._fail("the step of an identity cannot be 0")
        return {
            IDENTITY_START: numbers.get("START", 1),
            IDENTITY_STEP: numbers.get("INCREMENT", 1),
        }

    def _expression(self) -> str:
        """The text up to the next option or the end."""
        first = self._at
        self._next()
        while self._peek() == "(" or self._peek().upper() not in _OPTIONS:
            self._next()
        return self._between(first, self._at)

    def _between(self, first: int, end: int) -> str:
        """The text from one token to the one before another, as it was written."""
        ends = [0, *self._ends]
        return self._text[ends[first] : ends[min(end, len(self._ends))]].strip()

    def _decimal(self) -> str:
        digits = self._brackets() if self._peek() == "(" else "10"
        match = _DIGITS.fullmatch(digits)
        if match is None:
            self._fail(f"expected digits as in DECIMAL(10,2), found {digits!r}")
        precision, scale = int(match[1]), int(match[2] or 0)
        if not scale <= precision <= MAX_PRECISION:
            most = f"up to {MAX_PRECISION} digits, and no more behind the point than in all"
            self._fail(f"DECIMAL({digits}) is none: it has {most}")
        return f"decimal({precision},{scale})"

    def _letters(self) -> int:
        """How many letters a text may have, in brackets."""
        digits = self._brackets()
        if not digits.strip().isdecimal():
            self._fail(f"expected a number of letters, found {digits!r}")
        return int(digits)

    def _parameters(self, count: int) -> list[Any]:
        self.expect("<")
        kinds = []
        for position in range(count):
            if position:
                self.expect(",")
            kinds.append(self.type())
        self.expect(">")
        return kinds

    def _members(self) -> list[tuple[str, Any]]:
        self.expect("<")
        members: list[tuple[str, Any]] = []
        while self._peek() != ">":
            if members:
                self.expect(",")
            name = _unquoted(self._next())
            if self._peek() == ":":
                self.expect(":")
            members.append((name, self.type()))
        self.expect(">")
        return members

    def _brackets(self) -> str:
        self.expect("(")
        depth, first = 1, self._at
        while depth:
            token = self._next()
            if token == _END:
                self._fail("a bracket is not closed")
            depth += {"(": 1, ")": -1}.get(token, 0)
        return self._between(first, self._at - 1)

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else _END

    def _next(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _fail(self, text: str, like: str | None = None) -> NoReturn:
        raise InvalidInput([Problem(self._text, text, like)])


def _unquoted(token: str) -> str:
    if token[:1] == "`":
        return token[1:-1].replace("``", "`")
    if token[:1] == "'":
        return re.sub(r"\\(.)", r"\1", token[1:-1])
    return token


def _nearest(name: str) -> str | None:
    return nearest(name, [*_TYPES, *_DECIMALS, *_NESTED])
