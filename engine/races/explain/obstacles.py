"""Why files decided a conflict where rows could have, in words about the statement that lost."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from whitecap.engine.log.schema import Schema
from whitecap.engine.outcomes import Verdict
from whitecap.engine.query.row_reads import hindrance
from whitecap.engine.row_level.reads import SubCondition
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.sql.parsing.query_reading import where_of
from whitecap.engine.sql.parsing.statements import (
    Delete,
    Insert,
    Match,
    Merge,
    Select,
    Statement,
    Update,
)

_WHY = {
    SubCondition.ALLOTTED_TIME_EXCEEDED: "that took longer than allotted",
    SubCondition.CHANGE_TYPE_COLUMN: "the table has a column _change_type and a change data feed",
    SubCondition.METADATA_CHANGE: "the winner also changed the table's metadata",
    SubCondition.PROTOCOL_CHANGE: "the winner also changed the table's protocol",
    SubCondition.WHOLE_TABLE_REPLACE: "the winner replaced all data of the table",
}
_OF_READS = (SubCondition.EMPTY_READ_PREDICATES, SubCondition.WHOLE_TABLE_READ)


def why_files_decided(verdict: Verdict, sql: str, schema: Schema) -> str:
    """What kept rows from being told apart; empty where nothing of the kind decided."""
    sub_condition = verdict.error_class.partition(".")[2]
    if sub_condition in _WHY:
        return _said(_WHY[SubCondition(sub_condition)])
    if sub_condition in _OF_READS:
        return _said(_why_all_rows(parse_statement(sql)))
    if sub_condition == SubCondition.PREDICATES_NEED_REWRITE:
        return _said(_why_unusable(parse_statement(sql), schema))
    return ""


def _said(why: str) -> str:
    return f"rows cannot be told apart, as {why}, so files decide"


def _why_all_rows(statement: Statement) -> str:
    if _by_source(statement):
        return "WHEN NOT MATCHED BY SOURCE is about rows that no row of the source matches"
    return "it has no condition that picks rows"


def _by_source(statement: Statement) -> bool:
    return isinstance(statement, Merge) and bool(statement.of(Match.NOT_MATCHED_BY_SOURCE))


def _why_unusable(statement: Statement, schema: Schema) -> str:
    reasons = (hindrance(node, schema) for node in _conditions(statement))
    reason = next((reason for reason in reasons if reason is not None), None)
    if reason is not None:
        return f"its condition {reason} (one of plain columns and literals would do)"
    if _by_source(statement):
        return _why_all_rows(statement)
    if isinstance(statement, Merge):
        return "its ON asks nothing of the target alone (a bound of one of its columns would do)"
    return "its query stops at a LIMIT (a condition of plain columns and literals would do)"


def _conditions(statement: Statement) -> Iterator[exp.Expr]:
    match statement:
        case Merge(on=on, clauses=clauses):
            yield on
            yield from (c.condition for c in clauses if c.condition is not None)
        case Update(condition=condition) | Delete(condition=condition) if condition is not None:
            yield condition.node
        case Insert(query=Select(node=exp.Select() as node)):
            where = where_of(node)
            yield from () if where is None else (where,)
