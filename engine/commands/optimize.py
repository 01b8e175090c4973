"""OPTIMIZE and OPTIMIZE ZORDER BY.

Source: OptimizeTableCommand.scala (OptimizeExecutor): which files it takes, how it bins them, and
its own retry: after a conflict it starts again on the newest version, with the same actions, as
long as every file that it rewrote is still there as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.commands.data_files import FileRows
from engine.commands.execution import begin, job, logged, preserved_row_tracking
from engine.commands.table import Table
from engine.commands.writing import FileWriter, remove
from engine.errors import DeltaError
from engine.log.actions import AddFile, AnyAction, RemoveFile
from engine.log.files import FileKey, PartitionKey, file_key
from engine.log.snapshot import Snapshot
from engine.log.statistics import parse_statistics
from engine.outcomes import Aborted, NothingToCommit, Outcome
from engine.row_level.relocation import with_note
from engine.settings import Settings
from engine.sql.predicates import TRUE, Predicate
from engine.sql.scope import schema_scope
from engine.sql.statements import Optimize
from engine.storage.requests import ReadClock, Row, Steps
from engine.transaction.operation import Operation
from engine.transaction.transaction import Transaction

Bin = list[AddFile]


@dataclass(frozen=True, slots=True)
class _Batch:
    """What one transaction commits: the files of some bins, and what takes their place."""

    predicates: tuple[Predicate, ...]
    files: tuple[AddFile, ...]
    actions: tuple[AnyAction, ...]
    operation: Operation


def optimize(table: Table, statement: Optimize) -> Steps[Outcome]:
    """Run an OPTIMIZE. Raises `DeltaError` for a condition on data columns."""
    txn = yield from begin(table)
    predicates = _predicates(statement, txn)
    bins = _bins(statement, txn, predicates)
    batches = _batches(bins, txn.settings.optimize_batch_size)
    outcome: Outcome = NothingToCommit(txn.read_version)
    first = txn.snapshot
    for at, files in enumerate(batches):
        if at > 0:
            txn = yield from _again(table, first)
        batch = yield from _rewrite(table, txn, statement, predicates, files)
        if batch is not None:
            outcome = yield from _commit(table, txn, batch)
        if isinstance(outcome, Aborted):
            return outcome
    return outcome


def _again(table: Table, snapshot: Snapshot) -> Steps[Transaction]:
    """The transaction of a later batch: on the same snapshot as the first."""
    newest = yield from table.start()
    again = Transaction(
        table.log, snapshot, newest.txn_id, table.settings, table.dialect, table.name,
        table.lost_reply,
    )  # fmt: skip
    again.row_files = table.data_files
    return again


def _predicates(statement: Optimize, txn: Transaction) -> tuple[Predicate, ...]:
    if statement.condition is None:
        return ()
    conjuncts = statement.condition.with_parameters(statement.parameters).conjuncts()
    for predicate in conjuncts:
        predicate.bind(txn.snapshot.schema)  # names a column that does not exist
        if not predicate.is_over(txn.metadata.partition_columns):
            error_class = "DELTA_UNSUPPORTED_WHERE_CONDITION"
            text = f"[{error_class}] {predicate.sql} is not on partition columns alone."
            raise DeltaError("DeltaAnalysisException", error_class, text)
    return conjuncts


def _bins(statement: Optimize, txn: Transaction, predicates: Sequence[Predicate]) -> list[Bin]:
    """The files to rewrite, those of one bin into one file."""
    groups: dict[PartitionKey, Bin] = {}
    for partition in txn.snapshot.partitions:
        files = txn.snapshot.files_in(partition)
        if not _selected(files[0], predicates, txn):
            continue
        for file in files:
            if statement.zorder_by or is_candidate(file, txn.settings):
                groups.setdefault(partition, []).append(file)
    if statement.zorder_by:
        return list(groups.values())
    limit = txn.settings.optimize_max_file_size
    packed = [part for files in groups.values() for part in pack(files, limit)]
    return [files for files in packed if len(files) > 1]


def _selected(file: AddFile, predicates: Sequence[Predicate], txn: Transaction) -> bool:
    values, schema = file.partition_values or {}, txn.snapshot.partition_schema
    return all(p.evaluate_partition(values, schema, txn.settings) is True for p in predicates)


def is_candidate(file: AddFile, settings: Settings) -> bool:
    """Whether compaction takes a file: it is small, or enough of its rows are deleted.

    Source: OptimizeExecutor.filterCandidateFileList.
    """
    if file.size < settings.optimize_min_file_size:
        return True
    if file.deletion_vector is None:
        return False
    rows = parse_statistics(file.stats).num_records
    if not rows:
        return True
    return file.deletion_vector.cardinality / rows > settings.optimize_max_deleted_rows_ratio


def pack(files: Sequence[AddFile], limit_bytes: int) -> list[Bin]:
    """Fill bins in order of size. Source: OptimizeExecutor.groupFilesIntoBins."""
    bins: list[Bin] = [[]]
    filled = 0
    for file in sorted(files, key=lambda file: file.size):
        if bins[-1] and filled + file.size > limit_bytes:
            bins.append([])
            filled = 0
        bins[-1].append(file)
        filled += file.size
    return [files for files in bins if files]


def _batches(bins: list[Bin], batch_bytes: int | None) -> list[list[Bin]]:
    """All bins in one batch, unless batches are limited in size."""
    if batch_bytes is None:
        return [bins] if bins else []
    batches: list[list[Bin]] = []
    filled = 0
    for files in bins:
        size = sum(file.size for file in files)
        if not batches or filled + size > batch_bytes:
            batches.append([])
            filled = 0
        batches[-1].append(files)
        filled += size
    return batches


def _rewrite(
    table: Table,
    txn: Transaction,
    statement: Optimize,
    predicates: tuple[Predicate, ...],
    bins: Sequence[Bin],
) -> Steps[_Batch | None]:
    """Write the new files of a batch; `None` if there are none."""
    files = [file for part in bins for file in part]
    file_rows = yield from table.data_files.read(files, txn.snapshot.schema)
    by_key = {(one.file.path, one.file.dv_id): one for one in file_rows}
    writer = FileWriter(table, txn.metadata, data_change=False)
    tasks = [_rows(part, by_key, statement, txn) for part in bins]
    adds = yield from writer.write(tasks)
    yield from job(statement.command, file_rows, writer)
    if not adds:
        return None
    now_ms = yield ReadClock()
    removes = [remove(file, now_ms, data_change=False) for file in files]
    if txn.dialect.remaps_deletions_onto_compacted_files and not statement.zorder_by:
        written = [part for part, rows in zip(bins, tasks, strict=True) if rows]
        removes = with_notes(removes, zip(written, adds, strict=True), by_key)
    operation = Operation("OPTIMIZE", _parameters(statement, predicates))
    return _Batch(predicates, tuple(files), (*adds, *removes), operation)


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


def _rows(
    files: Bin,
    by_key: dict[tuple[str, str | None], FileRows],
    statement: Optimize,
    txn: Transaction,
) -> list[Row]:
    rows = [row for file in files for row in by_key[file.path, file.dv_id].live_rows()]
    places = [schema_scope(txn.snapshot.schema).find(name, "")[0] for name in statement.zorder_by]
    if places:
        rows.sort(key=lambda row: [(row[at] is not None, row[at]) for at in places])
    return rows


def _parameters(statement: Optimize, predicates: Sequence[Predicate]) -> dict[str, object]:
    """Source: DeltaOperations.Optimize."""
    return {
        "predicate": logged(predicates),
        "auto": False,
        "clusterBy": [],
        "zOrderBy": list(statement.zorder_by),
    }


def _commit(table: Table, txn: Transaction, batch: _Batch) -> Steps[Outcome]:
    """Commit, again and again while nothing that was rewritten has changed."""
    tags = preserved_row_tracking(txn.metadata)
    while True:
        read_schema = txn.snapshot.partition_schema
        txn.track_files_read(batch.files)
        txn.track_read_predicates(batch.predicates or (TRUE,))
        outcome = yield from txn.commit(batch.actions, batch.operation, tags)
        if not isinstance(outcome, Aborted):
            return outcome
        txn = yield from table.start()
        if txn.snapshot.partition_schema != read_schema or not _all_live(batch, txn.snapshot):
            return outcome


def _all_live(batch: _Batch, snapshot: Snapshot) -> bool:
    """Whether every rewritten file is live with the same deletion vector."""
    return all((file.path, file.dv_id) in snapshot.files for file in batch.files)
