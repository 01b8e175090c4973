"""UPDATE.

Source: UpdateCommand.scala: performUpdate. Without a condition on data columns whole files are
rewritten; with deletion vectors old rows are hidden and only the new ones are written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.conflicts.row_ids import preserved_row_tracking
from whitecap.engine.log.actions import AddFile, RemoveFile
from whitecap.engine.log.schema import Schema
from whitecap.engine.outcomes import NothingToCommit, Outcome
from whitecap.engine.query.row_conditions import Pinned, row_condition, with_values
from whitecap.engine.query.row_reads import track_rows
from whitecap.engine.query.scan_tasks import by_task, scan_tasks
from whitecap.engine.query.sources import Projection
from whitecap.engine.refusals import write_errors
from whitecap.engine.row_level.data_files import FileRows
from whitecap.engine.row_store.row_store import OfArrays
from whitecap.engine.row_store.rows import assigned
from whitecap.engine.session.table import Table
from whitecap.engine.sql.expressions.bound_once import BoundOnce
from whitecap.engine.sql.expressions.scope import schema_scope
from whitecap.engine.sql.expressions.terms import Parameters, Term, column
from whitecap.engine.sql.parsing.statements import Update
from whitecap.engine.sql.predicates.char_conditions import names_char
from whitecap.engine.sql.predicates.compiler import compile_term
from whitecap.engine.sql.predicates.predicate import TRUE, Predicate, logged, split_conditions
from whitecap.engine.storage.requests import ReadClock, Row, Steps
from whitecap.engine.transaction.file_scan import FileScan
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.values.types import Session
from whitecap.engine.writing.assigning import check_deterministic, updated
from whitecap.engine.writing.beginning import begin, check_removable, progress_of
from whitecap.engine.writing.default_keyword import check_placement, is_default
from whitecap.engine.writing.files import (
    AFTER_UPDATE,
    BEFORE_UPDATE,
    FileChanges,
    FileWriter,
    in_task,
    removals,
)
from whitecap.engine.writing.generation import (
    check_changeable,
    completed,
    completion,
    default_term,
)
from whitecap.engine.writing.hidden_rows import hide_rows, uses_vectors
from whitecap.engine.writing.row_checks import row_check
from whitecap.engine.writing.search import MatchingRows, search
from whitecap.engine.writing.spark_job import job


def update(table: Table, statement: Update, pinned: Pinned) -> Steps[Outcome]:
    """Run an UPDATE; `pinned` are the rows of other tables that its condition asks."""
    txn = yield from begin(table)
    yield from txn.read_state()
    chosen = yield from row_condition("UPDATE", table, txn, statement, pinned)
    statement = with_values(table, txn, statement, pinned)
    change = _Change.of(statement, txn, table)
    check_removable(txn)
    progress = yield from progress_of(table, txn)
    if progress is None:
        return NothingToCommit(txn.read_version)
    conditions = chosen.conditions or (TRUE,)
    partition, data = split_conditions(conditions, txn.metadata.partition_columns)
    scan = txn.filter_files([*partition, *data])
    track_rows(table, txn, conditions, scan, asks_queries=bool(chosen.tests))
    txn.run_query(scan)
    touched = yield from search(table, txn, scan, conditions if data else (), chosen.tests)
    vectors = uses_vectors(txn.metadata, txn.settings.update_with_deletion_vectors)
    if not data:
        touched = _asked_of_rows(touched, conditions, txn, table.session, filters=vectors)
    hides = vectors and bool(data or chosen.tests)
    actions = yield from _Run(table, txn, scan, touched, change, hides).actions()
    operation = Operation("UPDATE", {"predicate": logged(chosen.predicate or (TRUE,))})
    tags = preserved_row_tracking(txn.metadata)
    return (yield from txn.commit_if_needed([*progress, *actions], operation, tags))


def _asked_of_rows(
    touched: MatchingRows,
    conditions: Sequence[Predicate],
    txn: Transaction,
    session: Session,
    *,
    filters: bool,
) -> MatchingRows:
    """With conditions on CHAR partition columns evaluated on rows too, where values are padded.

    `filters`: rows that do not meet them would be lost, which Delta finds when it counts.
    """
    schema = txn.snapshot.schema
    if not any(names_char(condition.node, schema) for condition in conditions):
        return touched
    tests = [condition.bind(schema, session) for condition in conditions]
    asked = [
        (rows, [at for at, row in rows.rows_at(places) if all(test(row) is True for test in tests)])
        for rows, places in touched
    ]
    if filters and asked != touched:
        added, removed = (sum(len(places) for _, places in each) for each in (asked, touched))
        raise write_errors.records_lost("UPDATE", added, removed)
    return asked


class _Run(Struct, frozen=True):
    """One execution.

    `hides`: old rows are hidden by vectors, and only the new ones are written.
    """

    table: Table
    txn: Transaction
    scan: FileScan
    touched: MatchingRows
    change: _Change
    hides: bool

    def actions(self) -> Steps[FileChanges]:
        """What the UPDATE adds and removes."""
        rows = self._new_rows()
        tasks = scan_tasks([file_rows.file for file_rows, _ in self.touched])
        check = row_check(self.txn.metadata, self.table.session)
        writer = FileWriter(self.table, self.txn.metadata, check=check, beside_changes=True)
        adds = yield from writer.write(by_task(tasks, rows))
        changes = yield from writer.write_changes(lambda: by_task(tasks, self._images()))
        yield from job("UPDATE", [file_rows for file_rows, _ in self.touched], writer, self.scan)
        return [*(yield from self._old_rows_gone(writer)), *adds, *changes]

    def _old_rows_gone(self, writer: FileWriter) -> Steps[Sequence[AddFile | RemoveFile]]:
        if self.hides:
            now_ms = yield ReadClock()
            return (yield from hide_rows(self.touched, writer.layout, now_ms))
        return (yield from removals(file_rows.file for file_rows, _ in self.touched))

    def _images(self) -> dict[str, list[Row]]:
        """Each changed row as it was and as it is, for the change data feed."""
        return {
            file_rows.file.path: [
                image
                for _, row in file_rows.rows_at(positions)
                for image in (row + BEFORE_UPDATE, self.change.of_row(row) + AFTER_UPDATE)
            ]
            for file_rows, positions in self.touched
        }

    def _new_rows(self) -> dict[str, Sequence[Row]]:
        """What is written in the place of each file."""
        paths = [file_rows.file.path for file_rows, _ in self.touched]
        rows = self._all_at_once()
        if rows is None:
            rows = [self._one_by_one(file_rows, at) for file_rows, at in self.touched]
        return dict(zip(paths, rows, strict=True))

    def _all_at_once(self) -> Sequence[Sequence[Row]] | None:
        """The rows of each file by arrays, `None` where these cannot tell."""
        all_live = all(file_rows.deleted is None for file_rows, _ in self.touched)
        if self.change.of_arrays is None or not (self.hides or all_live):
            return None
        parts = [(file_rows.rows, positions) for file_rows, positions in self.touched]
        return assigned(parts, self.change.of_arrays, alone=self.hides)

    def _one_by_one(self, file_rows: FileRows, positions: Sequence[int]) -> Sequence[Row]:
        changed = [self.change.of_row(row) for _, row in file_rows.rows_at(positions)]
        if self.hides:
            return changed
        return file_rows.live_rows_with(dict(zip(positions, changed, strict=True)))


class _Change(Struct, frozen=True):
    """What the assignments make of a row; of many rows at once, where arrays can tell."""

    of_row: Callable[[Row], Row]
    of_arrays: dict[int, OfArrays] | None

    @classmethod
    def of(cls, statement: Update, txn: Transaction, table: Table) -> _Change:
        """The change, compiled once for these columns."""
        schema = txn.snapshot.schema
        bind = statement.plans.of(
            schema, table.session, lambda: _planned(statement, schema, table.session)
        )
        make, arrays = bind(statement.parameters)
        return cls(in_task(make, txn.metadata, beside_changes=True), arrays)


_Bound = tuple[Projection, dict[int, OfArrays] | None]
"""What makes new rows one by one, and all at once if arrays can."""


def _planned(statement: Update, schema: Schema, session: Session) -> BoundOnce[_Bound]:
    assigned_names = [name for name, _ in statement.assignments]
    complete = completion(schema, assigned_names, session)
    terms = _assignment_terms(statement, schema, session)

    def bind(parameters: Parameters) -> _Bound:
        make = completed(terms, parameters, len(schema), complete)
        return make, None if complete is not None else _of_arrays(terms, parameters)

    return BoundOnce(bind)


def _of_arrays(terms: Sequence[Term], parameters: Parameters) -> dict[int, OfArrays] | None:
    """The assigned columns, if all of them can be computed for many rows at once."""
    bounds = {at: term.bind(parameters) for at, term in enumerate(terms)}
    changed = {at: bound.of_arrays for at, bound in bounds.items() if bound.column != at}
    arrays = {at: compute for at, compute in changed.items() if compute is not None}
    return arrays if len(arrays) == len(changed) else None


def _assignment_terms(statement: Update, schema: Schema, session: Session) -> list[Term]:
    """One term for each column: what it is assigned, else itself."""
    scope = schema_scope(schema, statement.table.names, session)
    terms = [column(at, f.type) for at, f in enumerate(schema)]
    seen: set[str] = set()
    for name, node in statement.assignments:
        at = scope.place(name)
        field = schema.fields[at]
        check_changeable(field)
        if name.lower() in seen:
            raise write_errors.column_set_twice(name)
        seen.add(name.lower())
        check_deterministic(node)
        check_placement(node, schema)
        default = is_default(node) and schema.get(node.name) is None
        value = default_term(field, session) if default else compile_term(node, scope)
        terms[at] = updated(value, field, session)
    return terms
