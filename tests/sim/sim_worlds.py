"""Small scenarios that the tests of the simulator start from."""

from __future__ import annotations

from typing import Any

from whitecap.sim.history.walk import LogWalk, WalkedVersion
from whitecap.sim.loading import scenario_of
from whitecap.sim.run import FinishedRun, run_scenario
from whitecap.sim.scenario.model import Scenario

TABLE: dict[str, Any] = {
    "schema": "event_id BIGINT, date DATE, country STRING, amount DOUBLE",
    "partition_by": ["date"],
    "key": "event_id",
    "values": {"date": {"days": 3}, "country": ["DE", "FR"]},
    "initial": {"rows": 120, "rows_per_file": 20},
}

INSERT: dict[str, Any] = {
    "statement": "INSERT INTO events VALUES :rows",
    "parameters": {"date": "newest", "rows": {"rows": {"count": 4}}},
    "arrival": {"closed": {"think": {"exponential": {"mean": "10 s"}}}},
    "compute": {"lognormal": {"median": "5 s", "sigma": 0.5}},
}

UPDATE: dict[str, Any] = {
    "statement": "UPDATE events SET amount = 0.5 WHERE date = :date",
    "parameters": {"date": {"newest": {"within": 2}}},
    "arrival": {"closed": {"think": {"exponential": {"mean": "20 s"}}}},
    "compute": {"lognormal": {"median": "10 s", "sigma": 0.5}},
    "rerun": {"exponential": {"base": "1 s", "cap": "10 s", "budget": 3}},
}


def document(**parts: Any) -> dict[str, Any]:
    """Two inserters and an updater on a small table for ten minutes; `parts` replace keys."""
    base = {
        "name": "small",
        "duration": "10 min",
        "store": {"profile": "s3"},
        "table": TABLE,
        "writers": {"loader": {**INSERT, "count": 2}, "corrector": UPDATE},
    }
    return {**base, **parts}


def scenario(changes: dict[str, Any] | None = None, **parts: Any) -> Scenario:
    """The small scenario, checked."""
    return scenario_of(document(**parts), changes)


def ran(changes: dict[str, Any] | None = None, **parts: Any) -> FinishedRun:
    """The small scenario, run with its requests recorded."""
    return run_scenario(scenario(changes, **parts), requests=True)


def rows(run: FinishedRun, table: str = "transactions") -> list[dict[str, Any]]:
    """A recorded table as dictionaries."""
    recorded: list[dict[str, Any]] = run.recording.tables[table].to_pylist()
    return recorded


def steps_of(run: FinishedRun) -> list[WalkedVersion]:
    """The finished log, version by version; of several tables that of the first."""
    table = run.world.tables[0]
    return list(LogWalk(table.store, table.shared.commits).steps())
