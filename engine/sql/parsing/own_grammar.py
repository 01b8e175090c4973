"""Statements that sqlglot keeps as plain text: patterns, and what reads a statement that fits one.

Each grammar is a table of its own module; `parse` tries them in turn before it asks sqlglot.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from whitecap.engine.sql.expressions.rendering import Template
from whitecap.engine.sql.parsing.statements import Statement, TableName

NAME = r"(?P<table>(?:`[^`]+`|\w+)(?:\.(?:`[^`]+`|\w+))*)"
COLUMN = r"(?:`[^`]+`|\w+)"

Reader = Callable[[re.Match[str], Template], Statement]


class Grammar:
    """Patterns in order, each with what reads a statement that fits it."""

    def __init__(self) -> None:
        self._readers: list[tuple[re.Pattern[str], Reader]] = []

    def own(self, pattern: str) -> Callable[[Reader], Reader]:
        """Add a reader for statements that fit (a space stands for any white space)."""
        spaced = pattern.replace(" ", r"\s+") + r"\s*;?\s*\Z"
        compiled = re.compile(spaced, re.IGNORECASE | re.DOTALL)

        def added(read: Reader) -> Reader:
            self._readers.append((compiled, read))
            return read

        return added

    def read(self, sql: str, template: Template) -> Statement | None:
        """The statement, if some pattern fits; the first one counts."""
        for pattern, read in self._readers:
            match = pattern.match(sql)
            if match:
                return read(match, template)
        return None


def table_in(match: re.Match[str]) -> TableName:
    """The table that a pattern with `NAME` found."""
    return TableName(match["table"].replace("`", ""))


def unquoted_name(name: str) -> str:
    """A column's name without the backquotes."""
    return name.strip().strip("`")
