"""Plans: `reports` says which values to try of a parameter, `sim` runs them.

import whitecap
plan = whitecap.plan("scenarios/capacity.yaml", "writers.etl.count=1..200")
print(plan)
plan.figure()
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from whitecap.arguments.kinds import of_its_kinds
from whitecap.arguments.texts import lists_of, texts_of
from whitecap.deciding.defaults import MOST_RUNS, PLAN_REPLICATIONS
from whitecap.deciding.running import Effort, TrialWatch, checked_place_and_jobs, origin_of
from whitecap.engine.errors import (
    InvalidInput,
    InvariantViolated,
    Problem,
    gathered,
    noted,
    unknown_name,
)
from whitecap.reports.answers.objectives import ObjectiveSet
from whitecap.reports.measures.measured_run import MeasuredRun, measure_run
from whitecap.reports.planning.levels import LookSchedule
from whitecap.reports.planning.planned import Boundary, Plan, PlannedVariant
from whitecap.reports.planning.search import Bracket, Sense, bracket_of
from whitecap.reports.planning.trend import contradictions
from whitecap.reports.planning.trying import TriedValue, tried_value
from whitecap.sim.machine.places import written
from whitecap.sim.machine.processes import Processes, at_a_time
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.sweeps.kept_runs import KeptRuns
from whitecap.sim.sweeps.read_runs import Making, RunToRead
from whitecap.sim.sweeps.variants import Variants, variants_of

__all__ = ["Plan", "kept_runs", "plan", "planned_by", "planning_of"]

RUNS = "runs"
"""In the directory of a plan."""


class Planning(Struct, frozen=True):
    """What is to be planned: variants along a parameter, with at most so many runs."""

    variants: Variants
    schedule: LookSchedule
    sense: Sense | None
    most_runs: int
    seed: int

    @property
    def objectives(self) -> ObjectiveSet:
        """What all values are held to."""
        return ObjectiveSet(tuple(self.variants.scenario.objectives), are_default=False)


def planning_of(
    path: Path,
    vary: str,
    effort: Effort,
    *,
    objective: Sequence[str],
    variants: Mapping[str, Mapping[str, Any]],
    only: Mapping[str, Sequence[str]],
    sense: str | None,
) -> Planning:
    """What these words ask for. Raises `InvalidInput` with what is wrong; nothing is run."""
    with gathered() as problems:
        with noted(problems):
            meant = _sense(sense)
        effort = effort.checked(problems, "max_replications")
        loaded = variants_of(path, vary, variants, only, objective)
    schedule, runs = LookSchedule(len(loaded.varied.values), effort.replications), effort.most_runs
    if runs < schedule.looks[0] * len(loaded.changes):
        reason = f"{runs} are not enough to try one value of each variant {schedule.looks[0]} times"
        raise InvalidInput([Problem("max_runs", reason)])
    return Planning(loaded, schedule, meant, runs, effort.seed_for(loaded.scenario))


def _sense(name: str | None) -> Sense | None:
    if name is None or name in list(Sense):
        return None if name is None else Sense(name)
    raise InvalidInput([Problem("sense", *unknown_name("sense", name, [*map(str, Sense)]))])


@of_its_kinds
def plan(
    scenario: str | Path,
    vary: str,
    *,
    objective: str | Sequence[str] = (),
    variants: Mapping[str, Mapping[str, Any]] | None = None,
    only: Mapping[str, Any] | None = None,
    sense: str | None = None,
    seed: int | None = None,
    max_runs: int = MOST_RUNS,
    max_replications: int = PLAN_REPLICATIONS,
    out: str | Path | None = None,
    resume: bool = False,
    jobs: int | None = None,
    quiet: bool = False,
) -> Plan:
    """The largest (or smallest) value of a parameter at which all objectives hold, with an
    interval.

    `vary`: `writers.etl.count=1..200`, `...every=10 s..10 min`, with a step as `:5`. `objective`
    takes the place of the scenario's. `variants` are names with the dotted paths that they set;
    `only` keeps axes of the scenario's sweep as variants, with the labels given (all if none are).
    `sense` is "largest" or "smallest"; without it the first values tell. At most `max_runs` (2,000)
    runs, `max_replications` (100) of one value. `out` is a directory for `plan.json`, the
    figure and the runs, which are used again with `resume`. Interrupted, it returns what is known.

    Raises `InvalidInput`, `InvariantViolated`, and `NotWritten`, which has the result.
    """
    from whitecap.terminal.progress import progress

    with gathered() as problems:
        place, jobs = checked_place_and_jobs(out, jobs, problems)
        with noted(problems):
            kept = kept_runs(place, resume)
        wanted = planning_of(
            Path(scenario),
            vary,
            Effort(max_replications, max_runs, seed),
            objective=texts_of(objective),
            variants=variants or {},
            only=lists_of("only", only, problems) or {},
            sense=sense,
        )
    with progress("plan", quiet=quiet, is_bound=True) as show:
        planned = planned_by(wanted, jobs, show, kept)
    if place is not None:
        written(planned, planned.write, place)
    return planned


def kept_runs(out: Path | None, resume: bool) -> KeptRuns | None:
    """Where a plan keeps its runs, if anywhere. Raises `InvalidInput`: none lie there to resume."""
    if out is None:
        if resume:
            said = "goes on with the plan that lies in --out (out=): give both"
            raise InvalidInput([Problem("resume", said)])
        return None
    place = out / RUNS
    if resume and not place.is_dir():
        raise InvalidInput([Problem(str(out), "there are no runs of a plan to go on with")])
    return KeptRuns(place, resume)


def planned_by(
    planning: Planning, jobs: int | None, watch: TrialWatch, kept: KeptRuns | None
) -> Plan:
    """Try values until every search is at its end, the runs are at their most, or Ctrl-C comes."""
    searches = [_Search(planning, name) for name in planning.variants.changes]
    rounds, is_interrupted = _Rounds(planning, watch), False
    try:
        with Processes(at_a_time(jobs)) as processes:
            making = Making(measure_run, processes, rounds.tell, kept)
            while rounds.run(making, searches):
                pass
    except KeyboardInterrupt:
        if not any(search.tried for search in searches):
            raise KeyboardInterrupt(_kept_so_far(kept)) from None
        is_interrupted = True
    varied, scenario = planning.variants.varied, planning.variants.scenario
    return Plan(
        scenario.name,
        varied.path,
        varied.labels,
        varied.numbers,
        planning.objectives.each,
        tuple(search.planned() for search in searches),
        rounds.done,
        planning.most_runs,
        planning.seed,
        is_interrupted,
        origin_of(scenario, planning.seed),
    )


def _kept_so_far(kept: KeptRuns | None) -> str:
    """What there is of a plan that was interrupted before any value was tried."""
    said, runs = "nothing is known yet", how_it_goes_on(kept)
    return said if runs is None else f"{said}; {runs}"


def how_it_goes_on(kept: KeptRuns | None) -> str | None:
    """Where the finished runs of an interrupted plan are, if anywhere."""
    if kept is None or not kept.place.is_dir():
        return None
    goes_on = "--resume (resume=True) goes on with them"
    return f"finished runs are kept in {kept.place}, and {goes_on}"


class _Search(Struct, frozen=True):
    """The search of one variant: its runs so far, and how each value that was tried stands."""

    planning: Planning
    variant: str
    runs: dict[int, dict[int, MeasuredRun]] = field(default_factory=dict)
    tried: dict[int, TriedValue] = field(default_factory=dict)

    @property
    def bracket(self) -> Bracket:
        """Where its boundary lies, and what it wants to try."""
        schedule = self.planning.schedule
        tried = {at: each.tried(schedule.most) for at, each in self.tried.items()}
        return bracket_of(tried, schedule, self.planning.sense)

    def to_make(self, at: int, replications: int) -> list[RunToRead]:
        """The runs that a value still lacks."""
        scenario = self._scenario(at)
        seen = range(len(self.runs.get(at, {})), replications)
        return [RunToRead(scenario, {}, number, self.planning.seed) for number in seen]

    def add(self, at: int, made: Mapping[int, MeasuredRun]) -> None:
        """Look at a value that has all replications of a look."""
        runs = self.runs.setdefault(at, {})
        runs.update(made)
        self.tried[at] = tried_value(runs, self.planning.objectives, self.planning.schedule.error)

    def planned(self) -> PlannedVariant:
        """What is known."""
        labels, bracket = self.planning.variants.varied.labels, self.bracket
        boundary = Boundary.of(bracket, self.tried, len(labels))
        warnings = contradictions(self.tried, labels)
        return PlannedVariant(self.variant, boundary, self.tried, bool(bracket.wanted), warnings)

    def _scenario(self, at: int) -> Scenario:
        return self.planning.variants.at(self.variant, at)


class _Rounds:
    """Rounds of runs: of every search what it wants next, as far as runs are left."""

    def __init__(self, planning: Planning, watch: TrialWatch) -> None:
        self.done = 0
        self._planning, self._watch = planning, watch
        self._note = ""

    def tell(self, done: int, _: int) -> None:
        """So many runs are made."""
        most = self._planning.most_runs
        self._watch(done, most, f"{self._note}, {done:,} of at most {most:,} runs")

    def run(self, making: Making[MeasuredRun], searches: Sequence[_Search]) -> bool:
        """Make a round; whether there was anything to make."""
        left = self._planning.most_runs - self.done
        wanted: list[tuple[_Search, int, list[RunToRead]]] = []
        for search in searches:
            for at, replications in search.bracket.wanted.items():
                runs = search.to_make(at, replications)
                if len(runs) <= left:
                    left -= len(runs)
                    wanted.append((search, at, runs))
        self._note = _note(wanted)
        made = making.make([run for _, _, runs in wanted for run in runs])
        for search, at, runs in wanted:
            own = [(run.replication, next(made)) for run in runs]
            search.add(at, {number: _read(ran.read, ran.error) for number, ran in own})
            self.done += len(runs)
        return bool(wanted)


def _note(wanted: Sequence[tuple[_Search, int, list[RunToRead]]]) -> str:
    """What is being tried: `by date at 16 and 3 more`."""
    if not wanted:
        return ""
    search, at, _ = wanted[0]
    more = f" and {len(wanted) - 1} more" if wanted[1:] else ""
    return f"{search.variant} at {search.planning.variants.varied.labels[at]}{more}"


def _read(read: MeasuredRun | None, error: str | None) -> MeasuredRun:
    if read is None:
        raise InvariantViolated(error or "a run left nothing to be measured")
    return read
