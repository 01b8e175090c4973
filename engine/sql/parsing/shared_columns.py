"""JOIN ... USING as the ON that it stands for, and what a shared column is called without a table.

Source: Spark's NaturalAndUsingJoinResolution.scala (commonNaturalJoinProcessing): the column is the
left one, after a RIGHT join the right one, after a FULL join whichever has a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from sqlglot import exp

from whitecap.engine.errors import UnsupportedFeature

_NO_NAME = "__auto_generated_subquery_name"
"""What Spark calls a subquery without a name. Source: SubqueryAlias.generateSubqueryName."""

_Shared = dict[str, list[exp.Column]]
"""By a shared column's name, the columns of which the first one with a value is meant."""


def with_shared_columns(statement: exp.Expr) -> None:
    """Write out, in place, each query that joins its tables by the names of the same columns.

    Raises `UnsupportedFeature` for a star over such a join, whose columns stand in another order.
    """
    numbers = count()
    for select in statement.find_all(exp.Select):
        joins: Sequence[exp.Join] = select.args.get("joins") or ()
        source = select.args.get("from_")
        if source is None or not any(join.args.get("using") for join in joins):
            continue
        for relation in (source.this, *(join.this for join in joins)):
            _name(relation, numbers)
        if _are_by_same_names(joins):
            _write_out(select, source.this, joins)


def _are_by_same_names(joins: Sequence[exp.Join]) -> bool:
    """Whether all joins are by names that the first is by: what others mean, only tables tell."""
    names = [{column.name.lower() for column in join.args.get("using") or ()} for join in joins]
    return all(each and each <= names[0] for each in names)


def _name(relation: exp.Expr, numbers: count[int]) -> None:
    if isinstance(relation, exp.Subquery) and not relation.alias_or_name:
        name = exp.to_identifier(f"{_NO_NAME}{next(numbers)}")
        relation.set("alias", exp.TableAlias(this=name))


def _write_out(select: exp.Select, first: exp.Expr, joins: Sequence[exp.Join]) -> None:
    aliases = [first.alias_or_name, *(join.this.alias_or_name for join in joins)]
    if not all(aliases):
        return
    if any(isinstance(item, exp.Star) for item in select.expressions):
        raise UnsupportedFeature(f"a star over JOIN {aliases[1]} USING")
    shared: _Shared = {
        column.name.lower(): [exp.column(column.name, first.alias_or_name)]
        for column in joins[0].args["using"]
    }
    own = select.walk(prune=lambda part: part is not select and isinstance(part, exp.Query))
    unqualified = [part for part in own if isinstance(part, exp.Column) and not part.table]
    for join in joins:
        _join_on(join, shared)
    for column in unqualified:
        if column.name.lower() in shared:
            _replace(column, shared[column.name.lower()])


def _join_on(join: exp.Join, shared: _Shared) -> None:
    """Compare what a join shares with what that is so far, and tell what it becomes."""
    names = sorted({column.name.lower() for column in join.args["using"]})
    own = {name: exp.column(name, join.this.alias_or_name) for name in names}
    pairs = [exp.EQ(this=_meant(shared[name]), expression=own[name].copy()) for name in names]
    join.set("using", None)
    join.set("on", exp.and_(*pairs))
    for name in names:
        if join.side == "RIGHT":
            shared[name] = [own[name]]
        elif join.side == "FULL":
            shared[name] = [*shared[name], own[name]]


def _meant(columns: Sequence[exp.Column]) -> exp.Expr:
    if len(columns) == 1:
        return columns[0].copy()
    return exp.Anonymous(this="coalesce", expressions=[column.copy() for column in columns])


def _replace(column: exp.Column, columns: Sequence[exp.Column]) -> None:
    """Write what a shared column means, under its name as it stands here."""
    meant = _meant([exp.column(column.name, each.table) for each in columns])
    is_item = isinstance(column.parent, exp.Select) and len(columns) > 1
    column.replace(exp.alias_(meant, column.name) if is_item else meant)
