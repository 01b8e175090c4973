"""Scenarios that begin with a real table, and what its directory holds."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from whitecap.sim.loading import scenario_of
from whitecap.sim.scenario.model import Scenario

MINUTE_MS = 60_000


def beginning_with(place: Path | str, **table: Any) -> dict[str, Any]:
    """A document of one writer, whose table has these keys besides `from`."""
    return {
        "name": "real",
        "duration": "1 min",
        "store": "s3",
        "table": {"from": str(place), **table},
        "writers": {
            "loader": {
                "statement": "OPTIMIZE events",
                "arrival": {"schedule": {"at": ["1 s"]}},
                "compute": "1 s",
            }
        },
    }


def scenario_from(place: Path | str, **table: Any) -> Scenario:
    """The scenario of it."""
    return scenario_of(beginning_with(place, **table))


def fingerprint(directory: Path) -> str:
    """Of everything in a directory: names, contents, and when each file was written."""
    digest = hashlib.sha256()
    for path in sorted(directory.rglob("*")):
        digest.update(f"{path.relative_to(directory)} {path.stat().st_mtime_ns}\n".encode())
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()
