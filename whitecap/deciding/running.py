"""What all decisions ask before they run anything, and say of where they are from."""

from __future__ import annotations

from collections.abc import Callable

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.reports.statistics import FEWEST_REPLICATIONS
from whitecap.sim.machine.code_version import code_version
from whitecap.sim.quantities.bounds import MAX_REPLICATIONS
from whitecap.sim.scenario import Scenario

FEWEST = FEWEST_REPLICATIONS
"""Replications with which intervals say anything (`docs/statistics.md`)."""

Watch = Callable[[int, int, str], None]
"""Is told how many runs are done, of how many, and what is being tried."""


def checked_replications(replications: int) -> None:
    """Raises `InvalidInput` for too few or too many."""
    if not FEWEST <= replications <= MAX_REPLICATIONS:
        reason = f"{replications} is not between {FEWEST} and {MAX_REPLICATIONS:,}"
        raise InvalidInput([Problem("replications", reason)])


def origin_of(scenario: Scenario, seed: int) -> str:
    """The small print of a figure: what was run, by which version."""
    return (
        f"{scenario.name} · scenario {scenario.hash[:12]} · seed {seed} · "
        f"{scenario.dialect} · whitecap {code_version()}"
    )
