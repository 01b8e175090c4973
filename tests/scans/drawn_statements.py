"""Statements drawn at random that look for rows of a table: UPDATE, DELETE and MERGE.

They write `target (id INT, n INT, day STRING)`; sources of a MERGE are `batch`, and queries that
mostly read the target too.
"""

from __future__ import annotations

from tests.scans.drawn_queries import QueryDrawing

_ON = (
    "x.id = b.k", "x.id = b.k + 1", "x.day = b.day AND x.id = b.k",
    "x.day = b.day AND x.n = b.v", "b.k = x.id AND x.day <=> b.day",
)  # fmt: skip
"""By none of them do two rows of a source match one of the target, which Delta refuses."""
_INSERT = "THEN INSERT (id, n, day) VALUES (b.k, b.v, b.day)"


class StatementDrawing(QueryDrawing):
    """A source of statements, the same for the same seed."""

    def statement(self) -> str:
        """One more statement; every other one is a MERGE."""
        return self._one_of(self._update, self._delete, self._merge, self._merge)()

    def _update(self) -> str:
        values = self._one_of("n = 7", "n = n + 1", "day = 'a'", "day = 'z', n = 1")
        return f"UPDATE target x SET {values}{self._of_rows()}"

    def _delete(self) -> str:
        return f"DELETE FROM target x{self._of_rows()}"

    def _of_rows(self) -> str:
        return self._maybe(f" WHERE {self._condition('x')}{self._and('x')}{self._and('x')}", 0.95)

    # ---- merges

    def _merge(self) -> str:
        on = f"{self._one_of(*_ON)}{self._and('x', 'b')}{self._and('x')}"
        return f"MERGE INTO target x USING {self._source()} ON {on} {self._clauses()}"

    def _source(self) -> str:
        query = self._one_of(
            self._of_target, self._of_both, self._of_groups, self._of_newest, self._of_all,
            self._of_one_row,
        )()  # fmt: skip
        return self._batch("b") if self._random.random() < 0.25 else f"({query}) b"

    def _of_target(self) -> str:
        return f"SELECT id AS k, n AS v, day FROM {self._relation('y')}{self._where('y', 0.8)}"

    def _of_both(self) -> str:
        kind = self._one_of("JOIN", "LEFT JOIN", "FULL JOIN")
        both = f"{self._relation('y')} {kind} batch z ON y.day = z.day{self._and('y')}"
        return f"SELECT y.id AS k, y.n AS v, y.day FROM {both}{self._where('y', 0.6)}"

    def _of_groups(self) -> str:
        groups = f"{self._relation('y')}{self._where('y', 0.4)} GROUP BY y.day"
        return f"SELECT max(y.id) AS k, count(*) AS v, y.day FROM {groups}"

    def _of_newest(self) -> str:
        ranked = (
            f"SELECT id, n, day, row_number() OVER (PARTITION BY {self._one_of('day', 'id')}"
            f" ORDER BY id) AS rn FROM target y{self._where('y', 0.5)}"
        )
        return f"SELECT id AS k, n AS v, day FROM ({ranked}) q WHERE rn = 1"

    def _of_all(self) -> str:
        return f"{self._of_target()} UNION ALL SELECT k + 20, v, day FROM batch z"

    def _of_one_row(self) -> str:
        return f"SELECT 3 AS k, 1 AS v, '{self._one_of('a', 'b', 'c')}' AS day"

    def _clauses(self) -> str:
        matched = self._maybe(self._matched(), 0.8)
        inserts = f"WHEN NOT MATCHED{self._if('b', 0.3)} {_INSERT}"
        does = self._one_of("DELETE", "UPDATE SET n = 0")
        others = self._maybe(f"WHEN NOT MATCHED BY SOURCE{self._if('x', 0.6)} THEN {does}", 0.2)
        clauses = (matched, self._maybe(inserts) if matched else inserts, others)
        return " ".join(filter(None, clauses))

    def _matched(self) -> str:
        does = self._one_of("UPDATE SET n = b.v", "DELETE", "UPDATE SET day = b.day, n = 1")
        return f"WHEN MATCHED{self._if(self._one_of('x', 'b'), 0.4)} THEN {does}"

    def _if(self, alias: str, share: float) -> str:
        return self._maybe(f" AND {self._condition(alias)}", share)
