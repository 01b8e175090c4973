"""Parts of a SELECT: its columns with their names, what positions and aliases mean, its casts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.sql.expressions.columns import outside_queries
from whitecap.engine.sql.expressions.scope import Relation, Scope, check_star
from whitecap.engine.sql.expressions.select_list import leaves_out, unaliased
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.text import whole_number
from whitecap.engine.sql.parsing.query_reading import limit_of
from whitecap.engine.storage.requests import Row
from whitecap.engine.values.casts import caster
from whitecap.engine.values.types import Session

_MOST_NUMBERS = 10_000_000  # of range(): they are kept in memory


@dataclass(frozen=True, slots=True)
class Rows:
    """A planned relation: its columns, and its rows for a given row of the enclosing query.

    `tasks`: of a table, its rows by the task that reads them.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    of: Callable[[Row], Sequence[Row]]
    tasks: Sequence[Sequence[Row]] = ()

    def part(self, rows: Sequence[Row]) -> Rows:
        """The same relation with only some of its rows."""
        return Rows(self.names, self.types, lambda _outer: rows)

    def for_first(self, width: int) -> Rows:
        """The same relation, asked where the row around it may have more columns than `width`."""
        return Rows(self.names, self.types, lambda outer: self.of(outer[:width]))


def select_items(nodes: Iterable[exp.Expr], scope: Scope) -> Iterable[tuple[str, exp.Expr]]:
    """The columns of a SELECT list with their names, stars spread over its own relations."""
    for node in nodes:
        _check_star_as_written(node)
        if isinstance(node, exp.Star | exp.Column) and node.is_star:
            yield from _columns_of_star(node, scope)
        else:
            yield item_name(node), unaliased(node)


def _columns_of_star(star: exp.Star | exp.Column, scope: Scope) -> Iterator[tuple[str, exp.Expr]]:
    for relation in _spread_over(star, scope):
        qualifier = next(iter(relation.names), None) or None
        kept = (name for name in relation.columns if not leaves_out(star, name))
        yield from ((name, exp.column(name, qualifier)) for name in kept)


def _spread_over(star: exp.Expr, scope: Scope) -> list[Relation]:
    """Of `*` the innermost relations, of `t.*` those of that name.

    Raises `InvalidInput` where none has it.
    """
    relations = scope.relations
    if not isinstance(star, exp.Column):
        depth = max((each.depth for each in relations), default=0)
        return [each for each in relations if each.depth == depth]
    check_star(star.table, [name for each in relations for name in each.names])
    return [each for each in relations if star.table.lower() in each.names]


def _check_star_as_written(node: exp.Expr) -> None:
    """Raises `UnsupportedFeature` for other changes to a star than `* EXCEPT (...)`."""
    star = node.this if isinstance(node, exp.Column) else node
    if star.args.get("replace") or star.args.get("rename"):
        raise UnsupportedFeature(f"a star with changes: {node.sql(DIALECT)}")


def numbers_of(node: exp.Table) -> Rows | None:
    """The rows of `range(end)` or `range(start, end[, step])`; `None` for a table by name."""
    call = node.this
    if not isinstance(call, exp.Func):
        return None
    if call.name.lower() != "range" or not 0 < len(call.expressions) < 4:
        raise UnsupportedFeature(f"the table function {call.sql(DIALECT)}")
    numbers = [whole_number(argument, call) for argument in call.expressions]
    if numbers[2:] == [0] or len(range(*numbers)) > _MOST_NUMBERS:
        raise UnsupportedFeature(f"the table function {call.sql(DIALECT)}")
    rows = [(number,) for number in range(*numbers)]
    return Rows(("id",), ("bigint",), lambda _outer: rows)


def combined(node: exp.SetOperation, ones: list[Row], others: list[Row]) -> list[Row]:
    """The rows of a set operation; of equal rows of EXCEPT and INTERSECT the first are kept."""
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


def item_name(node: exp.Expr) -> str:
    """What a column of a SELECT list is called: its alias or name, or the SQL text.

    A cast of a column is called as the column is. Source: ResolveAliases.scala.
    """
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Column):
        return node.this.name
    named = isinstance(node, exp.Alias | exp.Column | exp.Literal)
    return node.alias_or_name if named else node.sql(DIALECT)


def has_aggregate(node: exp.Select) -> bool:
    parts = (part for item in node.expressions for part in outside_queries(item))
    aggregates = (part for part in parts if isinstance(part, exp.AggFunc))
    return any(part.find_ancestor(exp.Window) is None for part in aggregates)


def casts_between(
    types: Sequence[str], wanted: Sequence[str], session: Session
) -> list[Callable[[Any], Any]]:
    pairs = zip(types, wanted, strict=True)
    casts = [caster(source, target, session) for source, target in pairs]
    return [_of_values(cast) if cast else _same for cast in casts]


def _of_values(cast: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else cast(value)


def _same(value: Any) -> Any:
    return value


def cut_rows(node: exp.Select, rows: Rows) -> Rows:
    """DISTINCT and LIMIT."""
    cut = distinct_rows(rows) if node.args.get("distinct") else rows
    count = limit_of(node)
    if count is None:
        return cut
    return Rows(cut.names, cut.types, lambda row: cut.of(row)[:count])


def distinct_rows(rows: Rows) -> Rows:
    return Rows(rows.names, rows.types, lambda row: list(dict.fromkeys(rows.of(row))))


def sort_key(value: Any) -> tuple[bool, Any]:
    return (value is not None, 0 if value is None else value)
