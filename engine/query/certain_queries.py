"""Which queries in conditions Delta takes to answer alike whenever they are asked.

Those that take rows of Delta tables by conditions and computations alone: no join, no grouping, no
DISTINCT, no LIMIT, nothing random, and no rows that are written out or counted up. Spark's
optimizer comes first: IN and EXISTS inside of a query are joins by then, ORDER BY is gone, and a
query that can have no rows is a list of none.

Source: DeltaSparkPlanUtils.scala (findFirstNonDeltaScan, findFirstNonDeterministicNode), observed
on Delta Lake 4.4.0 (tests/conformance/cases/asked_conditions.json).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from sqlglot import exp

from whitecap.engine.log.schema import Field, Schema
from whitecap.engine.query.planner import Planner
from whitecap.engine.sql.expressions.columns import (
    columns_outside_queries,
    outside_queries,
    unqualified,
)
from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.functions.function_nodes import is_random
from whitecap.engine.sql.parsing.common_tables import named_as
from whitecap.engine.sql.predicates.normal_form import conjuncts_of
from whitecap.engine.sql.predicates.predicate import Predicate
from whitecap.engine.sql.predicates.propagation import propagated

_PLAIN_PARTS = frozenset({"expressions", "from_", "where", "kind", "hint", "order", "with_"})
_OVER_ROWS = (exp.AggFunc, exp.Window, exp.Exists)


class CertainQueries(Struct, frozen=True):
    """The queries of one statement."""

    planner: Planner

    def __contains__(self, query: exp.Expr) -> bool:
        match query:
            case exp.Subquery():
                return query.this in self
            case exp.Union() if not query.args.get("distinct") and not query.args.get("limit"):
                return query.left in self and query.right in self
            case exp.Select():
                return _is_plain(query) and self._has_source(query) and not self._is_empty(query)
        return False

    def _has_source(self, query: exp.Select) -> bool:
        """Whether what it selects from is certain, and what it asks for single values."""
        asked = (part for part in _computed(query) if isinstance(part, exp.Query))
        source = query.args.get("from_")
        return all(inner in self for inner in asked) and (
            source is None or self._is_source(source.this)
        )

    def _is_source(self, source: exp.Expr) -> bool:
        if not isinstance(source, exp.Table):
            return source in self
        named = named_as(source)
        return not isinstance(source.this, exp.Func) and (named is None or named.this in self)

    def _is_empty(self, query: exp.Select) -> bool:
        """Whether the optimizer sees that no row can meet its condition."""
        source, where = query.args.get("from_"), query.args.get("where")
        if source is None or where is None:
            return False
        rows = self.planner.relation(source.this, Scope((), self.planner.session))
        schema = Schema(
            tuple(Field(*column) for column in zip(rows.names, rows.types, strict=True))
        )
        names = {name.lower() for name in schema.names}
        parts = (
            Predicate.of_node(unqualified(node), self.planner.parameters)
            for node in conjuncts_of(where.this)
            if _is_about(node, source)
        )
        own = [part for part in parts if part.columns <= names]
        return propagated(own, schema, self.planner.session) is None


def _is_about(node: exp.Expr, source: exp.Expr) -> bool:
    """Whether a condition names no other table than the source, as one that is correlated does."""
    names = ("", source.alias_or_name.lower())
    return all(column.table.lower() in names for column in columns_outside_queries(node))


def _is_plain(query: exp.Select) -> bool:
    if any(value and key not in _PLAIN_PARTS for key, value in query.args.items()):
        return False
    parts = list(_computed(query))
    computed = (part for part in parts if not isinstance(part, exp.Query))
    return not any(
        isinstance(part, _OVER_ROWS) or asks_members(part) or is_random(part) for part in computed
    )


def _computed(query: exp.Select) -> Iterator[exp.Expr]:
    """The parts of what it selects and of its condition, down to queries inside."""
    where = query.args.get("where")
    for node in (*query.expressions, *([] if where is None else [where.this])):
        yield from outside_queries(node)


def asks_members(node: exp.Expr) -> bool:
    """Whether a value is looked for among the rows of a query."""
    return isinstance(node, exp.In) and node.args.get("query") is not None
