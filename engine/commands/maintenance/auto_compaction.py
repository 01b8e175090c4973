"""Auto compaction: after a commit, the small files of the partitions that it added to.

It is due where the process has added enough files (`engine/log/file_counts.py`), and takes all
small ones that are live; a clustered table it clusters. Source: AutoCompact.scala,
AutoCompactUtils.scala.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from msgspec.structs import replace
from sqlglot import exp

from whitecap.engine.commands.maintenance.bins import files_by_partition, packed
from whitecap.engine.commands.maintenance.optimize import clustering, optimize_operation
from whitecap.engine.commands.maintenance.rewriting import Rewrite, run_rewrite
from whitecap.engine.errors import DeltaError
from whitecap.engine.log import properties
from whitecap.engine.log.actions import AddFile, Metadata
from whitecap.engine.log.clustering import clustering_columns
from whitecap.engine.log.file_keys import PartitionKey, partition_of
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.outcomes import Committed
from whitecap.engine.session.table import Table
from whitecap.engine.settings import Settings
from whitecap.engine.sql.predicates.predicate import Predicate
from whitecap.engine.storage.requests import NewId, Steps
from whitecap.engine.transaction.transaction import Transaction

AUTO_COMPACTION = "AUTO COMPACT"
"""The Spark job that rewrites the files."""

_BRINGING_FILES_BACK = frozenset({"RESTORE", "CLONE"})
_MAX_PARTITIONS = 128  # spark.databricks.delta.autoCompact.maxNumModifiedPartitions


def is_enabled(metadata: Metadata, settings: Settings) -> bool:
    """The session's setting counts most, then the table's old property, then its new one."""
    if settings.auto_compact is not None:
        return settings.auto_compact
    if metadata.configuration.get(properties.AUTO_OPTIMIZE, "").lower() == "true":
        return True
    return properties.AUTO_COMPACT.of(metadata.configuration).lower() == "true"


def may_follow(operation: str | None, metadata: Metadata, table: Table) -> bool:
    """Whether such a commit of a client is followed by a compaction where files crowd."""
    always = operation in table.dialect.always_compacts_after
    return always or is_enabled(metadata, table.settings)


def auto_compact(table: Table, parent: Transaction, committed: Committed) -> Steps[None]:
    """Compact what a commit made many small files of; a conflict leaves the parent committed."""
    if not may_follow(committed.commit_info.operation, parent.metadata, table):
        return
    adds = [action for action in committed.actions if isinstance(action, AddFile)]
    if not _has_written(committed, adds):
        return
    file_counts = table.log.file_counts
    added_to = {partition_of(add): add for add in adds}
    crowded = file_counts.crowded(added_to, table.settings.auto_compact_min_files)
    if not crowded:
        return
    chosen = crowded[:_MAX_PARTITIONS]
    with file_counts.compacting(chosen):
        yield from _compacted(table, [added_to[partition] for partition in chosen])


def _compacted(table: Table, adds: Sequence[AddFile]) -> Steps[None]:
    """Compact the partitions that some files were added to; a failure of that is nobody's."""
    txn = yield from table.start()
    yield from txn.read_state()
    if clustering_columns(txn.snapshot):
        rewrite = clustering(txn, AUTO_COMPACTION, (yield NewId()), auto=True)
    else:
        rewrite = _compaction(table, txn, adds)
    try:
        yield from run_rewrite(table, txn, replace(rewrite, is_hook=True))
    except DeltaError:
        return  # a failing hook does not undo the commit: PostCommitHook.handleError


def _compaction(table: Table, txn: Transaction, adds: Sequence[AddFile]) -> Rewrite:
    partitions = [txn.snapshot.partition_key(add.partition_values) for add in adds]
    predicates = _predicates(partitions, txn.snapshot)
    small = _small_size(table.settings)
    groups = files_by_partition(
        txn.snapshot, predicates, table.settings, lambda file: file.size < small
    )
    bins = packed(groups.values(), table.settings.auto_compact_max_file_size)
    return Rewrite(AUTO_COMPACTION, predicates, bins, optimize_operation(predicates, auto=True))


def _has_written(committed: Committed, adds: Sequence[AddFile]) -> bool:
    """Whether the commit wrote a data file: a deletion vector or a file of before is none.

    Source: TransactionalWrite.scala (writeFiles, which registers the hook).
    """
    if committed.commit_info.operation in _BRINGING_FILES_BACK:
        return False
    return any(add.data_change and add.deletion_vector is None for add in adds)


def _small_size(settings: Settings) -> int:
    configured = settings.auto_compact_min_file_size
    return settings.auto_compact_max_file_size // 2 if configured is None else configured


def _predicates(partitions: Sequence[PartitionKey], snapshot: Snapshot) -> tuple[Predicate, ...]:
    """The partitions as one condition; none for an unpartitioned table."""
    columns, schema = snapshot.partition_columns, snapshot.partition_schema
    if not columns:
        return ()
    return (_one_of(tuple(partitions), columns, schema.types).as_written(schema),)


@lru_cache(maxsize=256)  # every few commits add to the same few partitions
def _one_of(
    partitions: Sequence[PartitionKey], columns: Sequence[str], types: Sequence[str]
) -> Predicate:
    """That a row is in one of these partitions."""
    branches = [
        exp.and_(
            *(
                exp.NullSafeEQ(
                    this=exp.column(name),
                    expression=exp.cast(exp.convert(text), kind, dialect="databricks"),
                )
                for name, text, kind in zip(columns, partition, types, strict=True)
            )
        )
        for partition in partitions
    ]
    return Predicate.of_node(exp.or_(*branches))
