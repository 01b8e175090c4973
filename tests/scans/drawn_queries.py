"""Queries drawn at random from what people select for an INSERT: filters, joins, groups, windows.

Each gives `id, n, day`, and reads `target (id INT, n INT, day STRING)`, mostly beside
`batch (day STRING, k INT, v INT)`.
"""

from __future__ import annotations

from random import Random
from typing import TypeVar

T = TypeVar("T")

_NUMBERS, _TEXTS = ("id", "n"), ("day",)
_OF_BATCH = ("k", "v")
_INNER, _OUTER = ("JOIN", "CROSS JOIN"), ("LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
_TESTING = ("LEFT SEMI JOIN", "LEFT ANTI JOIN")


class QueryDrawing:
    """A source of queries, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._forms = (
            self._filtered, self._joined, self._merged, self._tested, self._named, self._grouped,
            self._deduplicated, self._asking, self._of_union, self._of_itself,
        )  # fmt: skip

    def query(self) -> str:
        """One more query."""
        return self._one_of(*self._forms)()

    def _one_of(self, *choices: T) -> T:
        return self._random.choice(choices)

    def _maybe(self, text: str, share: float = 0.5) -> str:
        return text if self._random.random() < share else ""

    # ---- queries

    def _filtered(self) -> str:
        return f"SELECT x.id + 100, x.n, x.day FROM {self._relation('x', 2)}{self._where('x', 0.9)}"

    def _joined(self) -> str:
        kind = self._one_of(*_INNER, *_OUTER)
        on = "" if kind == "CROSS JOIN" else f" ON {self._equal('x', 'b')}{self._and('x', 'b')}"
        joined = f"{self._relation('x')} {kind} {self._batch('b')}{on}"
        return f"SELECT x.id + 100, x.n, x.day FROM {joined}{self._where('x', 0.7)}"

    def _merged(self) -> str:
        on = f"{self._equal('x', 'b')}{self._and('x', 'b')}"
        joined = f"{self._batch('b')} {self._one_of('JOIN', *_OUTER)} {self._relation('x')} ON {on}"
        return f"SELECT b.k + 100, coalesce(x.n, b.v), b.day FROM {joined}{self._where('b', 0.4)}"

    def _tested(self) -> str:
        on = f"{self._equal('x', 'b')}{self._and('x', 'b')}"
        tested = f"{self._batch('b')} {self._one_of(*_TESTING)} {self._relation('x')} ON {on}"
        return f"SELECT b.k + 100, b.v, b.day FROM {tested}{self._where('b', 0.4)}"

    def _named(self) -> str:
        body = f"SELECT id, n, day FROM {self._relation('p')}{self._where('p')}"
        joined = self._one_of(
            "", "", " JOIN batch b ON x.day = b.day", " JOIN c y ON x.day = y.day"
        )
        outer = f"SELECT x.id + 100, x.n, x.day FROM c x{joined}{self._where('x')}"
        return f"WITH c AS ({body}) {outer}"

    def _grouped(self) -> str:
        having = self._maybe(f" HAVING {self._one_of(self._text('x'), 'count(*) > 1')}", 0.4)
        grouped = f"{self._relation('x')}{self._where('x')} GROUP BY x.day{having}"
        return f"SELECT max(x.id) + 100, count(x.n), x.day FROM {grouped}"

    def _deduplicated(self) -> str:
        keys = self._one_of("day", "id", "n", "day, n")
        ranked = (
            f"SELECT id, n, day, row_number() OVER (PARTITION BY {keys} ORDER BY id) AS rn"
            f" FROM {self._relation('p')}{self._where('p', 0.4)}"
        )
        outer = f"WHERE x.rn = 1{self._and('x')}"
        return f"SELECT x.id + 100, x.n, x.day FROM ({ranked}) x {outer}"

    def _asking(self) -> str:
        """No partitions are asked for: conflicts there depend on what the other query answered."""
        correlated = f"SELECT 1 FROM batch b WHERE b.k = x.id{self._and('b')}"
        asked = self._one_of(
            f"{self._maybe('NOT ', 0.4)}EXISTS ({correlated})",
            f"x.id {self._maybe('NOT ', 0.3)}IN (SELECT k FROM batch b{self._where('b', 0.4)})",
            f"x.n = (SELECT max(v) FROM batch b{self._where('b', 0.4)})",
        )
        query = f"SELECT x.id + 100, x.n, x.day FROM {self._relation('x')} WHERE {asked}"
        return f"{query}{self._and('x')}"

    def _of_union(self) -> str:
        own = f"SELECT id, n, day FROM {self._relation('p')}{self._where('p')}"
        day = self._one_of("day", "day", "upper(day)", "'b'")
        other = f"SELECT k, v, {day} FROM batch{self._where('', 0.3)}"
        both = f"({own} UNION {self._maybe('ALL ', 0.8)}{other}) x"
        return f"SELECT x.id + 100, x.n, x.day FROM {both}{self._where('x', 0.8)}"

    def _of_itself(self) -> str:
        joined = f"{self._relation('x')} JOIN {self._relation('y')} ON x.{self._on_itself()}"
        return f"SELECT x.id + 100, y.n, x.day FROM {joined}{self._where('x', 0.8)}"

    def _on_itself(self) -> str:
        return self._one_of("day = y.day", "id = y.id", "id = y.n AND x.day = y.day")

    # ---- what they select from

    def _relation(self, alias: str, depth: int = 1) -> str:
        """The target, or a query of it, that has the columns `id, n, day`."""
        if depth == 0 or self._random.random() < 0.5:
            return f"target {alias}"
        inner = f"{self._relation('q', depth - 1)}{self._where('q', 0.6)}"
        day = self._one_of("day", "day", "day", "upper(day) AS day", "concat(day, '') AS day")
        query = self._one_of(
            f"SELECT id, n, {day} FROM {inner}",
            f"SELECT DISTINCT id, n, day FROM {inner}",
            f"SELECT max(id) AS id, n, day FROM {inner} GROUP BY n, day",
            f"SELECT id, n, day FROM {inner} ORDER BY id LIMIT {self._random.randint(1, 5)}",
        )
        return f"({query}) {alias}"

    def _batch(self, alias: str) -> str:
        if self._random.random() < 0.6:
            return f"batch {alias}"
        selected = self._one_of("day, k, v", "DISTINCT day, k, v", "upper(day) AS day, k, v")
        return f"(SELECT {selected} FROM batch{self._where('', 0.6)}) {alias}"

    # ---- conditions

    def _where(self, alias: str, share: float = 0.7) -> str:
        return self._maybe(f" WHERE {self._condition(alias)}", share)

    def _and(self, *aliases: str) -> str:
        return self._maybe(f" AND {self._condition(self._one_of(*aliases))}", 0.5)

    def _condition(self, alias: str) -> str:
        """On one or two columns: what is on one alone seldom contradicts itself."""
        number, text = self._number(alias), self._text(alias)
        return self._one_of(
            number, text, text, f"{number} AND {text}", f"({number} OR {text})",
            f"NOT ({number})", f"NOT ({number} AND {text})",
        )  # fmt: skip

    def _number(self, alias: str) -> str:
        of_batch = alias in ("b", "")
        column = _named(alias, self._one_of(*(_OF_BATCH if of_batch else _NUMBERS)))
        low, high = sorted((self._random.randint(1, 4), self._random.randint(4, 9)))
        return self._one_of(
            f"{column} = {low}", f"{column} > {low}", f"{column} <= {high}", f"{column} <> {low}",
            f"{column} IN ({low}, {high})", f"{column} BETWEEN {low} AND {high}",
            f"{column} IS NULL", f"{column} IS NOT NULL", f"{column} + 1 = {high}",
            f"{column} = length({_named(alias, 'day')})",
        )  # fmt: skip

    def _text(self, alias: str) -> str:
        column = _named(alias, self._one_of(*_TEXTS))
        own, other = self._random.sample(("a", "b", "c"), 2)
        return self._one_of(
            f"{column} = '{own}'", f"{column} = '{own}'", f"{column} IN ('{own}', '{other}')",
            f"{column} <> '{own}'", f"{column} > '{own}'", f"{column} <= '{own}'",
            f"{column} IS NULL", f"{column} IS NOT NULL", f"{column} <=> '{own}'",
            f"{column} LIKE '{own}%'", f"upper({column}) = '{own.upper()}'",
            f"coalesce({column}, '{own}') = '{own}'",
        )  # fmt: skip

    def _equal(self, alias: str, other: str) -> str:
        return self._one_of(f"{alias}.day = {other}.day", f"{alias}.id = {other}.k")


def _named(alias: str, column: str) -> str:
    return f"{alias}.{column}" if alias else column
