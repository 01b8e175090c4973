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
from whitecap.engine.sql.parsing.clauses import without_comments
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
        """The condition without comments; empty where there is none."""
        return without_comments(self.sql[self.start : self.end]).strip()

    def columns(self, names: Iterable[str]) -> frozenset[str]:
        """Those of the table's columns that it is about."""
        if not self.text:
            return frozenset()
        qualifier = self.prefix.rstrip(".").lower()
        mentioned = parse_condition(self.text).find_all(exp.Column)
        used = {c.name.lower() for c in mentioned if c.table.lower() in ("", qualifier)}
        return frozenset(name for name in names if name.lower() in used)

    def pinned_columns(self) -> frozenset[str]:
        """The columns, in lower case, that it says to have certain values: `= 1`, `IN (1, 2)`."""
        if not self.text:
            return frozenset()
        parts = conjuncts_of(parse_condition(self.text))
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
        """The statement with one more condition that must hold; comments stay where they are."""
        before, text, after = (
            self.sql[: self.start],
            self.sql[self.start : self.end],
            self.sql[self.end :],
        )
        if not text:
            return f"{before} WHERE {conjunct}{after}"
        if isinstance(parse_condition(self.text), exp.Or):
            text = f"({text})"
        return f"{before}{text} AND {conjunct}{after}"


def condition_of(sql: str) -> Condition | None:
    """The condition by which an UPDATE, DELETE or MERGE picks rows, `None` for other statements."""
    try:
        statement = parse_statement(sql)
    except InvalidInput:
        return None
    words = _Words.of(sql)
    match statement:
        case Merge(table=table):
            return words.condition("ON", ("WHEN",), f"{table.alias or table.name}.")
        case Update(table=table) | Delete(table=table):
            return words.condition("WHERE", (), f"{table.alias}." if table.alias else "")
    return None


def compaction_of(sql: str) -> Condition | None:
    """The condition of an OPTIMIZE, `None` for other statements."""
    is_compaction = _optimize_in(sql) is not None
    return _Words.of(sql).condition("WHERE", _SORTING, "") if is_compaction else None


def is_sorting(sql: str) -> bool:
    """Whether a statement is an OPTIMIZE with ZORDER BY."""
    statement = _optimize_in(sql)
    return statement is not None and bool(statement.zorder_by)


def without_sorting(sql: str) -> str:
    """An OPTIMIZE without its ZORDER BY, any other statement as it is."""
    return _Words.of(sql).without_tail(_SORTING) if is_sorting(sql) else sql


_SORTING = ("ZORDER", "BY")


def _optimize_in(sql: str) -> Optimize | None:
    try:
        statement = parse_statement(sql)
    except InvalidInput:
        return None
    return statement if isinstance(statement, Optimize) else None


class _Words(Struct, frozen=True):
    """A statement as tokens; `outside` are those in no brackets and in no CASE ... END."""

    sql: str
    tokens: Sequence[Any]
    outside: Sequence[int]

    @classmethod
    def of(cls, sql: str) -> _Words:
        sql = sql.strip().rstrip(";").rstrip()
        tokens = _tokens(sql)
        return cls(sql, tokens, list(_outside_brackets(tokens)))

    def condition(self, first: str, last: Sequence[str], prefix: str) -> Condition:
        """What stands between two keywords; where the first is not there, nothing does."""
        begin = self._at((first,), 0)
        until = self._at(last, begin)
        if begin == len(self.tokens):
            until = self._at(last, 0)
        end = self._end_before(until)
        start = self.tokens[begin + 1].start if begin + 1 < until else end
        return Condition(self.sql, start, end, prefix)

    def without_tail(self, keywords: Sequence[str]) -> str:
        """The text without these keywords and all after them but comments."""
        kept = self.sql[: self._end_before(self._at(keywords, 0))]
        return kept + self.sql[self._end_before(len(self.tokens)) :]

    def _at(self, keywords: Sequence[str], begin: int) -> int:
        """Where keywords stand one after the other, the end if they do not."""
        places = (at for at in self.outside if at >= begin and self._are_at(keywords, at))
        return next(places, len(self.tokens))

    def _are_at(self, keywords: Sequence[str], at: int) -> bool:
        words = [_keyword(token) for token in self.tokens[at : at + len(keywords)]]
        return bool(keywords) and words == list(keywords)

    def _end_before(self, at: int) -> int:
        end: int = self.tokens[at - 1].end + 1
        return end


def _tokens(sql: str) -> list[Any]:
    """All tokens but semicolons at the end.

    sqlglot takes what follows some words, as OPTIMIZE, for one text: so that word is covered.
    """
    tokens = sqlglot.tokenize(sql, read=DIALECT)
    if tokens[0].token_type is sqlglot.TokenType.COMMAND:
        start, end = tokens[0].start, tokens[0].end + 1
        tokens = sqlglot.tokenize(f"{sql[:start]}{'X' * (end - start)}{sql[end:]}", read=DIALECT)
    while tokens[-1].token_type is sqlglot.TokenType.SEMICOLON:
        tokens.pop()
    return tokens


def _keyword(token: Any) -> str:
    """A word that is not in quotes, in upper case."""
    quoted = (sqlglot.TokenType.IDENTIFIER, sqlglot.TokenType.STRING)
    return "" if token.token_type in quoted else token.text.upper()


_CLOSED_BY = {")": "(", "END": "CASE"}


def _outside_brackets(tokens: Sequence[Any]) -> Iterator[int]:
    """The tokens outside of parentheses, which may hold subqueries, and of CASE ... END.

    A word after a dot is a name.
    """
    within: list[str] = []
    for at, token in enumerate(tokens):
        word = _keyword(token)
        is_name = at > 0 and tokens[at - 1].text == "."
        if not within and not is_name:
            yield at
        if word in _CLOSED_BY.values() and not is_name:
            within.append(word)
        elif within and _CLOSED_BY.get(word) == within[-1] and not is_name:
            within.pop()
