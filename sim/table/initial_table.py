"""The table before the writers start: version 0 creates it, version 1 writes its rows.

The log is encoded as Delta encodes it and put into the fake store like any other commit; rows are
kept as a way to make them. File order, paths and statistics follow from the scenario alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import numpy as np
from msgspec import Struct
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
from whitecap.engine.log.features import feature_keys
from whitecap.engine.log.features.protocols import protocol_of_new_table, supports
from whitecap.engine.log.indexed_columns import indexed_by
from whitecap.engine.log.schema import schema_string
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


class InitialTable(Struct, frozen=True):
    """What there is at the start: the version (-1: no table), the files of its rows, the log.

    `path_of` a file follows from its number: partition by partition, in the order of keys.
    """

    version: int
    partitions: Sequence[InitialPartition] = ()
    path_of: Callable[[int], str] = _no_path
    commits: Sequence[Commit] = ()


class NewTable(Struct, frozen=True):
    """A table that is to be made: what the scenario says of it, its rows, and where it goes.

    `new_id` gives its id and those of its files; `dialect` is that of who makes it.
    """

    table: TableSection
    rows: ScenarioRows
    store: FakeStore
    new_id: MakeId
    dialect: Dialect


def create_table(new: NewTable) -> InitialTable:
    """Put the initial table into the store, with a log that lists its files."""
    return _begun(new, lambda created, files: created.with_files(tuple(files)))


def describe_table(new: NewTable) -> InitialTable:
    """The same; what the log says of its files is made when somebody reads it."""
    return _begun(new, lambda created, files: created.with_described(files))


def create_table_of(new: NewTable, lines: Sequence[AddFile]) -> InitialTable:
    """The same of files whose lines in the log are given; the store has what they hold."""
    created = _created(new)
    if not lines:
        return InitialTable(0, commits=[created.commit])
    return InitialTable(1, commits=[created.commit, created.with_files(lines)])


class _Created(Struct, frozen=True):
    """The table without files: version 0, and what decides what the next one is like."""

    new: NewTable
    commit: Commit
    metadata: Metadata
    protocol: Protocol

    def with_files(self, adds: Sequence[AddFile]) -> Commit:
        """Version 1, which adds files."""
        actions = [self._next_info(), *_with_row_ids(adds, self.protocol)]
        return _commit(self.new.store, 1, actions)

    def with_described(self, files: InitialFiles) -> Commit:
        """Version 1, which is written when somebody reads it.

        Where rows have ids it is written now: a file's first one follows from all files before it.
        """
        if supports(self.protocol, feature_keys.ROW_TRACKING):
            return self.with_files(tuple(files))
        store = self.new.store
        described = described_commit(1, self._next_info(), files, store.epoch_ms)
        store.describe_commit(described)
        return described.commit

    def _next_info(self) -> CommitInfo:
        """What the next commit says of itself."""
        return _stamped(_commit_info(self.new, "WRITE", {"mode": "Append"}, 0), self.metadata)


def _begun(new: NewTable, second: Callable[[_Created, InitialFiles], Commit]) -> InitialTable:
    """The table as it begins; `second` makes the commit that adds its rows, if it has any."""
    table, store = new.table, new.store
    if not table.exists:
        return InitialTable(-1)
    created = _created(new)
    if not table.initial.rows:
        return InitialTable(0, commits=[created.commit])
    parts = partitions(new.rows, table.partition_by, table.initial.rows_per_file)
    files = _files_of(new, parts)
    store.data_files = DescribedDataFiles(files, store.data_files)
    return InitialTable(1, parts, files.path, [created.commit, second(created, files)])


def _files_of(new: NewTable, parts: Sequence[InitialPartition]) -> InitialFiles:
    table = new.table
    statistics = InitialStatistics(new.rows, table.partition_by, indexed_by(table.configuration()))
    ids = FileIds(_numbers(new.new_id, sum(part.file_count for part in parts)))
    return InitialFiles(parts, statistics, new.rows, new.store, ids)


def _created(new: NewTable) -> _Created:
    metadata, protocol = _metadata(new)
    info = _stamped(_commit_info(new, "CREATE TABLE", {}, None), metadata)
    commit = _commit(new.store, 0, [info, metadata, protocol, *_clustering(new.table)])
    return _Created(new, commit, metadata, protocol)


def _numbers(new_id: MakeId, count: int) -> Words:
    """So many new ids as numbers, each in two halves."""
    if isinstance(new_id, DrawnIds):
        return new_id.numbers(count)
    ids = (UUID(new_id()).int for _ in range(count))
    halves = [(number >> 64, number & (1 << 64) - 1) for number in ids]
    return np.array(halves, np.uint64)


def _metadata(new: NewTable) -> tuple[Metadata, Protocol]:
    """What the table is, and the protocol that it needs.

    Under column mapping its columns keep their names in the files, as where it came later.
    """
    table, properties = new.table, new.table.configuration()
    wanted = Metadata(
        id=new.new_id(),
        format=Format("parquet", {}),
        schema_string=schema_string(new.rows.schema),
        partition_columns=list(table.partition_by),
        configuration=with_clustering(properties, new.dialect) if table.cluster_by else properties,
        created_time=new.store.epoch_ms,
    )
    protocol = protocol_of_new_table(wanted, new.dialect.preview_features)
    unique = wanted.id or ""
    return as_stored(wanted, protocol, wanted, unique, creates_table=True), protocol


def _with_row_ids(adds: Sequence[AddFile], protocol: Protocol) -> Sequence[AnyAction]:
    """The first files of the table, numbered if its rows are tracked."""
    if not supports(protocol, feature_keys.ROW_TRACKING):
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
    new: NewTable, operation: str, parameters: dict[str, Any], read_version: int | None
) -> CommitInfo:
    return CommitInfo(
        timestamp=new.store.epoch_ms,
        operation=operation,
        operation_parameters=parameters,
        read_version=read_version,
        isolation_level="Serializable",
        is_blind_append=True,
        engine_info=new.dialect.engine_info,
    )


def _commit(store: FakeStore, version: int, actions: Sequence[AnyAction]) -> Commit:
    store.answer(PutIfAbsent(log_key(version), encode_commit(actions)))
    return commit_of(version, actions, store.epoch_ms)
