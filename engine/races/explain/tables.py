"""A table of a world: as it is, and as rows to build it anew from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from msgspec.structs import replace

from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.isolation import ISOLATION_PROPERTY
from whitecap.engine.log.properties import (
    APPEND_ONLY,
    CHANGE_DATA_FEED,
    DELETION_VECTORS,
    ROW_TRACKING,
)
from whitecap.engine.log.schema import Schema, ddl
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.log.statistics import record_count
from whitecap.engine.races.interleaving.world import World
from whitecap.engine.races.row_tables import DataFile, TableOf
from whitecap.engine.session.table import Table
from whitecap.engine.storage.memory import run
from whitecap.engine.storage.requests import Row, Steps

T = TypeVar("T")

MOST_ROWS = 10_000
MOST_FILES = 500
"""Tables with more rows or files are not built anew to try changes of their layout: that would take
longer than a second. Ours."""


def snapshot_of(world: World, name: str) -> Snapshot:
    """A table of a world as it is. Raises `InvalidInput` if there is none."""
    return _answer(world, name, Table.latest)


def last_writer(world: World, name: str) -> str:
    """The engine that wrote a table's newest version, as its log says; empty if it does not."""
    newest = snapshot_of(world, name).version
    commits = _answer(world, name, lambda client: client.log.commits_after(newest - 1))
    commit_infos = [commit.commit_info for commit in commits if commit.commit_info is not None]
    return (commit_infos[-1].engine_info or "") if commit_infos else ""


def rebuilt(world: World, name: str) -> TableOf:
    """A table of a world as rows, to be built anew in memory.

    Properties that only make sense together with the files are left behind. Raises
    `UnsupportedFeature` for a table that has too many rows for that.
    """
    snapshot = snapshot_of(world, name)
    if snapshot.num_files > MOST_FILES:
        raise UnsupportedFeature(f"it has more than {MOST_FILES:,} files")
    _check_rows(sum(record_count(file.stats) or 0 for file in snapshot.all_files()))
    files = _answer(
        world, name, lambda client: client.data_files.read(snapshot.all_files(), snapshot.schema)
    )
    _check_rows(sum(file.live_count for file in files))
    live = [_file(file.live_rows(), snapshot.schema) for file in files]
    return replace(described(world, name), files=live)


def _answer(world: World, name: str, ask: Callable[[Table], Steps[T]]) -> T:
    """What a client that knows nothing yet finds out of a table."""
    scene = world.branch()
    client = scene.client()[name]
    return run(client.at_root(ask(client)), scene.store)


def _check_rows(count: int) -> None:
    if count > MOST_ROWS:
        raise UnsupportedFeature(f"it has more than {MOST_ROWS:,} rows")


_KEPT = (
    APPEND_ONLY.key,
    CHANGE_DATA_FEED.key,
    DELETION_VECTORS.key,
    ROW_TRACKING.key,
    ISOLATION_PROPERTY,
)


def _portable(configuration: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in configuration.items() if key in _KEPT}


def described(world: World, name: str) -> TableOf:
    """A table of a world without its rows."""
    snapshot = snapshot_of(world, name)
    return TableOf(
        schema=ddl(snapshot.schema),
        partition_columns=list(snapshot.partition_columns),
        properties=_portable(snapshot.configuration),
        files=[],
        versions=0,
    )


def _file(rows: Sequence[Row], schema: Schema) -> DataFile:
    return DataFile({}, [dict(zip(schema.names, row, strict=True)) for row in rows])
