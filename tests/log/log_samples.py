"""Tables to test with: actions in short, histories drawn at random, and states to compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from whitecap.engine.log.actions import (
    AddFile,
    AnyAction,
    CommitInfo,
    DeletionVector,
    DomainMetadata,
    Format,
    Metadata,
    Protocol,
    RemoveFile,
    SetTransaction,
)
from whitecap.engine.log.commit_file import commit_of, encode_commit, log_key
from whitecap.engine.log.schema import parse_ddl, schema_string
from whitecap.engine.log.snapshot import EMPTY_SNAPSHOT, Snapshot
from whitecap.engine.storage.memory import MemoryStore

DDL = "x INT, v BIGINT"


def table(*columns: str, ddl: str = DDL, **configuration: str) -> Metadata:
    """A table's metadata; keywords are properties, `__` stands for a dot."""
    settings = {f"delta.{key.replace('__', '.')}": value for key, value in configuration.items()}
    schema = schema_string(parse_ddl(ddl))
    return Metadata("id", Format("parquet", {}), list(columns), settings, schema)


def vector(name: str) -> DeletionVector:
    """A deletion vector that nobody will read."""
    return DeletionVector("u", name, 1, 34, 1)


def add(path: str, dv: str | None = None, size: int = 10, **values: str | None) -> AddFile:
    """An added file; keywords are partition values."""
    return AddFile(
        path=path,
        partition_values=dict(values),
        size=size,
        modification_time=1,
        data_change=True,
        deletion_vector=None if dv is None else vector(dv),
        stats=None if dv is None else '{"numRecords":5}',
    )


def remove(path: str, dv: str | None = None, at: int = 1) -> RemoveFile:
    """A removed file."""
    return RemoveFile(
        path, True, deletion_timestamp=at, deletion_vector=None if dv is None else vector(dv)
    )


def store_of(*commits: Sequence[AnyAction]) -> MemoryStore:
    """A memory store with these commits, from version 0 on."""
    store = MemoryStore()
    for version, actions in enumerate(commits):
        store.put(log_key(version), encode_commit(actions))
    return store


def replayed(*commits: Sequence[AnyAction]) -> Snapshot:
    """The table after these commits, without a store."""
    snapshot = EMPTY_SNAPSHOT
    for version, actions in enumerate(commits):
        snapshot = snapshot.apply(commit_of(version, actions))
    return snapshot


def state(snapshot: Snapshot) -> dict[str, Any]:
    """Everything of a snapshot that two equal tables have in common."""
    files = [replace(file, data_change=False) for file in snapshot.all_files()]
    return {
        "version": snapshot.version,
        "timestamp_ms": snapshot.timestamp_ms,
        "protocol": snapshot.protocol,
        "metadata": snapshot.metadata,
        "files": files,
        "size_bytes": snapshot.size_bytes,
        "partitions": {key: len(snapshot.files_in(key)) for key in snapshot.partitions},
        "transactions": snapshot.set_transactions,
        "domains": dict(snapshot.domains),
        "row_ids": snapshot.row_id_high_watermark,
    }


@st.composite
def histories(draw: st.DrawFn) -> list[list[AnyAction]]:
    """Valid histories: every removed file was live, every added one was not."""
    live: dict[str, str | None] = {}
    protocol = Protocol(3, 7, ["deletionVectors"], ["deletionVectors", "domainMetadata"])
    first: list[AnyAction] = [CommitInfo(timestamp=100), protocol, table("x")]
    commits = [first]
    for version in range(1, draw(st.integers(2, 8))):
        actions: list[AnyAction] = [CommitInfo(timestamp=100 + version)]
        for number in range(draw(st.integers(0, 4))):
            actions += draw(_changes(live, f"f{version}-{number}"))
        commits.append(actions)
    return commits


@st.composite
def _changes(draw: st.DrawFn, live: dict[str, str | None], name: str) -> list[AnyAction]:
    """One thing that a transaction may do: add, remove, delete rows of, or something else."""
    version, number = name.split("-")
    old = sorted(path for path in live if not path.startswith(f"{version}-"))
    match draw(st.sampled_from(["add", "remove", "delete rows", "application", "domain"])):
        case "remove" if old:
            path = draw(st.sampled_from(old))
            return [remove(path, live.pop(path), at=10**15)]
        case "delete rows" if old:
            path = draw(st.sampled_from(old))
            before = live.pop(path)
            # Not live for the rest of the commit: a file changes at most once in it.
            return [remove(path, before, at=10**15), add(path, name, x="1")]
        case "application":
            return [SetTransaction(f"app{number}", draw(st.integers(0, 9)))]
        case "domain":
            return [DomainMetadata(f"d{number}", f'{{"n":"{name}"}}', draw(st.booleans()))]
        case _:
            live[name] = None
            return [add(name, x=draw(st.sampled_from(["1", "2", None])))]
