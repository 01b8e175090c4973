"""What queries select from, and what selects from them: in place, or by the name of a WITH."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from whitecap.engine.sql.parsing.common_tables import named_as, tables_meaning
from whitecap.engine.sql.predicates.normal_form import conjuncts_of


def joins_of(select: exp.Select) -> Sequence[exp.Join]:
    """The joins of a query's FROM, in order."""
    return select.args.get("joins") or ()


def on_of(join: exp.Join) -> list[exp.Expr]:
    """The conditions of a join's ON."""
    on = join.args.get("on")
    return [] if on is None else conjuncts_of(on)


def relations_in(select: exp.Select) -> list[exp.Expr]:
    """What a query selects from, in order."""
    source = select.args.get("from_")
    first = [] if source is None else [source.this]
    return [*first, *(join.this for join in joins_of(select))]


def selecting(relation: exp.Expr) -> exp.Select | None:
    """The query that selects from a relation."""
    clause = relation.parent
    if not isinstance(clause, exp.From | exp.Join):
        return None
    return clause.parent if isinstance(clause.parent, exp.Select) else None


def query_of(relation: exp.Expr) -> exp.Expr | None:
    """The query that a relation is, `None` for a table."""
    if isinstance(relation, exp.Table):
        named = named_as(relation)
        return None if named is None else named.this
    return relation.this if isinstance(relation, exp.Subquery) else None


def columns_renamed(relation: exp.Expr) -> list[str]:
    """What an alias calls the columns of a relation, or a WITH those of its query, if it does."""
    named = named_as(relation) if isinstance(relation, exp.Table) else None
    return relation.alias_column_names or ([] if named is None else named.alias_column_names)


def relations_of(query: exp.Expr) -> list[exp.Expr]:
    """Where the rows of a query are selected from."""
    holder = query.parent
    if isinstance(holder, exp.CTE):
        return list(tables_meaning(holder))
    return [holder] if isinstance(holder, exp.Subquery) else []
