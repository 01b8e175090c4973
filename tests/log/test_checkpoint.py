"""Checkpoints: the state read back is the state that was written, in every form Delta knows."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.log.log_samples import add, histories, remove, replayed, state, store_of, table
from whitecap.engine.errors import InvalidLog
from whitecap.engine.log.actions import AnyAction, CommitInfo, Protocol, SetTransaction
from whitecap.engine.log.checkpoints.checkpoint import (
    LAST_CHECKPOINT_KEY,
    checkpoint_actions,
    checkpoint_key,
    is_due,
    write_checkpoint,
)
from whitecap.engine.log.checkpoints.parquet import encode_actions
from whitecap.engine.log.clients.commit_cache import CommitCache
from whitecap.engine.log.clients.stored_log import StoredLog
from whitecap.engine.log.clients.table_log import TableLog
from whitecap.engine.log.commit_file import commit_of, encode_commit, log_key
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.storage.memory import MemoryStore, run

DAY_MS = 86_400_000
PROTOCOL = Protocol(1, 2)


def loaded(store: MemoryStore) -> Snapshot:
    return run(StoredLog().update(), store)


@given(histories(), st.data())
def test_a_checkpoint_and_the_commits_after_it_are_the_whole_replay(
    history: list[list[AnyAction]], data: st.DataObject
) -> None:
    store = store_of(*history)
    at = data.draw(st.integers(0, len(history) - 1))
    run(write_checkpoint(replayed(*history[: at + 1])), store)
    for version in range(at):
        store.delete(log_key(version))
    assert state(loaded(store)) == state(replayed(*history))


@given(histories())
def test_commits_survive_the_store(history: list[list[AnyAction]]) -> None:
    assert state(loaded(store_of(*history))) == state(replayed(*history))


HISTORY: list[list[AnyAction]] = [
    [CommitInfo(timestamp=5), PROTOCOL, table("x"), SetTransaction("app", 3)],
    [CommitInfo(timestamp=6), add("a", x="1"), add("b", "v", x=None)],
]


def test_a_checkpoint_of_several_parts_is_read_when_all_are_there() -> None:
    store, actions = store_of(*HISTORY), checkpoint_actions(replayed(*HISTORY))
    store.delete(log_key(0))
    stem = "_delta_log/00000000000000000001.checkpoint"
    for part, some in ((1, actions[:2]), (2, actions[2:])):
        with pytest.raises(InvalidLog, match="is missing"):
            loaded(store)
        store.put(f"{stem}.{part:010d}.0000000002.parquet", encode_actions(some))
    assert state(loaded(store)) == state(replayed(*HISTORY))


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_a_v2_checkpoint_finds_its_file_actions_in_sidecars(form: str) -> None:
    store, snapshot = store_of(*HISTORY), replayed(*HISTORY)
    store.delete(log_key(0))
    actions = checkpoint_actions(snapshot)
    store.put("_delta_log/_sidecars/s1.parquet", encode_actions(actions[3:]))
    stem = "_delta_log/00000000000000000001.checkpoint.3a0d65cd-4056-49b8-937b-95f9e3ee90e5"
    sidecar = {"path": "s1.parquet", "sizeInBytes": 1, "modificationTime": 1}
    if form == "json":
        top = b'{"checkpointMetadata":{"version":1}}\n' + encode_commit(actions[:3])
        body = top + msgspec.json.encode({"sidecar": sidecar})
    else:
        body = parquet_with_sidecar(encode_actions(actions[:3], v2_version=1), sidecar)
    store.put(f"{stem}.{form}", body)
    assert state(loaded(store)) == state(snapshot)


def parquet_with_sidecar(body: bytes, sidecar: dict[str, object]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    extra = pa.table({"sidecar": [sidecar]})
    table = pa.concat_tables(
        [pq.read_table(pa.BufferReader(body)), extra], promote_options="default"
    )
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return bytes(sink.getvalue())


def test_statistics_kept_as_a_struct_only_become_text_again() -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    parsed = {"numRecords": 2, "minValues": {"v": 1}, "maxValues": {"v": 9}, "nullCount": {"v": 0}}
    fields = {"path": "a", "size": 1, "modificationTime": 1, "dataChange": False}
    rows = pa.table({"add": [{**fields, "stats_parsed": parsed}]})
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink)
    store = MemoryStore()
    store.put(checkpoint_key(0), bytes(sink.getvalue()))
    (file,) = loaded(store).all_files()
    assert file.stats is not None
    assert msgspec.json.decode(file.stats) == parsed


@pytest.mark.parametrize("pointer", [b"nonsense", b'{"version":7}', b'{"version":0}'])
def test_a_wrong_pointer_to_the_last_checkpoint_is_no_harm(pointer: bytes) -> None:
    store = store_of(*HISTORY)
    store.put(LAST_CHECKPOINT_KEY, pointer)
    assert state(loaded(store)) == state(replayed(*HISTORY))


def test_a_damaged_checkpoint_is_refused_by_name() -> None:
    store = store_of(*HISTORY)
    store.put(checkpoint_key(1), b"PAR1 not really")
    with pytest.raises(InvalidLog, match=r"0001\.checkpoint\.parquet: cannot be read"):
        loaded(store)


def test_the_pointer_saves_listing_and_reading_the_old_commits() -> None:
    store = store_of(*HISTORY, [add("c", x="1")])
    run(write_checkpoint(replayed(*HISTORY)), store)
    store.put(log_key(0), b"would be refused")
    assert loaded(store).num_files == 3


def test_clients_that_share_a_cache_share_what_follows_a_checkpoint() -> None:
    store, cache = store_of(*HISTORY, [add("c", x="1")]), CommitCache()
    run(write_checkpoint(replayed(*HISTORY)), store)
    assert run(StoredLog(cache).update(), store) is run(StoredLog(cache).update(), store)


@pytest.mark.parametrize(("version", "due"), [(0, False), (2, False), (3, True), (6, True)])
def test_a_checkpoint_is_due_every_interval_but_not_at_first(version: int, due: bool) -> None:
    first: list[AnyAction] = [PROTOCOL, table(checkpointInterval="3")]
    store, log = store_of(first, *([] for _ in range(version))), StoredLog()
    snapshot = run(log.update(), store)
    assert is_due(version, snapshot.configuration) is due
    run(log.after_commit(version), store)
    assert (checkpoint_key(version) in store.keys) is due
    assert (LAST_CHECKPOINT_KEY in store.keys) is due


def test_a_checkpoint_is_the_same_bytes_every_time() -> None:
    def written() -> bytes:
        store = MemoryStore()
        run(write_checkpoint(replayed(*HISTORY)), store)
        return store.body(checkpoint_key(1))

    assert written() == written()


def test_a_kind_of_action_that_is_not_there_is_a_column_of_nulls() -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def read_back(*actions: AnyAction) -> pa.Table:
        return pq.read_table(pa.BufferReader(encode_actions(actions)))

    alone, both = read_back(PROTOCOL), read_back(PROTOCOL, add("a"))
    assert alone.schema == both.schema
    assert alone.column("add").to_pylist() == [None]


def test_removed_files_are_kept_for_the_retention_of_the_table_only() -> None:
    now = 20 * DAY_MS
    removes = [remove("old", at=now - 8 * DAY_MS), remove("new", at=now - 6 * DAY_MS)]
    snapshot = replayed([CommitInfo(timestamp=now), PROTOCOL, table(), *removes])
    kept = checkpoint_actions(snapshot)[2:]
    assert [getattr(action, "path", None) for action in kept] == ["new"]


def test_the_instant_of_a_checkpointed_version_comes_from_its_commit() -> None:
    store = store_of(*HISTORY)
    run(write_checkpoint(replayed(*HISTORY)), store)
    assert loaded(store).timestamp_ms == 6
    store.delete(log_key(1))
    assert loaded(store).timestamp_ms == 0


def test_a_v2_checkpoint_policy_is_followed() -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    protocol = Protocol(3, 7, ["v2Checkpoint"], ["v2Checkpoint"])
    snapshot = replayed([protocol, table(checkpointPolicy="v2")])
    store = MemoryStore()
    run(write_checkpoint(snapshot), store)
    checkpoint = pq.read_table(pa.BufferReader(store.body(checkpoint_key(0))))
    marks = checkpoint.column("checkpointMetadata").drop_null().to_pylist()
    assert marks == [{"version": 0, "tags": None}]
    assert state(loaded(store))["metadata"] == snapshot.metadata


def test_a_checkpointed_snapshot_goes_on() -> None:
    store = MemoryStore()
    run(write_checkpoint(replayed(*HISTORY)), store)
    after = loaded(store).apply(commit_of(2, [remove("a")]))
    assert [file.path for file in after.all_files()] == ["b"]


def put_and_follow(store: MemoryStore, log: TableLog, version: int) -> None:
    store.put(log_key(version), encode_commit([add(f"f{version}", x="1")]))
    run(log.after_commit(version), store)


def test_a_client_writes_a_checkpoint_of_exactly_the_version_that_it_committed() -> None:
    store, log = store_of(*HISTORY), StoredLog()
    run(log.update(), store)
    for version in range(2, 10):
        put_and_follow(store, log, version)
    assert LAST_CHECKPOINT_KEY not in store.keys
    store.put(log_key(11), encode_commit([]))
    put_and_follow(store, log, 10)
    assert checkpoint_key(10) in store.keys
    for version in range(11):
        store.delete(log_key(version))
    assert loaded(store).num_files == 11


def test_the_pointer_counts_the_actions_of_its_checkpoint() -> None:
    store = store_of(*HISTORY)
    snapshot = replayed(*HISTORY, [CommitInfo(timestamp=6), remove("a", at=5)])
    run(write_checkpoint(snapshot), store)
    pointer = msgspec.json.decode(store.body(LAST_CHECKPOINT_KEY))
    assert pointer["size"] == len(checkpoint_actions(snapshot)) == 5
    assert pointer["numOfAddFiles"] == 1


def test_a_client_may_be_told_to_write_no_checkpoints() -> None:
    store, log = store_of(*HISTORY), StoredLog(encode=None)
    run(log.update(), store)
    for version in range(2, 11):
        put_and_follow(store, log, version)
    assert LAST_CHECKPOINT_KEY not in store.keys
