"""What the manifest of a recording says of its run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whitecap.engine.dialects import dialect_named
from whitecap.engine.recorded import (
    AUTO_WARM_UP,
    COMPACTED_IN_NO_TIME,
    PRICE,
    RECORDING_FORMAT,
    TABLES,
)
from whitecap.sim.history.conservation import WalkedLog
from whitecap.sim.history.requests import priced_requests
from whitecap.sim.machine.code_version import code_version
from whitecap.sim.real_table.origins import origins_of_tables
from whitecap.sim.recording.recorded_table import RecordedTable
from whitecap.sim.recording.recording import INTERRUPTED, PLANNED
from whitecap.sim.scenario.figures import origins_of
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.world import SimulatedWorld


def manifest_of(
    world: SimulatedWorld,
    labels: Mapping[str, str],
    counts: Mapping[str, int],
    walked: list[WalkedLog],
) -> dict[str, Any]:
    """What a run was: enough to tell it from any other, and to make it again."""
    scenario = world.scenario
    reached_ms = world.kernel.now_ms if world.kernel.stopped else scenario.duration
    return {
        "format_version": RECORDING_FORMAT,
        "scenario_name": scenario.name,
        "scenario_hash": scenario.hash,
        "seed": world.streams.seed,
        "replication": world.streams.replication,
        "code_version": code_version(),
        "dialect": scenario.dialects,
        "labels": dict(labels),
        "objectives": [objective.as_row() for objective in scenario.objectives],
        **_tables(world, walked),
        "store": origins_of(scenario.store),
        **origins_of_tables(scenario.all_tables, dialect_named(scenario.dialect)),
        "start_ms": scenario.start_ms,
        **_warm_up(scenario.warm_up, reached_ms),
        "duration_ms": reached_ms,
        **({INTERRUPTED: True, PLANNED: scenario.duration} if world.kernel.stopped else {}),
        **_compactions(world),
        "counts": dict(counts),
        "live_rows": _rows_together(walked),
    }


def price_of(scenario: Scenario, rows: Mapping[str, RecordedTable]) -> dict[str, Any]:
    """What the manifest says of prices: of computing and, if they have one, of requests.

    Empty without a price.
    """
    price = scenario.price
    if price is None:
        return {}
    if price.requests is None:
        return {PRICE: price.recorded}
    sent = priced_requests(price, rows["requests"].read(), rows["transactions"].read())
    return {PRICE: {**price.recorded, "requests": sent}}


def damage_of(walked: list[WalkedLog]) -> dict[str, int]:
    """How many commits were overwritten or are in a log twice; empty where none is."""
    damage = {
        "lost_commits": sum(log.lost for log in walked),
        "doubled_commits": sum(log.doubled for log in walked),
    }
    return {name: count for name, count in damage.items() if count}


def _tables(world: SimulatedWorld, walked: list[WalkedLog]) -> dict[str, Any]:
    """The table's name and initial version; of several tables all names and rows as well."""
    names = [table.name for table in world.tables]
    versions = [table.initial_version for table in world.tables]
    first = {"table_name": names[0], "initial_version": versions[0]}
    if not world.scenario.tells_statements_apart:
        return first
    rows = {each.table_name: each.live_rows for each in walked}
    return {**first, TABLES: names, "live_rows_of": rows}


def _rows_together(walked: list[WalkedLog]) -> int | None:
    """The rows of all tables together; `None` if they are not known of one of them."""
    rows = [each.live_rows for each in walked]
    counted = [count for count in rows if count is not None]
    return sum(counted) if len(counted) == len(rows) else None


def _compactions(world: SimulatedWorld) -> dict[str, Any]:
    """How many auto compactions took no time, by writer group; empty where none did, or
    where its writer takes none either."""
    counted = world.recorder.compactions_in_no_time
    writers = world.scenario.writers.items()
    groups = {name: counted[name] for name, group in writers if counted[name] and group.takes_time}
    return {COMPACTED_IN_NO_TIME: groups} if groups else {}


def _warm_up(warm_up_ms: float | None, reached_ms: float) -> dict[str, Any]:
    """How long the warm-up is, or that reports are to find its end themselves."""
    if warm_up_ms is None:
        return {"warm_up_ms": 0.0, "warm_up": AUTO_WARM_UP}
    return {"warm_up_ms": min(warm_up_ms, reached_ms)}
