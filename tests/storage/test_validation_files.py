"""Files that contradict the log are found: sizes, statistics, deletion vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.collected_statistics import collect_statistics
from tests.inline_vectors import inline_vector
from tests.oracles.data_files import validate_files
from whitecap.engine.errors import InvalidLog
from whitecap.engine.log.actions import AddFile, DeletionVector, Format, Metadata
from whitecap.engine.log.commit_file import commit_of
from whitecap.engine.log.features.protocols import protocol_of_new_table
from whitecap.engine.log.schema import parse_ddl, schema_string
from whitecap.engine.log.snapshot import EMPTY_SNAPSHOT, Snapshot
from whitecap.engine.log.statistics import statistics_text
from whitecap.engine.storage.disk.directory import DirectoryStore
from whitecap.engine.storage.memory import run
from whitecap.engine.storage.requests import WriteRows

SCHEMA = parse_ddl("day DATE, name STRING, v BIGINT")
ROWS = [(None, "a", 1), (None, "b" * 50, 2), (None, None, 3)]


def written(store: DirectoryStore) -> AddFile:
    request = WriteRows("day=x/f.parquet", ROWS, SCHEMA.names, SCHEMA.types, ("day",))
    answer: Any = store.answer(request)
    return AddFile(
        path="day=x/f.parquet",
        partition_values={"day": None},
        size=answer.size_bytes,
        modification_time=1,
        data_change=True,
        stats=statistics_text(collect_statistics(ROWS, SCHEMA, ["day"])),
    )


def table_of(file: AddFile) -> Snapshot:
    metadata = Metadata("id", Format("parquet", {}), ["day"], {}, schema_string(SCHEMA))
    protocol = protocol_of_new_table(metadata)
    return EMPTY_SNAPSHOT.apply(commit_of(0, [protocol, metadata, file]))


def test_a_true_log_has_no_problems(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    file = replace(written(store), deletion_vector=inline_vector([0, 2]))
    run(validate_files(table_of(file)), store)


def vector(cardinality: int, *positions: int) -> DeletionVector:
    return replace(inline_vector(positions), cardinality=cardinality)


@pytest.mark.parametrize(
    ("lie", "expected"),
    [
        ({"stats": "{"}, "Input data was truncated"),
        ({"size": 1}, "the log says 1"),
        ({"path": "day=x/other.parquet"}, "data file is missing"),
        ({"stats": '{"numRecords":4}'}, "has 3 rows, its statistics say 4"),
        ({"stats": '{"minValues":{"v":2},"maxValues":{"v":9}}'}, "values of 'v' outside"),
        ({"stats": '{"minValues":{"v":0},"maxValues":{"v":2}}'}, "values of 'v' outside"),
        ({"stats": '{"nullCount":{"name":0}}'}, "has 1 nulls of 'name', its statistics say 0"),
        ({"deletion_vector": vector(2, 1)}, "deletes 1 rows, the log says 2"),
        ({"deletion_vector": vector(1, 3)}, "deletes row 3 of 3"),
    ],
)
def test_a_lie_about_a_file_is_found(tmp_path: Path, lie: dict[str, Any], expected: str) -> None:
    store = DirectoryStore(tmp_path)
    file = replace(written(store), **lie)
    with pytest.raises(InvalidLog, match=expected):
        run(validate_files(table_of(file)), store)


def test_a_file_that_is_no_parquet_is_found(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    file = replace(written(store), size=4)
    (tmp_path / file.path).write_bytes(b"text")
    with pytest.raises(InvalidLog, match=r"f\.parquet: cannot be read"):
        run(validate_files(table_of(file)), store)
