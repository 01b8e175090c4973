"""One question of the same runs has one number and one interval, whichever command is asked."""

from __future__ import annotations

import pytest

from tests.answers.cells import Did, replicated
from whitecap.engine.recorded import Direction, Measure, Objective
from whitecap.reports.advice.steps import stood
from whitecap.reports.answers.objectives import Held, objectives_of
from whitecap.reports.answers.standing import standing_of
from whitecap.reports.comparisons.changes import changes_between
from whitecap.reports.comparisons.sides import side_of
from whitecap.reports.estimates import estimated
from whitecap.reports.expectations.judging import judge
from whitecap.reports.measures.measured_run import Runs
from whitecap.reports.planning.trying import tried_value
from whitecap.reports.statistics import CONFIDENCE, Estimate, facing

SUCCESS = Objective(Measure.JOB_SUCCESS_RATE, Direction.AT_LEAST, 0.99)
WASTE = Objective(Measure.WASTED_COMPUTE_SHARE, Direction.AT_MOST, 0.2)
LATENCY = Objective(Measure.LATENCY_P95_MS, Direction.AT_MOST, 14_000.0)
GOODPUT = Objective(Measure.GOODPUT_PER_MINUTE, Direction.AT_LEAST, 9.9)

ASKED = pytest.mark.parametrize("objective", [SUCCESS, WASTE, LATENCY, GOODPUT])
OFTEN = pytest.mark.parametrize("replications", [3, 5, 10])
GIVEN_UP = pytest.mark.parametrize("given_up", [0, 11, 90])


def runs_of(given_up: int, replications: int) -> Runs:
    wasted = 0.1 + given_up / 500
    return replicated(replications, loader=Did(1000 - given_up, given_up, wasted=wasted))


def bounds(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.point, estimate.low, estimate.high


@ASKED
@OFTEN
@GIVEN_UP
def test_an_answer_an_expectation_a_plan_and_advice_say_the_same(
    objective: Objective, replications: int, given_up: int
) -> None:
    runs, objectives = runs_of(given_up, replications), objectives_of([objective])
    (answered,) = standing_of("", runs, objectives).objectives
    (planned,) = tried_value(runs, objectives, 1 - CONFIDENCE).quantities
    (advised,) = stood((), runs, objectives).value.quantities
    expected = judge(Held(objective, "loader"), runs)
    assert bounds(answered.estimate) == bounds(planned.estimate) == bounds(advised.estimate)
    assert answered.stands.value == planned.standing.value == advised.standing.value
    assert (expected.standing.value, expected.measured) == (
        answered.stands.value, answered.estimate.point,
    )  # fmt: skip


@OFTEN
def test_a_comparison_is_of_the_numbers_that_a_report_has(replications: int) -> None:
    then, now = runs_of(0, replications), runs_of(11, replications)
    changes = changes_between({"": side_of(then)}, {"": side_of(now)}, paired=True)
    for change in changes.each:
        for side, runs in ((change.then, then), (change.now, now)):
            tallies = [runs[number].tally(change.measure) for number in sorted(runs)]
            assert bounds(side) == pytest.approx(
                bounds(estimated(change.measure, tallies)), nan_ok=True
            )


def test_what_falls_short_in_few_replications_is_told_as_at_most() -> None:
    (planned,) = tried_value(runs_of(90, 3), objectives_of([SUCCESS]), 0.05).quantities
    assert planned.estimate.high < 0.99
    assert facing(planned.estimate, 0.99) == planned.estimate
