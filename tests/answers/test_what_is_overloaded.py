"""Where more arrives than gets done, what is asked of jobs is missed, however well the few do."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace

import whitecap
from tests.answers.cells import Did, answered, measured_run, replicated, sweep_layout
from tests.sim.sim_worlds import document
from whitecap.engine.recorded import Direction, Measure, Objective
from whitecap.reports.answers.objectives import Held, objectives_of
from whitecap.reports.answers.overload import OF_JOBS, overload_of
from whitecap.reports.answers.standing import ObjectiveStanding, standing_of
from whitecap.reports.measures.left_out import Due
from whitecap.reports.measures.measured_run import MeasuredRun
from whitecap.reports.planning.trying import tried_value
from whitecap.reports.planning.wording import quantity_text
from whitecap.reports.statistics import Standing

QUEUEING = Did(1000, due=1001, not_begun=1)
"""One job waits for its writer's current one."""

PILED_UP = Did(1000, due=4000, not_begun=3000)
"""All jobs that ended committed, and three of four that were due had not begun."""

SUCCESS = Objective(Measure.JOB_SUCCESS_RATE, Direction.AT_LEAST, 0.99)
LATENCY = Objective(Measure.LATENCY_P95_MS, Direction.AT_MOST, 60_000.0, "all")
CONFLICTS = Objective(Measure.CONFLICT_RATE, Direction.AT_MOST, 0.05, "all")
WRITERS = ("8", "12")


def test_a_cell_in_which_jobs_pile_up_misses_though_all_that_ended_committed() -> None:
    cells = {"8": replicated(5, loader=QUEUEING), "12": replicated(5, loader=PILED_UP)}
    answer = answered(sweep_layout(writers=WRITERS), cells, SUCCESS, load=["writers"])
    assert answer.headline == "The table takes 8 writers for sure, no more"
    (missed,) = [each for each in answer.sentences if "it misses the objective" in each]
    assert missed.startswith("At 12 writers ")
    assert missed.endswith(
        ", but the schedule is overloaded (75.0 % of due jobs of loader had not begun)."
    )


def test_few_jobs_are_enough_to_miss_the_default_by_overload() -> None:
    few = replicated(2, loader=Did(20, due=60, not_begun=40), other=Did(500))
    standing = standing_of("", few, objectives_of([]))
    stands = {each.held.writer: each.stands for each in standing.objectives}
    assert stands == {"loader": ObjectiveStanding.MISSED, "other": ObjectiveStanding.MET}


def test_all_writers_together_miss_by_one_group_in_which_jobs_pile_up() -> None:
    runs = replicated(5, loader=PILED_UP, other=Did(1000))
    standing = standing_of("", runs, objectives_of([LATENCY, CONFLICTS]))
    stands = [each.stands for each in standing.objectives]
    assert stands == [ObjectiveStanding.MISSED, ObjectiveStanding.MET]


def test_of_several_overloaded_cells_the_nearest_is_the_one_with_the_least_that_waits() -> None:
    less = Did(1000, due=1100, not_begun=100)
    cells = {"a": replicated(5, loader=PILED_UP), "b": replicated(5, loader=less)}
    answer = answered(sweep_layout(design=("a", "b")), cells, SUCCESS)
    assert answer.headline == "Nothing meets the objective, b comes nearest"


def test_a_value_beyond_its_threshold_is_told_besides() -> None:
    runs = replicated(5, loader=Did(900, 100, due=4000, not_begun=3000))
    (judged,) = standing_of("", runs, objectives_of([SUCCESS])).objectives
    (row,) = [judged.overload]
    assert [str(group) for group in row] == ["loader · MERGE"]
    assert judged.shortfall == 0.75


@pytest.mark.parametrize("measure", sorted(OF_JOBS))
def test_everything_that_is_asked_of_jobs_is_missed_in_plans_too(measure: Measure) -> None:
    easy = measure.better or Direction.AT_LEAST
    threshold = 0.0 if easy is Direction.AT_LEAST else 1e9
    objectives = objectives_of([Objective(measure, easy, threshold, "all")])
    for did, standing in ((QUEUEING, Standing.MET), (PILED_UP, Standing.MISSED)):
        runs = {number: measured_run(loader=did) for number in range(10)}
        assert tried_value(runs, objectives, 0.05).standing is standing
        assert bool(overload_of(Held(objectives.each[0], None), runs.values())) == (
            standing is Standing.MISSED
        )


@pytest.mark.parametrize(
    ("not_begun", "standing"),
    [(15, Standing.MET), (40, Standing.UNDECIDED), (100, Standing.MISSED)],
)
def test_a_value_at_which_about_as_much_gets_done_as_arrives_is_undecided_in_a_plan(
    not_begun: int, standing: Standing
) -> None:
    """Of 600 jobs in 10 runs 52 wait at balance, 28 to 76 in nine of ten cases."""
    dues = Due(writers=1, jobs=60, not_begun=not_begun // 10)
    runs = {number: _with_due(measured_run(loader=Did(1000)), dues) for number in range(10)}
    (quantity,) = tried_value(runs, objectives_of([SUCCESS]), 0.05).quantities
    assert quantity.standing is standing
    is_told = "it cannot be told whether more arrives" in quantity_text(quantity)
    assert is_told is (standing is Standing.UNDECIDED)


def _with_due(run: MeasuredRun, due: Due) -> MeasuredRun:
    """The same of an open group to which so many jobs came."""
    parts = {
        group: replace(part, left_out=replace(part.left_out, due=due))
        for group, part in run.groups.items()
    }
    return replace(run, groups=parts)


OVER = document(
    duration="20 min",
    warm_up="0 s",
    objective="job_success_rate >= 90 %",
    writers={
        "etl": {
            "statement": "INSERT INTO events VALUES :rows",
            "parameters": {"rows": {"rows": {"count": 2}}},
            "arrival": {"open": {"rate": "30 per h", "concurrency": 1}},
            "compute": "55 s",
        }
    },
)


def test_a_plan_does_not_go_beyond_what_gets_done(tmp_path: Path) -> None:
    """A job takes a minute, so 60 an hour is all there can be."""
    file = tmp_path / "over.yaml"
    file.write_text(yaml.safe_dump(OVER))
    plan = whitecap.plan(file, "writers.etl.arrival.open.rate=30 per h..600 per h:190 per h")
    (variant,) = plan.variants
    assert plan.labels[variant.boundary.high] == "30 per h"
    assert "more arrives than gets done (" in str(plan)
    overloaded = plan.table.set_index("value")["is_overloaded"]
    assert overloaded["220 per h"]
    assert not overloaded["30 per h"]


def test_a_run_in_which_jobs_pile_up_misses_its_objective() -> None:
    run = whitecap.run(OVER, changes={"writers.etl.arrival.open.rate": "600 per h"})
    assert run.answer.headline.startswith("Missed: job success rate of etl is 100 %")
    assert "but more arrives than gets done (" in run.answer.headline
