"""Rewriting files without changing data: what OPTIMIZE, REORG and auto compaction have in common.

Source: OptimizeTableCommand.scala (OptimizeExecutor, commitAndRetry): after a conflict it starts
again on the newest version, with the same actions, as long as every file that it rewrote is still
there as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.commands.maintenance.bins import Bin, batches, size_of
from whitecap.engine.commands.maintenance.curves import Curve, cut
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.conflicts.row_ids import preserved_row_tracking
from whitecap.engine.log.actions import AddFile, AnyAction, RemoveFile
from whitecap.engine.log.file_keys import FileKey, file_key
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.outcomes import Aborted, NothingToCommit, Outcome
from whitecap.engine.refusals import maintenance_errors
from whitecap.engine.row_level.data_files import FileRows
from whitecap.engine.row_level.relocation import with_note
from whitecap.engine.row_store.rows import joined
from whitecap.engine.session.table import Table
from whitecap.engine.sql.expressions.scope import schema_scope
from whitecap.engine.sql.predicates.predicate import TRUE, Predicate
from whitecap.engine.storage.requests import Row, Steps
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.writing.files import FileWriter, removals
from whitecap.engine.writing.spark_job import job

_UNSORTABLE = re.compile(r"\bmap<|\bvariant\b(?!:)")
"""Types that Spark puts in no order, wherever they stand in a column's type."""


FileMark = Callable[[AddFile, int], AddFile]
"""Gives an added file, with its bin's number, what its kind of rewrite says of it."""


class RowOrder(Struct, frozen=True):
    """Rows of a bin by columns: in one file, or where they are too many, cut along a curve."""

    columns: tuple[str, ...]
    curve: Curve
    file_bytes: int

    def files_of(self, files: Bin) -> int:
        """How many files take the place of those. Source: runOptimizeBinJob (approxNumFiles)."""
        return max(1, size_of(files) // self.file_bytes)


class Rewrite(Struct, frozen=True):
    """What to rewrite, and how: the files of one bin into one file, or as their `order` says.

    `marks` are put on each added file. `is_hook`: it follows a commit, and what becomes of it is no
    concern of that.
    """

    job: str
    predicates: tuple[Predicate, ...]
    bins: list[Bin]
    operation: Operation
    order: RowOrder | None = None
    marks: tuple[FileMark, ...] = ()
    is_hook: bool = False

    def in_files_of(self, file_bytes: int) -> Rewrite:
        """The same, where rows are in order, in files of so many bytes."""
        order = None if self.order is None else replace(self.order, file_bytes=file_bytes)
        return replace(self, order=order)


class _Batch(Struct, frozen=True):
    """What one transaction commits: the files of some bins, and what takes their place."""

    predicates: tuple[Predicate, ...]
    files: tuple[AddFile, ...]
    actions: tuple[AnyAction, ...]
    operation: Operation


def run_rewrite(table: Table, txn: Transaction, rewrite: Rewrite) -> Steps[Outcome]:
    """Rewrite batch by batch, each in a transaction on the same snapshot; none: nothing to do."""
    outcome: Outcome = NothingToCommit(txn.read_version)
    first = txn.snapshot
    for at, bins in enumerate(batches(rewrite.bins, txn.settings.optimize_batch_size)):
        if at > 0:
            txn = yield from table.start(first)
        batch = yield from _written(table, txn, rewrite, bins)
        if batch is not None:
            outcome = yield from _commit(table, txn, batch, rewrite.is_hook)
        if isinstance(outcome, Aborted):
            return outcome
    return outcome


def _written(
    table: Table, txn: Transaction, rewrite: Rewrite, bins: Sequence[Bin]
) -> Steps[_Batch | None]:
    """Write the new files of a batch; `None` if there are none."""
    files = [file for part in bins for file in part]
    scanned = yield from table.data_files.read(files, txn.snapshot.schema)
    by_key = {file_key(file_rows.file): file_rows for file_rows in scanned}
    writer = FileWriter(table, txn.metadata, data_change=False)
    tasks = [_tasks(part, by_key, rewrite.order, txn) for part in bins]
    adds = yield from writer.write(list(chain.from_iterable(tasks)))
    yield from job(rewrite.job, scanned, writer)
    if not adds:
        return None
    removes = yield from removals(files, data_change=False)
    written = [(part, rows) for part, rows in zip(bins, tasks, strict=True) if any(rows)]
    if txn.dialect.remaps_deletions_onto_compacted_files and rewrite.order is None:
        removes = with_notes(removes, zip((part for part, _ in written), adds, strict=True), by_key)
    numbers = [number for number, (_, rows) in enumerate(written) for _ in rows]
    marked = [_marked(*each, rewrite.marks) for each in zip(adds, numbers, strict=True)]
    actions: tuple[AnyAction, ...] = (*marked, *removes)
    return _Batch(rewrite.predicates, tuple(files), actions, rewrite.operation)


def _marked(add: AddFile, number: int, marks: Iterable[FileMark]) -> AddFile:
    for mark in marks:
        add = mark(add, number)
    return add


def with_notes(
    removes: Sequence[RemoveFile],
    compacted: Iterable[tuple[Bin, AddFile]],
    by_key: Mapping[FileKey, FileRows],
) -> list[RemoveFile]:
    """The removed files with notes where their rows went, each bin's in order into its file."""
    places: dict[str, tuple[str, int]] = {}
    for files, add in compacted:
        first_row = 0
        for file in files:
            places[file.path] = (add.path, first_row)
            first_row += by_key[file_key(file)].live_count
    noted = ((removed, places.get(removed.path)) for removed in removes)
    return [removed if at is None else with_note(removed, *at) for removed, at in noted]


def _tasks(
    files: Bin, by_key: Mapping[FileKey, FileRows], order: RowOrder | None, txn: Transaction
) -> list[Sequence[Row]]:
    """The rows of each file that takes the place of those of a bin."""
    rows = joined([by_key[file_key(file)].live_rows() for file in files])
    if order is None:
        return [rows]
    places = [schema_scope(txn.snapshot.schema).find(name, "")[0] for name in order.columns]
    if any(_UNSORTABLE.search(txn.snapshot.schema.fields[at].type) for at in places):
        raise maintenance_errors.rows_without_an_order()
    rows = sorted(rows, key=lambda row: [(row[at] is not None, row[at]) for at in places])
    count = order.files_of(files)
    return [rows] if count == 1 else list(cut(rows, places, order.curve, count))


def _commit(table: Table, txn: Transaction, batch: _Batch, is_hook: bool) -> Steps[Outcome]:
    """Commit, again and again while nothing that was rewritten has changed."""
    tags = preserved_row_tracking(txn.metadata)
    starts_again = txn.dialect.compaction_starts_again
    while True:
        txn.is_outlived = is_hook or starts_again
        read_schema = txn.snapshot.partition_schema
        txn.track_files_read(batch.files)
        txn.track_read_predicates(batch.predicates or (TRUE,))
        outcome = yield from txn.commit(batch.actions, batch.operation, tags)
        if not isinstance(outcome, Aborted) or not starts_again:
            return outcome
        txn = yield from table.start()
        yield from txn.read_state()
        if txn.snapshot.partition_schema != read_schema or not _all_live(batch, txn.snapshot):
            return outcome


def _all_live(batch: _Batch, snapshot: Snapshot) -> bool:
    """Whether every rewritten file is live with the same deletion vector."""
    return all(file in snapshot.live for file in batch.files)
