"""The table before the writers start: version 0 creates it, version 1 writes its rows.

The log is encoded as Delta encodes it and put into the fake store like any other commit; rows are
kept as a way to make them. File order, paths and statistics follow from the scenario alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

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
from whitecap.engine.log.commit_file import encode_commit, log_key
from whitecap.engine.log.features import protocol_of_new_table, supports
from whitecap.engine.log.paths import log_path, partition_directory
from whitecap.engine.log.schema import schema_string
from whitecap.engine.log.statistics import collect_statistics, indexed_by, statistics_text
from whitecap.engine.storage.requests import PutIfAbsent, WriteRows
from whitecap.engine.transaction.new_metadata import as_stored
from whitecap.engine.values.texts import to_text
from whitecap.sim.scenario.table import Table
from whitecap.sim.store.objects import FakeStore
from whitecap.sim.table.rows import FileRows, TableRows

Ids = Callable[[], str]


@dataclass(frozen=True, slots=True)
class InitialFile:
    """The keys of one data file of the initial table, and its partition."""

    partition: dict[str, str]
    keys: Sequence[int]


def create_table(
    table: Table, rows: TableRows, store: FakeStore, new_id: Ids, dialect: Dialect
) -> int:
    """Put the initial table into the store. Returns its version: 0, 1, or -1 if there is none."""
    if not table.exists:
        return -1
    metadata, protocol = _metadata(table, rows, store.epoch_ms, new_id, dialect)
    told = _commit_info(store.epoch_ms, "CREATE TABLE", {}, None, dialect)
    told = _stamped(told, metadata)
    _commit(store, 0, [told, metadata, protocol, *_clustering(table)])
    if not table.initial.rows:
        return 0
    adds = [_write(file, table, rows, store, new_id) for file in initial_files(table, rows)]
    told = _commit_info(store.epoch_ms, "WRITE", {"mode": "Append"}, 0, dialect)
    _commit(store, 1, [_stamped(told, metadata), *_with_row_ids(adds, protocol)])
    return 1


def initial_files(table: Table, rows: TableRows) -> Iterator[InitialFile]:
    """The files of the initial rows: those of each partition in key order, cut to size."""
    names = table.partition_by
    count, size = table.initial.rows, table.initial.rows_per_file
    for partition, keys in _by_partition(names, count, rows):
        for begin in range(0, len(keys), size):
            yield InitialFile(partition, keys[begin : begin + size].tolist())


def _by_partition(
    names: list[str], count: int, rows: TableRows
) -> Iterator[tuple[dict[str, str], Any]]:
    if not names:
        yield {}, np.arange(count)
        return
    places = [[d.name for d in rows.dimensions].index(name) for name in names]
    keys: dict[tuple[Any, ...], list[int]] = {}
    for key in range(count):
        slice_ = rows.initial.slice_of(key)
        keys.setdefault(tuple(slice_[place] for place in places), []).append(key)
    for values in sorted(keys):
        yield dict(zip(names, map(to_text, values), strict=True)), np.array(keys[values])


def _write(
    file: InitialFile, table: Table, rows: TableRows, store: FakeStore, new_id: Ids
) -> AddFile:
    made = FileRows(file.keys, rows.initial.slice_of, rows.maker)
    key = f"{partition_directory(file.partition)}part-00000-{new_id()}-c000.snappy.parquet"
    columns = tuple(table.partition_by)
    indexed = indexed_by(table.configuration())
    statistics = collect_statistics(list(made), rows.schema, columns, indexed)
    request = WriteRows(key, made, rows.schema.names, rows.schema.types, columns)
    return AddFile(
        path=log_path(key),
        partition_values=dict(file.partition),
        size=store.write_rows(request),
        modification_time=store.epoch_ms,
        data_change=True,
        stats=statistics_text(statistics),
    )


def _metadata(
    table: Table, rows: TableRows, now_ms: int, new_id: Ids, dialect: Dialect
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


def _stamped(told: CommitInfo, metadata: Metadata) -> CommitInfo:
    """With a timestamp of its own, where the table's commits have one; each is later."""
    if not in_commit_timestamp.enabled(metadata):
        return told
    later = 0 if told.read_version is None else told.read_version + 1
    return replace(told, in_commit_timestamp=(told.timestamp or 0) + later)


def _clustering(table: Table) -> list[DomainMetadata]:
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


def _commit(store: FakeStore, version: int, actions: Sequence[AnyAction]) -> None:
    store.answer(PutIfAbsent(log_key(version), encode_commit(actions)))
