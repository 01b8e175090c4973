"""Sensitivities: `sim` makes the changed scenarios and runs them, `reports` compares.

import whitecap
sensitivity = whitecap.sensitivity("scenarios/capacity.yaml")
print(sensitivity)
sensitivity.figure()
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from whitecap.arguments.kinds import of_its_kinds
from whitecap.arguments.texts import texts_of
from whitecap.deciding.defaults import MOST_RUNS, SENSITIVITY_REPLICATIONS
from whitecap.deciding.running import Effort, TrialWatch, checked_place_and_jobs, origin_of
from whitecap.engine.errors import InvalidInput, Problem, each_read, gathered, noted, unknown_name
from whitecap.engine.recorded import ALL_WRITERS, Measure
from whitecap.reports.answers.objectives import objectives_of
from whitecap.reports.fewest import FEWEST_REPLICATIONS
from whitecap.reports.measures.measured_run import measure_run
from whitecap.reports.precision.asked import measure_called
from whitecap.reports.sensitivity.effects import Followed, ParameterRuns
from whitecap.reports.sensitivity.result import Sensitivity, sensitivity_of
from whitecap.sim.changes.paired import paired_runs
from whitecap.sim.changes.parameters import VariedParameters, parameters_named, parameters_of
from whitecap.sim.loading import load_scenario
from whitecap.sim.machine.places import written
from whitecap.sim.machine.processes import Processes, at_a_time
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.sweeps.read_runs import Making
from whitecap.sim.sweeps.variants import auto_warm_up, plain_of
from whitecap.sim.sweeps.varied import varied_by

__all__ = ["Sensitivity", "sensitivity", "studied_by", "study_of"]


class Study(Struct, frozen=True):
    """What is to be run: the scenario as it stands and with each parameter changed."""

    scenario: Scenario
    parameters: VariedParameters
    followed: tuple[Followed, ...]
    replications: int
    seed: int

    @property
    def runs(self) -> int:
        """How many there are to make."""
        return self.replications * self.parameters.scenarios


def study_of(
    path: Path,
    vary: Sequence[str],
    measures: Sequence[str],
    effort: Effort,
) -> Study:
    """What these words ask for. Raises `InvalidInput` with what is wrong; nothing is run."""
    with gathered() as problems:
        effort = effort.checked(problems)
        problems += _misread(vary, measures)
        scenario = load_scenario(path, cells=False)
        problems += auto_warm_up(scenario)
        with noted(problems):
            followed = _followed(scenario, measures)
        with noted(problems):
            parameters = parameters_named(scenario, vary) if vary else parameters_of(scenario)
    if not any(each.others for each in parameters.each):
        raise InvalidInput(
            [Problem(str(path), "nothing is varied: no other value is given than stands")]
        )
    affordable = _affordable(parameters.scenarios, effort.most_runs)
    replications = min(effort.replications, affordable)
    return Study(scenario, parameters, followed, replications, effort.seed_for(scenario))


def _misread(vary: Sequence[str], measures: Sequence[str]) -> list[Problem]:
    """What is wrong with these words in any scenario: it is told though the file is no scenario."""
    problems: list[Problem] = []
    each_read(vary, varied_by, problems)
    each_read(measures, _measure_in, problems)
    return problems


def _affordable(scenarios: int, most_runs: int) -> int:
    """Replications of so many scenarios. Raises `InvalidInput` where they would say nothing."""
    fewest = FEWEST_REPLICATIONS * scenarios
    if most_runs < fewest:
        reason = (
            f"{most_runs} are not enough to run {scenarios} values (with the scenario as it "
            f"stands) {FEWEST_REPLICATIONS} times each: that takes {fewest}"
        )
        raise InvalidInput([Problem("max_runs", reason)])
    return most_runs // scenarios


def _followed(scenario: Scenario, measures: Sequence[str]) -> tuple[Followed, ...]:
    """The measures that are named, or those of the objectives."""
    if not measures:
        stated = objectives_of(scenario.objectives).each
        return tuple(dict.fromkeys(Followed.by(each) for each in stated))
    writers = list(scenario.writers)
    with gathered() as problems:
        followed = each_read(measures, lambda text: _named(text, writers), problems)
    return tuple(dict.fromkeys(followed))


def _named(text: str, writers: list[str]) -> Followed:
    """`job_success_rate of etl`. Raises `InvalidInput`."""
    _, of, writer = (part.strip() for part in text.partition(" of "))
    with gathered() as problems:
        with noted(problems):
            measure = _measure_in(text)
        if of and writer not in (*writers, ALL_WRITERS):
            said = unknown_name("writer", writer, [*writers, ALL_WRITERS])
            problems.append(Problem("measure", *said))
    return Followed(measure, writer if of and writer != ALL_WRITERS else None)


def _measure_in(text: str) -> Measure:
    """What stands before the writer group. Raises `InvalidInput`."""
    return measure_called(text.partition(" of ")[0].strip(), "measure")


def studied_by(study: Study, jobs: int | None, watch: TrialWatch) -> Sensitivity:
    """Run all of it, and compare. Raises `InvariantViolated`."""
    base = plain_of(study.scenario, {})
    scenarios: dict[tuple[str, str], Scenario] = {("", ""): base}
    for each in study.parameters.each:
        scenarios |= {(each.path, value): other for value, other in each.others.items()}
    total = study.runs
    with Processes(at_a_time(jobs)) as processes:
        making = Making(
            measure_run, processes, lambda done, _: watch(done, total, f"{done:,} of {total:,}")
        )
        runs = paired_runs(making, scenarios, range(study.replications), study.seed)
    varied = [
        ParameterRuns(
            each.path, each.stands, {value: runs[each.path, value] for value in each.others}
        )
        for each in study.parameters.each
    ]
    return sensitivity_of(
        study.scenario.name,
        study.followed,
        runs["", ""],
        varied,
        study.parameters.left_out,
        study.seed,
        origin_of(study.scenario, study.seed),
    )


@of_its_kinds
def sensitivity(
    scenario: str | Path,
    vary: str | Sequence[str] = (),
    *,
    measure: str | Sequence[str] = (),
    replications: int = SENSITIVITY_REPLICATIONS,
    max_runs: int = MOST_RUNS,
    seed: int | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    quiet: bool = False,
) -> Sensitivity:
    """Which parameters move a result, one at a time, with simultaneous 95 % intervals.

    `vary`: `writers.etl.count=1..8`, or several; without it all numbers that the scenario says of
    writers, tables and clusters, halved and doubled. `measure`: `latency_p95_ms of etl`, or
    several; without it those of the objectives. Every value is run with the same `replications`
    (10), or with fewer where all together were more than `max_runs` (2,000). `out` is a directory
    for `sensitivity.json` and the figure.

    Raises `InvalidInput`, `InvariantViolated`, and `NotWritten`, which has the result.
    """
    from whitecap.terminal.progress import progress

    with gathered() as problems:
        place, jobs = checked_place_and_jobs(out, jobs, problems)
        study = study_of(
            Path(scenario),
            texts_of(vary),
            texts_of(measure),
            Effort(replications, max_runs, seed),
        )
    with progress("sensitivity", quiet=quiet) as show:
        studied = studied_by(study, jobs, show)
    if place is not None:
        written(studied, studied.write, place)
    return studied
