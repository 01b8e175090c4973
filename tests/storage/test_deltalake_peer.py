"""Tables on disk, shared with another implementation: `deltalake` opens ours, we go on with its."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest

from tests.collected_statistics import collect_statistics
from tests.inline_vectors import inline_vector
from whitecap.engine.log.actions import (
    AddFile,
    AnyAction,
    CommitInfo,
    Format,
    Metadata,
    RemoveFile,
    SetTransaction,
)
from whitecap.engine.log.checkpoints.checkpoint import checkpoint_key, write_checkpoint
from whitecap.engine.log.clients.stored_log import StoredLog
from whitecap.engine.log.commit_file import encode_commit, log_key
from whitecap.engine.log.features.protocols import protocol_of_new_table
from whitecap.engine.log.schema import Schema, parse_ddl, schema_string
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.log.statistics import parse_statistics, statistics_text
from whitecap.engine.log.vectors.deletion_vectors import read_vector, write_vectors
from whitecap.engine.storage.disk.directory import DirectoryStore
from whitecap.engine.storage.memory import run
from whitecap.engine.storage.paths import data_key, log_path, partition_directory
from whitecap.engine.storage.requests import PutIfAbsent, PutResult, ReadRows, Row, WriteRows

SCHEMA = parse_ddl("at TIMESTAMP, name STRING, v BIGINT")
NOW = 1_700_000_000_000


def metadata(schema: Schema = SCHEMA, *partitions: str, **configuration: str) -> Metadata:
    settings = {f"delta.{key}": value for key, value in configuration.items()}
    parquet = Format("parquet", {})
    text = schema_string(schema)
    return Metadata(
        "5fba94ed-9794-4965-ba6e-6ee3c0d22af9", parquet, list(partitions), settings, text
    )


def write_file(
    store: DirectoryStore, name: str, rows: list[Row], schema: Schema, **values: str | None
) -> AddFile:
    key = partition_directory(values) + name
    partitions = tuple(values)
    written: Any = store.answer(WriteRows(key, rows, schema.names, schema.types, partitions))
    return AddFile(
        path=log_path(key),
        partition_values=dict(values),
        size=written.size_bytes,
        modification_time=NOW,
        data_change=True,
        stats=statistics_text(collect_statistics(rows, schema, partitions)),
    )


def commit(store: DirectoryStore, version: int, *actions: AnyAction) -> None:
    info = CommitInfo(timestamp=NOW + version, operation="WRITE", operation_parameters={})
    body = encode_commit([info, *actions])
    assert store.answer(PutIfAbsent(log_key(version), body)) is PutResult.CREATED


def load(store: DirectoryStore) -> Snapshot:
    return run(StoredLog().update(), store)


def rows_of(store: DirectoryStore, snapshot: Snapshot) -> list[Row]:
    files = snapshot.all_files()
    read = ReadRows(
        tuple(data_key(file.path) for file in files),
        snapshot.schema.names,
        snapshot.schema.types,
        tuple(file.partition_values for file in files),
    )
    answer: Any = store.answer(read)
    return sorted(row for rows in answer.rows for row in rows)


def rows_of_peer(path: Path, columns: str = "*") -> list[tuple[Any, ...]]:
    query = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(path))
    table = pa.table(query.execute(f"select {columns} from t").read_all())
    return sorted(zip(*(column.to_pylist() for column in table.columns), strict=True))


TWO = parse_ddl("day STRING, v BIGINT")


def table_of_ours(path: Path) -> DirectoryStore:
    store = DirectoryStore(path)
    meta = metadata(TWO, "day")
    first = write_file(store, "a.parquet", [("1 %/ä", 1), ("1 %/ä", 2)], TWO, day="1 %/ä")
    second = write_file(store, "b.parquet", [(None, 3)], TWO, day=None)
    commit(store, 0, protocol_of_new_table(meta), meta)
    commit(store, 1, first, second)
    return store


OURS = [(1, "1 %/ä"), (2, "1 %/ä"), (3, None)]


def test_the_peer_opens_a_table_of_ours(tmp_path: Path) -> None:
    table_of_ours(tmp_path)
    peer = deltalake.DeltaTable(tmp_path)
    assert peer.version() == 1
    assert rows_of_peer(tmp_path, "v, day") == OURS


@pytest.mark.parametrize("checkpointed", [False, True])
def test_both_take_turns_on_one_table(tmp_path: Path, checkpointed: bool) -> None:
    store = DirectoryStore(tmp_path)
    schema = parse_ddl("k BIGINT, v STRING")
    meta = metadata(schema)
    commit(store, 0, protocol_of_new_table(meta), meta, SetTransaction("app", 7, NOW))
    commit(store, 1, write_file(store, "a.parquet", [(1, "ours")], schema))
    if checkpointed:
        run(write_checkpoint(load(store)), store)
        (tmp_path / log_key(0)).unlink()
    deltalake.write_deltalake(
        tmp_path, pa.table({"k": pa.array([2], pa.int64()), "v": ["theirs"]}), mode="append"
    )
    deltalake.DeltaTable(tmp_path).delete("k = 1")
    snapshot = load(store)
    assert snapshot.version == 3
    assert snapshot.set_transactions == {"app": 7}
    assert rows_of(store, snapshot) == [(2, "theirs")]
    commit(store, 4, write_file(store, "c.parquet", [(3, "ours")], schema))
    assert rows_of_peer(tmp_path) == [(2, "theirs"), (3, "ours")]


def test_a_checkpoint_of_the_peer_is_read(tmp_path: Path) -> None:
    store = table_of_ours(tmp_path)
    deltalake.DeltaTable(tmp_path).create_checkpoint()
    before = load(store)
    for version in (0, 1):
        (tmp_path / log_key(version)).unlink()
    assert (tmp_path / checkpoint_key(1)).exists()
    after = load(store)
    assert after.metadata == before.metadata
    assert after.protocol == before.protocol
    assert list(after.partitions) == list(before.partitions)
    for file, same in zip(after.all_files(), before.all_files(), strict=True):
        assert (file.path, file.size) == (same.path, same.size)
        assert parse_statistics(file.stats).num_records == parse_statistics(same.stats).num_records


def test_the_peer_reads_our_checkpoint_alone(tmp_path: Path) -> None:
    store = table_of_ours(tmp_path)
    run(write_checkpoint(load(store)), store)
    for version in (0, 1):
        (tmp_path / log_key(version)).unlink()
    assert rows_of_peer(tmp_path, "v, day") == OURS


@pytest.mark.parametrize("in_file", [False, True])
def test_the_peer_applies_our_deletion_vectors(tmp_path: Path, in_file: bool) -> None:
    store = DirectoryStore(tmp_path)
    schema = parse_ddl("v BIGINT")
    meta = metadata(schema, enableDeletionVectors="true")
    file = write_file(store, "a.parquet", [(v,) for v in range(10)], schema)
    deleted = [0, 3, 4, 9]
    vector = inline_vector(deleted)
    if in_file:
        _, vector = run(write_vectors([[1], deleted]), store)
    with_vector = AddFile(
        path=file.path, partition_values={}, size=file.size, modification_time=NOW,
        data_change=True, stats=file.stats, deletion_vector=vector,
    )  # fmt: skip
    commit(store, 0, protocol_of_new_table(meta), meta, file)
    commit(store, 1, RemoveFile(file.path, True, deletion_timestamp=NOW), with_vector)
    assert rows_of_peer(tmp_path) == [(v,) for v in (1, 2, 5, 6, 7, 8)]
    (live,) = load(store).all_files()
    assert live.deletion_vector is not None
    assert list(run(read_vector(live.deletion_vector), store)) == deleted


def test_a_table_of_the_peer_is_read_with_all_its_types(tmp_path: Path) -> None:
    instant = datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)
    values: dict[str, Any] = {
        "p": "a b/c", "d": date(2026, 1, 2), "t": instant, "n": Decimal("1.50"), "b": True,
    }  # fmt: skip
    rows = pa.table({name: [value] for name, value in values.items()})
    deltalake.write_deltalake(tmp_path, rows, partition_by=["p", "d"])
    store = DirectoryStore(tmp_path)
    snapshot = load(store)
    (row,) = rows_of(store, snapshot)
    assert dict(zip(snapshot.schema.names, row, strict=True)) == values
    assert snapshot.partition_schema.types == ("string", "date")
