"""What each row of a query meets, as conditions on its columns.

A table beside it in a join takes them by columns that are equal: in `FROM t JOIN (SELECT day FROM
batch WHERE day = 'a') b ON t.day = b.day` all rows of use have `t.day = 'a'`. Only what a WHERE
says of columns counts that are handed on as they are. Rows that are written out are computed before
anything is inferred. Source: Spark's QueryPlanConstraints.scala; observed on Delta Lake 4.4.0
(tests/conformance/cases/pushed_inferred.json).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from whitecap.engine.query.pushdown.relations import (
    columns_renamed,
    joins_of,
    query_of,
    relations_in,
)
from whitecap.engine.sql.expressions.columns import columns_outside_queries
from whitecap.engine.sql.expressions.select_list import are_same, leaves_out, unaliased
from whitecap.engine.sql.functions.function_nodes import is_random
from whitecap.engine.sql.predicates.normal_form import conjuncts_of


def constraints_of(relation: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions that hold of each row of a relation, on its columns by its name.

    None of one without a name: its columns could be those of another.
    """
    query = query_of(relation)
    if not isinstance(query, exp.Select) or not relation.alias_or_name:
        return
    columns, name = items_of(relation, query), relation.alias_or_name
    handed = (_by_name(part, columns, name) for part in _met_inside(query))
    yield from (part for part in handed if part is not None)


def _met_inside(select: exp.Select) -> Iterator[exp.Expr]:
    """What holds of each row that a query selects from tables."""
    where, relations = select.args.get("where"), relations_in(select)
    if where is not None and all(map(is_stored, relations)):
        yield from conjuncts_of(where.this)
    if not joins_of(select):
        yield from (part for relation in relations for part in constraints_of(relation))


def is_stored(relation: exp.Expr) -> bool:
    """Whether the rows of a relation come from tables, and are not written out or counted up."""
    query = query_of(relation)
    if query is None:
        return isinstance(relation, exp.Table) and not isinstance(relation.this, exp.Func)
    return isinstance(query, exp.Select) and all(map(is_stored, relations_in(query)))


def items_of(relation: exp.Expr, query: exp.Select) -> list[tuple[exp.Expr, str]]:
    """What a query selects, and what it is called as the relation that it is."""
    items, names = query.expressions, columns_renamed(relation)
    if not names:
        return [(unaliased(item), item.alias_or_name) for item in items]
    has_stars = any(item.is_star for item in items)
    return [] if has_stars else list(zip(map(unaliased, items), names, strict=False))


def _by_name(
    condition: exp.Expr, columns: Sequence[tuple[exp.Expr, str]], relation: str
) -> exp.Expr | None:
    """A condition on what a query selects from, as one on what it gives; `None` if it is none."""
    if condition.find(exp.Query) is not None or is_random(condition):
        return None
    holder = exp.Paren(this=condition.copy())
    for column in columns_outside_queries(holder):
        name = next((name for item, name in columns if _gives(item, column)), None)
        if name is None:
            return None
        column.replace(exp.column(column.name if name == "*" else name, relation))
    return holder.unnest()


def _gives(item: exp.Expr, column: exp.Column) -> bool:
    """Whether a query hands a column on by this item: itself, or a star of its table."""
    if not item.is_star:
        return are_same(item, column)
    owner = item.table.lower() if isinstance(item, exp.Column) else ""
    return owner in ("", column.table.lower()) and not leaves_out(item, column.name)
