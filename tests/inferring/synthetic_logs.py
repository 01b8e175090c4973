"""Commits made up for tests of inference, and logs of them on disk."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from whitecap.engine.log.schema import parse_ddl, schema_string
from whitecap.sim.inferring.observed import ObservedCommit, Origin

HOUR_MS = 3_600_000
MONDAY_MS = 1_768_176_000_000
"""2026-01-12 00:00 UTC."""

DELTA = "Apache-Spark/4.2.0 Delta-Lake/4.4.0"


def commits_at(instants: Iterable[float], **more: Any) -> list[ObservedCommit]:
    """One commit at each instant, from version 1 on, each reading the one before it."""
    return [
        ObservedCommit(number, int(at), "UPDATE", read_version=number - 1, **more)
        for number, at in enumerate(instants, start=1)
    ]


def of(engine: str | None, count: int) -> list[ObservedCommit]:
    """Commits of an engine."""
    return [ObservedCommit(n, 0, "WRITE", Origin(engine=engine)) for n in range(count)]


class LogOnDisk:
    """A `_delta_log` that is written line by line."""

    def __init__(
        self,
        folder: Path,
        ddl: str = "id BIGINT, day DATE, v DOUBLE",
        by: Sequence[str] = ("day",),
        properties: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.log = folder / "_delta_log"
        self.log.mkdir(parents=True)
        self.version = 0
        self._at_ms = MONDAY_MS
        metadata = {
            "id": "6d3fd9a2-4bd7-44c3-9d09-4e3a2bfdbd4f",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": schema_string(parse_ddl(ddl)),
            "partitionColumns": list(by),
            "configuration": dict(properties or {}),
        }
        protocol = {"minReaderVersion": 1, "minWriterVersion": 2}
        self.commit("CREATE TABLE", {"protocol": protocol}, {"metaData": metadata})

    def commit(self, operation: str, *actions: dict[str, Any], **info: Any) -> None:
        """The next version, a minute after the last one unless `timestamp` is given."""
        self._at_ms = info.pop("timestamp", self._at_ms + 60_000)
        told = {"timestamp": self._at_ms, "operation": operation, "engineInfo": DELTA, **info}
        lines = [json.dumps(each) for each in ({"commitInfo": told}, *actions)]
        (self.log / f"{self.version:020d}.json").write_text("\n".join(lines) + "\n")
        self.version += 1

    def append(self, day: str, rows: int = 5, **info: Any) -> None:
        """A commit that adds one file."""
        add = {
            "path": f"day={day}/{self.version}.parquet",
            "partitionValues": {"day": day},
            "size": 100 * rows,
            "modificationTime": self._at_ms,
            "dataChange": True,
            "stats": json.dumps({"numRecords": rows}),
        }
        self.commit("WRITE", {"add": add}, **info)
