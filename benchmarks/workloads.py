"""What is timed: made scenarios of any size, and the demo's own cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from whitecap.scenarios import SCENARIOS
from whitecap.sim.loading import cell_of, load_scenario, scenario_of
from whitecap.sim.scenario.model import Scenario

WRITERS = (10, 100, 1_000)
LIVE_FILES = (100, 10_000, 100_000, 1_000_000)
FEW_FILES, TRANSACTIONS = 1_000, 4_000
LATE = 12_000
"""Transactions of a long run of merges, some 21,000 attempts: its last tenth is measured."""

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

GOALS = {"append-only": 25, "append-heavy": 40, "merge-heavy": 75}
CELL_GOAL = 250
"""Units an attempt that the project wants: with ten writers, and in the demo's cells."""

WATCHED_CELLS = (
    "unpartitioned · WriteSerializable · 16",
    "by date and country · WriteSerializable · 16",
)


class TimedScenario(Struct, frozen=True):
    """A scenario by a name, of whose time the first `from_share` is not measured.

    `is_watched`: what its time goes into is told.
    """

    name: str
    scenario: Callable[[], Scenario]
    goal: int | None = None
    from_share: float = 0.0
    is_watched: bool = False


def workloads() -> Iterator[TimedScenario]:
    """Each mix, more writers at the same rate, more files, and the demo's cells."""
    for mix, goal in GOALS.items():
        yield replace(_of_mix(mix), goal=goal, is_watched=True)
    late = _of_mix("merge-heavy", transactions=LATE)
    yield replace(late, name=f"{late.name} · late", goal=GOALS["merge-heavy"], from_share=0.9)
    for writers in WRITERS[1:]:
        yield _of_mix("append-heavy", writers)
    for files in LIVE_FILES:
        yield _of_mix("merge-heavy", files=files)
    for name, scenario in demo_cells():
        is_watched = name in WATCHED_CELLS
        yield TimedScenario(
            f"events · {name}", partial(_same, scenario), CELL_GOAL, 0.5, is_watched
        )


def _of_mix(
    mix: str,
    writers: int = TEN,
    files: int = FEW_FILES,
    transactions: int = TRANSACTIONS,
) -> TimedScenario:
    name = f"{mix} · {writers:,} writers · {files:,} files"
    return TimedScenario(name, partial(made, mix, writers, files, transactions))


def _same(scenario: Scenario) -> Scenario:
    return scenario


def made(mix: str, writers: int, live_files: int, transactions: int) -> Scenario:
    """`writers` writers at the commit rate of ten, on a table of `live_files` files."""
    appends, merges = (writers * share // TEN for share in MIXES[mix])
    groups = {"loader": (APPEND, appends), "merger": (MERGE, merges)}
    think_s = CYCLE_S * writers / TEN - COMPUTE_S
    return scenario_of(
        {
            "name": f"{mix}-{writers}-writers-{live_files}-files",
            "seed": 1,
            "duration": f"{transactions * CYCLE_S / TEN / 60} min",
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
