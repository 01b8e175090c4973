"""Which columns are still there where a later join is made.

Before anything is inferred Spark leaves out the columns that nobody asks for any more, between
joins too: after `t JOIN o ON t.day = o.d` a later `JOIN b ON o.d = b.day` says nothing of `t.day`
that is not selected. Source: Spark's ColumnPruning, InferFiltersFromConstraints; observed on Delta
Lake 4.4.0 (tests/conformance/cases/pushed_joins.json).
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from whitecap.engine.query.pushdown.relations import joins_of, on_of, relations_in, relations_of
from whitecap.engine.sql.expressions.columns import columns_outside_queries
from whitecap.engine.sql.expressions.select_list import are_same
from whitecap.engine.sql.predicates.normal_form import conjuncts_of


def hears(column: exp.Column, condition: exp.Expr, select: exp.Select) -> bool:
    """Whether a column is there where what a condition says of other tables comes in."""
    latest = _latest(condition, select)
    return latest <= _place(column, select) or any(
        are_same(column, used)
        for part in _asked_from(latest, select)
        for used in part.find_all(exp.Column)
    )


def _place(column: exp.Column, select: exp.Select) -> int:
    """Where the table of a column stands in FROM; a name without qualifier may be of the first."""
    names = [relation.alias_or_name.lower() for relation in relations_in(select)]
    return names.index(column.table.lower()) if column.table.lower() in names else 0


def _latest(condition: exp.Expr, select: exp.Select) -> int:
    """The place of the last table that a condition speaks of, of the last one if that is unsure."""
    columns, last = columns_outside_queries(condition), len(joins_of(select))
    return max((_place(c, select) if c.table else last for c in columns), default=last)


def _asked_from(place: int, select: exp.Select) -> Iterator[exp.Expr]:
    """What a query asks of columns from a place in FROM on. What speaks of one table goes down."""
    where = select.args.get("where")
    after = conjuncts_of(where.this) if where is not None else ()
    compared = [part for join in joins_of(select)[max(place - 1, 0) :] for part in on_of(join)]
    compared += [part for part in after if _latest(part, select) >= place]
    yield from filter(_is_of_several, compared)
    yield from (part for key in ("group", "having", "order") if (part := select.args.get(key)))
    yield from (item for item in select.expressions if _is_asked_for(item, select))


def _is_of_several(part: exp.Expr) -> bool:
    """Whether it compares tables; columns without qualifier may be of different ones."""
    columns = columns_outside_queries(part)
    return len({(column.table or column.name).lower() for column in columns}) > 1


def _is_asked_for(item: exp.Expr, select: exp.Select) -> bool:
    """Whether the queries around ask for what one selects; nobody is around the outermost.

    What a side of a UNION or the like inside of another query selects is taken not to be.
    """
    if isinstance(select.parent, exp.SetOperation) and select.find_ancestor(exp.From, exp.Join):
        return False
    outer = [relation.find_ancestor(exp.Select) for relation in relations_of(select)]
    return all(query is not None and _asks_for(query, item.alias_or_name) for query in outer)


def _asks_for(query: exp.Select, name: str) -> bool:
    """Whether a query compares a column by this name, or selects it and is asked for that."""
    unasked = [item for item in query.expressions if not _is_asked_for(item, query)]
    own = (c for c in query.find_all(exp.Column) if c.find_ancestor(exp.Select) is query)
    asking = (c for c in own if not any(c in list(item.find_all(exp.Column)) for item in unasked))
    return any(column.name.lower() == name.lower() for column in asking)
