"""Spark SQL as sqlglot reads and writes it: Databricks' dialect, functions as users spell them.

sqlglot turns many functions into others that mean the same in some database, with their arguments
changed (`date_format` becomes `TimeToStr` with another pattern). Those that are computed here by
name stay calls by name.
"""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.databricks import Databricks

from whitecap.engine.sql.number_functions import NUMBER_FUNCTIONS
from whitecap.engine.sql.text_functions import TEXT_FUNCTIONS
from whitecap.engine.sql.time_functions import TIME_FUNCTIONS

_BY_NAME = {name.upper() for name in (*NUMBER_FUNCTIONS, *TEXT_FUNCTIONS, *TIME_FUNCTIONS)}


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


DIALECT = SparkText
