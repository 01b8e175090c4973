"""Advice: `reports` says which designs to look at, `sim` makes and runs them.

import whitecap
advice = whitecap.advise("scenarios/capacity.yaml", ["partitioning", "retries"])
print(advice)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from whitecap.arguments.kinds import of_its_kinds
from whitecap.arguments.texts import texts_of
from whitecap.deciding.behind import behind_refusals
from whitecap.deciding.defaults import ADVICE_REPLICATIONS, MOST_RUNS
from whitecap.deciding.running import Effort, TrialWatch, checked_place_and_jobs
from whitecap.engine.errors import InvalidInput, Problem, gathered
from whitecap.reports.advice.result import Advice, Searched
from whitecap.reports.advice.search import STANDS, CandidateDesign, DesignSearch
from whitecap.reports.advice.steps import steps_of, stood
from whitecap.reports.answers.objectives import ObjectiveSet
from whitecap.reports.fewest import FEWEST_REPLICATIONS
from whitecap.reports.measures.measured_run import MeasuredRun, Runs, measure_run
from whitecap.sim.changes.alternatives import Alternatives, alternatives_of
from whitecap.sim.changes.paired import paired_runs
from whitecap.sim.loading import scenario_of
from whitecap.sim.machine.places import written
from whitecap.sim.machine.processes import Processes, at_a_time
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.yaml.text import show_document
from whitecap.sim.sweeps.read_runs import Making
from whitecap.sim.sweeps.variants import plain_of, scenario_held_to

__all__ = ["Advice", "advise", "advised_by", "question_of"]

SLOT_HOURS = "slot-hours"
"""The currency where no price is stated: one slot-hour costs one."""


class Question(Struct, frozen=True):
    """What may be changed of which scenario, and how much may be run for it."""

    scenario: Scenario
    alternatives: Alternatives
    replications: int
    most_runs: int
    seed: int

    @property
    def objectives(self) -> ObjectiveSet:
        """What designs are held to."""
        return ObjectiveSet(tuple(self.scenario.objectives), are_default=False)

    def at(self, design: CandidateDesign) -> Scenario:
        """The scenario with a design's changes. Raises `InvalidInput` where they exclude each
        other."""
        return plain_of(self.scenario, self.changes(design))

    def is_possible(self, design: CandidateDesign) -> bool:
        """Whether its changes go together."""
        try:
            self.at(design)
        except InvalidInput:
            return False
        return True

    def changes(self, design: CandidateDesign) -> dict[str, Any]:
        """All dotted paths that a design sets, those of later steps over those of earlier ones."""
        kinds = self.alternatives.kinds
        return {path: v for kind, label in design for path, v in kinds[kind][label].items()}


def question_of(
    path: Path,
    allowed: Sequence[str],
    objective: Sequence[str],
    effort: Effort,
) -> Question:
    """What these words ask for. Raises `InvalidInput` with what is wrong; nothing is run."""
    with gathered() as problems:
        effort = effort.checked(problems)
        stated = scenario_held_to(path, objective, problems)
        priced = stated if stated.price else _priced(stated)
        alternatives = alternatives_of(priced, allowed)
    changes = sum(map(len, alternatives.kinds.values()))
    first_look = FEWEST_REPLICATIONS * (1 + changes)
    if effort.most_runs < first_look:
        said = f"{effort.most_runs} are not enough to look at every change: that takes {first_look}"
        raise InvalidInput([Problem("max_runs", said)])
    return Question(
        priced, alternatives, effort.replications, effort.most_runs, effort.seed_for(priced)
    )


def _priced(scenario: Scenario) -> Scenario:
    """With a price of what it does not state one of."""
    free = {"price": {"per_slot_hour": 1, "currency": SLOT_HOURS}}
    return scenario_of(scenario.document, free, cells=False).is_of(scenario.source)


def advised_by(question: Question, jobs: int | None, watch: TrialWatch) -> Advice:
    """Search, then judge the way by fresh replications. Raises `InvariantViolated`."""
    kinds = {kind: list(labels) for kind, labels in question.alternatives.kinds.items()}
    search = DesignSearch(kinds, question.objectives, question.replications, question.is_possible)
    with Processes(at_a_time(jobs)) as processes:
        runs = _Runs(question, processes, watch)
        is_cut = _searched(search, runs)
        fresh = runs.fresh(search.way)
    return _advice(question, search, runs, fresh, is_cut)


def _searched(search: DesignSearch, runs: _Runs) -> bool:
    """Go through the search; whether it was cut off because runs were at their most."""
    steps = search.steps()
    try:
        wanted = next(steps)
        while True:
            made = runs.made(wanted)
            if made is None:
                return True
            wanted = steps.send(made)
    except StopIteration:
        return False


class _Runs(Struct):
    """What was run so far, by design and replication."""

    question: Question
    processes: Processes
    watch: TrialWatch
    done: int = 0
    runs: dict[CandidateDesign, dict[int, MeasuredRun]] = field(default_factory=dict)

    def made(self, wanted: Mapping[CandidateDesign, int]) -> Mapping[CandidateDesign, Runs] | None:
        """All that is wanted; nothing if that would be too much."""
        lacking = sum(count - len(self.runs.get(each, ())) for each, count in wanted.items())
        if self.done + max(lacking, 0) > self.question.most_runs:
            return None
        counts = {len(self.runs.get(each, ())) for each in wanted}
        for seen in sorted(counts):
            here = [each for each in wanted if len(self.runs.get(each, ())) == seen]
            self._make(here, range(seen, max(wanted.values())))
        return {each: self.runs[each] for each in wanted}

    def fresh(self, way: Sequence[CandidateDesign]) -> Mapping[CandidateDesign, Runs]:
        """Replications that nothing was chosen by, those after the ones of the search."""
        first = self.question.replications
        self._make(way, range(first, 2 * first), of_search=False)
        return {each: {n: run for n, run in self.runs[each].items() if n >= first} for each in way}

    def _make(
        self, designs: Sequence[CandidateDesign], numbers: range, *, of_search: bool = True
    ) -> None:
        if not designs or not numbers:
            return
        scenarios = {each: self.question.at(each) for each in designs}
        before, most = self.done, self.question.most_runs
        note = "searching" if of_search else "judging by fresh replications"

        def tell(done: int, _: int) -> None:
            now = before + done if of_search else before
            self.watch(min(now, most), most, f"{note}, {before + done:,} runs")

        making = Making(measure_run, self.processes, tell)
        runs = paired_runs(making, scenarios, numbers, self.question.seed)
        for each, own in runs.items():
            self.runs.setdefault(each, {}).update(own)
        if of_search:
            self.done += len(designs) * len(numbers)


def _advice(
    question: Question,
    search: DesignSearch,
    runs: _Runs,
    fresh: Mapping[CandidateDesign, Runs],
    is_cut: bool,
) -> Advice:
    objectives, best = question.objectives, search.way[-1]
    price = question.scenario.price
    assert price is not None
    searched = replace(_extent(question, search, runs), fresh=len(fresh[best]), is_cut=is_cut)
    return Advice(
        question.scenario.name,
        objectives.each,
        stood(STANDS, fresh[STANDS], objectives),
        stood(best, fresh[best], objectives),
        steps_of(search.way, fresh, objectives),
        searched,
        price.currency,
        tuple(behind_refusals(question.scenario, fresh[STANDS])),
        show_document(question.at(best).document),
    )


def _extent(question: Question, search: DesignSearch, runs: _Runs) -> Searched:
    """How much was searched, before anything of it is judged by fresh replications."""
    alternatives = question.alternatives
    return Searched(
        kinds={kind: len(labels) for kind, labels in alternatives.kinds.items()},
        refused=alternatives.refused,
        designs=alternatives.designs,
        looked_at=len(search.looked_at),
        runs=runs.done,
        most=question.replications,
        fresh=0,
        seed=question.seed,
    )


@of_its_kinds
def advise(
    scenario: str | Path,
    allow: str | Sequence[str] = (),
    *,
    objective: str | Sequence[str] = (),
    replications: int = ADVICE_REPLICATIONS,
    max_runs: int = MOST_RUNS,
    seed: int | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    quiet: bool = False,
) -> Advice:
    """The cheapest design that meets the objectives, and what each step towards it buys.

    `allow`: what may be changed, `"partitioning"`, `"retries"`, ... or axes of the scenario's
    sweep; without it what the scenario's `may_change` names. The search takes at most `max_runs`
    (2,000) runs, `replications` (20) of a design, and judges its way by as many fresh ones. `out`
    is a directory for `advice.json` and the changed scenario.

    Raises `InvalidInput`, `InvariantViolated`, and `NotWritten`, which has the result.
    """
    from whitecap.terminal.progress import progress

    with gathered() as problems:
        place, jobs = checked_place_and_jobs(out, jobs, problems)
        question = question_of(
            Path(scenario),
            texts_of(allow),
            texts_of(objective),
            Effort(replications, max_runs, seed),
        )
    with progress("advise", quiet=quiet, is_bound=True) as show:
        advice = advised_by(question, jobs, show)
    if place is not None:
        written(advice, advice.write, place)
    return advice
