"""What real writers have to do: the jobs of the simulated run, at its instants, as operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from whitecap.engine.errors import UnsupportedFeature
from whitecap.sim.chaos.swarm import NOT_OF_A_VARIATION
from whitecap.sim.loading import scenario_of
from whitecap.sim.recording.recording import Recording
from whitecap.sim.scenario.model import Scenario

STREAMING = "a streaming query, not statements"
SEVERAL = "jobs of several statements"


_OperationOf = Callable[[str], Mapping[str, Any]]
"""What runs a statement; raises `UnsupportedFeature` where the package has nothing that does."""


class NobodyLeft(Exception):
    """The package can stand for none of a scenario's writers; says why."""


class WorkOrder(Struct, frozen=True):
    """One piece of work: when it begins, how long it takes between snapshot and commit (both in
    simulated ms), its statement, and the operation that runs it."""

    begins_ms: float
    compute_ms: float
    statement: str
    operation: Mapping[str, Any]


def jobs_of(recording: Recording, operation_of: _OperationOf) -> dict[str, list[WorkOrder]]:
    """The jobs of every writer, in the order in which they begin, from the first try of each.

    Raises as `operation_of`.
    """
    rows = sorted(recording.transactions.to_pylist(), key=lambda row: row["submitted_at_ms"])
    jobs: dict[str, list[WorkOrder]] = {}
    for row in rows:
        if row["rerun_number"] == 0:
            jobs.setdefault(row["writer"], []).append(_job(row, operation_of))
    return jobs


def _job(row: Mapping[str, Any], operation_of: _OperationOf) -> WorkOrder:
    operation = operation_of(row["statement"])
    return WorkOrder(row["submitted_at_ms"], row["compute_ms"] or 0.0, row["statement"], operation)


def without_statement(scenario: Scenario) -> dict[str, str]:
    """The writer groups whose jobs are not one statement, each with what they are."""
    return {
        name: SEVERAL if group.streaming is None else STREAMING
        for name, group in scenario.writers.items()
        if group.statement is None
    }


def without_operation(recording: Recording, operation_of: _OperationOf) -> dict[str, str]:
    """The writer groups with a statement that the package has no operation for, and which."""
    lacks: dict[str, str] = {}
    for row in recording.transactions.to_pylist():
        try:
            operation_of(row["statement"])
        except UnsupportedFeature as lack:
            lacks.setdefault(row["writer_group"], str(lack))
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
