"""DELETE and TRUNCATE.

Source: DeleteCommand.scala: performDelete. Three cases: no condition, a condition on partition
columns alone (whole files go), any other (files are searched for matching rows).
"""

from __future__ import annotations

from collections.abc import Sequence

from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.conflicts.row_ids import preserved_row_tracking
from whitecap.engine.outcomes import NothingToCommit, Outcome
from whitecap.engine.query.row_conditions import Pinned, row_condition
from whitecap.engine.query.row_reads import track_rows
from whitecap.engine.query.scan_tasks import by_task, scan_tasks
from whitecap.engine.refusals import write_errors
from whitecap.engine.row_level.data_files import FileRows
from whitecap.engine.session.table import Table
from whitecap.engine.sql.expressions.terms import Evaluate
from whitecap.engine.sql.parsing.statements import Delete, Truncate
from whitecap.engine.sql.predicates.predicate import Predicate, logged, split_conditions
from whitecap.engine.storage.requests import ReadClock, Row, Steps
from whitecap.engine.transaction.file_scan import FileScan, Form
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.writing.beginning import begin, check_removable, progress_of
from whitecap.engine.writing.file_layout import file_layout
from whitecap.engine.writing.files import DELETED, FileChanges, FileWriter, removals
from whitecap.engine.writing.hidden_rows import hide_rows, uses_vectors
from whitecap.engine.writing.row_checks import row_check
from whitecap.engine.writing.search import search
from whitecap.engine.writing.spark_job import job


def delete(table: Table, statement: Delete, pinned: Pinned) -> Steps[Outcome]:
    """Run a DELETE; `pinned` are the rows of other tables that its condition asks."""
    txn = yield from begin(table)
    yield from txn.read_state()
    chosen = yield from row_condition("DELETE", table, txn, statement, pinned)
    check_removable(txn)
    progress = yield from progress_of(table, txn)
    if progress is None:
        return NothingToCommit(txn.read_version)
    actions = yield from delete_actions(table, txn, chosen.conditions, chosen.tests)
    operation = Operation("DELETE", {"predicate": logged(chosen.predicate)})
    tags = preserved_row_tracking(txn.metadata)
    done = [*progress, *actions] if actions else []  # who found nothing has done nothing
    return (yield from txn.commit_if_needed(done, operation, tags))


def truncate(table: Table, statement: Truncate) -> Steps[Outcome]:
    """Run a TRUNCATE: always commits, unless there is no file to remove."""
    if statement.names_partition:
        raise write_errors.truncate_partition()
    txn = yield from begin(table)
    yield from txn.read_state()
    files = list(txn.filter_all_files())
    yield from job("TRUNCATE")
    if not files:
        return NothingToCommit(txn.read_version)
    check_removable(txn)
    removes = yield from removals(files)
    return (yield from txn.commit(removes, Operation("TRUNCATE")))


def delete_actions(
    table: Table,
    txn: Transaction,
    conditions: Sequence[Predicate],
    tests: Sequence[Evaluate],
    form: Form = Form.OPTIMIZED,
) -> Steps[FileChanges]:
    """What deleting the rows that match all conditions takes; also part of a REPLACE WHERE.

    `tests` decide besides and no scan can use them: subqueries, for instance. `form`: how Spark
    has left the conditions.
    """
    partition, data = split_conditions(conditions, txn.metadata.partition_columns)
    if not (data or tests):
        track_rows(table, txn, conditions)
        files = txn.filter_files(partition) if conditions else txn.filter_all_files()
        gone = list(files)
        yield from job("DELETE")
        return [*(yield from removals(gone))]
    scan = txn.filter_files([*partition, *data], form)
    track_rows(table, txn, conditions, scan, asks_queries=bool(tests))
    txn.run_query(scan)
    touched = yield from search(table, txn, scan, conditions, tests)
    if uses_vectors(txn.metadata, txn.settings.delete_with_deletion_vectors):
        now_ms = yield ReadClock()
        yield from job("DELETE", [file_rows for file_rows, _ in touched], scan=scan)
        return [*(yield from hide_rows(touched, file_layout(txn.metadata), now_ms))]
    return (yield from _rewritten(table, txn, scan, touched))


def _rewritten(
    table: Table,
    txn: Transaction,
    scan: FileScan,
    touched: Sequence[tuple[FileRows, Sequence[int]]],
) -> Steps[FileChanges]:
    """Files without the rows that match, in place of those with them."""
    kept = {
        file_rows.file.path: file_rows.live_rows_without(positions)
        for file_rows, positions in touched
    }
    tasks = scan_tasks([file_rows.file for file_rows, _ in touched])
    check = row_check(txn.metadata, table.session)
    writer = FileWriter(table, txn.metadata, check=check, beside_changes=True)
    adds = yield from writer.write(by_task(tasks, kept))
    changes = yield from writer.write_changes(lambda: by_task(tasks, _deleted(touched)))
    yield from job("DELETE", [file_rows for file_rows, _ in touched], writer, scan)
    removes = yield from removals(file_rows.file for file_rows, _ in touched)
    return [*adds, *changes, *removes]


def _deleted(touched: Sequence[tuple[FileRows, Sequence[int]]]) -> dict[str, list[Row]]:
    """The rows that go, for the change data feed."""
    return {
        file_rows.file.path: [row + DELETED for _, row in file_rows.rows_at(positions)]
        for file_rows, positions in touched
    }
