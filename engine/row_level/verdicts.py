"""Verdicts that say by their error class's sub-condition why rows were not reconciled.

Source: https://docs.databricks.com/gcp/en/error-messages/delta-concurrent-append-error-class,
.../aws/en/error-messages/delta-concurrent-delete-read-error-class,
.../gcp/en/error-messages/delta-concurrent-delete-delete-error-class (names and meanings; the
wording is ours).
"""

from __future__ import annotations

from msgspec.structs import replace

from whitecap.engine.conflicts.current import CurrentTransaction
from whitecap.engine.conflicts.messages import file_verdict
from whitecap.engine.conflicts.winner import WinningCommit
from whitecap.engine.outcomes import Verdict
from whitecap.engine.row_level.reads import SubCondition
from whitecap.engine.rules import ConflictException, Rule

_DOC_LINK = "https://docs.databricks.com/optimizations/isolation-level.html"

_DONE = {
    ConflictException.CONCURRENT_APPEND: "added data that this operation should have read",
    ConflictException.CONCURRENT_DELETE_READ: "deleted data that this operation read",
    ConflictException.CONCURRENT_DELETE_DELETE: "deleted data that this operation deletes too",
}

_WHY = {
    SubCondition.ROW_LEVEL_CHANGES: "Both concern the same rows.",
    SubCondition.ALLOTTED_TIME_EXCEEDED: "Resolving it by rows took longer than allotted.",
    SubCondition.CHANGE_TYPE_COLUMN: "A column named _change_type keeps changed rows from being"
    " told apart.",
    SubCondition.EMPTY_READ_PREDICATES: "This operation has no filter and concerns every row.",
    SubCondition.METADATA_CHANGE: "The other operation also changed the table's metadata.",
    SubCondition.PREDICATES_NEED_REWRITE: "The filters of this operation cannot be used to tell"
    " rows apart.",
    SubCondition.PROTOCOL_CHANGE: "The other operation also upgraded the table's protocol.",
    SubCondition.WHOLE_TABLE_READ: "This operation reads the whole table.",
    SubCondition.WHOLE_TABLE_REPLACE: "The other operation replaced all data of the table.",
}


def row_verdict(
    rule: Rule,
    current: CurrentTransaction,
    winner: WinningCommit,
    evidence: str,
    condition: str = "",
) -> Verdict:
    """A conflict about rows; `evidence` is the file with the first, `condition` what it matches."""
    plain = file_verdict(rule, current, winner, None, evidence)
    verdict = replace(plain, predicate=condition or None)
    return with_sub_condition(verdict, SubCondition.ROW_LEVEL_CHANGES)


def with_sub_condition(verdict: Verdict, sub_condition: SubCondition) -> Verdict:
    """The same conflict about files, with the reason why rows did not resolve it."""
    exception = verdict.exception
    if sub_condition is SubCondition.EMPTY_READ_PREDICATES and _is_append(exception):
        sub_condition = SubCondition.WHOLE_TABLE_READ
    error_class = f"{verdict.error_class.partition('.')[0]}.{sub_condition}"
    parameters = {**verdict.message_parameters, "docLink": _DOC_LINK}
    text = (
        f"[{error_class}] Transaction conflict: a concurrent {parameters['operation']} on table"
        f" {parameters['tableName']} (committed at version {parameters['version']})"
        f" {_DONE[exception]}."
        f" {_WHY[sub_condition]} See {_DOC_LINK}."
    )
    return replace(verdict, error_class=error_class, message=text, message_parameters=parameters)


def _is_append(exception: ConflictException) -> bool:
    """Appends have no sub-condition for a missing filter; there it is a read of everything."""
    return exception is ConflictException.CONCURRENT_APPEND
