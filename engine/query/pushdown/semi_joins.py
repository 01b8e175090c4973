"""What is heard across SEMI and ANTI joins, whose own tables nobody sees.

Such a join goes down to the tables that its ON compares with its own, past the others: what is said
of these is not heard in it, nor what is said of its own table by them. Source: Spark's
PushDownLeftSemiAntiJoin and PushLeftSemiLeftAntiThroughJoin, which come before anything is
inferred; observed on Delta Lake 4.4.0 (tests/conformance/cases/pushed_joins.json).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from whitecap.engine.query.pushdown.relations import on_of
from whitecap.engine.sql.expressions.columns import columns_outside_queries

KINDS = ("SEMI", "ANTI")


def heard_inside(join: exp.Join, parts: Iterable[exp.Expr]) -> Iterator[exp.Expr]:
    """What the own table of a join hears of conditions that hold beside it.

    Names without qualifier may be those of any table.
    """
    own = {join.this.alias_or_name.lower()}
    near = own | _compared(join)
    for part in parts:
        tables = _tables(part)
        if tables <= near or tables <= own | {""}:
            yield part


def heard_outside(join: exp.Join, parts: list[exp.Expr], relation: exp.Expr) -> list[exp.Expr]:
    """What a relation hears of what the ON of another one's join says."""
    if relation.alias_or_name.lower() in _compared(join):
        return parts
    unheard = {join.this.alias_or_name.lower(), ""}
    return [part for part in parts if unheard.isdisjoint(_tables(part))]


def _compared(join: exp.Join) -> set[str]:
    """The tables, by name in lower case, that a join's ON compares with its own."""
    own = join.this.alias_or_name.lower()
    sides = (tables for tables in map(_tables, on_of(join)) if own in tables)
    return set().union(*sides) - {own, ""}


def _tables(part: exp.Expr) -> set[str]:
    return {column.table.lower() for column in columns_outside_queries(part)}
