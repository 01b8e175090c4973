"""The joins of a query's FROM: where they put NULLs for missing rows, and who hears their ON.

An outer join fills a side up only if no condition after it refuses rows that are missing there. A
place of a relation is that of its join, from 0; the first relation's is -1. Source: Spark's
EliminateOuterJoin, PushPredicateThroughJoin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from sqlglot import exp

from whitecap.engine.query.pushdown.relations import joins_of, relations_in
from whitecap.engine.query.pushdown.semi_joins import KINDS
from whitecap.engine.sql.expressions.columns import columns_outside_queries
from whitecap.engine.sql.predicates.not_null import columns_never_null, refuses_null

FIRST = -1
"""The place of the first relation."""

_FILLED = {"LEFT": (False, True), "RIGHT": (True, False), "FULL": (True, True)}
"""Whether a join puts NULLs in the place of missing rows of its left and of its right side."""
_SIDES = {(False, False): "", **{filled: side for side, filled in _FILLED.items()}}


class Joined(Struct, frozen=True):
    """The joins of a query, and of each its side.

    It is LEFT, RIGHT, FULL, SEMI, ANTI, or nothing for an inner join, and for an outer one of which
    a condition refuses all rows that it fills up.
    """

    select: exp.Select
    sides: tuple[str, ...]

    @classmethod
    def of(cls, select: exp.Select, after: Sequence[exp.Expr]) -> Joined:
        """Those of a query, for the conditions on the rows that they give."""
        return cls(select, tuple(_sides(select, after)))

    @property
    def joins(self) -> Sequence[exp.Join]:
        """In order."""
        return joins_of(self.select)

    @property
    def relations(self) -> Iterator[tuple[int, exp.Expr]]:
        """What is joined, by places."""
        return enumerate(relations_in(self.select), start=FIRST)

    def place_of(self, relation: exp.Expr) -> int:
        """The place of one of them."""
        return next(at for at, each in self.relations if each is relation)

    def is_hidden(self, own: int) -> bool:
        """Whether nobody sees the rows at a place, but their join."""
        return own > FIRST and self.sides[own] in KINDS

    def may_lack_rows(self, own: int, until: int | None = None) -> bool:
        """Whether a join, of those before `until`, puts NULLs for the rows at a place."""
        sides = self.sides[:until]
        beside = sides[own] if FIRST < own < len(sides) else ""
        return beside in ("LEFT", "FULL") or not {"RIGHT", "FULL"}.isdisjoint(sides[own + 1 :])

    def present(self, at: int | None = None) -> list[exp.Expr]:
        """What has a row wherever the joined rows are looked at, or where the ON of a join is."""
        places = (pair for pair in self.relations if at is None or pair[0] <= at)
        return [each for place, each in places if not self.may_lack_rows(place, at)]

    def is_whole(self, own: int, until: int) -> bool:
        """Whether the joins before `until` hand on the rows at a place, and no others for them."""
        return not self.is_hidden(own) and not self.may_lack_rows(own, until)

    def reaches(self, own: int, at: int) -> bool:
        """Whether what a join's ON says holds at a place, no outer join being between."""
        side = self.sides[at]
        if at < own:
            between = self.sides[at + 1 : own]
            return side in ("", "SEMI") and {"RIGHT", "FULL"}.isdisjoint(between)
        return side in (("", "LEFT", "SEMI", "ANTI") if at == own else ("", "RIGHT", "SEMI"))


def _sides(select: exp.Select, after: Sequence[exp.Expr]) -> Iterator[str]:
    left = refuses_missing(after, select.args["from_"].this)
    for join in joins_of(select):
        right = refuses_missing(after, join.this)
        if join.kind in KINDS:
            yield join.kind
        else:
            fills_left, fills_right = _FILLED.get(join.side, (False, False))
            yield _SIDES[fills_left and not left, fills_right and not right]
        left = left or right


def refuses_missing(conditions: Iterable[exp.Expr], relation: exp.Expr) -> bool:
    """Whether one of the conditions does not hold where a relation has no row.

    Names without qualifier may be those of another one.
    """
    name = relation.alias_or_name.lower()

    def refuses(part: exp.Expr) -> bool:
        if all(column.table.lower() == name for column in columns_outside_queries(part)):
            return refuses_null(part)
        return any(column.table.lower() == name for column in columns_never_null(part))

    return any(map(refuses, conditions))
