"""Where the dataset of a sweep lies: a directory of this machine, or a URI that Hadoop knows."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem, require_format
from whitecap.engine.recorded import MADE_ANEW, RECORDING_FORMAT, RunName
from whitecap.sim.machine.places import PART
from whitecap.sim.recording.dataset.layout import FAILURES, FILE, OWN, RUNS
from whitecap.sim.recording.dataset.rows import by_run, columns_of, in_order, whole_recording
from whitecap.sim.recording.recording import TABLES_OF_EVERY_RUN, Recording

DEFINITION_FILE = "sweep.json"

CELLS = "cells"
"""The folder of each cell's scenario, which is written before the definition."""

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://?")


def is_uri(place: str | Path) -> bool:
    """Whether this names a place that only Hadoop finds."""
    return bool(_URI.match(str(place))) and not str(place).startswith("file:")


def local_path(place: str | Path) -> Path:
    """The path of a place on this machine, given as such or as `file:///...`."""
    text = str(place)
    return Path(unquote(urlsplit(text).path)) if text.startswith("file:") else Path(text)


class DatasetPlace(Protocol):
    """A folder of small files and of the dataset."""

    @property
    def uri(self) -> str:
        """What Spark calls it."""

    def __str__(self) -> str:
        """What its users call it."""

    def exists(self) -> bool:
        """Whether anything lies there, but for what a sweep `is_begun_by`."""

    def read(self, name: str) -> str | None:
        """The text of a file; `None` if it is not there."""

    def write(self, name: str, text: str) -> None:
        """Make or replace a file, whole or not at all."""

    def batches(self) -> Mapping[str, bool]:
        """The folders of all batches in their order, and whether each is whole."""

    def remove(self, batch: str) -> None:
        """Remove a batch with all that is in it."""

    def rows(
        self, table: str, columns: Sequence[str], batches: Sequence[str], cell: str | None = None
    ) -> pa.Table:
        """These columns of a table in these batches, in no order; of one cell only if named."""


def is_begun_by(listed: Callable[[str], Iterable[str]]) -> bool:
    """Whether all that lies in a place is what a sweep leaves that ended before its definition was
    written, as on a full disk. `listed`: the names in a folder of the place."""
    return all(
        name == _unwritten(DEFINITION_FILE) or (name == CELLS and all(map(_is_cell, listed(CELLS))))
        for name in listed("")
    )


def _unwritten(name: str) -> str:
    return f".{name}{PART}"


def _is_cell(name: str) -> bool:
    return name.endswith((".yaml", f".yaml{PART}"))


def whole_batches(place: DatasetPlace) -> list[str]:
    """The folders of the batches that count."""
    return [batch for batch, whole in place.batches().items() if whole]


class Summary(Struct, frozen=True):
    """One finished run: its manifest, and the seconds of computing that it took."""

    manifest: Mapping[str, Any]
    seconds: float


def finished_runs(
    place: DatasetPlace, batches: Sequence[str] | None = None
) -> dict[RunName, Summary]:
    """Every finished run, or those in these batches, by cell and replication.

    Raises `InvalidInput`: a run was recorded twice, or in another format.
    """
    batches = whole_batches(place) if batches is None else batches
    rows = place.rows(RUNS, columns_of(RUNS), batches).to_pylist() if batches else []
    names = Counter((row["cell"], row["replication"]) for row in rows)
    if twice := [name for name, count in names.items() if count > 1]:
        text = f"holds {len(twice)} runs twice, such as {twice[0][1]} of cell {twice[0][0]!r}"
        raise InvalidInput([Problem(str(place), text)])
    return {
        (row["cell"], row["replication"]): Summary(_manifest(place, row), row["seconds"])
        for row in rows
    }


def _manifest(place: DatasetPlace, row: Mapping[str, Any]) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads(row["manifest"])
    version = manifest.get("format_version", RECORDING_FORMAT)
    require_format(version, RECORDING_FORMAT, str(place), MADE_ANEW)
    return manifest


def failed_runs(place: DatasetPlace, batches: Sequence[str]) -> dict[RunName, Mapping[str, Any]]:
    """What became of the runs in these batches that ended in an error."""
    rows = in_order(place.rows(FAILURES, columns_of(FAILURES), batches))
    return {(row["cell"], row["replication"]): row for row in rows.to_pylist()}


def recorded_run(place: DatasetPlace, name: RunName) -> Recording:
    """One finished run with all its rows.

    Raises `InvalidInput`: it is not there, or not as it was recorded.
    """
    cell, replication = name
    batches = whole_batches(place)
    tables = {}
    for table in (RUNS, *TABLES_OF_EVERY_RUN) if batches else ():
        rows = place.rows(table, columns_of(table), batches, cell)
        nothing = FILE.empty_table().select(OWN[table].names)
        tables[table] = by_run(in_order(rows)).get(name, nothing)
    if not tables or not tables[RUNS].num_rows:
        raise InvalidInput([Problem(str(place), f"has no run {replication} of cell {cell!r}")])
    return whole_recording(str(place), name, tables.pop(RUNS), tables)
