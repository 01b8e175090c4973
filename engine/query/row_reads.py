"""Tells the transaction which rows a command has read, for dialects that resolve conflicts by rows.

Source: the limitations that
https://learn.microsoft.com/en-za/azure/databricks/optimizations/isolation/row-level-concurrency
lists: conditions on structs, arrays and maps, non-deterministic expressions, subqueries; a MERGE
without a predicate on its target (14.2); reads of everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum

from sqlglot import exp

from whitecap.engine.log.schema import Schema
from whitecap.engine.remembered import once_for_each
from whitecap.engine.row_level.reads import RowRead, SubCondition
from whitecap.engine.session.table import Table
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.functions.function_nodes import is_random
from whitecap.engine.sql.parsing.statements import Match, Merge
from whitecap.engine.sql.predicates.predicate import Predicate
from whitecap.engine.storage.requests import Row
from whitecap.engine.transaction.file_scan import FileScan
from whitecap.engine.transaction.transaction import Transaction

_NESTED_TYPES = ("struct", "array", "map")
_NESTED_NODES = (exp.Bracket, exp.Dot)
_SUBQUERIES = (exp.Exists, exp.Select, exp.Subquery)


def track_rows(
    table: Table,
    txn: Transaction,
    conditions: Sequence[Predicate],
    scan: FileScan | None = None,
    *,
    asks_queries: bool = False,
) -> None:
    """The command read the rows that match all `conditions`, and depends on no others.

    `asks_queries`: it also has conditions that cannot be tried on other rows.
    """
    if txn.dialect.row_level is None:
        return
    schema = txn.snapshot.schema
    tests = [condition.bind(schema, table.session) for condition in conditions]
    nodes = [condition.node for condition in conditions]
    filters = any(condition.columns for condition in conditions)
    why_not = None if filters else SubCondition.EMPTY_READ_PREDICATES
    if asks_queries:
        why_not = SubCondition.PREDICATES_NEED_REWRITE
    txn.track_rows(
        RowRead(
            lambda row: all(test(row) is True for test in tests),
            None if scan is None else scan.__contains__,
            _unusable(nodes, schema) or why_not,
            condition=lambda: " AND ".join(condition.sql for condition in conditions),
        )
    )


def track_merge_rows(
    txn: Transaction,
    statement: Merge,
    predicates: Sequence[Predicate],
    scan: FileScan,
    concerns: Callable[[Row], bool],
) -> None:
    """A MERGE depends on the rows that its source matches; on all, if it changes others too."""
    if txn.dialect.row_level is None:
        return
    conditions = [clause.condition for clause in statement.clauses if clause.condition is not None]
    by_source = any(c.match is Match.NOT_MATCHED_BY_SOURCE for c in statement.clauses)
    why_not = SubCondition.WHOLE_TABLE_READ if by_source else None
    txn.track_rows(
        RowRead(
            concerns,
            scan.__contains__,
            _unusable([statement.on, *conditions], txn.snapshot.schema) or why_not,
            has_target_predicate=any(predicate.columns for predicate in predicates),
            condition=lambda: statement.on.sql(DIALECT),
        )
    )


def track_limited_rows(txn: Transaction) -> None:
    """A read stopped at a LIMIT: only running it could tell which rows it came to."""
    if txn.dialect.row_level is not None:
        txn.track_rows(RowRead(lambda _: True, None, SubCondition.PREDICATES_NEED_REWRITE))


def _unusable(nodes: Iterable[exp.Expr], schema: Schema) -> SubCondition | None:
    """Why conditions cannot be tried on other rows; `None` if they can."""
    usable = all(_is_usable(node, schema) for node in nodes)
    return None if usable else SubCondition.PREDICATES_NEED_REWRITE


class Hindrance(StrEnum):
    """Why a condition cannot be tried on other rows."""

    CHANCE = "is not deterministic"
    QUERY = "asks a subquery"
    NESTED = "is about a struct, an array or a map"


def hindrance(node: exp.Expr, schema: Schema) -> Hindrance | None:
    """What keeps a condition from being tried on other rows, `None` for nothing."""
    if is_random(node):
        return Hindrance.CHANCE
    if node.find(*_SUBQUERIES) is not None:
        return Hindrance.QUERY
    return None if _is_usable(node, schema) else Hindrance.NESTED


def _is_usable(node: exp.Expr, schema: Schema) -> bool:
    columns = _columns_if_plain(node)
    if columns is None:
        return False
    fields = map(schema.get, columns)
    return not any(f is not None and f.type.startswith(_NESTED_TYPES) for f in fields)


@once_for_each
def _columns_if_plain(node: exp.Expr) -> Sequence[str] | None:
    """The columns of a condition without chance, queries and nested values, else `None`."""
    if is_random(node) or node.find(*_SUBQUERIES, *_NESTED_NODES):
        return None
    return [column.name for column in node.find_all(exp.Column)]
