"""Runs that are kept by what decides them, so that they need not be made again.

A file holds the manifest of a run and the columns that were read of it. Its name is a hash of all
that decides the run: the same scenario, seed and version of the code give the same run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
import pyarrow as pa
from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.machine.code_version import code_version
from whitecap.sim.machine.places import write_whole
from whitecap.sim.recording.dataset.reading import Reading
from whitecap.sim.scenario.model import Scenario

T = TypeVar("T")

Manifest = Mapping[str, Any]
_Tables = Mapping[str, pa.Table]


class KeptRuns(Struct, frozen=True):
    """A directory of runs. Those of an earlier call are used only if it `resumes` that."""

    place: Path
    resumes: bool

    def read(
        self, reading: Reading[T], scenario: Scenario, seed: int, replication: int
    ) -> T | None:
        """What is read of a run that is kept; `None` if it must be made.

        Raises `InvalidInput`: its file is damaged.
        """
        path = self.place / _name(
            scenario.hash, seed, replication, code_version(), scenario.asks_oracles
        )
        if not self.resumes or not path.exists():
            return None
        try:
            manifest, tables = msgspec.msgpack.decode(path.read_bytes(), type=_Kept)
            return reading(json.loads(manifest), {n: _table(part) for n, part in tables.items()})
        except (msgspec.DecodeError, ValueError, pa.ArrowException) as error:
            said = f"is damaged ({error}): without it its run is made again"
            raise InvalidInput([Problem(str(path), said)]) from error


class Keeping(Struct, Generic[T], frozen=True):
    """A reading that keeps the run that it reads."""

    place: Path
    reading: Reading[T]

    def __call__(self, manifest: Manifest, tables: _Tables) -> T:
        name = _name(
            manifest["scenario_hash"],
            manifest["seed"],
            manifest["replication"],
            manifest["code_version"],
            "findings" in manifest,
        )
        kept = json.dumps(manifest), {name: _bytes(table) for name, table in tables.items()}
        write_whole(self.place / name, msgspec.msgpack.encode(kept))
        return self.reading(manifest, tables)


_Kept = tuple[str, dict[str, bytes]]
"""A manifest in JSON, and tables by their names as Arrow streams."""


def _name(*decides: str | int | bool) -> str:
    return hashlib.sha256(json.dumps(decides).encode()).hexdigest()[:24] + ".run"


def _bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, table.schema, options=options) as stream:
        stream.write_table(table)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def _table(written: bytes) -> pa.Table:
    with pa.ipc.open_stream(written) as stream:
        return stream.read_all()
