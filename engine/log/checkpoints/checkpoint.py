"""Checkpoints: the whole state of a table at one version, so that its older commits need no replay.

Read in every form that Delta writes: one Parquet file, several numbered parts, and V2 (a JSON or
Parquet file that may name sidecars). Written as one Parquet file. Source: PROTOCOL.md
"Checkpoints", "Last Checkpoint File"; Checkpoints.scala.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar
from urllib.parse import unquote

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.errors import InvalidLog, Problem
from whitecap.engine.log import properties
from whitecap.engine.log.actions import AddFile, AnyAction, RemoveFile
from whitecap.engine.log.checkpoints.parquet import Sidecar, decode_actions, encode_actions
from whitecap.engine.log.commit_file import LOG_DIRECTORY, commit_of, decode_commit
from whitecap.engine.log.features import feature_keys
from whitecap.engine.log.features.protocols import supports
from whitecap.engine.log.file_keys import by_path
from whitecap.engine.log.snapshot import EMPTY_SNAPSHOT, Snapshot
from whitecap.engine.storage.requests import Body, Entry, Get, Put, Steps

F = TypeVar("F", AddFile, RemoveFile)

Encode = Callable[[Snapshot], bytes]
"""How a checkpoint's file is made."""

LAST_CHECKPOINT_KEY = f"{LOG_DIRECTORY}/_last_checkpoint"
SIDECAR_DIRECTORY = f"{LOG_DIRECTORY}/_sidecars"

_CHECKPOINT_KEY = re.compile(
    rf"{LOG_DIRECTORY}/(?P<version>\d{{20}})\.checkpoint"
    r"(?:\.(?P<part>\d{10})\.(?P<parts>\d{10})|\.(?P<uuid>[0-9a-fA-F-]{36}))?\.(?P<form>json|parquet)"
)


class LastCheckpoint(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The content of `_last_checkpoint`: where the newest checkpoint is, or was once."""

    version: int
    size: int = -1
    parts: int | None = None
    size_in_bytes: int | None = None
    num_of_add_files: int | None = None


class _SidecarLine(Struct):
    sidecar: Sidecar | None = None


class CheckpointFiles(Struct, frozen=True):
    """One whole checkpoint: its version and the keys of its parts, in order."""

    version: int
    keys: tuple[str, ...]


def last_checkpoint() -> Steps[int | None]:
    """The version that `_last_checkpoint` points at; `None` without a readable one.

    A broken pointer is no harm: the listing shows the checkpoints as well. Source:
    Checkpoints.scala `loadMetadataFromFile`.
    """
    answer = yield Get(LAST_CHECKPOINT_KEY)
    if not isinstance(answer, Body):
        return None
    try:
        return msgspec.json.decode(answer.content, type=LastCheckpoint).version
    except msgspec.DecodeError:
        return None


def newest_checkpoint(entries: Iterable[Entry]) -> CheckpointFiles | None:
    """The newest checkpoint of a listing that has all of its parts."""
    whole = [
        CheckpointFiles(version, keys)
        for (version, parts, _), keys in _instances(entries).items()
        if len(keys) == parts
    ]
    # Of two checkpoints of one version any will do; the one with the fewest parts is the cheapest.
    return max(whole, key=lambda files: (files.version, -len(files.keys)), default=None)


def read_checkpoint(files: CheckpointFiles) -> Steps[tuple[bytes, ...]]:
    """Fetch the parts of a checkpoint. Raises `InvalidLog` for one that is not there."""
    bodies: list[bytes] = []
    for key in files.keys:
        bodies += [(yield from _fetch(key))]
    return tuple(bodies)


def snapshot_of(files: CheckpointFiles, bodies: Sequence[bytes]) -> Steps[Snapshot]:
    """The table that a checkpoint holds, sidecars fetched. Raises `InvalidLog`.

    Its `timestamp_ms` is 0: a checkpoint does not say when its version was committed.
    """
    actions: list[AnyAction] = []
    for key, body in zip(files.keys, bodies, strict=True):
        part_actions, sidecars = _decode(body, key, files.version)
        actions += part_actions
        for sidecar in sidecars:
            actions += yield from _read_sidecar(sidecar)
    before = replace(EMPTY_SNAPSHOT, version=files.version - 1)
    return before.apply(commit_of(files.version, actions))


def encode_checkpoint(snapshot: Snapshot) -> bytes:
    """The Parquet file of a snapshot's checkpoint."""
    is_supported = supports(snapshot.protocol, feature_keys.V2_CHECKPOINT)
    v2 = is_supported and properties.makes_v2_checkpoints(snapshot.configuration)
    return encode_actions(checkpoint_actions(snapshot), snapshot.version if v2 else None)


def checkpoint_actions(snapshot: Snapshot) -> tuple[AnyAction, ...]:
    """Everything that a checkpoint keeps, in a stable order.

    File actions say `dataChange: false`; removed files are kept until VACUUM no longer needs them.
    Source: PROTOCOL.md "Action Reconciliation"; Snapshot.scala `stateReconstruction`.
    """
    return (
        *([snapshot.protocol] if snapshot.protocol else []),
        *([snapshot.metadata] if snapshot.metadata else []),
        *(snapshot.applications[app] for app in sorted(snapshot.applications)),
        *(snapshot.domains[domain] for domain in sorted(snapshot.domains)),
        *(_without_change(file) for file in snapshot.all_files()),
        *(_without_change(file) for file in _kept_tombstones(snapshot)),
    )


def is_due(version: int, configuration: Mapping[str, str]) -> bool:
    """Whether the commit of a version is followed by a checkpoint, every so many commits.

    Source: OptimisticTransaction.scala `isCheckpointNeeded`.
    """
    return version > 0 and version % properties.CHECKPOINT_INTERVAL.of(configuration) == 0


def checkpoint_key(version: int) -> str:
    """The storage key of a checkpoint in one Parquet file."""
    return f"{LOG_DIRECTORY}/{version:020d}.checkpoint.parquet"


def write_checkpoint(snapshot: Snapshot, encode: Encode = encode_checkpoint) -> Steps[None]:
    """Write a checkpoint and point `_last_checkpoint` at it.

    `encode` can stand in for the real encoding where nobody will read the file.
    """
    body = encode(snapshot)
    yield Put(checkpoint_key(snapshot.version), body)
    # As `checkpoint_actions` lists them: protocol and metadata are two.
    others = 2 + len(snapshot.applications) + len(snapshot.domains)
    size = snapshot.num_files + len(_kept_tombstones(snapshot)) + others
    pointer = LastCheckpoint(snapshot.version, size, None, len(body), snapshot.num_files)
    yield Put(LAST_CHECKPOINT_KEY, msgspec.json.encode(pointer))


def _instances(entries: Iterable[Entry]) -> dict[tuple[int, int, str], tuple[str, ...]]:
    """The checkpoint files of a listing by (version, number of parts, name of the instance)."""
    instances: defaultdict[tuple[int, int, str], tuple[str, ...]] = defaultdict(tuple)
    for entry in entries:
        match = _CHECKPOINT_KEY.fullmatch(entry.key)
        if match is None or (match["form"] == "json" and not match["uuid"]):
            continue
        instance = (match["uuid"] or "") + match["form"]
        instances[int(match["version"]), int(match["parts"] or 1), instance] += (entry.key,)
    return instances


def _decode(body: bytes, key: str, version: int) -> tuple[list[AnyAction], list[Sidecar]]:
    if not key.endswith(".json"):
        return decode_actions(body, key)
    try:
        lines = msgspec.json.Decoder(_SidecarLine).decode_lines(body)
        sidecars = [line.sidecar for line in lines if line.sidecar]
        return list(decode_commit(body, version, key=key).actions), sidecars
    except msgspec.DecodeError as error:
        raise InvalidLog([Problem(key, f"cannot be read: {error}")]) from error


def _read_sidecar(sidecar: Sidecar) -> Steps[list[AnyAction]]:
    name = unquote(sidecar.path)
    key = name if "/" in name else f"{SIDECAR_DIRECTORY}/{name}"
    return decode_actions((yield from _fetch(key)), key)[0]


def _fetch(key: str) -> Steps[bytes]:
    answer = yield Get(key)
    if isinstance(answer, Body):
        return answer.content
    raise InvalidLog([Problem(key, "is part of a checkpoint, but is not there")])


def _kept_tombstones(snapshot: Snapshot) -> list[RemoveFile]:
    retention_ms = properties.DELETED_FILE_RETENTION_MS.of(snapshot.configuration)
    oldest_ms = snapshot.timestamp_ms - retention_ms
    tombstones = snapshot.tombstones.values()
    kept = (file for file in tombstones if (file.deletion_timestamp or 0) > oldest_ms)
    return sorted(kept, key=by_path)


def _without_change(file: F) -> F:
    return replace(file, data_change=False)
