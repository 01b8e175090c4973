"""How many replications and jobs decide an objective, and what being chosen as the best does."""

from __future__ import annotations

import numpy as np
import pytest

from tests.answers.cells import Did, answered, measured_run, replicated, sweep_layout
from tests.rule_of_three import units_to_show
from whitecap.engine.recorded import Direction, Measure, Objective
from whitecap.reports.answers.objectives import objectives_of
from whitecap.reports.answers.phrases import found_text
from whitecap.reports.answers.standing import JudgedObjective, ObjectiveStanding, standing_of
from whitecap.reports.layout import layout_of
from whitecap.reports.measures.measured_run import MeasuredRun
from whitecap.reports.statistics import greatest_of

THREE_NINES = Objective(Measure.JOB_SUCCESS_RATE, Direction.AT_LEAST, 0.999)


def judged(runs: dict[int, MeasuredRun], *objectives: Objective) -> JudgedObjective:
    """The only objective of a cell with these runs."""
    (objective,) = standing_of("", runs, objectives_of(objectives)).objectives
    return objective


def replications(count: int, *did: Did) -> dict[int, MeasuredRun]:
    """So many runs that did in turn what is given."""
    from tests.answers.cells import measured_run

    return {number: measured_run(loader=did[number % len(did)]) for number in range(count)}


@pytest.mark.parametrize(("runs", "jobs"), [(1, 100), (5, 100), (20, 10), (1, 2)])
def test_without_a_failure_it_takes_as_many_jobs_as_the_rule_of_three_says(
    runs: int, jobs: int
) -> None:
    objective = judged(replications(runs, Did(committed=jobs)), THREE_NINES)
    assert objective.stands is ObjectiveStanding.UNDECIDED
    assert objective.needed is not None
    assert objective.needed_jobs == objective.needed * jobs
    least = units_to_show(0.999)
    assert least <= objective.needed_jobs < least + jobs
    assert "if there too every job commits" in found_text(objective)


def test_that_many_do_decide_it() -> None:
    few = judged(replications(5, Did(committed=100)), THREE_NINES)
    assert few.needed is not None
    enough, almost = (
        judged(replications(count, Did(committed=100)), THREE_NINES)
        for count in (few.needed, few.needed - 1)
    )
    assert enough.stands is ObjectiveStanding.MET
    assert almost.stands is ObjectiveStanding.UNDECIDED


def test_a_job_of_several_statements_is_one_job() -> None:
    once, thrice = (
        judged(replications(5, Did(100, 1, statements=count)), THREE_NINES) for count in (1, 3)
    )
    assert thrice.jobs == once.jobs == 505
    assert thrice.needed_jobs == once.needed_jobs
    few = judged(replications(1, Did(committed=150, statements=3)))
    assert (few.stands, few.jobs) == (ObjectiveStanding.TOO_FEW, 150)


def test_with_failures_it_says_replications_and_jobs_at_the_present_estimate() -> None:
    runs = replications(5, Did(999, 1), Did(1000), Did(1000), Did(1000), Did(1000))
    objective = judged(runs, THREE_NINES)
    assert objective.stands is ObjectiveStanding.UNDECIDED
    assert objective.needed is not None
    text = found_text(objective)
    assert f"about {objective.needed} replications (some " in text
    assert "jobs) would decide" in text
    assert "if there too" not in text


def test_what_lies_on_the_threshold_says_so() -> None:
    runs = replications(5, Did(999, 1))
    objective = judged(runs, THREE_NINES)
    assert objective.needed is None
    assert objective.needed_jobs is None
    assert found_text(objective).endswith(
        "it lies on the threshold, more than 1,000 replications would be needed to decide"
    )


def test_a_sweep_says_what_would_decide_all_that_is_undecided() -> None:
    layout = sweep_layout(partitioning=("none", "date"))
    cells = {"none": replicated(5, loader=Did(100)), "date": replicated(5, loader=Did(200))}
    answer = answered(layout, cells, THREE_NINES)
    needed = max(each.needed or 0 for each in answer.standings.values())
    (said,) = [each for each in answer.sentences if each.startswith("To decide what is")]
    assert f"in 2 of 2 cells takes about {needed} replications ({2 * needed} runs)" in said
    rows = [cell for under in answer.document["loads"] for cell in under["designs"]]  # type: ignore[attr-defined]
    assert [row["objectives"][0]["jobs_needed"] for row in rows] == [
        each.objectives[0].needed_jobs for each in answer.standings.values()
    ]


NAMES = tuple("abcdef")


def equals(random: np.random.Generator) -> dict[str, dict[int, MeasuredRun]]:
    """Six designs that are the same, in 6 replications of 100 minutes with some 1,000 jobs."""
    return {
        name: replications(6, *(Did(committed=int(random.poisson(1_000))) for _ in range(6)))
        for name in NAMES
    }


def test_the_answer_says_how_many_were_compared_and_how_much_that_flatters_the_best() -> None:
    answer = answered(sweep_layout(design=NAMES), equals(np.random.default_rng(3)))
    (under,) = answer.findings.loads
    assert under.choice is not None
    assert under.choice.compared == 6
    (said,) = [each for each in answer.sentences if "looks better than it is" in each]
    assert f"the goodput of {under.choice.most} may be about 0." in said
    assert "/ min too high (the highest of 6 that were compared)" in said
    choice = answer.document["loads"][0]["choice"]  # type: ignore[index]
    assert (choice["compared"], choice["flattered_by"]) == (6, under.choice.flattered_by)


def test_of_equal_designs_the_best_is_flattered_by_what_is_said() -> None:
    """The truth is 10 jobs a minute in all; a mean's standard error is 0.316 / root of 6."""
    random = np.random.default_rng(4)
    said, real = [], []
    for _ in range(60):
        answer = answered(sweep_layout(design=NAMES), equals(random))
        choice = answer.findings.loads[0].choice
        assert choice is not None
        said.append(choice.flattered_by)
        real.append(greatest_of(6) * np.sqrt(1_000 / 6) / 100)
    assert np.mean(said) == pytest.approx(np.mean(real), rel=0.1)


def test_one_design_is_flattered_by_nothing() -> None:
    answer = answered(sweep_layout(design=("a",)), {"a": replicated(5, loader=Did())})
    assert not any("looks better" in each for each in answer.sentences)


def test_one_job_is_a_job() -> None:
    answer = answered(layout_of({"run": {}}, {}), {"run": {0: measured_run(nightly=Did(1))}})
    assert "of 1 job (it takes about 300 replications)" in str(answer)
