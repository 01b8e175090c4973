"""The simulated table as a Delta table on disk, for delta-spark, deltalake and everyone else.

The log is the one of the run. With data files, the sizes in it become those of the Parquet files
that are written, since readers find a file's footer by the size that the log tells.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.log.actions import AddFile, AnyAction, RemoveFile
from whitecap.engine.log.commit_file import decode_commit, encode_commit, log_key
from whitecap.engine.log.paths import data_key
from whitecap.engine.storage.directory import DirectoryStore
from whitecap.engine.storage.requests import Put, PutIfAbsent, WriteRows, Written
from whitecap.sim.store.objects import FakeStore

Sizes = dict[str, int]
"""Storage key of a data file -> its size on disk."""


def export_table(
    store: FakeStore, directory: Path, *, version: int | None = None, data: bool = False
) -> int:
    """Write the table up to `version` (the newest without it); returns that version.

    Raises `InvalidInput` if the directory holds something already, or the table has no such
    version; nothing is written then.
    """
    newest = max(landing.version for landing in store.landings)
    last = newest if version is None else version
    if not 0 <= last <= newest:
        said = f"the table has versions 0 to {newest}"
        raise InvalidInput([Problem(f"version {last}", said)])
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise InvalidInput([Problem(str(directory), "is there already; it is left alone")])
    on_disk = DirectoryStore(directory)
    commits = [_commit(store, number) for number in range(last + 1)]
    sizes = _write_data(store, commits, on_disk) if data else {}
    _write_other_objects(store, on_disk)
    for number, actions in enumerate(commits):
        body = encode_commit(_sized(action, sizes) for action in actions)
        original = store.objects[log_key(number)].body
        on_disk.answer(PutIfAbsent(log_key(number), body if sizes else original))
    return last


def _commit(store: FakeStore, version: int) -> tuple[AnyAction, ...]:
    return decode_commit(store.objects[log_key(version)].body, version).actions


def _write_data(
    store: FakeStore, commits: list[tuple[AnyAction, ...]], on_disk: DirectoryStore
) -> Sizes:
    keys = (data_key(a.path) for actions in commits for a in actions if isinstance(a, AddFile))
    return {key: _write(store.data_files[key], on_disk) for key in dict.fromkeys(keys)}


def _write(file: WriteRows, on_disk: DirectoryStore) -> int:
    written = on_disk.answer(file)
    assert isinstance(written, Written)
    return written.size_bytes


def _write_other_objects(store: FakeStore, on_disk: DirectoryStore) -> None:
    """Deletion vectors; checkpoints are left out, since they repeat the sizes."""
    for key, stored in store.objects.items():
        if not key.startswith("_delta_log/"):
            on_disk.answer(Put(key, stored.body))


def _sized(action: AnyAction, sizes: Sizes) -> AnyAction:
    if isinstance(action, AddFile | RemoveFile):
        size = sizes.get(data_key(action.path))
        if size is not None and action.size is not None:
            return msgspec.structs.replace(action, size=size)
    return action
