"""What queries in conditions say of the row around them, and the same queries without it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from sqlglot import exp

from whitecap.engine.query.planner import Planner
from whitecap.engine.query.rows import Rows
from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.predicates.normal_form import conjuncts_of, join_and

_Own = Sequence[tuple[str, frozenset[str]]]
"""The tables that a query selects from by their names, each with the names of its columns."""


def columns_around(query: exp.Expr, planner: Planner) -> Iterator[exp.Column]:
    """The columns in a query that none of the tables it selects from has."""
    if isinstance(query, exp.Select):
        yield from _columns_beyond(query, list(_own_columns(query, planner)), planner)
        return
    for side in query.iter_expressions():
        if isinstance(side, exp.Query):
            yield from columns_around(side, planner)


def _columns_beyond(node: exp.Expr, own: _Own, planner: Planner) -> Iterator[exp.Column]:
    for part in node.walk(prune=lambda part: part is not node and isinstance(part, exp.Query)):
        columns = (part,) if isinstance(part, exp.Column) else ()
        inside = part is not node and isinstance(part, exp.Query)
        for column in columns_around(part, planner) if inside else columns:
            if not _is_among(column, own):
                yield column


def _own_columns(query: exp.Select, planner: Planner) -> Iterator[tuple[str, frozenset[str]]]:
    source, nowhere = query.args.get("from_"), Scope((), planner.session)
    joined = (join.this for join in query.args.get("joins") or ())
    for node in (*([] if source is None else [source.this]), *joined):
        alias = node.args.get("alias")
        renamed = [column.name for column in alias.args.get("columns") or ()] if alias else []
        columns = renamed or planner.relation(node, nowhere).names
        yield node.alias_or_name.lower(), frozenset(name.lower() for name in columns)
    yield "", frozenset(item.alias.lower() for item in query.expressions if item.alias)


def _is_among(column: exp.Column, own: _Own) -> bool:
    qualifier = column.table.lower()
    near = (columns for table, columns in own if qualifier in ("", table))
    return any(column.is_star or column.name.lower() in columns for columns in near)


class TakenApart(Struct, frozen=True):
    """A query without the conditions that speak of the row around it, and these.

    `is_wider`: Spark has added columns to the ones it selects, for these conditions to compare.
    """

    query: exp.Expr
    around: tuple[exp.Expr, ...]
    planner: Planner
    is_wider: bool = False

    @property
    def stands_alone(self) -> bool:
        """Whether nothing else in it speaks of the row around it."""
        return not any(columns_around(self.query, self.planner))

    def rows(self) -> Rows:
        """What it gives by itself."""
        return self.planner.plan(self.query, Scope((), self.planner.session))


def taken_apart(query: exp.Expr, planner: Planner) -> TakenApart:
    """A query, of whose tables the planner has the rows, as it is asked without a row around it."""
    if isinstance(query, exp.Select) and any(columns_around(query, planner)):
        return _taken_apart(query, planner)
    return TakenApart(query, (), planner)


def _taken_apart(query: exp.Select, planner: Planner) -> TakenApart:
    own, alone = list(_own_columns(query, planner)), query.copy()
    planner, where = planner.knowing(alone, query), alone.args.get("where")
    parts = [] if where is None else conjuncts_of(where.this)
    around = [part for part in parts if any(_columns_beyond(part, own, planner))]
    kept = join_and(part for part in parts if part not in around)
    alone.set("where", None if kept is None else exp.Where(this=kept))
    return TakenApart(alone, tuple(around), planner, _lacks_columns(query, around, own))


def _lacks_columns(query: exp.Select, around: Sequence[exp.Expr], own: _Own) -> bool:
    """Whether it selects plain columns alone, and not all of its own that are compared.

    Beside a column that is computed the added ones were seen to do no harm.
    """
    items = query.expressions
    if any(not isinstance(item, exp.Column) or item.is_star for item in items):
        return False
    selected = {item.name.lower() for item in items}
    compared = (column for part in around for column in part.find_all(exp.Column))
    return any(_is_among(c, own) and c.name.lower() not in selected for c in compared)
