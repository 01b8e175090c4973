"""Spark SQL as sqlglot reads and writes it: Databricks' dialect, functions as users spell them.

sqlglot turns many functions into others that mean the same in some database, with their arguments
changed (`date_format` becomes `TimeToStr` with another pattern). Those that are computed here by
name stay calls by name.
"""

from __future__ import annotations

from typing import ClassVar

from sqlglot import TokenType, exp
from sqlglot.dialects.databricks import Databricks

from whitecap.engine.sql.number_functions import NUMBER_FUNCTIONS
from whitecap.engine.sql.text_functions import TEXT_FUNCTIONS
from whitecap.engine.sql.time_functions import TIME_FUNCTIONS

_BY_NAME = {name.upper() for name in (*NUMBER_FUNCTIONS, *TEXT_FUNCTIONS, *TIME_FUNCTIONS)}


IN_PARENTHESES = "in parentheses"
"""Of a VALUES, in its node's `meta`: whether parentheses are around it."""

NAMED_INSIDE = "named inside"
"""Of a VALUES: whether its columns have their names inside of the parentheses."""


def _to_date(arguments: list[exp.Expr]) -> exp.Expr:
    """Without a pattern it is a cast."""
    if len(arguments) == 1:
        return exp.cast(arguments[0], exp.DType.DATE)
    return exp.Anonymous(this="to_date", expressions=arguments)


class SparkText(Databricks):
    """The dialect."""

    class Tokenizer(Databricks.Tokenizer):
        """Doubled quotes stand for one."""

        STRING_ESCAPES: ClassVar = ["\\", "'"]

    class Parser(Databricks.Parser):  # type: ignore[misc, valid-type]
        """Keeps functions by name."""

        FUNCTIONS: ClassVar = {
            name: build
            for name, build in Databricks.Parser.FUNCTIONS.items()
            if name not in _BY_NAME
        } | {"TO_DATE": _to_date}
        FUNCTION_PARSERS: ClassVar = {
            name: parse
            for name, parse in Databricks.Parser.FUNCTION_PARSERS.items()
            if name not in _BY_NAME
        }

        SELECT_START_TOKENS: ClassVar = Databricks.Parser.SELECT_START_TOKENS | {TokenType.VALUES}

        def _parse_derived_table_values(self, **_synonyms: bool) -> exp.Values | None:
            """VALUES; in parentheses it may have an alias inside of them, and one outside."""
            in_parentheses = self._match_pair(TokenType.L_PAREN, TokenType.VALUES)
            if not in_parentheses and not self._match_text_seq("VALUES"):
                return None
            rows = self._parse_csv(self._parse_value)
            alias = self._parse_table_alias()
            columns = [] if alias is None else alias.args.get("columns") or []
            if in_parentheses:
                self._match_r_paren()
                alias = self._parse_table_alias() or alias
            values: exp.Values = self.expression(exp.Values(expressions=rows, alias=alias))
            values.meta[IN_PARENTHESES] = in_parentheses
            if alias is not None and columns and not alias.args.get("columns"):
                alias.set("columns", columns)
                values.meta[NAMED_INSIDE] = True
            return values

        def _parse_value(self, values: bool = True) -> exp.Tuple | exp.Placeholder | None:
            """One row of VALUES; a parameter in the place of a row stands for as many as it has."""
            start = self._index
            rows = self._parse_placeholder()
            if isinstance(rows, exp.Placeholder) and not self._match_set(_GOES_ON, advance=False):
                return rows
            self._retreat(start)
            return super()._parse_value(values)  # type: ignore[no-any-return]


_GOES_ON = frozenset(
    {
        *SparkText.Parser.TERM,
        *SparkText.Parser.FACTOR,
        *SparkText.Parser.COMPARISON,
        *SparkText.Parser.EQUALITY,
        *SparkText.Parser.BITWISE,
        *SparkText.Parser.CONJUNCTION,
        *SparkText.Parser.DISJUNCTION,
        *SparkText.Parser.RANGE_PARSERS,
        *SparkText.Parser.COLUMN_OPERATORS,
        TokenType.L_BRACKET,
    }
)
"""What makes a parameter the beginning of an expression."""


DIALECT = SparkText
