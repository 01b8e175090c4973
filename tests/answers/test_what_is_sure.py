"""What is said to be sure of one design of many: how often that is wrong, and where it is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.answers.cells import Did, answered, load_of, measured_run, replicated, sweep_layout
from tests.answers.shapes import BAD, GOOD, of_both
from whitecap.engine.recorded import Direction, Measure, Objective
from whitecap.reports.answers.findings import findings_of
from whitecap.reports.answers.objectives import objectives_of
from whitecap.reports.answers.standing import ObjectiveStanding
from whitecap.reports.layout import layout_of
from whitecap.reports.measures.measured_run import MeasuredRun

DESIGNS = ("a", "b", "c", "d", "e", "f")
WRITERS = ("8", "12")
SUCCESS = Objective(Measure.JOB_SUCCESS_RATE, Direction.AT_LEAST, 0.99)

JUST_MET = 7
"""Of 1,000 jobs given up in each of five replications: met by one interval, not by one of six."""


def test_too_much_is_seldom_called_sure_of_the_best_of_many() -> None:
    """Six designs just miss the objective under the heavier load. By their own intervals one of
    them meets it in some 25 % of all sweeps."""
    layout = sweep_layout(writers=WRITERS, design=DESIGNS)
    draw, sweeps = np.random.default_rng(4), 80
    grid, light = load_of(layout, "writers"), replicated(5, loader=Did(2000))
    sure = met = 0
    for _ in range(sweeps):
        cells = {f"8__{name}": light for name in DESIGNS}
        cells |= {f"12__{name}": _just_missing(draw) for name in DESIGNS}
        findings = findings_of(cells, grid, objectives_of([SUCCESS]))
        met += findings.loads[-1].count(ObjectiveStanding.MET) > 0
        sure += any(len(each.shown) > 1 for each in findings.capacities.values())
    assert met / sweeps > 0.12
    assert sure / sweeps <= 0.1


def _just_missing(draw: np.random.Generator) -> dict[int, MeasuredRun]:
    """98.99 % of 400 jobs in each of five runs, which scatter with a design effect of 3."""
    alike = (3 - 1) / (400 - 1)
    odds = (1 - alike) / alike
    failing = draw.binomial(400, draw.beta(0.0101 * odds, 0.9899 * odds, 5))
    return {
        number: measured_run(loader=Did(400 - int(given_up), int(given_up)))
        for number, given_up in enumerate(failing)
    }


def test_what_is_met_by_its_own_interval_alone_is_said_to_be() -> None:
    cells = {name: replicated(5, loader=Did(1000 - JUST_MET, JUST_MET)) for name in DESIGNS}
    answer = answered(sweep_layout(design=DESIGNS), cells, SUCCESS)
    assert answer.headline.startswith("Choose ")
    assert (
        "meets the objective by its own interval, which is not enough to be sure of one that was "
        "picked from 6."
    ) in str(answer)


def test_what_is_picked_from_nothing_else_is_sure_where_it_is_met() -> None:
    layout = sweep_layout(writers=WRITERS)
    cells = {name: replicated(5, loader=Did(1000 - JUST_MET, JUST_MET)) for name in WRITERS}
    answer = answered(layout, cells, SUCCESS, load=["writers"])
    assert answer.headline == "The table takes 12 writers for sure, the most that was tried"
    assert "by its own interval" not in str(answer)


@pytest.mark.parametrize(
    ("axes", "load", "cells"),
    [
        ({"design": DESIGNS}, (), 6),
        ({"writers": WRITERS}, ("writers",), 1),
        ({"writers": WRITERS, "design": DESIGNS}, ("writers",), 6),
        ({"writers": WRITERS, "rate": ("1", "2", "3"), "design": DESIGNS}, ("writers", "rate"), 12),
    ],
)
def test_a_mistake_in_one_cell_of_each_design_is_what_takes_too_much(
    axes: dict[str, tuple[str, ...]], load: tuple[str, ...], cells: int
) -> None:
    grid = load_of(sweep_layout(**axes), *load)
    met = {
        cell: replicated(5, loader=Did(2000)) for load in grid.loads for cell, _ in grid.under(load)
    }
    assert findings_of(met, grid, objectives_of([SUCCESS])).picked_from == cells


def test_a_design_that_misses_under_the_lightest_load_is_none_to_pick_from() -> None:
    grid = load_of(sweep_layout(writers=WRITERS, design=DESIGNS), "writers")
    missing, met = (replicated(5, loader=Did(1000 - n, n)) for n in (100, JUST_MET))
    cells = {f"{load}__{name}": missing for load in WRITERS for name in DESIGNS}
    cells |= {f"{load}__a": met for load in WRITERS}
    findings = findings_of(cells, grid, objectives_of([SUCCESS]))
    assert (findings.picked_from, len(findings.capacity.shown)) == (1, 2)
    more = {**cells, "8__b": met, "8__c": met, "8__d": met}
    assert findings_of(more, grid, objectives_of([SUCCESS])).picked_from == 4


NOTHING_GIVEN_UP = Objective(Measure.GIVEN_UP, Direction.AT_MOST, 0.0)


def test_a_count_that_every_run_meets_is_not_sure_but_bounded() -> None:
    """Five clean runs are likely where 40 % of all runs are not."""
    layout = sweep_layout(writers=WRITERS)
    cells = {name: replicated(5, loader=Did(1000)) for name in WRITERS}
    answer = answered(layout, cells, NOTHING_GIVEN_UP, load=["writers"])
    assert answer.headline == (
        "The table takes 12 writers as far as the runs show, the most that was tried"
    )
    assert "for sure" not in str(answer)
    assert (
        "At 12 writers none of 5 runs misses given up of loader at most 0, "
        "so at most 45.1 % of runs do."
    ) in answer.sentences
    (capacity,) = _rows(answer.document["capacities"])
    assert (capacity["for_sure"], capacity["shown"]) == ([], ["12 writers"])
    (design,) = _rows(_rows(answer.document["loads"])[1]["designs"])
    (judged,) = _rows(design["objectives"])
    assert not design["is_sure"]
    assert judged["missed_at_most"] == pytest.approx(1 - 0.05 ** (1 / 5))


def test_the_bound_of_a_count_allows_for_how_many_were_looked_at() -> None:
    cells = {name: replicated(20, loader=Did(1000)) for name in DESIGNS}
    answer = answered(sweep_layout(design=DESIGNS), cells, NOTHING_GIVEN_UP)
    judged = answer.standings[answer.cell].objectives[0]
    assert judged.missed_at_most == pytest.approx(1 - (0.05 / 6) ** (1 / 20))


def test_of_a_share_and_a_count_the_bound_of_the_count_is_told() -> None:
    cells = {name: replicated(5, loader=Did(1000)) for name in WRITERS}
    layout = sweep_layout(writers=WRITERS)
    answer = answered(layout, cells, SUCCESS, NOTHING_GIVEN_UP, load=["writers"])
    assert "for sure" not in str(answer)
    assert sum("so at most 45.1 % of runs do" in each for each in answer.sentences) == 1


def test_a_single_run_bounds_a_count_hardly_at_all() -> None:
    layout = layout_of({"run": {}}, {})
    answer = answered(layout, {"run": replicated(1, loader=Did(1000))}, NOTHING_GIVEN_UP)
    assert answer.headline == "The objective is met"
    assert (
        "The one run does not miss given up of loader at most 0, so at most 95.0 % of runs do."
    ) in answer.sentences


def _rows(several: object) -> list[dict[str, Any]]:
    assert isinstance(several, list)
    return several


def test_json_says_of_every_cell_whether_it_is_sure() -> None:
    loads: Any = of_both((GOOD, BAD, BAD), (GOOD, GOOD, BAD)).document["loads"]
    load = loads[0]
    assert [each["is_sure"] for each in load["designs"]] == [True, True]


def test_nothing_is_sure_of_a_writer_group_that_nobody_judged() -> None:
    """Of 85 jobs of a group 3 are given up: that it meets 99 % is not likely."""
    layout = sweep_layout(writers=WRITERS)
    lost = (1, 0, 1, 0, 1)
    few = {
        number: measured_run(loader=Did(1000), w=Did(17 - given_up, given_up))
        for number, given_up in enumerate(lost)
    }
    answer = answered(layout, dict.fromkeys(WRITERS, few), load=["writers"])
    assert answer.headline == (
        "The table takes 12 writers as far as it can be judged, the most that was tried"
    )
    assert "\n  Too few jobs to judge: job success rate of w " in str(answer)
    (capacity,) = _rows(answer.document["capacities"])
    assert (capacity["for_sure"], capacity["shown"]) == ([], ["12 writers"])


def test_of_whom_too_few_jobs_were_under_a_lighter_load_alone_is_told_too() -> None:
    few, many = (replicated(5, loader=Did(1000), w=Did(jobs)) for jobs in (20, 1000))
    cells = dict(zip(WRITERS, (few, many), strict=True))
    answer = answered(sweep_layout(writers=WRITERS), cells, load=["writers"])
    assert "12 writers as far as it can be judged" in answer.headline
    assert "\n  At 8 writers too few jobs to judge: job success rate of w " in str(answer)


def test_a_group_of_whom_no_job_was_due_leaves_the_others_sure() -> None:
    idle = {number: measured_run(loader=Did(1000), nightly=Did(0)) for number in range(5)}
    answer = answered(sweep_layout(writers=WRITERS), dict.fromkeys(WRITERS, idle), load=["writers"])
    assert answer.headline.startswith("The table takes 12 writers for sure")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([9, 250, 1000]), st.booleans()), min_size=4, max_size=4))
def test_nothing_is_for_sure_while_some_group_is_too_few_to_judge(
    groups: list[tuple[int, bool]],
) -> None:
    runs = [
        replicated(3, loader=Did(1000), w=Did(jobs, jobs // 50 if fails else 0))
        for jobs, fails in groups
    ]
    layout = sweep_layout(writers=WRITERS, design=("a", "b"))
    cells = dict(zip((f"{load}__{name}" for load in WRITERS for name in "ab"), runs, strict=True))
    findings = answered(layout, cells, load=["writers"]).findings
    for design, capacity in findings.capacities.items():
        for cell, load in findings.grid.of(design):
            if any(load.is_within(each) for each in capacity.heaviest_for_sure):
                assert not findings.standings[cell].those(ObjectiveStanding.TOO_FEW)
    for standing in findings.standings.values():
        assert not (standing.is_sure and standing.those(ObjectiveStanding.TOO_FEW))
