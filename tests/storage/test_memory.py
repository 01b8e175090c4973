"""The memory driver: put-if-absent, listings, and a clock that repeats itself."""

from whitecap.engine.storage.memory import FIRST_INSTANT_MS, MemoryStore, counting_clock, run
from whitecap.engine.storage.requests import (
    Body,
    Get,
    ListFrom,
    Missing,
    NewId,
    PutIfAbsent,
    PutResult,
    ReadClock,
    ReadRows,
    RowsOf,
    Steps,
    WriteRows,
)


def test_put_if_absent_creates_once() -> None:
    store = MemoryStore()
    assert store.answer(PutIfAbsent("d/k", b"1")) is PutResult.CREATED
    assert store.answer(PutIfAbsent("d/k", b"2")) is PutResult.ALREADY_EXISTS
    assert store.answer(Get("d/k")) == Body(b"1")
    assert store.answer(Get("d/other")) == Missing()


def test_a_listing_starts_at_its_key_and_stays_in_its_directory() -> None:
    store = MemoryStore()
    for key in ("a/3", "a/1", "b/2", "a/2", "a/sub/1"):
        store.put(key, b"xy")
    listing = store.list_from("a/2")
    assert [(entry.key, entry.size_bytes) for entry in listing.entries] == [("a/2", 2), ("a/3", 2)]


def test_rows_are_read_back_in_order_of_the_keys() -> None:
    store = MemoryStore()
    for key, rows in (("one", [(1,)]), ("two", [(2,), (3,)])):
        store.answer(WriteRows(key, rows, ("x",), ("int",), ()))
    assert store.answer(ReadRows(("two", "one"))) == RowsOf(([(2,), (3,)], [(1,)]))


def test_two_fresh_stores_tell_the_same_times_and_ids() -> None:
    def ask() -> Steps[tuple[int, str, str]]:
        return (yield ReadClock()), (yield NewId()), (yield NewId())

    first = run(ask(), MemoryStore())
    assert first == run(ask(), MemoryStore())
    assert first[0] == FIRST_INSTANT_MS
    assert first[1] != first[2]


def test_a_listing_of_an_unknown_directory_is_empty() -> None:
    assert MemoryStore().answer(ListFrom("nowhere/x")) == MemoryStore().list_from("nowhere/x")
    assert MemoryStore().list_from("nowhere/x").entries == ()


def test_a_copy_of_a_store_has_a_history_of_its_own() -> None:
    store = MemoryStore()
    store.put("log/1", b"one")
    copy = store.copy(counting_clock())
    copy.put("log/2", b"two")
    copy.delete("log/1")
    assert store.keys == ("log/1",)
    assert copy.keys == ("log/2",)
