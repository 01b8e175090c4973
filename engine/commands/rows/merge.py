"""MERGE.

Source: MergeIntoCommand.scala, ClassicMergeExecutor.scala, InsertOnlyMergeExecutor.scala. First the
files that hold matches are found among those that the target-only conditions leave; then they are
rewritten, or their changed rows are hidden and written anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from whitecap.engine.commands.rows.merge_join import Join
from whitecap.engine.commands.rows.merge_matching import MatchedFile, Matching, PlacedRow
from whitecap.engine.commands.rows.merge_plan import MergePlan, plan_merge
from whitecap.engine.commands.rows.merge_scopes import MergedColumns
from whitecap.engine.commands.rows.merge_strays import check_strays
from whitecap.engine.commands.rows.merge_tasks import MergeTasks, appending_side, writing_side
from whitecap.engine.commands.schema.schema_evolution import evolve_for_merge
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.conflicts.row_ids import preserved_row_tracking
from whitecap.engine.log.schema import schema_of_metadata
from whitecap.engine.outcomes import NothingToCommit, Outcome
from whitecap.engine.query.row_reads import track_merge_rows
from whitecap.engine.query.source_queries import OwnRead, in_transaction
from whitecap.engine.query.sources import Source
from whitecap.engine.row_level.data_files import FileRows
from whitecap.engine.session.table import Table
from whitecap.engine.sql.parsing.statements import Merge
from whitecap.engine.storage.requests import ReadClock, Row, Steps
from whitecap.engine.transaction.file_scan import FileScan
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.writing.beginning import begin, progress_of
from whitecap.engine.writing.files import (
    INSERTED,
    FileChanges,
    FileWriter,
    removals,
)
from whitecap.engine.writing.generation import Tasks, identity_marks, numbered
from whitecap.engine.writing.hidden_rows import hide_rows, uses_vectors
from whitecap.engine.writing.row_checks import row_check
from whitecap.engine.writing.search import files_to_read
from whitecap.engine.writing.spark_job import job


def merge(table: Table, statement: Merge, read: Source | OwnRead) -> Steps[Outcome]:
    """Run a MERGE with what its source gives."""
    txn = yield from begin(table)
    yield from txn.read_state()
    progress = yield from progress_of(table, txn)
    if progress is None:
        return NothingToCommit(txn.read_version)
    source = yield from in_transaction(read, table, txn, statement.parameters)
    before = schema_of_metadata(txn.metadata)
    evolves = evolve_for_merge(statement, txn, source, table.session)
    schema = schema_of_metadata(txn.metadata)
    columns = MergedColumns(before, schema, source)
    plan = plan_merge(statement, columns, table.session, evolves=evolves, dialect=txn.dialect)
    predicates = [p.with_parameters(statement.parameters) for p in plan.predicates]
    scan = txn.filter_files(predicates)
    txn.run_query()
    join = Join(plan, source.rows, statement.parameters, len(schema))
    pins = {} if plan.not_matched_by_source else join.pins
    files = yield from files_to_read(table, txn, scan, pins)
    candidates = yield from table.data_files.read(files, schema)
    matching = Matching(plan, join, statement, txn)
    track_merge_rows(txn, statement, predicates, scan, matching.concerns)
    actions = yield from _Run(table, txn, scan, plan, matching, source).actions(candidates)
    operation = Operation("MERGE", plan.shown(statement.parameters))
    tags = preserved_row_tracking(txn.metadata)
    return (yield from txn.commit_if_needed([*progress, *actions], operation, tags))


class _Run(Struct, frozen=True):
    """One execution: what has matched, written to the table."""

    table: Table
    txn: Transaction
    scan: FileScan
    plan: MergePlan
    matching: Matching
    source: Source

    def actions(self, candidates: Sequence[FileRows]) -> Steps[FileChanges]:
        """What the MERGE adds and removes."""
        files = self.matching.match(candidates)
        touched = [file for file in files if self._is_rewritten(file)]
        check = row_check(self.txn.metadata, self.table.session)
        writer = FileWriter(self.table, self.txn.metadata, check=check)
        if self.plan.is_insert_only or not touched:
            return (yield from self._append(candidates, writer))
        writer.beside_changes = True
        if uses_vectors(self.txn.metadata, self.txn.settings.merge_with_deletion_vectors):
            return (yield from self._hide_and_write(touched, writer))
        return (yield from self._rewrite(touched, writer))

    def _is_rewritten(self, file: MatchedFile) -> bool:
        leaves_it = self.txn.dialect.merge_leaves_unchanged_files
        return file.is_touched and not (leaves_it and not self.matching.changes(file))

    def _append(self, candidates: Sequence[FileRows], writer: FileWriter) -> Steps[FileChanges]:
        joined = [loaded.file for loaded in candidates] if self.plan.is_insert_only else []
        by = appending_side(self.txn.metadata, joined)
        inserts = self._inserts(MergeTasks(by, self.source))
        self._move_marks(inserts)
        adds = yield from writer.write(inserts)
        yield from job("MERGE", candidates, writer, self.scan)
        return list(adds)

    def _rewrite(self, touched: Sequence[MatchedFile], writer: FileWriter) -> Steps[FileChanges]:
        tasks = self._tasks(touched, hides_rows=False)
        inserts = self._inserts(tasks)
        rows = tasks.of_files(touched, inserts, self.matching.rewritten)
        self._move_marks(rows)
        adds = yield from writer.write(rows)
        changes = yield from writer.write_changes(lambda: self._feed(touched, inserts, tasks))
        yield from job("MERGE", [file.scanned for file in touched], writer, self.scan)
        removes = yield from removals(file.scanned.file for file in touched)
        return [*adds, *changes, *removes]

    def _tasks(self, touched: Sequence[MatchedFile], *, hides_rows: bool) -> MergeTasks:
        files = [file.scanned.file for file in touched]
        by = writing_side(self.plan, self.txn.metadata, files, hides_rows=hides_rows)
        return MergeTasks(by, self.source)

    def _inserts(self, tasks: MergeTasks) -> Tasks:
        """New rows by task, with the next values of identity columns."""
        new = [self.matching.inserts(positions) for positions in tasks.positions]
        return numbered(new, self.plan.counted)

    def _feed(
        self, touched: Sequence[MatchedFile], inserts: Tasks, tasks: MergeTasks
    ) -> list[Sequence[Row]]:
        """What the change data feed says of the rows that change, by writing task."""
        new = [[row + INSERTED for row in rows] for rows in inserts]
        return tasks.of_changes(touched, new, self.matching.images)

    def _move_marks(self, tasks: Sequence[Sequence[Row]]) -> None:
        """Note how far identity columns got, if some clause makes up their values."""
        if self.plan.not_matched:
            schema = schema_of_metadata(self.txn.metadata)
            self.txn.move_identity_marks(identity_marks(tasks, schema, self.plan.counted))

    def _hide_and_write(
        self, touched: Sequence[MatchedFile], writer: FileWriter
    ) -> Steps[FileChanges]:
        check_strays(self.matching, touched)
        changes = {file.scanned.file.path: self.matching.changes(file) for file in touched}
        tasks = self._tasks(touched, hides_rows=True)
        inserts = self._inserts(tasks)
        rows = tasks.of_changes(touched, inserts, lambda f: _new(changes[f.scanned.file.path]))
        self._move_marks(rows)
        adds = yield from writer.write(rows)
        feed = yield from writer.write_changes(lambda: self._feed(touched, inserts, tasks))
        yield from job("MERGE", [file.scanned for file in touched], writer, self.scan)
        now_ms = yield ReadClock()
        hidden = [(file.scanned, list(changes[file.scanned.file.path])) for file in touched]
        return [*adds, *feed, *(yield from hide_rows(hidden, writer.layout, now_ms))]


def _new(changes: Mapping[int, Row | None]) -> list[PlacedRow]:
    """The rows that take the place of others."""
    return [(at, row) for at, row in changes.items() if row is not None]
