"""The condition of a CHECK as Delta keeps it: its tokens with a blank between each two.

Source: DeltaSqlParser.scala (buildCheckConstraintText), the lexer's rules in DeltaSqlBase.g4.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""
    (?P<hidden> --[^\r\n]* | /\*.*?\*/ | \s+ )
    | '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `(?:[^`]|``)*`
    | <=> | <> | != | !> | !< | <= | >= | == | \|\|
    | \d+ E[+-]?\d+ (?:BD|D)?
    | (?: \d+\.\d* | \.\d+ ) (?:E[+-]?\d+)? (?:BD|D)? (?!\w)
    | \w+
    | .
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
"""Letters beyond ASCII stay together here. Delta's lexer knows none of them: such a name has to be
quoted there, or Spark does not parse the text any more."""


def kept_text(condition: str) -> str:
    """The text, without comments and other blanks."""
    return " ".join(each[0] for each in _TOKEN.finditer(condition) if each["hidden"] is None)
