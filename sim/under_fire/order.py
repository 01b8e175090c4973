"""What real writers have to do: the jobs of the simulated run, at its instants, as operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from whitecap.engine.errors import UnsupportedFeature
from whitecap.sim.chaos.swarm import NOT_OF_A_VARIATION
from whitecap.sim.loading import scenario_of
from whitecap.sim.recording.recording import Recording
from whitecap.sim.replay.delta_rs.operations import operation_of
from whitecap.sim.scenario import Scenario

NO_STREAMING = "it has no structured streaming"
SEVERAL = "its jobs are of several statements"


class NobodyLeft(Exception):
    """The package can stand for none of a scenario's writers; says why."""


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work: when it begins, how long it takes between snapshot and commit (both in
    simulated ms), its statement, and the operation that runs it."""

    begins_ms: float
    compute_ms: float
    statement: str
    operation: Mapping[str, Any]


def jobs_of(recording: Recording) -> dict[str, list[Job]]:
    """The jobs of every writer, in the order in which they begin, from the first try of each.

    Raises `UnsupportedFeature` for a statement that the package has no operation for.
    """
    rows = sorted(recording.transactions.to_pylist(), key=lambda row: row["submitted_at_ms"])
    jobs: dict[str, list[Job]] = {}
    for row in rows:
        if row["rerun_number"] == 0:
            jobs.setdefault(row["writer"], []).append(_job(row))
    return jobs


def _job(row: Mapping[str, Any]) -> Job:
    operation = operation_of(row["statement"], {})
    return Job(row["submitted_at_ms"], row["compute_ms"] or 0.0, row["statement"], operation)


def lacks_of(scenario: Scenario, recording: Recording) -> dict[str, str]:
    """The writer groups that the package cannot stand for, each with the reason."""
    lacks = {
        name: SEVERAL if group.streaming is None else NO_STREAMING
        for name, group in scenario.writers.items()
        if group.statement is None
    }
    for row in recording.transactions.to_pylist():
        group = row["writer_group"]
        if group not in lacks:
            try:
                operation_of(row["statement"], {})
            except UnsupportedFeature as lack:
                lacks[group] = str(lack)
    return lacks


def without(scenario: Scenario, lacks: Mapping[str, str]) -> Scenario:
    """The scenario without some writer groups and what is said of them.

    Raises `NobodyLeft`.
    """
    kept = {name: group for name, group in scenario.writers.items() if name not in lacks}
    if not kept:
        raise NobodyLeft("; ".join(f"{name}: {why}" for name, why in lacks.items()))
    names = {name for key, group in kept.items() for name in [key, *group.members(key)]}
    document = {k: v for k, v in scenario.document.items() if k not in NOT_OF_A_VARIATION}
    document["writers"] = {name: document["writers"][name] for name in kept}
    document["faults"] = [
        each for each in document.get("faults", ()) if names & set(each.get("writers", names))
    ]
    return scenario_of(document)
