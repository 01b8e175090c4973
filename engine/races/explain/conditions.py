"""The conditions of a statement's text: which columns they are about, and adding to them.

The user's text stays as it is, so that what is suggested is what he wrote, and a few words more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import sqlglot
from msgspec import Struct
from sqlglot import exp

from whitecap.engine.errors import InvalidInput
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.syntax_trees import parse_condition
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.sql.parsing.statements import Delete, Merge, Optimize, Update
from whitecap.engine.sql.predicates.normal_form import conjuncts_of


class Condition(Struct, frozen=True):
    """The WHERE or ON of a statement: `text[start:end]`; `end == start` where there is none."""

    sql: str
    start: int
    end: int
    prefix: str
    """What stands before a column of the table that is written: an alias and a dot, or nothing."""

    @property
    def text(self) -> str:
        return self.sql[self.start : self.end]

    def columns(self, names: Iterable[str]) -> frozenset[str]:
        """Those of the table's columns that it is about."""
        if not self.text.strip():
            return frozenset()
        qualifier = self.prefix.rstrip(".").lower()
        mentioned = parse_condition(self.text.strip()).find_all(exp.Column)
        used = {c.name.lower() for c in mentioned if c.table.lower() in ("", qualifier)}
        return frozenset(name for name in names if name.lower() in used)

    def pinned_columns(self) -> frozenset[str]:
        """The columns, in lower case, that it says to have certain values: `= 1`, `IN (1, 2)`."""
        if not self.text.strip():
            return frozenset()
        parts = conjuncts_of(parse_condition(self.text.strip()))
        return frozenset(name for part in parts if (name := self._pinned(part)) is not None)

    def _pinned(self, part: exp.Expr) -> str | None:
        if not isinstance(part, exp.EQ | exp.In) or part.find(exp.Query) is not None:
            return None
        columns = list(part.find_all(exp.Column))
        alone = len(columns) == 1 and columns[0].parent is part
        is_ours = alone and columns[0].table.lower() in ("", self.prefix.rstrip(".").lower())
        return columns[0].name.lower() if is_ours else None

    def with_all(self, conjuncts: Sequence[str]) -> str:
        """The statement with more conditions that must all hold."""
        return self.with_conjunct(" AND ".join(conjuncts)) if conjuncts else self.sql

    def with_conjunct(self, conjunct: str) -> str:
        """The statement with one more condition that must hold."""
        before, after = self.sql[: self.start].rstrip(), self.sql[self.end :].lstrip()
        if not self.text.strip():
            return f"{before} WHERE {conjunct} {after}".rstrip()
        text = self.text.strip()
        if isinstance(parse_condition(text), exp.Or):
            text = f"({text})"
        return f"{before} {text} AND {conjunct} {after}".rstrip()


def condition_of(sql: str) -> Condition | None:
    """The condition by which an UPDATE, DELETE or MERGE picks rows, `None` for other statements."""
    try:
        statement = parse_statement(sql)
    except InvalidInput:
        return None
    sql = sql.strip().rstrip(";").rstrip()
    match statement:
        case Merge(table=table):
            start, end = _between(sql, "ON", "WHEN")
            return Condition(sql, start, end, f"{table.alias or table.name}.")
        case Update(table=table) | Delete(table=table):
            start, end = _between(sql, "WHERE", None)
            return Condition(sql, start, end, f"{table.alias}." if table.alias else "")
    return None


def compaction_of(sql: str) -> Condition | None:
    """The condition of an OPTIMIZE, `None` for other statements."""
    try:
        statement = parse_statement(sql)
    except InvalidInput:
        return None
    if not isinstance(statement, Optimize):
        return None
    sql = sql.strip().rstrip(";").rstrip()
    end = sql.upper().index("ZORDER") if statement.zorder_by else len(sql)
    if statement.condition is None:
        return Condition(sql, end, end, "")
    return Condition(sql, sql.upper().index("WHERE") + len("WHERE"), end, "")


def _between(sql: str, first: str, last: str | None) -> tuple[int, int]:
    """Where the text between two keywords is, at the end if they are not there.

    Keywords inside of parentheses belong to subqueries.
    """
    outside = list(_outside_parentheses(sql))
    start = next((token.end + 1 for token in outside if token.token_type.name == first), len(sql))
    ends = (t.start for t in outside if t.token_type.name == last and t.start >= start)
    return start, next(ends, len(sql))


def _outside_parentheses(sql: str) -> Iterator[Any]:
    depth = 0
    for token in sqlglot.tokenize(sql, read=DIALECT):
        depth -= token.token_type.name == "R_PAREN"
        if depth == 0:
            yield token
        depth += token.token_type.name == "L_PAREN"
