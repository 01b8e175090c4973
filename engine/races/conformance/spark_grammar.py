"""What the engine takes though Spark's grammar does not: refused in races on open-source Delta.

Elsewhere it is welcome: Databricks has column aliases of MERGE's source, and its own REPLACE ON
names the table that it writes. Source: Spark's AstBuilder.scala: getTableAliasWithoutColumnAlias.
"""

from __future__ import annotations

import re

from whitecap.engine.dialects import Dialect
from whitecap.engine.errors import DeltaError
from whitecap.engine.sql.parsing.clauses import cut_clauses
from whitecap.engine.sql.parsing.statements import Insert, Merge, Statement
from whitecap.engine.sql.parsing.table_statements import CreateTable

_ALIASES = "COLUMN_ALIASES_NOT_ALLOWED"
_SYNTAX = "PARSE_SYNTAX_ERROR"
_NO_REPLACING = "UNSUPPORTED_FEATURE.TABLE_OPERATION"
_USING = "USING"
_BARE_VALUES = re.compile(r"VALUES\b", re.IGNORECASE)


def check_grammar(statement: Statement, dialect: Dialect) -> None:
    """Raises `DeltaError` for what Spark's parser refuses."""
    if dialect.resolves_rows:
        return
    match statement:
        case CreateTable(replace=True) if _USING not in _before(statement, "AS"):
            text = "Without USING it is no Delta table, and others cannot be replaced."
            raise DeltaError.of_class("AnalysisException", _NO_REPLACING, text)
        case Merge() if _BARE_VALUES.match(_before(statement, "ON")[_USING]):
            text = "Syntax error at or near 'VALUES'."
            raise DeltaError.of_class("ParseException", _SYNTAX, text)
        case Merge() if statement.not_spark:
            text = "Columns aliases are not allowed in MERGE."
            raise DeltaError.of_class("ParseException", _ALIASES, text)
        case Insert(replace_on=None) if statement.table.alias:
            text = f"Syntax error at or near '{statement.table.alias}'."
            raise DeltaError.of_class("ParseException", _SYNTAX, text)


def _before(statement: Statement, rest: str) -> dict[str, str]:
    """What a statement has after USING, if it is there, as far as this keyword."""
    return cut_clauses(statement.sql(), [_USING], rest)
