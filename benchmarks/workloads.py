"""The scenarios that are timed: made ones of any size, and the demo's own cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whitecap.scenarios import SCENARIOS
from whitecap.sim.loading import cell_of, load_scenario, scenario_of
from whitecap.sim.scenario import Scenario

ROWS_PER_FILE = 10
"""Enough to have keys to merge on; few, so that 100,000 files are made in seconds."""

COMPUTE_S = 20.0
CYCLE_S = 80.0
"""Think time plus compute of one transaction where ten writers share the table."""

TEN = 10
"""Writers whose commit rate every made workload has, however many share it."""

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
MIXES = {"append-only": (10, 0), "append-heavy": (9, 1), "merge-heavy": (1, 9)}
"""Name -> how many of ten writers append, how many merge."""


def made(mix: str, writers: int, live_files: int, attempts: int) -> Scenario:
    """`writers` writers at the commit rate of ten, on a table of `live_files` files."""
    appends, merges = (writers * share // TEN for share in MIXES[mix])
    groups = {"loader": (APPEND, appends), "merger": (MERGE, merges)}
    think_s = CYCLE_S * writers / TEN - COMPUTE_S
    return scenario_of(
        {
            "name": f"{mix}-{writers}-writers-{live_files}-files",
            "seed": 1,
            "duration": f"{attempts * CYCLE_S / TEN / 60} min",
            "store": {"profile": "s3", "limits": {"reads_per_s": None, "writes_per_s": None}},
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
                name: _writer(work, count, think_s)
                for name, (work, count) in groups.items()
                if count
            },
        }
    )


def _writer(work: dict[str, Any], count: int, think_s: float) -> dict[str, Any]:
    return {
        **work,
        "count": count,
        "arrival": {"closed": {"think": {"exponential": {"mean": f"{think_s} s"}}}},
        "compute": {"lognormal": {"median": f"{COMPUTE_S} s", "sigma": 0.4}},
    }


def demo_cells() -> Iterator[tuple[str, Scenario]]:
    """Every cell of the demo over four simulated hours, by its variants' names."""
    demo = load_scenario(SCENARIOS / "events.yaml", {"duration": "4 h"})
    assert demo.sweep is not None
    for cell in demo.sweep.cells():
        yield " · ".join(cell.values()), cell_of(demo, cell)
