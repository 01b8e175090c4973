"""From SQL text to syntax trees, by sqlglot, with errors that name the place."""

from __future__ import annotations

import logging
import re
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.sql.expressions.spark_text import DIALECT

# sqlglot logs a warning for each statement that it keeps as plain text; ours are refused or read
# by our own grammar instead.
logging.getLogger("sqlglot").setLevel(logging.ERROR)


SYNTAX_ERROR = "ParseException", "PARSE_SYNTAX_ERROR"


def _problem(sql: str, error: Exception) -> Problem:
    details = getattr(error, "errors", None) or [{}]
    line, column = details[0].get("line"), details[0].get("col")
    reason = details[0].get("description") or str(error).splitlines()[0]
    if reason.startswith("Required keyword"):  # speaks of sqlglot's classes, not of the text
        reason = "something is missing"
    missing = re.match(r"(?:Expected|Expecting) ([\w ]+) but got", reason)
    if missing:  # the rest speaks of sqlglot's tokens
        reason = f"{missing[1]} is missing"
    highlight = details[0].get("highlight")
    near = f" near {highlight!r}" if highlight else ""
    place = f"line {line}, column {column} of {sql!r}" if line else repr(sql)
    return Problem(place, f"{reason.rstrip('.')}{near}", refused_as=SYNTAX_ERROR)


def parse_node(sql: str) -> exp.Expr:
    """The syntax tree of one statement or expression. Raises `InvalidInput` with the place.

    Raises `UnsupportedFeature` for one that is nested too deeply to be walked.
    """
    try:
        node = sqlglot.parse_one(sql, dialect=DIALECT)
    except (ParseError, TokenError) as error:
        raise InvalidInput([_problem(sql, error)]) from error
    except RecursionError:
        raise _too_deep(sql) from None
    if len(sql) > MAX_DEPTH:  # a shorter text cannot be deeper
        node = _balanced(node)
        if _depth(node) > MAX_DEPTH:
            raise _too_deep(sql)
    return node


MAX_DEPTH = 60
"""Python's stack of 1,000 calls holds some 150 expressions inside of each other."""


def _too_deep(sql: str) -> UnsupportedFeature:
    return UnsupportedFeature(f"expressions nested as deeply as in {sql[:60]!r}...")


def _depth(node: exp.Expr) -> int:
    deepest, waiting = 0, [(node, 1)]
    while waiting:
        part, depth = waiting.pop()
        deepest = max(deepest, depth)
        waiting += [(child, depth + 1) for child in part.iter_expressions()]
    return deepest


def _balanced(node: exp.Expr) -> exp.Expr:
    """Long chains of AND or OR as trees that are not deep: they mean the same, in any shape."""
    for kind in (exp.And, exp.Or):
        for chain in _long_chains(node, kind):
            tree = _tree(kind, _links(chain, kind))
            chain.replace(tree)  # nothing is replaced where the chain is all there is
            node = tree if chain is node else node
    return node


def _long_chains(node: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    """The chains of a kind that would be too deep, each by its top."""
    tops = [part for part in node.find_all(kind) if not isinstance(part.parent, kind)]
    return [top for top in tops if len(_links(top, kind)) > MAX_DEPTH // 2]


def _links(chain: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    parts: list[exp.Expr] = []
    while isinstance(chain, kind):
        parts.append(chain.args["expression"])
        chain = chain.this
    return [chain, *reversed(parts)]


def _tree(kind: type[exp.Expr], parts: list[exp.Expr]) -> exp.Expr:
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        joined: list[exp.Expr] = [kind(this=left, expression=right) for left, right in pairs]
        parts = joined + parts[len(joined) * 2 :]
    return parts[0]


@lru_cache(maxsize=4096)
def parse_condition(sql: str) -> exp.Expr:
    """The syntax tree of a condition. Raises `InvalidInput` if the text is none."""
    if not sql.strip():
        raise InvalidInput([Problem(repr(sql), "an empty text is not a condition")])
    node = parse_node(sql)
    if not isinstance(node, exp.Condition) or isinstance(node, exp.Query | exp.Alias | exp.Star):
        raise InvalidInput([Problem(repr(sql), "is not a condition")])
    return node


def whole_number(node: exp.Expr | None, within: exp.Expr) -> int:
    """The number that a literal is. Raises `UnsupportedFeature` for anything that is computed."""
    if node is None:
        raise InvalidInput([Problem("line 1", "a number is missing", refused_as=SYNTAX_ERROR)])
    negative = isinstance(node, exp.Neg)
    literal = node.this if isinstance(node, exp.Neg) else node
    if not (isinstance(literal, exp.Literal) and literal.name.isdecimal()):
        raise UnsupportedFeature(
            f"{node.sql(DIALECT)} where a number is expected: {within.sql(DIALECT)}"
        )
    return -int(literal.name) if negative else int(literal.name)
