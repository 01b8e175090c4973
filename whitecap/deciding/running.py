"""What all decisions ask before they run anything, and say of where they are from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from whitecap.engine.errors import Problem, noted
from whitecap.reports.fewest import FEWEST_REPLICATIONS
from whitecap.reports.provenance import origin_line
from whitecap.sim.machine.code_version import code_version
from whitecap.sim.machine.places import refused_places, require_directory
from whitecap.sim.quantities.bounds import MAX_REPLICATIONS, MAX_RUNS
from whitecap.sim.quantities.whole_numbers import seed_or_none, whole, whole_or_none
from whitecap.sim.scenario.model import Scenario

TrialWatch = Callable[[int, int, str], None]
"""Is told how many runs are done, of how many at most, and what is being tried."""


class Effort(Struct, frozen=True):
    """How much may be run for a decision, and by which seed if not by the scenario's."""

    replications: int
    most_runs: int
    seed: int | None = None

    def checked(self, problems: list[Problem], called: str = "replications") -> Effort:
        """The same in plain numbers; notes which of them cannot be. The first is `called` so."""
        replications, most_runs, seed = self.replications, self.most_runs, self.seed
        with noted(problems):
            replications = whole(called, replications, FEWEST_REPLICATIONS, MAX_REPLICATIONS)
        with noted(problems):
            most_runs = whole("max_runs", most_runs, 1, MAX_RUNS)
        with noted(problems):
            seed = seed_or_none(seed)
        return Effort(replications, most_runs, seed)

    def seed_for(self, scenario: Scenario) -> int:
        """The seed that is run by."""
        return scenario.seed if self.seed is None else self.seed


def checked_place_and_jobs(
    out: str | Path | None, jobs: int | None, problems: list[Problem]
) -> tuple[Path | None, int | None]:
    """Where results go and how many processes run, if it was said; notes which cannot be."""
    place = None if out is None else Path(out)
    problems += refused_places(require_directory, place)
    with noted(problems):
        jobs = checked_jobs(jobs)
    return place, jobs


def checked_jobs(given: int | None) -> int | None:
    """How many processes at a time, if it was said. Raises `InvalidInput`."""
    return whole_or_none("jobs", given, 1)


def origin_of(scenario: Scenario, seed: int) -> str:
    """The small print of a figure: what was run, by which version."""
    made = {
        "scenario_name": scenario.name, "scenario_hash": scenario.hash, "seed": seed,
        "dialect": scenario.dialect, "code_version": code_version(),
    }  # fmt: skip
    return origin_line(made)
