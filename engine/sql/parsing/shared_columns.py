"""JOIN ... USING as the ON that it stands for, and what a shared column is called without a table.

Source: Spark's NaturalAndUsingJoinResolution.scala (commonNaturalJoinProcessing): the column is the
left one, after a RIGHT join the right one, after a FULL join whichever has a value.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from whitecap.engine.errors import UnsupportedFeature


def with_shared_columns(statement: exp.Expr) -> None:
    """Write out, in place, each query that joins its first table with another one by names.

    Raises `UnsupportedFeature` for a star over such a join, whose columns stand in another order.
    """
    for select in statement.find_all(exp.Select):
        joins: Sequence[exp.Join] = select.args.get("joins") or ()
        source = select.args.get("from_")
        if len(joins) == 1 and joins[0].args.get("using") and source is not None:
            _write_out(select, source.this, joins[0])


def _write_out(select: exp.Select, left: exp.Expr, join: exp.Join) -> None:
    aliases = left.alias_or_name, join.this.alias_or_name
    if not all(aliases):
        return
    if any(isinstance(item, exp.Star) for item in select.expressions):
        raise UnsupportedFeature(f"a star over JOIN {aliases[1]} USING")
    names = {column.name.lower() for column in join.args["using"]}
    pairs = [[exp.column(name, alias) for alias in aliases] for name in sorted(names)]
    own = select.walk(prune=lambda part: part is not select and isinstance(part, exp.Query))
    for column in [part for part in own if isinstance(part, exp.Column)]:
        if not column.table and column.name.lower() in names:
            _replace(column, join.side, aliases)
    join.set("using", None)
    join.set("on", exp.and_(*(exp.EQ(this=left, expression=right) for left, right in pairs)))


def _replace(column: exp.Column, side: str, aliases: tuple[str, str]) -> None:
    left, right = (exp.column(column.name, alias) for alias in aliases)
    if side != "FULL":
        column.replace(right if side == "RIGHT" else left)
        return
    either = exp.Anonymous(this="coalesce", expressions=[left, right])
    is_item = isinstance(column.parent, exp.Select)
    column.replace(exp.alias_(either, column.name) if is_item else either)
