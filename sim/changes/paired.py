"""Several scenarios with the same replications, so that what they share cancels in differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from whitecap.engine.errors import InvariantViolated
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.sweeps.read_runs import Making, RunToRead

K = TypeVar("K")
T = TypeVar("T")


def paired_runs(
    making: Making[T], scenarios: Mapping[K, Scenario], replications: Sequence[int], seed: int
) -> dict[K, dict[int, T]]:
    """What was read of each replication of each scenario. Raises `InvariantViolated`."""
    wanted = [
        (name, RunToRead(scenario, {}, number, seed))
        for name, scenario in scenarios.items()
        for number in replications
    ]
    readings: dict[K, dict[int, T]] = {name: {} for name in scenarios}
    made = making.make([run for _, run in wanted])
    for (name, run), ran in zip(wanted, made, strict=True):
        if ran.read is None:
            raise InvariantViolated(ran.error or "a run left nothing to be measured")
        readings[name][run.replication] = ran.read
    return readings
