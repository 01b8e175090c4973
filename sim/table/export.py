"""The simulated table as a Delta table on disk, for delta-spark, deltalake and everyone else.

The log is the one of the run. With data files, the sizes in it become those of the Parquet files
that are written, since readers find a file's footer by the size that the log tells.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.log.actions import AddFile, AnyAction, RemoveFile
from whitecap.engine.log.commit_file import LOG_DIRECTORY, decode_commit, encode_commit, log_key
from whitecap.engine.storage.disk.directory import DirectoryStore
from whitecap.engine.storage.paths import data_key
from whitecap.engine.storage.requests import Put, PutIfAbsent, WriteRows, Written
from whitecap.sim.machine.places import require_free, whole
from whitecap.sim.store.contents.objects import FakeStore

Sizes = dict[str, int]
"""Storage key of a data file -> its size on disk."""


MARK = "_whitecap.json"
"""Says that an export may replace what lies here; readers of Delta tables skip such names."""


def require_free_for_table(directory: Path, *, overwrite: bool = False) -> None:
    """Raises `InvalidInput` unless a table can be written there, over an export if `overwrite`.

    A Delta table that was not exported from here is somebody's data and left alone.
    """
    require_free(directory, "an exported table", _is_export, overwrite=overwrite)


def _is_export(directory: Path) -> bool:
    return (directory / MARK).is_file()


def export_table(
    store: FakeStore,
    directory: Path,
    *,
    version: int | None = None,
    data: bool = False,
    overwrite: bool = False,
) -> int:
    """Write the table up to `version` (the newest without it); returns that version.

    Raises `InvalidInput` as `require_free_for_table`, or if the table has no such version; nothing
    is written then.
    """
    newest = max(landing.version for landing in store.landings)
    last = newest if version is None else version
    if not 0 <= last <= newest:
        said = f"the table has versions 0 to {newest}"
        raise InvalidInput([Problem(f"version {last}", said)])
    require_free_for_table(directory, overwrite=overwrite)
    with whole(directory, last=MARK) as beside:
        _write(store, beside, last, data)
    return last


def _write(store: FakeStore, directory: Path, last: int, data: bool) -> None:
    on_disk = DirectoryStore(directory)
    commits = [_commit(store, number) for number in range(last + 1)]
    sizes = _write_data(store, commits, on_disk) if data else {}
    _write_other_objects(store, on_disk)
    for number, actions in enumerate(commits):
        body = encode_commit(_sized(action, sizes) for action in actions)
        original = store.objects[log_key(number)].body
        on_disk.answer(PutIfAbsent(log_key(number), body if sizes else original))
    (directory / MARK).write_text(json.dumps({"version": last, "data": data}) + "\n")


def _commit(store: FakeStore, version: int) -> Sequence[AnyAction]:
    return decode_commit(store.objects[log_key(version)].body, version).actions


def _write_data(
    store: FakeStore, commits: list[Sequence[AnyAction]], on_disk: DirectoryStore
) -> Sizes:
    keys = (data_key(a.path) for actions in commits for a in actions if isinstance(a, AddFile))
    return {key: _write_file(store.data_files[key].written, on_disk) for key in dict.fromkeys(keys)}


def _write_file(file: WriteRows, on_disk: DirectoryStore) -> int:
    written = on_disk.answer(file)
    assert isinstance(written, Written)
    return written.size_bytes


def _write_other_objects(store: FakeStore, on_disk: DirectoryStore) -> None:
    """Deletion vectors; checkpoints are left out, since they repeat the sizes."""
    for key, stored in store.objects.items():
        if not key.startswith(f"{LOG_DIRECTORY}/"):
            on_disk.answer(Put(key, stored.body))


def _sized(action: AnyAction, sizes: Sizes) -> AnyAction:
    if isinstance(action, AddFile | RemoveFile):
        size = sizes.get(data_key(action.path))
        if size is not None and action.size is not None:
            return replace(action, size=size)
    return action
