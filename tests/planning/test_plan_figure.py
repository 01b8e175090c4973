"""The figure of a plan: each variant's boundary can be told from the others'."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from matplotlib.lines import Line2D
from msgspec import structs
from numpy.typing import ArrayLike

from tests.figure_texts import assert_texts_lie_apart, texts_of
from tests.planning.responses import JOBS, held
from whitecap.reports.planning.planned import Boundary, Plan, PlannedVariant
from whitecap.reports.planning.search import Sense
from whitecap.reports.planning.trying import Quantity, TriedValue
from whitecap.reports.planning.wording import reasons
from whitecap.reports.statistics import Standing, share

NUMBERS = (1, 2, 4, 8, 12)
OBJECTIVE = held(0.99)


def tried(successes: int) -> TriedValue:
    """Five replications with so many jobs that succeeded in each."""
    estimate = share([successes] * 5, [JOBS] * 5, good=True)
    return TriedValue((Quantity(OBJECTIVE, estimate, Standing.MET, 1.0),), 5)


def plan_of(*boundaries: Boundary) -> Plan:
    """A plan with a variant of each of these boundaries."""
    variants = [
        PlannedVariant(f"variant {n}", each, {0: tried(JOBS), 2: tried(JOBS - n)}, is_cut=False)
        for n, each in enumerate(boundaries)
    ]
    labels = tuple(map(str, NUMBERS))
    objectives = (OBJECTIVE.objective,)
    return Plan("made up", "count", labels, NUMBERS, objectives, tuple(variants), 10, 100, 1)


def numbers_in(data: ArrayLike) -> list[float]:
    """The numbers of a line along one axis."""
    return [float(each) for each in np.asarray(data)]


def bars_of(plan: Plan) -> list[Line2D]:
    """The bars above its only panel."""
    (axes,) = plan.figure().axes
    above = axes.get_xaxis_transform()
    return [
        each
        for each in axes.lines
        if each.get_transform() == above and len(numbers_in(each.get_xdata())) == 2
    ]


LARGEST = [Boundary(Sense.LARGEST, 0, 4, None), Boundary(Sense.LARGEST, 2, 3, 2)]


def test_each_boundary_has_a_bar_in_a_row_of_its_own_and_in_its_colour() -> None:
    first, second = bars_of(plan_of(*LARGEST))
    assert numbers_in(first.get_xdata()) == [1, 12]
    assert numbers_in(second.get_xdata()) == [4, 8]
    height, below = (numbers_in(each.get_ydata())[0] for each in (first, second))
    assert height > below > 1
    assert first.get_color() != second.get_color()


@pytest.mark.parametrize(
    ("boundary", "markers"),
    [
        (Boundary(Sense.LARGEST, 1, 3, 2), ["|", "|"]),
        (Boundary(Sense.LARGEST, 1, 4, None), ["|", ">"]),
        (Boundary(Sense.LARGEST, -1, 2, None), ["<", "|"]),
        (Boundary(Sense.SMALLEST, 1, 3, 2), ["|", "|"]),
        (Boundary(Sense.SMALLEST, 0, 3, None), ["<", "|"]),
        (Boundary(Sense.SMALLEST, 2, 5, None), ["|", ">"]),
        (Boundary(None, -1, 4, None), ["<", ">"]),
    ],
)
def test_an_arrow_says_that_a_boundary_may_lie_beyond_what_was_asked_for(
    boundary: Boundary, markers: list[str]
) -> None:
    (axes,) = plan_of(boundary).figure().axes
    above = axes.get_xaxis_transform()
    ends = [each for each in axes.lines if each.get_transform() == above]
    assert [each.get_marker() for each in ends if each.get_marker() != "None"] == markers


def test_no_text_of_the_figure_lies_on_another() -> None:
    figure = plan_of(*LARGEST, *LARGEST, *LARGEST).figure()
    assert_texts_lie_apart(figure, "six variants")
    said = " ".join(words for words, _ in texts_of(figure))
    assert "boundary" in said
    assert "Bars above: where each boundary lies" in said


def test_both_ends_of_what_was_tried_have_a_tick_though_others_are_near() -> None:
    crowded = plan_of(LARGEST[0])
    numbers = (1, 2, 15, 29, 30)
    plan = dataclasses.replace(crowded, numbers=numbers, labels=tuple(map(str, numbers)))
    (variant,) = plan.variants
    every = structs.replace(variant, tried={at: tried(JOBS) for at in range(len(numbers))})
    (axes,) = dataclasses.replace(plan, variants=(every,)).figure().axes
    ticks = [text.get_text() for text in axes.get_xticklabels()]
    assert ticks[0] == "1"
    assert ticks[-2:] == ["15", "30"]


def test_a_value_that_only_the_search_cannot_decide_is_said_to_be_judged_more_strictly() -> None:
    estimate = share([JOBS - 2] * 20, [JOBS] * 20, good=True)
    unsure = TriedValue((Quantity(OBJECTIVE, estimate, Standing.UNDECIDED, 30.0),), 20)
    (variant,) = plan_of(LARGEST[1]).variants
    said = list(reasons(plan_of(LARGEST[1]), structs.replace(variant, tried={2: unsure})))
    assert len(said) == 1
    assert said[0].startswith("4 is undecided after 20 replications: job success rate of")
    assert said[0].endswith(", and a search judges more strictly than one interval")


def standing(each: Standing) -> TriedValue:
    """A value that stands so, after twenty replications."""
    estimate = share([JOBS - 2] * 20, [JOBS] * 20, good=True)
    return TriedValue((Quantity(OBJECTIVE, estimate, each, 30.0),), 20)


@pytest.mark.parametrize(
    ("sense", "low", "shown", "said"),
    [
        (Sense.LARGEST, 0, Standing.MET, "4, 8 and 12 hold"),
        (Sense.SMALLEST, 1, Standing.MISSED, "4, 8 and 12 miss"),
    ],
)
def test_what_is_shown_beyond_an_undecided_value_is_said(
    sense: Sense, low: int, shown: Standing, said: str
) -> None:
    values = {0: standing(shown), 1: standing(Standing.UNDECIDED)}
    values |= {at: standing(shown) for at in (2, 3, 4)}
    plan = plan_of(Boundary(sense, low, low + 4, None))
    *_, last = reasons(plan, structs.replace(plan.variants[0], tried=values))
    assert last == f"{said}, each by itself: the interval ends at the first undecided value"


def test_a_variant_of_which_nothing_is_said_besides_is_not_named_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from whitecap.terminal.deciding.plan import show_plan

    show_plan(plan_of(*LARGEST))
    assert capsys.readouterr().out.count("variant 0") == 1
