"""Which rows a DELETE or UPDATE picks: what a scan can decide, and what only a query can.

Source: https://learn.microsoft.com/en-us/azure/databricks/sql/language-manual/delta-delete-from
(subqueries in WHERE); DeltaErrors.scala: subqueryNotSupportedException (Delta takes none).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.query.planner import Planner
from whitecap.engine.query.rows import Rows
from whitecap.engine.query.table_scans import own_rows, pinned_rows
from whitecap.engine.refusals import write_errors
from whitecap.engine.remembered import Plans
from whitecap.engine.session.table import Table, Tables
from whitecap.engine.sql.expressions.scope import Relation, Scope
from whitecap.engine.sql.expressions.terms import Evaluate
from whitecap.engine.sql.parsing.statements import NO_TABLE, Delete, Merge, Select, Update
from whitecap.engine.sql.predicates.predicate import TRUE, Predicate
from whitecap.engine.storage.requests import Steps
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.values.types import Session

Pinned = Mapping[int, Rows]
"""The rows of other tables, by the places in the condition's tree where they are asked for."""


class RowCondition(Struct, frozen=True):
    """Which rows a statement picks.

    A scan may use `conditions`; `tests` are further ones, which ask queries. `predicate` is the
    whole condition, as the operation's parameters show it.
    """

    predicate: tuple[Predicate, ...] = ()
    conditions: tuple[Predicate, ...] = ()
    tests: tuple[Evaluate, ...] = ()


def rows_asked_of_others(statement: Delete | Update, tables: Tables) -> Steps[dict[int, Rows]]:
    """The rows of other tables that the condition asks, pinned before the transaction starts."""
    rows: dict[int, Rows] = {}
    for query in (query for part in _asking(statement.condition) for query in _queries(part.node)):
        rows |= yield from pinned_rows(query, statement.table, tables, statement.parameters)
    for query in _assigned_queries(statement) if isinstance(statement, Update) else ():
        # Delta computes these before the transaction looks at anything: no read is tracked.
        rows |= yield from pinned_rows(query, NO_TABLE, tables, statement.parameters)
    return rows


def with_values(table: Table, txn: Transaction, statement: Update, pinned: Pinned) -> Update:
    """The statement with the values of the subqueries that it assigns."""
    if not _assigned_queries(statement):
        return statement
    scope = Scope((Relation.of(txn.snapshot.schema, *statement.table.names),), table.session)
    planner = Planner(pinned, statement.parameters, table.session)
    values = tuple((name, planner.resolved(node, scope)) for name, node in statement.assignments)
    return replace(statement, assignments=values, plans=Plans())


def with_clause_values(statement: Merge, tables: Tables, session: Session) -> Steps[Merge]:
    """A MERGE with the values of the subqueries that its clauses assign."""
    assigned = [(clause, clause.assignments or ()) for clause in statement.clauses]
    asking = [q for _, pairs in assigned for _, value in pairs for q in _queries(value)]
    if not asking:
        return statement
    rows: dict[int, Rows] = {}
    for query in asking:
        rows |= yield from pinned_rows(query, NO_TABLE, tables, statement.parameters)
    planner, nowhere = Planner(rows, statement.parameters, session), Scope((), session)
    clauses = tuple(
        replace(clause, assignments=tuple((n, planner.resolved(v, nowhere)) for n, v in pairs))
        if clause.assignments is not None
        else clause
        for clause, pairs in assigned
    )
    return replace(statement, clauses=clauses, plans=Plans())


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
        schema = txn.snapshot.schema
        condition.check(schema, table.session)
        if txn.dialect.narrows_constants:
            condition.check_constants(schema, table.session)
        return RowCondition((condition,), (condition.in_typed_form(schema, table.session),))
    if not txn.dialect.conditions_may_ask_queries:
        raise write_errors.subquery(operation, condition.sql)
    tests: tuple[Evaluate, ...] = ()
    for part in asking:
        _check_form(operation, part)
        test = yield from _test(part, table, txn, statement, pinned)
        tests = (*tests, test)
    plain = tuple(
        part.in_typed_form(txn.snapshot.schema, table.session)
        for part in condition.conjuncts()
        if not part.asks_queries
    )
    return RowCondition((condition,), plain or (TRUE,), tests)


def _check_form(operation: str, part: Predicate) -> None:
    """Raises `UnsupportedFeature` for the two forms that the page on DELETE leaves out."""
    if any(query.find_ancestor(exp.Select) for query in part.node.find_all(exp.Select)):
        raise UnsupportedFeature(f"a subquery inside of another is not part of {operation}")
    excluded = (n for n in part.node.find_all(exp.Not) if isinstance(n.this.unnest(), exp.In))
    if any(n.this.unnest().args.get("query") and n.find_ancestor(exp.Or) for n in excluded):
        raise UnsupportedFeature(f"NOT IN (query) inside of OR is not part of {operation}")


def _test(
    part: Predicate, table: Table, txn: Transaction, statement: Delete | Update, pinned: Pinned
) -> Steps[Evaluate]:
    rows = dict(pinned)
    for query in _queries(part.node):
        rows |= yield from own_rows(query, rows, table, txn, statement.parameters)
    target = Relation.of(txn.snapshot.schema, *statement.table.names)
    planner = Planner(rows, statement.parameters, table.session)
    return planner.condition(part.node, Scope((target,), table.session))


def _asking(condition: Predicate | None) -> list[Predicate]:
    if condition is None or not condition.asks_queries:
        return []
    return [part for part in condition.conjuncts() if part.asks_queries]


def _assigned_queries(statement: Update) -> tuple[Select, ...]:
    """The queries in the values that it assigns: looked for once, whatever its parameters are."""
    assignments = statement.assignments
    return statement.plans.of(
        assignments,
        "queries",
        lambda: tuple(q for _, value in assignments for q in _queries(value)),
    )


def _queries(asking: exp.Expr) -> Iterator[Select]:
    """The outermost queries of an expression."""
    for node in asking.walk(prune=lambda node: isinstance(node, exp.Query)):
        if isinstance(node, exp.Query):
            yield Select(node)
