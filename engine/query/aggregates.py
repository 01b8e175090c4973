"""Groups of a query's rows, and the aggregates that are asked of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct, field
from sqlglot import exp

from whitecap.engine.errors import DeltaError, UnsupportedFeature
from whitecap.engine.query.query_checks import not_grouped
from whitecap.engine.sql.expressions.columns import columns_outside_queries
from whitecap.engine.sql.expressions.scope import Relation, Scope
from whitecap.engine.sql.expressions.select_list import by_aliases, key_at
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.terms import Parameters, Term
from whitecap.engine.sql.functions.aggregates import AGGREGATES
from whitecap.engine.sql.predicates.compiler import compile_term
from whitecap.engine.storage.requests import Row
from whitecap.engine.values.keys import keyed


class Aggregate(Struct, frozen=True):
    """One aggregate of a query: its type, and its value for the rows of a group."""

    type: str
    value: Callable[[Sequence[Row]], Any]


def compile_aggregate(node: exp.AggFunc, scope: Scope, parameters: Parameters) -> Aggregate:
    """Compile an aggregate. Raises `UnsupportedFeature` for one that is not modelled.

    Raises `InvalidInput` for arguments that Spark refuses.
    """
    name = node.name.lower()
    fold, nodes = AGGREGATES.get(name), list(node.expressions)
    if fold is None:
        raise UnsupportedFeature(f"the aggregate {node.sql(DIALECT)}")
    if name == "count" and len(nodes) == 1 and isinstance(nodes[0], exp.Star):
        return Aggregate("bigint", len)
    distinct = len(nodes) == 1 and isinstance(nodes[0], exp.Distinct)
    if distinct:
        nodes = nodes[0].expressions
    terms = [compile_term(argument, scope).typed_by(parameters) for argument in nodes]
    (term,) = fold.takes(name, terms, scope.session)
    type_name, evaluate = fold.gives(term.type), term.bind(parameters).evaluate
    evaluate = keyed(term.type, evaluate) if distinct else evaluate
    fold_values = fold.value if scope.session.ansi else _without_errors(name, fold.value)

    def value(rows: Sequence[Row]) -> Any:
        values = [evaluate(row) for row in rows]
        kept = [cell for cell in values if cell is not None]
        return fold_values(list(dict.fromkeys(kept)) if distinct else kept, type_name)

    return Aggregate(type_name, value)


def _without_errors(name: str, value: Callable[..., Any]) -> Callable[..., Any]:
    """Outside of ANSI mode: sums that fail in it go on there, and none here does."""

    def run(*given: Any) -> Any:
        try:
            return value(*given)
        except DeltaError as error:
            raise UnsupportedFeature(f"{name}: {error}, without ANSI mode") from error

    return run


class Grouping(Struct):
    """Groups of rows by the values of keys. A row of it is a group: its keys, then its aggregates.

    `terms` are those of the keys, `aggregates` those asked for so far.
    """

    keys: Sequence[exp.Expr]
    terms: Sequence[Term]
    scope: Scope
    parameters: Parameters
    aggregates: list[Aggregate] = field(default_factory=list)

    def of_group(self, node: exp.Expr) -> exp.Expr:
        """The expression with columns of the group in place of its keys and aggregates."""
        return node.transform(self._replaced)

    def item(self, node: exp.Expr) -> exp.Expr:
        """An item of the SELECT list, as one of the group.

        Raises `InvalidInput` for a column that has several values in a group.
        """
        item = self.of_group(node)
        columns = (
            column for column in columns_outside_queries(item) if self.scope.has(column.name)
        )
        for column in columns:
            if column.name.lower() not in self.relation.columns:
                raise not_grouped(column, has_keys=bool(self.keys))
        return item

    def having(self, node: exp.Select) -> exp.Expr | None:
        """A copy of the condition that HAVING says, as one on groups."""
        having = node.args.get("having")
        if having is None:
            return None
        return self.of_group(by_aliases(having.this, node, self.keys))

    def _replaced(self, part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Query):
            return self._asked_of_group(part)
        at = key_at(part, self.keys)
        if at is not None:
            return exp.column(self._key_names[at])
        if isinstance(part, exp.AggFunc):
            self.aggregates.append(compile_aggregate(part, self.scope, self.parameters))
            return exp.column(f"aggregate {len(self.aggregates) - 1}")
        return part

    def _asked_of_group(self, query: exp.Query) -> exp.Expr:
        """A query in a condition on groups, with keys where it names the tables around it."""
        copy = query.copy()
        own = {part.alias_or_name.lower() for part in copy.find_all(exp.Table, exp.Subquery)}
        for column in list(copy.find_all(exp.Column)):
            at = key_at(column, self.keys) if column.table.lower() not in {"", *own} else None
            if at is not None:
                column.replace(exp.column(self._key_names[at]))
        return copy

    @property
    def _key_names(self) -> list[str]:
        """Of a key that is a column its name, by which a query inside may ask for it."""
        names = [key.name.lower() if isinstance(key, exp.Column) else "" for key in self.keys]
        return [
            name if name and names.count(name) == 1 else f"key {at}"
            for at, name in enumerate(names)
        ]

    @property
    def relation(self) -> Relation:
        """The columns of a group."""
        aggregates = (f"aggregate {at}" for at in range(len(self.aggregates)))
        types = (*(term.type for term in self.terms), *(each.type for each in self.aggregates))
        letters = (*(term.letters for term in self.terms), *(None for _ in self.aggregates))
        return Relation(frozenset(), (*self._key_names, *aggregates), types, letters=letters)

    def bound(self) -> Callable[[Iterable[Row]], list[Row]]:
        """Makes groups of rows; without keys a single one, also of no rows at all."""
        evaluates = [keyed(t.type, t.bind(self.parameters).evaluate) for t in self.terms]

        def grouped(rows: Iterable[Row]) -> list[Row]:
            groups: dict[Row, list[Row]] = {} if self.keys else {(): []}
            for row in rows:
                groups.setdefault(tuple(evaluate(row) for evaluate in evaluates), []).append(row)
            return [
                (*key, *(aggregate.value(group) for aggregate in self.aggregates))
                for key, group in groups.items()
            ]

        return grouped
