"""MERGE.

Source: MergeIntoCommand.scala, ClassicMergeExecutor.scala, InsertOnlyMergeExecutor.scala. First the
files that hold matches are found among those that the target-only conditions leave; then they are
rewritten, or their changed rows are hidden and written anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from whitecap.engine.commands.rows.merge_join import Join
from whitecap.engine.commands.rows.merge_matching import MatchedFile, Matching
from whitecap.engine.commands.rows.merge_plan import MergePlan, plan_merge
from whitecap.engine.commands.rows.merge_strays import check_strays
from whitecap.engine.commands.schema.schema_evolution import evolve_for_merge
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.log.schema import schema_of_metadata
from whitecap.engine.outcomes import NothingToCommit, Outcome
from whitecap.engine.query.row_reads import track_merge_rows
from whitecap.engine.query.scan_tasks import scan_tasks
from whitecap.engine.query.source_queries import OwnRead, in_transaction
from whitecap.engine.query.sources import Source
from whitecap.engine.row_level.data_files import FileRows
from whitecap.engine.row_store.rows import joined
from whitecap.engine.session.table import Table
from whitecap.engine.sql.parsing.statements import Merge
from whitecap.engine.storage.requests import ReadClock, Row, Steps
from whitecap.engine.transaction.file_scan import FileScan
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.writing.execution import (
    begin,
    job,
    preserved_row_tracking,
    progress_of,
    uses_vectors,
)
from whitecap.engine.writing.files import (
    INSERTED,
    FileChanges,
    FileWriter,
    removals,
)
from whitecap.engine.writing.generation import identity_marks, numbered
from whitecap.engine.writing.hidden_rows import hide_rows
from whitecap.engine.writing.row_checks import row_check
from whitecap.engine.writing.search import files_to_read


def merge(table: Table, statement: Merge, read: Source | OwnRead) -> Steps[Outcome]:
    """Run a MERGE with what its source gives."""
    txn = yield from begin(table)
    yield from txn.read_state()
    progress = yield from progress_of(table, txn)
    if progress is None:
        return NothingToCommit(txn.read_version)
    source = yield from in_transaction(read, table, txn, statement.parameters)
    evolves = evolve_for_merge(statement, txn, source, table.session)
    schema = schema_of_metadata(txn.metadata)
    plan = plan_merge(
        statement, schema, source, table.session, evolves=evolves, dialect=txn.dialect
    )
    predicates = [p.with_parameters(statement.parameters) for p in plan.predicates]
    scan = txn.filter_files(predicates)
    txn.run_query()
    join = Join(plan, source.rows, statement.parameters, len(schema))
    pins = {} if plan.not_matched_by_source else join.pins
    files = yield from files_to_read(table, txn, scan, pins)
    candidates = yield from table.data_files.read(files, schema)
    matching = Matching(plan, join, statement, txn)
    track_merge_rows(txn, statement, predicates, scan, matching.concerns)
    actions = yield from _Run(table, txn, scan, plan, matching).actions(candidates)
    operation = Operation("MERGE", {"predicate": [f"({plan.on.render(statement.parameters)})"]})
    tags = preserved_row_tracking(txn.metadata)
    return (yield from txn.commit_if_needed([*progress, *actions], operation, tags))


@dataclass(frozen=True, slots=True)
class _Run:
    """One execution: what has matched, written to the table."""

    table: Table
    txn: Transaction
    scan: FileScan
    plan: MergePlan
    matching: Matching

    def actions(self, candidates: Sequence[FileRows]) -> Steps[FileChanges]:
        """What the MERGE adds and removes."""
        files = self.matching.match(candidates)
        touched = [file for file in files if self._is_rewritten(file)]
        inserts = self._numbered(self.matching.inserts())
        check = row_check(self.txn.metadata, self.table.session)
        writer = FileWriter(self.table, self.txn.metadata, check=check)
        if self.plan.is_insert_only or not touched:
            return (yield from self._append(inserts, candidates, writer))
        writer.beside_changes = True
        if uses_vectors(self.txn.metadata, self.txn.settings.merge_with_deletion_vectors):
            return (yield from self._hide_and_write(touched, inserts, writer))
        return (yield from self._rewrite(touched, inserts, writer))

    def _is_rewritten(self, file: MatchedFile) -> bool:
        leaves_it = self.txn.dialect.merge_leaves_unchanged_files
        return file.is_touched and not (leaves_it and not self.matching.changes(file))

    def _append(
        self, inserts: list[Row], candidates: Sequence[FileRows], writer: FileWriter
    ) -> Steps[FileChanges]:
        self._move_marks([inserts])
        adds = yield from writer.write([inserts])
        yield from job("MERGE", candidates, writer, self.scan)
        return list(adds)

    def _rewrite(
        self, touched: Sequence[MatchedFile], inserts: list[Row], writer: FileWriter
    ) -> Steps[FileChanges]:
        tasks = self._tasks(touched, inserts, self.matching.rewritten)
        self._move_marks(tasks)
        adds = yield from writer.write(tasks)
        changes = yield from writer.write_changes(lambda: self._feed(touched, inserts))
        yield from job("MERGE", [file.scanned for file in touched], writer, self.scan)
        removes = yield from removals(file.scanned.file for file in touched)
        return [*adds, *changes, *removes]

    def _feed(self, touched: Sequence[MatchedFile], inserts: list[Row]) -> list[Sequence[Row]]:
        """What the change data feed says of the rows that change, by writing task."""
        new = [row + INSERTED for row in inserts]
        return self._tasks(touched, new, self.matching.images)

    def _numbered(self, rows: list[Row]) -> list[Row]:
        """New rows with the next values of identity columns."""
        return list(numbered([rows], self.plan.counted)[0])

    def _move_marks(self, tasks: Sequence[Sequence[Row]]) -> None:
        """Note how far identity columns got, if some clause makes up their values."""
        if self.plan.not_matched:
            schema = schema_of_metadata(self.txn.metadata)
            self.txn.move_identity_marks(identity_marks(tasks, schema, self.plan.counted))

    def _hide_and_write(
        self, touched: Sequence[MatchedFile], inserts: list[Row], writer: FileWriter
    ) -> Steps[FileChanges]:
        check_strays(self.matching, touched)
        changes = {file.scanned.file.path: self.matching.changes(file) for file in touched}
        new_rows = self._tasks(touched, inserts, lambda file: _new(changes[file.scanned.file.path]))
        self._move_marks(new_rows)
        adds = yield from writer.write(new_rows)
        feed = yield from writer.write_changes(lambda: self._feed(touched, inserts))
        yield from job("MERGE", [file.scanned for file in touched], writer, self.scan)
        now_ms = yield ReadClock()
        hidden = [(file.scanned, list(changes[file.scanned.file.path])) for file in touched]
        return [*adds, *feed, *(yield from hide_rows(hidden, writer.layout, now_ms))]

    def _tasks(
        self,
        touched: Sequence[MatchedFile],
        inserts: list[Row],
        rows_of: Callable[[MatchedFile], Sequence[Row]],
    ) -> list[Sequence[Row]]:
        """New rows by writing task.

        Rows are shuffled into one task, unless only matches are concerned and the table has no
        partitions: then the scan's own tasks write. Source: MergeOutputGeneration;
        spark.databricks.delta.merge.repartitionBeforeWrite.enabled.
        """
        if not self.plan.is_matched_only or self.txn.metadata.partition_columns:
            return [joined([*map(rows_of, touched), inserts])]
        by_path = {file.scanned.file.path: file for file in touched}
        tasks = scan_tasks([file.scanned.file for file in touched])
        return [joined([rows_of(by_path[f.path]) for f in task]) for task in tasks]


def _new(changes: Mapping[int, Row | None]) -> list[Row]:
    """The rows that take the place of others."""
    return [row for row in changes.values() if row is not None]
