"""Rows of planned relations, and what joins, set operations, DISTINCT and LIMIT make of them.

Rows of joins are made by nested loops.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from sqlglot import exp

from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.sql.expressions.scope import Letters
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.syntax_trees import whole_number
from whitecap.engine.sql.expressions.terms import Evaluate
from whitecap.engine.sql.parsing.query_reading import limit_of
from whitecap.engine.storage.requests import Row
from whitecap.engine.values.casts import caster
from whitecap.engine.values.keys import keyed_rows
from whitecap.engine.values.types import Session

_MOST_NUMBERS = 10_000_000  # of range(): they are kept in memory


class Rows(Struct, frozen=True):
    """A planned relation: its columns, and its rows for a given row of the enclosing query.

    `tasks`: of a table, its rows by the task that reads them. `letters`: those of CHAR columns.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    of: Callable[[Row], Sequence[Row]]
    tasks: Sequence[Sequence[Row]] = ()
    letters: Letters = ()

    def part(self, rows: Sequence[Row]) -> Rows:
        """The same relation with only some of its rows."""
        return self.with_rows(lambda _outer: rows)

    def with_rows(self, of: Callable[[Row], Sequence[Row]]) -> Rows:
        """A relation with the same columns."""
        return Rows(self.names, self.types, of, letters=self.letters)

    def for_first(self, width: int) -> Rows:
        """The same relation, asked where the row around it may have more columns than `width`."""
        return self.with_rows(lambda outer: self.of(outer[:width]))


def numbers_of(node: exp.Table) -> Rows | None:
    """The rows of `range(end)` or `range(start, end[, step])`; `None` for a table by name."""
    call = node.this
    if not isinstance(call, exp.Func):
        return None
    if call.name.lower() != "range" or not 0 < len(call.expressions) < 4:
        raise UnsupportedFeature(f"the table function {call.sql(DIALECT)}")
    numbers = [whole_number(argument, call) for argument in call.expressions]
    if numbers[2:] == [0] or len(range(*numbers)) > _MOST_NUMBERS:
        raise UnsupportedFeature(f"the table function {call.sql(DIALECT)}")
    rows = [(number,) for number in range(*numbers)]
    return Rows(("id",), ("bigint",), lambda _outer: rows)


def combined(
    node: exp.SetOperation, types: Sequence[str], ones: list[Row], others: list[Row]
) -> list[Row]:
    """The rows of a set operation; of equal rows of EXCEPT and INTERSECT the first are kept."""
    if isinstance(node, exp.Union):
        return ones + others
    left = Counter(keyed_rows(types, others))
    kept = []
    for row in keyed_rows(types, ones):
        is_there = left[row] > 0
        left[row] -= 1 if is_there and not node.args.get("distinct") else 0
        if is_there is isinstance(node, exp.Intersect):
            kept.append(row)
    return kept


def casts_between(
    types: Sequence[str], wanted: Sequence[str], session: Session
) -> list[Callable[[Any], Any]]:
    """What makes of each column's values those of the wanted type, of NULL NULL."""
    pairs = zip(types, wanted, strict=True)
    casts = [caster(source, target, session) for source, target in pairs]
    return [_of_values(cast) if cast else _same for cast in casts]


def _of_values(cast: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else cast(value)


def _same(value: Any) -> Any:
    return value


def cut_rows(node: exp.Select, rows: Rows) -> Rows:
    """DISTINCT and LIMIT."""
    cut = distinct_rows(rows) if node.args.get("distinct") else rows
    count = limit_of(node)
    if count is None:
        return cut
    return cut.with_rows(lambda row: cut.of(row)[:count])


def distinct_rows(rows: Rows) -> Rows:
    """DISTINCT: of equal rows the first."""
    return rows.with_rows(lambda row: list(dict.fromkeys(keyed_rows(rows.types, rows.of(row)))))


RowsInside = Callable[[Row], list[Row]]
"""What gives the rows of a query for a row of the one around it, with the values of that first."""

_Matched = Sequence[tuple[Row, Sequence[int]]]
"""The rows on the left, each with the places of the rows on the right that match."""


class JoinedRows(Struct, frozen=True):
    """How one JOIN makes its rows; `width` is how many values a row on the left has."""

    left: RowsInside
    right: Rows
    on: Evaluate
    side: str
    kind: str
    width: int

    @property
    def keeps_left_alone(self) -> bool:
        """Whether nobody sees the columns on the right."""
        return self.kind in ("SEMI", "ANTI")

    def __call__(self, row: Row) -> list[Row]:
        """The rows for a row of the query around it."""
        others = self.right.of(row)
        matched = [(left_row, self._hits(left_row, others)) for left_row in self.left(row)]
        if self.keeps_left_alone:
            return [left_row for left_row, hits in matched if bool(hits) is (self.kind == "SEMI")]
        joined = [
            each for left_row, hits in matched for each in self._joined(left_row, hits, others)
        ]
        return joined + self._without_left(row, matched, others)

    def _hits(self, left_row: Row, others: Sequence[Row]) -> list[int]:
        return [at for at, other in enumerate(others) if self.on(left_row + other) is True]

    def _joined(self, left_row: Row, hits: Sequence[int], others: Sequence[Row]) -> list[Row]:
        if not hits and self.side in ("LEFT", "FULL"):
            return [left_row + (None,) * len(self.right.names)]
        return [left_row + others[at] for at in hits]

    def _without_left(self, row: Row, matched: _Matched, others: Sequence[Row]) -> list[Row]:
        if self.side not in ("RIGHT", "FULL"):
            return []
        used = {at for _, hits in matched for at in hits}
        missing = row + (None,) * (self.width - len(row))
        return [missing + other for at, other in enumerate(others) if at not in used]
