"""What a statement that creates a table does to the rows that were there before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sqlglot
from sqlglot import TokenType
from sqlglot.errors import SqlglotError

_BEGINS_ROWS = frozenset({"AS", "SELECT", "VALUES", "CLONE"})
"""Words of CREATE, outside of parentheses, after which the rows of the new table follow."""

_QUOTED = (TokenType.STRING, TokenType.IDENTIFIER)


def replaces_table(words: Sequence[str]) -> bool:
    """Whether a statement of these words in capitals puts a new table in place of another."""
    match words:
        case ["CREATE", "OR", "REPLACE", *_] | ["REPLACE", *_]:
            return True
    return False


def brings_rows(created: str) -> bool:
    """Whether CREATE has a query or copies a table, or cannot be read."""
    try:
        return not _BEGINS_ROWS.isdisjoint(_outer_words(created))
    except SqlglotError:
        return True


def _outer_words(statement: str) -> Iterator[str]:
    """The words outside of parentheses. Raises `SqlglotError`."""
    depth = 0
    for token in sqlglot.tokenize(statement, dialect="databricks"):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if not depth and token.token_type not in _QUOTED:
            yield token.text.upper()
