"""The queries that a WITH names: which of them, if any, a table's name means where it stands.

A name means the nearest query that a WITH around gives it, of those before the place where it
stands: inside of `WITH batch AS (SELECT * FROM batch)` it is still the table. With a schema before
it, it is always a table. Source: Spark's CTESubstitution.scala.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from sqlglot import exp


def named_as(table: exp.Table) -> exp.CTE | None:
    """The part of a WITH that a table's name means, `None` for a table."""
    if table.db:
        return None
    inside: exp.Expr = table
    while (around := inside.parent) is not None:
        hits = [c for c in _named_before(inside, around) if c.alias.lower() == table.name.lower()]
        if hits:
            return hits[-1]
        inside = around
    return None


def tables_meaning(cte: exp.CTE) -> list[exp.Table]:
    """Where the rows of a part of a WITH are selected from."""
    return [table for table in cte.root().find_all(exp.Table) if named_as(table) is cte]


def is_asked_for(node: exp.Expr) -> bool:
    """Whether a node counts: what a WITH names and nothing selects from is left out.

    Source: Spark's InlineCTE.
    """
    cte = node.find_ancestor(exp.CTE)
    return not isinstance(cte, exp.CTE) or any(map(is_asked_for, tables_meaning(cte)))


def _named_before(inside: exp.Expr, around: exp.Expr) -> Iterator[exp.CTE]:
    """What a WITH names for a part of itself, or for one of the query that it stands before."""
    clause = around if isinstance(around, exp.With) else around.args.get("with_")
    if clause is not None and clause is not inside:
        yield from takewhile(lambda cte: cte is not inside, clause.expressions)
