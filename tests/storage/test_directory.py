"""The directory driver: atomic between processes, and whole files only."""

import multiprocessing
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from whitecap.engine.storage.disk.directory import DirectoryStore
from whitecap.engine.storage.requests import (
    Body,
    Entry,
    Get,
    Gone,
    ListFrom,
    Missing,
    NewId,
    Put,
    PutIfAbsent,
    PutResult,
    ReadClock,
    ReadRows,
    RowsOf,
    WriteRows,
)


def take_versions(path: Path, writer: int) -> list[int]:
    store = DirectoryStore(path)
    body = str(writer).encode() * 10_000
    answers = {v: store.answer(PutIfAbsent(f"_delta_log/{v}", body)) for v in range(40)}
    return [version for version, answer in answers.items() if answer is PutResult.CREATED]


def test_each_key_is_created_by_exactly_one_of_several_processes(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        taken = pool.starmap(take_versions, [(tmp_path, writer) for writer in range(3)])
    assert sorted(version for versions in taken for version in versions) == list(range(40))
    for writer, versions in enumerate(taken):
        for version in versions:
            body = (tmp_path / "_delta_log" / str(version)).read_bytes()
            assert body == str(writer).encode() * 10_000
    assert len(list((tmp_path / "_delta_log").iterdir())) == 40


def test_a_put_replaces_and_a_listing_shows_it(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    assert store.answer(Put("d/b", b"1")) is PutResult.CREATED
    store.answer(Put("d/b", b"22"))
    store.answer(Put("d/a", b""))
    (tmp_path / "d" / ".hidden").write_bytes(b"")
    (tmp_path / "d" / "directory").mkdir()
    (entry,) = store.answer(ListFrom("d/b")).entries  # type: ignore[union-attr]
    assert isinstance(entry, Entry)
    assert (entry.key, entry.size_bytes) == ("d/b", 2)
    assert store.answer(Get("d/b")) == Body(b"22")
    assert store.answer(Get("d/c")) == Missing()
    assert store.answer(ListFrom("nowhere/a")).entries == ()  # type: ignore[union-attr]


def test_the_clock_and_the_ids_are_the_machines_unless_given(tmp_path: Path) -> None:
    given = DirectoryStore(tmp_path, clock=lambda: 5, ids=iter(["one"]))
    assert (given.answer(ReadClock()), given.answer(NewId())) == (5, "one")
    machine = DirectoryStore(tmp_path)
    assert machine.answer(NewId()) != machine.answer(NewId())
    assert int(machine.answer(ReadClock())) > 1_700_000_000_000  # type: ignore[arg-type]


VALUES: list[tuple[str, Any]] = [
    ("tinyint", 1),
    ("smallint", -2),
    ("int", 3),
    ("bigint", 2**40),
    ("float", 0.5),
    ("double", 1e300),
    ("string", "é"),
    ("boolean", True),
    ("binary", b"\x00"),
    ("date", date(2026, 1, 2)),
    ("timestamp", datetime(2026, 1, 2, 3, 4, 5, 6, UTC)),
    ("timestamp_ntz", datetime(2026, 1, 2, 3, 4, 5, 6)),
    ("decimal(20,2)", Decimal("123.45")),
    ("array<int>", [1, None]),
    ("struct<a:int,b:string>", {"a": 1, "b": "x"}),
    ("map<string,int>", [("a", 1)]),
]


@pytest.mark.parametrize(("kind", "value"), VALUES)
def test_values_of_every_type_survive_a_data_file(tmp_path: Path, kind: str, value: Any) -> None:
    store = DirectoryStore(tmp_path)
    store.answer(WriteRows("f.parquet", [(value,), (None,)], ("c",), (kind,), ()))
    answer = store.answer(ReadRows(("f.parquet",), ("c",), (kind,)))
    assert answer == RowsOf(([(value,), (None,)],))


def test_partition_columns_come_from_the_partition_values(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    columns, types = ("day", "v", "later"), ("date", "bigint", "string")
    store.answer(WriteRows("f.parquet", [(date(2026, 1, 2), 7)], columns[:2], types[:2], ("DAY",)))
    read = ReadRows(("f.parquet",) * 2, columns, types, ({"day": "2026-01-02"}, {"day": None}))
    assert store.answer(read) == RowsOf(([(date(2026, 1, 2), 7, None)], [(None, 7, None)]))
    assert store.answer(ReadRows(("f.parquet",))) == RowsOf(([(7,)],))


def test_the_same_rows_are_the_same_bytes(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    for key in ("a", "b"):
        store.answer(WriteRows(key, [(1,)], ("v",), ("int",), ()))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_missing_data_file_is_told_as_gone(tmp_path: Path) -> None:
    answer = DirectoryStore(tmp_path).answer(ReadRows(("f.parquet",)))
    assert answer == Gone("f.parquet")
