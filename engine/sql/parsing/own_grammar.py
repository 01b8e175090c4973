"""Statements that sqlglot keeps as plain text: patterns, and what reads a statement that fits one.

Modules of grammar register their readers here; `parsing` tries them before it asks sqlglot.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from whitecap.engine.sql.expressions.rendering import Template
from whitecap.engine.sql.parsing.statements import Statement, TableName

NAME = r"(?P<table>(?:`[^`]+`|\w+)(?:\.(?:`[^`]+`|\w+))*)"
COLUMN = r"(?:`[^`]+`|\w+)"

Reader = Callable[[re.Match[str], Template], Statement]

_READERS: list[tuple[re.Pattern[str], Reader]] = []


def own(pattern: str) -> Callable[[Reader], Reader]:
    """Register a reader for statements that fit a pattern (a space stands for any white space)."""
    compiled = re.compile(pattern.replace(" ", r"\s+") + r"\s*;?\s*\Z", re.IGNORECASE | re.DOTALL)

    def register(read: Reader) -> Reader:
        _READERS.append((compiled, read))
        return read

    return register


def read_own(sql: str, template: Template) -> Statement | None:
    """The statement, if some pattern fits; the first one registered counts."""
    for pattern, read in _READERS:
        match = pattern.match(sql)
        if match:
            return read(match, template)
    return None


def named(match: re.Match[str]) -> TableName:
    """The table that a pattern with `NAME` found."""
    return TableName(match["table"].replace("`", ""))


def plain(name: Any) -> str:
    """A column's name without the backquotes."""
    return str(name).strip().strip("`")
