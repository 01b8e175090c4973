"""A client's view of the log: what it reads, shares, and refuses."""

import pytest

from whitecap.engine.errors import InvalidLog
from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.clients.commit_cache import CommitCache
from whitecap.engine.log.clients.stored_log import StoredLog
from whitecap.engine.log.commit_file import encode_commit, log_key
from whitecap.engine.storage.memory import MemoryStore, run


def store_with(versions: int) -> MemoryStore:
    store = MemoryStore()
    for version in range(versions):
        put(store, version)
    return store


def put(store: MemoryStore, version: int) -> None:
    add = AddFile(path=f"f{version}", size=1, modification_time=1, data_change=True)
    store.put(log_key(version), encode_commit([add]))


def test_update_reads_only_what_is_new() -> None:
    store = store_with(3)
    log = StoredLog()
    assert run(log.update(), store).version == 2
    put(store, 3)
    assert [commit.version for commit in run(log.commits_after(2), store)] == [3]
    assert run(log.update(), store).num_files == 4


def test_no_log_is_the_empty_snapshot() -> None:
    assert run(StoredLog().update(), MemoryStore()).version == -1


def test_clients_that_share_a_cache_share_commits_and_snapshots() -> None:
    store, cache = store_with(3), CommitCache()
    first, second = run(StoredLog(cache).update(), store), run(StoredLog(cache).update(), store)
    assert first is second


def test_a_commit_that_is_replaced_is_read_again() -> None:
    store, cache = store_with(1), CommitCache()
    run(StoredLog(cache).update(), store)
    store.put(log_key(0), b"")
    assert run(StoredLog(cache).update(), store).num_files == 0


def test_who_reads_the_log_from_its_beginning_drives_no_newer_commit_from_the_cache() -> None:
    cache = CommitCache(kept_versions=2)
    for version in (3, 4, 0, 1, 2):
        cache.commit(version, b"", 0)
    assert [version for version in range(5) if cache.commit_at(version)] == [3, 4]


def test_a_gap_in_the_log_is_refused_and_named() -> None:
    store = store_with(3)
    store.delete(log_key(1))
    with pytest.raises(InvalidLog, match=r"0001\.json: is missing"):
        run(StoredLog().update(), store)
