"""The table before the writers start: version 0 creates it, version 1 writes its rows.

The log is encoded as Delta encodes it and put into the fake store like any other commit; rows are
kept as a way to make them. File order, paths and statistics follow from the scenario alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from msgspec.structs import replace

from whitecap.engine.commands.schema.clustering import with_clustering
from whitecap.engine.conflicts import in_commit_timestamp
from whitecap.engine.conflicts.row_ids import NO_WATERMARK, assign_fresh
from whitecap.engine.dialects import Dialect
from whitecap.engine.log.actions import (
    AddFile,
    AnyAction,
    CommitInfo,
    DomainMetadata,
    Format,
    Metadata,
    Protocol,
)
from whitecap.engine.log.clustering import CLUSTERING_DOMAIN
from whitecap.engine.log.commit_file import Commit, commit_of, encode_commit, log_key
from whitecap.engine.log.features import protocol_of_new_table, supports
from whitecap.engine.log.schema import schema_string
from whitecap.engine.log.statistics import indexed_by
from whitecap.engine.storage.requests import PutIfAbsent
from whitecap.engine.transaction.new_metadata import as_stored
from whitecap.sim.scenario.table import TableSection
from whitecap.sim.store.contents.data_files import DescribedDataFiles
from whitecap.sim.store.contents.objects import FakeStore
from whitecap.sim.table.described_files import FileIds, InitialFiles, described_commit
from whitecap.sim.table.initial_files import InitialPartition, partitions
from whitecap.sim.table.initial_statistics import InitialStatistics
from whitecap.sim.table.rows import ScenarioRows
from whitecap.sim.time.identifiers import DrawnIds
from whitecap.sim.time.random_streams import Words

MakeId = Callable[[], str]


def _no_path(number: int) -> str:
    raise IndexError(number)


@dataclass(frozen=True, slots=True)
class InitialTable:
    """What there is at the start: the version (-1: no table), the files of its rows, the log.

    `path_of` a file follows from its number: partition by partition, in the order of keys.
    """

    version: int
    partitions: Sequence[InitialPartition] = ()
    path_of: Callable[[int], str] = _no_path
    commits: Sequence[Commit] = ()


def create_table(
    table: TableSection,
    rows: ScenarioRows,
    store: FakeStore,
    new_id: MakeId,
    dialect: Dialect,
    described: bool = False,
) -> InitialTable:
    """Put the initial table into the store.

    If it is `described`, the log of its files is made when somebody reads it, unless its rows have
    ids: then each file's first one follows from all files before it.
    """
    if not table.exists:
        return InitialTable(-1)
    created = _created(table, rows, store, new_id, dialect)
    if not table.initial.rows:
        return InitialTable(0, commits=[created.commit])
    initial_partitions = partitions(rows, table.partition_by, table.initial.rows_per_file)
    statistics = InitialStatistics(rows, table.partition_by, indexed_by(table.configuration()))
    ids = FileIds(_numbers(new_id, sum(partition.file_count for partition in initial_partitions)))
    files = InitialFiles(initial_partitions, statistics, rows, store, ids)
    store.data_files = DescribedDataFiles(files, store.data_files)
    if described and not supports(created.protocol, "rowTracking"):
        written = described_commit(1, created.next_info(dialect), files, store.epoch_ms)
        store.describe_commit(written)
        return InitialTable(1, initial_partitions, files.path, [created.commit, written.commit])
    written_out = created.with_files(tuple(files), store, dialect)
    return InitialTable(1, initial_partitions, files.path, [created.commit, written_out])


def create_table_of(
    table: TableSection,
    rows: ScenarioRows,
    store: FakeStore,
    new_id: MakeId,
    dialect: Dialect,
    lines: Sequence[AddFile],
) -> InitialTable:
    """The same of files whose lines in the log are given; the store has what they hold."""
    created = _created(table, rows, store, new_id, dialect)
    if not lines:
        return InitialTable(0, commits=[created.commit])
    return InitialTable(1, commits=[created.commit, created.with_files(lines, store, dialect)])


@dataclass(frozen=True, slots=True)
class _Created:
    """The table without files: version 0, and what decides what the next one is like."""

    commit: Commit
    metadata: Metadata
    protocol: Protocol
    now_ms: int

    def next_info(self, dialect: Dialect) -> CommitInfo:
        """What the next commit says of itself."""
        info = _commit_info(self.now_ms, "WRITE", {"mode": "Append"}, 0, dialect)
        return _stamped(info, self.metadata)

    def with_files(self, adds: Sequence[AddFile], store: FakeStore, dialect: Dialect) -> Commit:
        """Version 1, which adds files."""
        actions = [self.next_info(dialect), *_with_row_ids(adds, self.protocol)]
        return _commit(store, 1, actions)


def _created(
    table: TableSection, rows: ScenarioRows, store: FakeStore, new_id: MakeId, dialect: Dialect
) -> _Created:
    now_ms = store.epoch_ms
    metadata, protocol = _metadata(table, rows, now_ms, new_id, dialect)
    info = _stamped(_commit_info(now_ms, "CREATE TABLE", {}, None, dialect), metadata)
    commit = _commit(store, 0, [info, metadata, protocol, *_clustering(table)])
    return _Created(commit, metadata, protocol, now_ms)


def _numbers(new_id: MakeId, count: int) -> Words:
    """So many new ids as numbers, each in two halves."""
    if isinstance(new_id, DrawnIds):
        return new_id.numbers(count)
    ids = (UUID(new_id()).int for _ in range(count))
    halves = [(number >> 64, number & (1 << 64) - 1) for number in ids]
    return np.array(halves, np.uint64)


def _metadata(
    table: TableSection, rows: ScenarioRows, now_ms: int, new_id: MakeId, dialect: Dialect
) -> tuple[Metadata, Protocol]:
    """What the table is, and the protocol that it needs.

    Under column mapping its columns keep their names in the files, as where it came later.
    """
    properties = table.configuration()
    wanted = Metadata(
        id=new_id(),
        format=Format("parquet", {}),
        schema_string=schema_string(rows.schema),
        partition_columns=list(table.partition_by),
        configuration=with_clustering(properties, dialect) if table.cluster_by else properties,
        created_time=now_ms,
    )
    protocol = protocol_of_new_table(wanted)
    return as_stored(wanted, protocol, wanted, wanted.id or ""), protocol


def _with_row_ids(adds: Sequence[AddFile], protocol: Protocol) -> Sequence[AnyAction]:
    """The first files of the table, numbered if its rows are tracked."""
    if not supports(protocol, "rowTracking"):
        return adds
    return assign_fresh(adds, NO_WATERMARK, commit_version=1)


def _stamped(commit_info: CommitInfo, metadata: Metadata) -> CommitInfo:
    """With a timestamp of its own, where the table's commits have one; each is later."""
    if not in_commit_timestamp.enabled(metadata):
        return commit_info
    later = 0 if commit_info.read_version is None else commit_info.read_version + 1
    return replace(commit_info, in_commit_timestamp=(commit_info.timestamp or 0) + later)


def _clustering(table: TableSection) -> list[DomainMetadata]:
    """What the log says of a clustered table. Source: ClusteringMetadataDomain.scala."""
    if not table.cluster_by:
        return []
    columns = [[name] for name in table.cluster_by]
    content = {"clusteringColumns": columns, "domainName": CLUSTERING_DOMAIN}
    return [DomainMetadata(CLUSTERING_DOMAIN, json.dumps(content), removed=False)]


def _commit_info(
    now_ms: int,
    operation: str,
    parameters: dict[str, Any],
    read_version: int | None,
    dialect: Dialect,
) -> CommitInfo:
    return CommitInfo(
        timestamp=now_ms,
        operation=operation,
        operation_parameters=parameters,
        read_version=read_version,
        isolation_level="Serializable",
        is_blind_append=True,
        engine_info=dialect.engine_info,
    )


def _commit(store: FakeStore, version: int, actions: Sequence[AnyAction]) -> Commit:
    store.answer(PutIfAbsent(log_key(version), encode_commit(actions)))
    return commit_of(version, actions, store.epoch_ms)
