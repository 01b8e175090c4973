"""SQL that Spark takes and nothing here computes, and what of the modelled says the same.

Few writers need it: what is refused here costs a statement its run, and no verdict its truth.
"""

from __future__ import annotations

from collections.abc import Mapping

from whitecap.engine.errors import UnsupportedFeature

FUNCTIONS: Mapping[str, str] = {
    "any_value": "min()",
    "bool_and": "min()",
    "bool_or": "max()",
    "btrim": "trim()",
    "ceiling": "ceil()",
    "char_length": "length()",
    "character_length": "length()",
    "curdate": "current_date()",
    "date_from_unix_date": "date_add() of 1970-01-01",
    "datepart": "date_part()",
    "decode": "CASE",
    "dense_rank": "rank() over distinct rows",
    "ilike": "lower() with LIKE",
    "lcase": "lower()",
    "len": "length()",
    "nanvl": "CASE with isnan()",
    "nullifzero": "nullif()",
    "nvl2": "CASE",
    "pow": "power()",
    "random": "rand()",
    "regexp": "RLIKE",
    "regexp_like": "RLIKE",
    "rpad": "concat() with repeat()",
    "signum": "sign()",
    "split_part": "substring() with locate()",
    "to_unix_timestamp": "unix_timestamp()",
    "try_divide": "a quotient with nullif()",
    "ucase": "upper()",
    "zeroifnull": "coalesce()",
}
"""Functions that are not modelled, each with what says the same."""

FORMS: Mapping[str, str] = {
    "escape": "a backslash in the pattern",
    "ilike": "lower() with LIKE",
    "rawstring": "a text whose backslashes are doubled",
}
"""The same for expressions, by their kind."""


def function(name: str, nearest: str | None) -> UnsupportedFeature:
    """For a function: with what says the same, else with the name that is most like it."""
    if name in FUNCTIONS:
        return UnsupportedFeature(f"the function {name}() is not modelled: {FUNCTIONS[name]} is")
    hint = f" (the nearest that is: {nearest})" if nearest else ""
    return UnsupportedFeature(f"the function {name}() is not modelled{hint}")


def form(kind: str, text: str) -> UnsupportedFeature:
    """For an expression of some kind: with what says the same, and as it is written."""
    hint = f" ({FORMS[kind]} is)" if kind in FORMS else ""
    return UnsupportedFeature(f"expressions of this form are not modelled: {text}{hint}")
