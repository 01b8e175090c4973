"""The list of a SELECT: its columns with their names, and the aggregates in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlglot import exp

from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature, nearest
from whitecap.engine.sql.expressions.columns import outside_queries
from whitecap.engine.sql.expressions.scope import Relation, Scope, check_star
from whitecap.engine.sql.expressions.select_list import leaves_out, left_out, unaliased
from whitecap.engine.sql.expressions.spark_text import DIALECT

_NO_COLUMN = "AnalysisException", "UNRESOLVED_COLUMN.WITH_SUGGESTION"


def select_items(nodes: Iterable[exp.Expr], scope: Scope) -> Iterable[tuple[str, exp.Expr]]:
    """The columns of a SELECT list with their names, stars spread over its own relations."""
    for node in nodes:
        _check_star_as_written(node)
        if isinstance(node, exp.Star | exp.Column) and node.is_star:
            yield from _columns_of_star(node, scope)
        else:
            yield item_name(node), unaliased(node)


def _columns_of_star(star: exp.Star | exp.Column, scope: Scope) -> Iterator[tuple[str, exp.Expr]]:
    relations = _spread_over(star, scope)
    _check_left_out(star, [name for relation in relations for name in relation.columns])
    for relation in relations:
        qualifier = next(iter(relation.names), None) or None
        kept = (name for name in relation.columns if not leaves_out(star, name))
        yield from ((name, exp.column(name, qualifier)) for name in kept)


def _check_left_out(star: exp.Expr, names: Sequence[str]) -> None:
    """Raises `InvalidInput` for a column that a star leaves out and does not have."""
    there = {name.lower() for name in names}
    missing = [name for name in left_out(star) if name.lower() not in there]
    problems = [
        Problem(name, "no such column", nearest(name, names), _NO_COLUMN) for name in missing
    ]
    if problems:
        raise InvalidInput(problems)


def _spread_over(star: exp.Expr, scope: Scope) -> list[Relation]:
    """Of `*` the innermost relations, of `t.*` those of that name.

    Raises `InvalidInput` where none has it.
    """
    relations = scope.relations
    if not isinstance(star, exp.Column):
        return [each for each in relations if each.depth == scope.depth]
    check_star(star.table, [name for each in relations for name in each.names])
    return [each for each in relations if star.table.lower() in each.names]


def _check_star_as_written(node: exp.Expr) -> None:
    """Raises `UnsupportedFeature` for other changes to a star than `* EXCEPT (...)`."""
    star = node.this if isinstance(node, exp.Column) else node
    if star.args.get("replace") or star.args.get("rename"):
        raise UnsupportedFeature(f"a star with changes: {node.sql(DIALECT)}")


def item_name(node: exp.Expr) -> str:
    """What a column of a SELECT list is called: its alias or name, or the SQL text.

    A cast of a column is called as the column is. Source: ResolveAliases.scala.
    """
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Column):
        return node.this.name
    named = isinstance(node, exp.Alias | exp.Column | exp.Literal)
    return node.alias_or_name if named else node.sql(DIALECT)


def has_aggregate(node: exp.Select) -> bool:
    """Whether a SELECT list aggregates rows, by no window and in no query inside of it."""
    parts = (part for item in node.expressions for part in outside_queries(item))
    aggregates = (part for part in parts if isinstance(part, exp.AggFunc))
    return any(part.find_ancestor(exp.Window) is None for part in aggregates)
