"""Many runs, one after the other or several at a time, and what they come to together."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Protocol, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from whitecap.engine.errors import InvalidInput, Problem, unknown_name
from whitecap.sim.chaos.examining import Examined, examine
from whitecap.sim.chaos.exercised import all_properties
from whitecap.sim.chaos.one_run import CampaignRun, ChaosRun, RunJudge, make
from whitecap.sim.chaos.trials import Trials, tell_nobody
from whitecap.sim.oracles.finding import NotChecked
from whitecap.sim.scenario.faults import Fault
from whitecap.sim.scenario.model import Scenario

T = TypeVar("T")
R = TypeVar("R")


class Workers(Protocol):
    """Whoever makes runs, several at a time."""

    @property
    def ahead(self) -> int:
        """So many are handed out at once: a campaign that is over waits for no more."""

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """The results, in the order of the items."""


class Campaign(Struct, frozen=True):
    """`runs` variations over some scenarios in turn; the same seed draws the same ones.

    `without`: kinds of faults that none has. In one of `rows_every` statements are run again.
    """

    scenarios: Sequence[Scenario]
    runs: int
    seed: int
    first: int = 0
    without: frozenset[str] = frozenset()
    rows_every: int = 1

    def after(self, runs: int) -> Campaign:
        """What is left of it when so many runs are made."""
        return replace(self, first=self.first + runs, runs=max(self.runs - runs, 0))

    def planned(self) -> Iterator[CampaignRun]:
        """Every run, by its number."""
        for number in range(self.first, self.first + self.runs):
            scenario = self.scenarios[number % len(self.scenarios)]
            rows = number % self.rows_every == 0
            yield CampaignRun(scenario, self.seed, number, self.without, rows)


def fault_kinds(named: Iterable[str]) -> frozenset[str]:
    """Kinds of faults by their names. Raises `InvalidInput` with all that are none."""
    kinds = Fault.alternatives()
    problems = [
        Problem("without", *unknown_name("fault", name, kinds))
        for name in named
        if name not in kinds
    ]
    if problems:
        raise InvalidInput(problems)
    return frozenset(named)


class Judges(Struct, frozen=True):
    """`whole` judges runs whose statements are run again, `quick` the others."""

    whole: RunJudge
    quick: RunJudge

    def of(self, planned: CampaignRun) -> RunJudge:
        """Who judges a run, and looks for the cause of what is wrong with it."""
        return self.whole if planned.rows else self.quick


def run_campaign(
    campaign: Campaign,
    judges: Judges,
    workers: Workers,
    *,
    make_small: bool = True,
    trials: Trials | None = None,
) -> Iterator[tuple[ChaosRun, Examined | None]]:
    """The runs in their order, as they come; examined is what went wrong, where that is seen.

    `trials` are told how far those are that go wrong.
    """
    planned = campaign.planned()
    made_by = partial(_made, judges, make_small, trials)
    while some := list(itertools.islice(planned, workers.ahead)):
        yield from workers.map(made_by, some)


def _made(
    judges: Judges, make_small: bool, trials: Trials | None, planned: CampaignRun
) -> tuple[ChaosRun, Examined | None]:
    judge = judges.of(planned)
    run = make(judge, planned)
    if run.is_sound:
        return run, None
    tell = tell_nobody if trials is None else partial(trials.note, planned.number)
    examined = examine(run, judge, make_small=make_small, tell=tell)
    return examined.run, examined


class Tally(Struct):
    """What all runs until now have come to; `without`: kinds of faults that none was to have."""

    without: frozenset[str] = frozenset()
    runs: int = 0
    commits: int = 0
    transactions: int = 0
    short: int = 0
    overgrown: int = 0
    misdrawn: int = 0
    rows_compared: int = 0
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
        self.short += run.is_short
        self.overgrown += run.overgrown
        self.misdrawn += bool(run.misdrawn)
        self.rows_compared += run.rows and not (run.overgrown or run.misdrawn)
        self.traces.add(run.trace)
        self.exercised.update(run.exercised)
        self.in_vain.update(run.in_vain)
        self.not_checked.update({_of_no_version(each) for each in run.not_checked})
        if not run.is_sound:
            self.wrong.append(run)

    @property
    def never_exercised(self) -> list[str]:
        """What should happen sometimes and did not once."""
        return [name for name in all_properties(self.without) if not self.exercised[name]]

    @property
    def repeated(self) -> int:
        """Runs whose recording equals that of an earlier one."""
        return self.runs - len(self.traces)


def _of_no_version(gap: NotChecked) -> str:
    """What was not checked and why, the same for all runs: without the versions that it is of."""
    return f"{gap.what.partition(' of ')[0]}: {gap.why}"
