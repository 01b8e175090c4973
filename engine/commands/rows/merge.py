"""MERGE.

Source: MergeIntoCommand.scala, ClassicMergeExecutor.scala, InsertOnlyMergeExecutor.scala. First the
files that hold matches are found among those that the target-only conditions leave; then they are
rewritten, or their changed rows are hidden and written anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from whitecap.engine.commands.rows.merge_join import Join
from whitecap.engine.commands.rows.merge_plan import Clause, MergePlan, plan_merge
from whitecap.engine.commands.rows.merge_strays import check_strays
from whitecap.engine.commands.schema.schema_changes import evolve_for_merge
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.errors import DeltaError
from whitecap.engine.log.actions import Metadata
from whitecap.engine.log.schema import Schema, schema_of_metadata
from whitecap.engine.outcomes import NothingToCommit, Outcome
from whitecap.engine.query.queries import OwnRead, in_transaction
from whitecap.engine.query.row_reads import track_merge_rows
from whitecap.engine.query.scan_tasks import scan_tasks
from whitecap.engine.query.sources import Projection, Source
from whitecap.engine.row_level.data_files import FileRows
from whitecap.engine.row_store.rows import joined, positions_with
from whitecap.engine.session.table import Table
from whitecap.engine.sql.expressions.terms import Evaluate, Parameters
from whitecap.engine.sql.parsing.statements import Act, Merge, reads_tables
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
    AFTER_UPDATE,
    BEFORE_UPDATE,
    DELETED,
    INSERTED,
    FileChanges,
    FileWriter,
    in_task,
    remove,
)
from whitecap.engine.writing.generation import identity_marks, numbered
from whitecap.engine.writing.inserting import row_check
from whitecap.engine.writing.search import files_to_read
from whitecap.engine.writing.vectors import hide_rows


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
    takes_random = txn.dialect.resolves_rows
    plan = plan_merge(
        statement, schema, source, table.session, evolves=evolves, takes_random=takes_random
    )
    predicates = [p.with_parameters(statement.parameters) for p in plan.predicates]
    scan = txn.filter_files(predicates)
    txn.run_query()
    join = Join(plan, source.rows, statement.parameters, len(schema))
    pins = {} if plan.not_matched_by_source else join.pins
    files = yield from files_to_read(table, txn, scan, pins)
    candidates = yield from table.data_files.read(files, schema)
    run = _Run(table, txn, scan, plan, join, schema, statement)
    track_merge_rows(txn, statement, predicates, scan, run.concerns)
    actions = yield from run.actions(candidates)
    operation = Operation("MERGE", {"predicate": [f"({plan.on.render(statement.parameters)})"]})
    tags = preserved_row_tracking(txn.metadata)
    return (yield from txn.commit_if_needed([*progress, *actions], operation, tags))


@dataclass(frozen=True, slots=True)
class _Bound:
    """A clause with parameters: whether it applies to a row, and what it makes of it."""

    act: Act
    applies: Evaluate | None
    make: Projection | None


@dataclass(slots=True)
class _Matched:
    """A candidate file with its rows that match, by position, and which source row each does."""

    scanned: FileRows
    rows: dict[int, Row]
    matches: dict[int, int]
    is_touched: bool


class _Run:
    """One execution: the clauses bound to parameters, applied to files."""

    def __init__(
        self,
        table: Table,
        txn: Transaction,
        scan: FileScan,
        plan: MergePlan,
        join: Join,
        schema: Schema,
        statement: Merge,
    ) -> None:
        self.table = table
        self.txn = txn
        self.scan = scan
        self.plan = plan
        self.join = join
        self.schema = schema
        self.blank = (None,) * len(schema)
        self.counted = plan.counted
        parameters = statement.parameters
        # What only literals are inserted for is computed before: by the optimizer.
        in_tasks = not plan.is_insert_only or reads_tables(statement.source)
        metadata = txn.metadata if in_tasks else None
        self.matched = [_bound(c, parameters, metadata) for c in plan.matched]
        self.not_matched = [_bound(c, parameters, metadata) for c in plan.not_matched]
        self.by_source = [_bound(c, parameters, metadata) for c in plan.not_matched_by_source]
        wanted = join.wanted(schema, txn.snapshot.partition_columns)
        self.wanted = () if self.by_source else wanted
        self.used: set[int] = set()

    def actions(self, candidates: Sequence[FileRows]) -> Steps[FileChanges]:
        """What the MERGE adds and removes."""
        files = [self._match(file_rows) for file_rows in candidates]
        touched = [file for file in files if file.is_touched]
        inserts = self._numbered(self._inserts())
        check = row_check(self.txn.metadata, self.table.session)
        writer = FileWriter(self.table, self.txn.metadata, check=check)
        if self.plan.is_insert_only or not touched:
            self._move_marks([inserts])
            adds = yield from writer.write([inserts])
            yield from job("MERGE", candidates, writer, self.scan)
            return list(adds)
        writer.beside_changes = True
        if uses_vectors(self.txn.metadata, self.txn.settings.merge_with_deletion_vectors):
            return (yield from self._hide_and_write(touched, inserts, writer))
        tasks = self._tasks(touched, inserts, self._rewritten)
        self._move_marks(tasks)
        adds = yield from writer.write(tasks)
        changes = yield from writer.write_changes(lambda: self._feed(touched, inserts))
        yield from job("MERGE", [file.scanned for file in touched], writer, self.scan)
        now_ms = yield ReadClock()
        return [*adds, *changes, *(remove(file.scanned.file, now_ms) for file in touched)]

    def _feed(self, touched: Sequence[_Matched], inserts: list[Row]) -> list[Sequence[Row]]:
        """What the change data feed says of the rows that change, by writing task."""
        new = [row + INSERTED for row in inserts]
        return self._tasks(touched, new, self._images)

    def _images(self, file: _Matched) -> list[Row]:
        images: list[Row] = []
        for at, row in self._concerned(file):
            clause, joined_row = self._outcome(file, at, row)
            if clause is not None:
                images.append(row + (DELETED if clause.make is None else BEFORE_UPDATE))
                if clause.make is not None:
                    images.append(clause.make(joined_row) + AFTER_UPDATE)
        return images

    def _numbered(self, rows: list[Row]) -> list[Row]:
        """New rows with the next values of identity columns."""
        return list(numbered([rows], self.counted)[0])

    def _move_marks(self, tasks: Sequence[Sequence[Row]]) -> None:
        """Note how far identity columns got, if some clause makes up their values."""
        if self.plan.not_matched:
            self.txn.move_identity_marks(identity_marks(tasks, self.schema, self.counted))

    def _match(self, file_rows: FileRows) -> _Matched:
        """Join one file. Raises `DeltaError` if a row has several matches that would change it."""
        rows: dict[int, Row] = {}
        matches: dict[int, int] = {}
        touched = bool(self.by_source) and file_rows.live_count > 0
        find = self.join.matches
        for at, row in self._candidates(file_rows):
            hits = find(row)
            if hits:
                if len(hits) > 1:
                    self._check_single()
                rows[at], matches[at] = row, hits[0]
                self.used.update(hits)
                touched = touched or self._counts(row, hits)
        return _Matched(file_rows, rows, matches, touched and not self.plan.is_insert_only)

    def _candidates(self, file_rows: FileRows) -> Iterable[tuple[int, Row]]:
        """The live rows of a file that may match, with their positions."""
        positions = positions_with(file_rows.rows, self.wanted)
        return file_rows if positions is None else file_rows.rows_at(file_rows.live(positions))

    def concerns(self, row: Row) -> bool:
        """Whether a row of the target, had it been there, would have changed what is done."""
        hits = self.join.matches(row)
        return bool(self.by_source) or (bool(hits) and self._counts(row, hits))

    def _counts(self, row: Row, hits: Sequence[int]) -> bool:
        """Whether a match makes its file touched: if only WHEN MATCHED, a clause must apply."""
        if not self.plan.is_matched_only:
            return True
        return any(_first(self.matched, row + self.join.rows[at]) is not None for at in hits)

    def _check_single(self) -> None:
        """Several matches are fine for inserts, and for one DELETE without condition."""
        only = self.matched[0] if len(self.matched) == 1 else None
        deletes_all = only and only.act is Act.DELETE and only.applies is None
        if self.plan.is_insert_only or deletes_all:
            return
        error_class = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
        text = "Several source rows match one target row."
        raise DeltaError.of_class("DeltaUnsupportedOperationException", error_class, text)

    def _inserts(self) -> list[Row]:
        """The new rows of source rows without a match."""
        if not self.not_matched:
            return []
        made = []
        for at, row in enumerate(self.join.rows):
            if at not in self.used:
                joined_row = self.blank + row
                clause = _first(self.not_matched, joined_row)
                if clause is not None and clause.make is not None:
                    made.append(clause.make(joined_row))
        return made

    def _outcome(self, file: _Matched, at: int, row: Row) -> tuple[_Bound | None, Row]:
        """The clause for one row of a touched file, and the joined row that it sees."""
        match = file.matches.get(at)
        if match is None:
            return _first(self.by_source, row), row
        joined_row = row + self.join.rows[match]
        return _first(self.matched, joined_row), joined_row

    def _rewritten(self, file: _Matched) -> Sequence[Row]:
        """All rows of a touched file as they will be."""
        return file.scanned.live_rows_with(self._changes(file))

    def _changes(self, file: _Matched) -> dict[int, Row | None]:
        """By position the rows that change, as they will be; `None` for one that goes."""
        changes: dict[int, Row | None] = {}
        for at, row in self._concerned(file):
            clause, joined_row = self._outcome(file, at, row)
            if clause is not None:
                changes[at] = None if clause.make is None else clause.make(joined_row)
        return changes

    def _concerned(self, file: _Matched) -> Iterable[tuple[int, Row]]:
        """The rows of a file that some clause may change, with their positions."""
        return file.scanned if self.by_source else file.rows.items()

    def _hide_and_write(
        self, touched: Sequence[_Matched], inserts: list[Row], writer: FileWriter
    ) -> Steps[FileChanges]:
        self._check_strays(touched)
        changes = {file.scanned.file.path: self._changes(file) for file in touched}
        new_rows = self._tasks(touched, inserts, lambda file: _new(changes[file.scanned.file.path]))
        self._move_marks(new_rows)
        adds = yield from writer.write(new_rows)
        feed = yield from writer.write_changes(lambda: self._feed(touched, inserts))
        yield from job("MERGE", [file.scanned for file in touched], writer, self.scan)
        now_ms = yield ReadClock()
        hidden = [(file.scanned, list(changes[file.scanned.file.path])) for file in touched]
        return [*adds, *feed, *(yield from hide_rows(hidden, now_ms))]

    def _check_strays(self, touched: Sequence[_Matched]) -> None:
        """Raises `DeltaError` for a row without a match that Delta takes for matched."""
        unmatched = [(self.by_source, self._without_source(touched))]
        unmatched += [(self.not_matched, self._without_target())]
        is_matched = partial(_is_taken, self.matched)
        for clauses, rows in unmatched:
            if clauses:
                is_taken = partial(_is_taken, clauses)
                check_strays(rows, self.join.holds, is_matched, is_taken)

    def _without_source(self, touched: Sequence[_Matched]) -> Iterable[Row]:
        """Rows of touched files that no source row matches, joined with NULLs."""
        nulls = self.join.no_source
        for file in () if self.join.needs_source else touched:
            yield from (row + nulls for at, row in file.scanned if at not in file.matches)

    def _without_target(self) -> Iterable[Row]:
        """Source rows that match no row of the target, joined with NULLs."""
        rows = () if self.join.needs_target else enumerate(self.join.rows)
        return (self.blank + row for at, row in rows if at not in self.used)

    def _tasks(
        self,
        touched: Sequence[_Matched],
        inserts: list[Row],
        rows_of: Callable[[_Matched], Sequence[Row]],
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


def _bound(clause: Clause, parameters: Parameters, metadata: Metadata | None) -> _Bound:
    """`metadata`: of the table whose writing tasks run the clause, if they do."""
    applies = None if clause.condition is None else clause.condition(parameters)
    if clause.make is None:
        return _Bound(clause.act, applies, None)
    make = clause.make(parameters)
    return _Bound(clause.act, applies, make if metadata is None else in_task(make, metadata))


def _is_taken(clauses: Sequence[_Bound], row: Row) -> bool:
    return _first(clauses, row) is not None


def _first(clauses: Sequence[_Bound], row: Row) -> _Bound | None:
    """The first clause whose condition holds."""
    for clause in clauses:
        if clause.applies is None or clause.applies(row) is True:
            return clause
    return None
