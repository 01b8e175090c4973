"""What all decisions ask before they run anything, and say of where they are from."""

from __future__ import annotations

from collections.abc import Callable

from whitecap.reports.statistics import FEWEST_REPLICATIONS
from whitecap.sim.machine.code_version import code_version
from whitecap.sim.quantities.bounds import MAX_REPLICATIONS
from whitecap.sim.quantities.whole_numbers import whole, whole_or_none
from whitecap.sim.scenario import Scenario

FEWEST = FEWEST_REPLICATIONS
"""Replications with which intervals say anything (`docs/statistics.md`)."""

TrialWatch = Callable[[int, int, str], None]
"""Is told how many runs are done, of how many at most, and what is being tried."""


def checked_replications(given: int) -> int:
    """How many. Raises `InvalidInput` for too few or too many."""
    return whole("replications", given, FEWEST, MAX_REPLICATIONS)


def checked_jobs(given: int | None) -> int | None:
    """How many processes at a time, if it was said. Raises `InvalidInput`."""
    return whole_or_none("jobs", given, 1)


def origin_of(scenario: Scenario, seed: int) -> str:
    """The small print of a figure: what was run, by which version."""
    return (
        f"{scenario.name} · scenario {scenario.hash[:12]} · seed {seed} · "
        f"{scenario.dialect} · whitecap {code_version()}"
    )
