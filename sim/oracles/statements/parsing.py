"""The recorded text of a statement as a tree, by sqlglot."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError


class NotTranslated(Exception):
    """Why a statement's rows cannot be worked out here."""


def parsed(statement: str) -> exp.Expr:
    """A statement, or an expression. Raises `NotTranslated`."""
    try:
        return sqlglot.parse_one(statement, dialect="databricks")
    except (SqlglotError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise NotTranslated(f"a statement that sqlglot does not read: {reason}") from error
