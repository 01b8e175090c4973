"""The scenarios that are timed: append-heavy and merge-heavy, any number of writers and files."""

from __future__ import annotations

from typing import Any

from whitecap.sim.scenario import Scenario, scenario_of

ROWS_PER_FILE = 10
"""Enough to have keys to merge on; few, so that 100,000 files are made in seconds."""

APPEND = {
    "statement": "INSERT INTO events VALUES :rows",
    "parameters": {"day": "uniform", "rows": {"rows": {"count": 5}}},
}
MERGE = {
    "statement": (
        "MERGE INTO events AS t "
        "USING (SELECT * FROM VALUES :rows AS v(event_id, day, amount)) AS s "
        "ON t.event_id = s.event_id AND t.day = :day "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    ),
    "parameters": {"day": "uniform", "rows": {"rows": {"count": 5, "existing": 0.5}}},
}
MIXES = {"append-heavy": (9, 1), "merge-heavy": (1, 9)}
"""Name -> how many of ten writers append, how many merge."""


def scenario_with(mix: str, writers: int, live_files: int, minutes: float) -> Scenario:
    """A scenario of `mix` with `writers` writers on a table of `live_files` files."""
    appends, merges = (max(1, writers * share // 10) for share in MIXES[mix])
    return scenario_of(
        {
            "name": f"{mix}-{writers}-writers-{live_files}-files",
            "seed": 1,
            "duration": f"{minutes} min",
            "store": "s3",
            "table": {
                "name": "events",
                "schema": "event_id BIGINT, day INT, amount DOUBLE",
                "partition_by": ["day"],
                "isolation": "WriteSerializable",
                "key": "event_id",
                "values": {"day": list(range(100))},
                "initial": {"rows": live_files * ROWS_PER_FILE, "rows_per_file": ROWS_PER_FILE},
                "bytes_per_row": 200,
            },
            "writers": {
                "loader": _writer(APPEND, appends),
                "merger": _writer(MERGE, merges),
            },
        }
    )


def _writer(work: dict[str, Any], count: int) -> dict[str, Any]:
    return {
        **work,
        "count": count,
        "arrival": {"closed": {"think": {"exponential": {"mean": "60 s"}}}},
        "compute": {"lognormal": {"median": "20 s", "sigma": 0.4}},
    }
