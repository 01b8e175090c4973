"""Which rows a DELETE or UPDATE picks: what a scan can decide, and what only a query can.

Source: https://learn.microsoft.com/en-us/azure/databricks/sql/language-manual/delta-delete-from
(subqueries in WHERE); DeltaErrors.scala: subqueryNotSupportedException (Delta takes none).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from engine.commands import errors, write_errors
from engine.commands.relational import Planner
from engine.commands.relational_sources import own_rows, pinned_rows
from engine.commands.select_parts import Rows
from engine.commands.table import Table, Tables
from engine.sql.predicates import TRUE, Predicate
from engine.sql.scope import Relation, Scope
from engine.sql.statements import Delete, Relational, Update
from engine.sql.terms import Evaluate
from engine.storage.requests import Steps
from engine.transaction.transaction import Transaction

Pinned = Mapping[int, Rows]
"""The rows of other tables, by the places in the condition's tree where they are asked for."""


@dataclass(frozen=True, slots=True)
class RowCondition:
    """What picks rows: conditions that a scan may use, and tests besides that ask queries.

    `told` is the whole condition, as the operation's parameters show it.
    """

    told: tuple[Predicate, ...] = ()
    conditions: tuple[Predicate, ...] = ()
    tests: tuple[Evaluate, ...] = ()


def rows_asked_of_others(statement: Delete | Update, tables: Tables) -> Steps[dict[int, Rows]]:
    """The rows of other tables that the condition asks, pinned before the transaction starts."""
    rows: dict[int, Rows] = {}
    for part in _asking(statement.condition):
        for query in _queries(part):
            rows |= yield from pinned_rows(query, statement.table, tables)
    return rows


def row_condition(
    operation: str, table: Table, txn: Transaction, statement: Delete | Update, pinned: Pinned
) -> Steps[RowCondition]:
    """Which rows the statement picks. Raises `DeltaError` if the dialect asks no queries there."""
    if statement.condition is None:
        return RowCondition()
    condition = statement.condition.with_parameters(statement.parameters)
    if not condition.is_deterministic and not txn.dialect.resolves_rows:
        raise write_errors.non_deterministic(condition.sql)
    asking = _asking(condition)
    if not asking:
        return RowCondition((condition,), (condition,))
    if not txn.dialect.conditions_may_ask_queries:
        raise errors.subquery(operation, condition.sql)
    tests: tuple[Evaluate, ...] = ()
    for part in asking:
        test = yield from _test(part, table, txn, statement, pinned)
        tests = (*tests, test)
    plain = tuple(part for part in condition.conjuncts() if not _asks(part))
    return RowCondition((condition,), plain or (TRUE,), tests)


def _test(
    part: Predicate, table: Table, txn: Transaction, statement: Delete | Update, pinned: Pinned
) -> Steps[Evaluate]:
    rows = dict(pinned)
    for query in _queries(part):
        rows |= yield from own_rows(query, rows, table, txn, statement.parameters)
    target = Relation.of(txn.snapshot.schema, *statement.table.names)
    planner = Planner(rows, statement.parameters, table.session)
    return planner.condition(part.node, Scope((target,), table.session))


def _asking(condition: Predicate | None) -> list[Predicate]:
    return [] if condition is None else [part for part in condition.conjuncts() if _asks(part)]


def _asks(part: Predicate) -> bool:
    return part.node.find(exp.Query) is not None


def _queries(part: Predicate) -> Iterator[Relational]:
    """The outermost queries of a condition."""
    for node in part.node.walk(prune=lambda node: isinstance(node, exp.Query)):
        if isinstance(node, exp.Query):
            yield Relational(node)
