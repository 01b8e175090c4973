"""Many runs, one after the other or several at a time, and what they come to together."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.chaos.exercised import all_properties
from whitecap.sim.chaos.one_run import ChaosRun, Judge, PlannedRun, make
from whitecap.sim.machine.processes import Processes
from whitecap.sim.scenario import Scenario

FEWEST_COMMITS = 20
"""A run with fewer is counted apart: it has hardly put anything to the test."""

AHEAD = 64
"""So many runs are handed out at once: Ctrl-C waits for no more."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """`runs` variations over some scenarios in turn; the same seed draws the same ones."""

    scenarios: Sequence[Scenario]
    runs: int
    seed: int
    first: int = 0

    def planned(self) -> Iterator[PlannedRun]:
        """Every run, by its number."""
        for number in range(self.first, self.first + self.runs):
            scenario = self.scenarios[number % len(self.scenarios)]
            yield PlannedRun(scenario, self.seed, number)


def require_one_table(scenarios: Sequence[Scenario]) -> None:
    """Raises `InvalidInput` with every scenario of several tables: what is drawn is of one."""
    problems = [
        Problem(scenario.source, f"has several tables ({', '.join(scenario.tables)}): "
                "a campaign draws the layout of one `table`")
        for scenario in scenarios
        if scenario.table is None
    ]  # fmt: skip
    if problems:
        raise InvalidInput(problems)


def run_campaign(campaign: Campaign, judge: Judge, processes: Processes) -> Iterator[ChaosRun]:
    """The runs in their order, as they come."""
    planned = campaign.planned()
    while some := list(itertools.islice(planned, AHEAD)):
        yield from processes.map(partial(make, judge), some)


@dataclass
class Tally:
    """What all runs until now have come to."""

    runs: int = 0
    commits: int = 0
    transactions: int = 0
    short: int = 0
    traces: set[str] = field(default_factory=set)
    exercised: Counter[str] = field(default_factory=Counter)
    in_vain: Counter[str] = field(default_factory=Counter)
    not_checked: Counter[str] = field(default_factory=Counter)
    wrong: list[ChaosRun] = field(default_factory=list)

    def add(self, run: ChaosRun) -> None:
        """Take another run in."""
        self.runs += 1
        self.commits += run.commits
        self.transactions += run.transactions
        self.short += run.commits < FEWEST_COMMITS
        self.traces.add(run.trace)
        self.exercised.update(run.exercised)
        self.in_vain.update(run.in_vain)
        self.not_checked.update(f"{each.what}: {each.why}" for each in run.not_checked)
        if not run.is_sound:
            self.wrong.append(run)

    @property
    def never_exercised(self) -> list[str]:
        """What should happen sometimes and did not once."""
        return [name for name in all_properties() if not self.exercised[name]]

    @property
    def repeated(self) -> int:
        """Runs in which nothing else happened than in another."""
        return self.runs - len(self.traces)
