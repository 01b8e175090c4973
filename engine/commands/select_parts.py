"""Parts of a SELECT: its columns with their names, what positions and aliases mean, its casts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from whitecap.engine.commands.write_errors import too_many_columns_of_value, too_many_rows
from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.sql.compiler import DIALECT
from whitecap.engine.sql.predicates import outside_queries
from whitecap.engine.sql.rendering import sql_literal
from whitecap.engine.sql.scope import Scope
from whitecap.engine.sql.text import parse_condition, whole_number
from whitecap.engine.sql.types import caster
from whitecap.engine.storage.requests import Row


@dataclass(frozen=True, slots=True)
class Rows:
    """A planned relation: its columns, and its rows for a row of the enclosing query."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    of: Callable[[Row], Sequence[Row]]


def select_items(nodes: Iterable[exp.Expr], scope: Scope) -> Iterable[tuple[str, exp.Expr]]:
    """The columns of a SELECT list with their names, stars spread."""
    for at, node in enumerate(nodes):
        star = isinstance(node, exp.Star)
        left_out = _left_out(node)
        owner = node.table if isinstance(node, exp.Column) and node.is_star else None
        if not star and owner is None:
            yield item_name(node, at), unaliased(node)
            continue
        for relation in scope.relations:
            if star or (owner or "").lower() in relation.names:
                qualifier = next(iter(relation.names), None) or None
                for name in relation.columns:
                    if name.lower() not in left_out:
                        yield name, exp.column(name, qualifier)


def _left_out(node: exp.Expr) -> set[str]:
    """The columns of `* EXCEPT (...)`. Raises `UnsupportedFeature` for other changes to a star."""
    star = node.this if isinstance(node, exp.Column) else node
    if star.args.get("replace") or star.args.get("rename"):
        raise UnsupportedFeature(f"a star with changes: {node.sql(DIALECT)}")
    return {one.name.lower() for one in star.args.get("except_") or ()}


def numbers_of(node: exp.Table) -> Rows | None:
    """The rows of `range(end)` or `range(start, end[, step])`; `None` for a table by name."""
    call = node.this
    if not isinstance(call, exp.Func):
        return None
    if call.name.lower() != "range" or not 0 < len(call.expressions) < 4:
        raise UnsupportedFeature(f"the table function {call.sql(DIALECT)}")
    numbers = [whole_number(one, call) for one in call.expressions]
    rows = [(number,) for number in range(*numbers)]
    return Rows(("id",), ("bigint",), lambda _outer: rows)


def combined(node: exp.SetOperation, ones: list[Row], others: list[Row]) -> list[Row]:
    """Rows of both sides; of EXCEPT and INTERSECT those of the first that count."""
    if isinstance(node, exp.Union):
        return ones + others
    left = Counter(others)
    kept = []
    for row in ones:
        is_there = left[row] > 0
        left[row] -= 1 if is_there and not node.args.get("distinct") else 0
        if is_there is isinstance(node, exp.Intersect):
            kept.append(row)
    return kept


def item_name(node: exp.Expr, at: int) -> str:
    return node.alias_or_name or f"col{at + 1}"


def unaliased(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Alias) else node


def by_position(node: exp.Expr, select: exp.Select) -> exp.Expr:
    """A column of the SELECT list by its number or alias, else the expression itself."""
    if isinstance(node, exp.Literal) and node.is_int:
        return unaliased(select.expressions[int(node.this) - 1])
    if isinstance(node, exp.Column) and not node.table:
        aliased = (n for n in select.expressions if isinstance(n, exp.Alias))
        return next((n.this for n in aliased if n.alias == node.name), node)
    return node


def has_aggregate(node: exp.Select) -> bool:
    parts = (part for item in node.expressions for part in outside_queries(item))
    found = (part for part in parts if isinstance(part, exp.AggFunc))
    return any(part.find_ancestor(exp.Window) is None for part in found)


def cells_of(node: exp.Expr) -> Sequence[exp.Expr]:
    return node.expressions if isinstance(node, exp.Tuple) else [node]


def casts_between(types: Sequence[str], wanted: Sequence[str]) -> list[Callable[[Any], Any]]:
    found = [caster(one, other) for one, other in zip(types, wanted, strict=True)]
    return [_of_values(cast) if cast else _same for cast in found]


def _of_values(cast: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else cast(value)


def _same(value: Any) -> Any:
    return value


def cut_rows(node: exp.Select, rows: Rows) -> Rows:
    """DISTINCT and LIMIT."""
    cut = distinct_rows(rows) if node.args.get("distinct") else rows
    limit = node.args.get("limit")
    if limit is None:
        return cut
    count = whole_number(limit.expression, node)
    return Rows(cut.names, cut.types, lambda row: cut.of(row)[:count])


def distinct_rows(rows: Rows) -> Rows:
    return Rows(rows.names, rows.types, lambda row: list(dict.fromkeys(rows.of(row))))


def sort_key(value: Any) -> tuple[bool, Any]:
    return (value is not None, 0 if value is None else value)


def value_of(planned: Rows, query: exp.Subquery | exp.Exists) -> exp.Expr:
    """The value of a planned subquery, as a literal.

    Raises `DeltaError` if it has several columns or rows.
    """
    if isinstance(query, exp.Exists):
        return exp.Boolean(this=bool(planned.of(())))
    if len(planned.types) > 1:
        raise too_many_columns_of_value(len(planned.types))
    rows = planned.of(())
    if len(rows) > 1:
        raise too_many_rows(query.sql(DIALECT))
    value, kind = sql_literal(rows[0][0] if rows else None), planned.types[0]
    return parse_condition(value if kind == "void" else f"CAST({value} AS {kind})").copy()
