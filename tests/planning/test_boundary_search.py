"""The interval of a boundary holds a known one, and what cannot be known is said."""

from __future__ import annotations

import pytest

from tests.planning.responses import Response, held, searched
from whitecap.reports.planning.levels import LookSchedule
from whitecap.reports.planning.planned import Boundary
from whitecap.reports.planning.search import Sense, ValueStanding, bracket_of
from whitecap.reports.planning.trying import needed_for, standing_at
from whitecap.reports.planning.wording import boundary_text
from whitecap.reports.statistics import Standing, share

LABELS = tuple(map(str, range(1, 201)))


def _sharp(boundary: int, positions: int, *, is_largest: bool = True) -> tuple[int, int, int]:
    """Search where every verdict is right: both ends, and how many values were tried."""
    schedule, tried = LookSchedule(positions, 20), dict[int, ValueStanding]()
    while True:
        bracket = bracket_of(tried, schedule)
        if not bracket.wanted:
            return bracket.low, bracket.high, len(tried)
        for at, count in bracket.wanted.items():
            is_met = (at <= boundary) is is_largest
            tried[at] = ValueStanding(Standing.MET if is_met else Standing.MISSED, count)


@pytest.mark.parametrize("positions", [1, 2, 3, 10, 200])
@pytest.mark.parametrize("is_largest", [True, False])
def test_a_sharp_boundary_is_found_wherever_it_lies(positions: int, is_largest: bool) -> None:
    schedule = LookSchedule(positions, 20)
    for boundary in range(positions):
        low, high, tried = _sharp(boundary, positions, is_largest=is_largest)
        assert (low, high) == (boundary, boundary + 1)
        assert tried <= schedule.steps


def test_the_error_of_all_looks_on_the_way_is_what_the_interval_may_have() -> None:
    schedule = LookSchedule(200, 100)
    assert schedule.looks == (10, 20, 40, 80, 100)
    assert schedule.error * schedule.steps * len(schedule.looks) == pytest.approx(0.05)


@pytest.mark.parametrize(("slope", "alike"), [(0.004, 0.0), (0.0004, 0.03)])
def test_the_interval_holds_a_known_boundary(slope: float, alike: float) -> None:
    """Among the shares of jobs that succeed, independent or clustered."""
    threshold = 0.9901
    boundary = int((1 - threshold) / slope) - 1
    sets, held = 20, 0
    for seed in range(sets):
        response = Response(lambda at: 1 - slope * (at + 1), threshold, seed, alike)
        bracket = searched(response, LookSchedule(60, 100))
        held += bracket.low <= boundary <= bracket.high - 1
    assert held / sets >= 0.95


def test_where_no_job_failed_about_so_many_replications_decide_as_were_projected() -> None:
    error, objective = 0.001, held(0.99)

    def standing(replications: int) -> Standing:
        return standing_at(
            share([6] * replications, [6] * replications, good=True), objective, error
        )

    needed = round(needed_for(share([6] * 20, [6] * 20, good=True), objective, error))
    assert standing(needed * 11 // 10) is Standing.MET
    assert standing(needed * 9 // 10) is Standing.UNDECIDED


def test_a_value_that_stays_undecided_widens_the_interval_on_both_sides() -> None:
    schedule = LookSchedule(9, 20)
    tried = {
        at: ValueStanding(
            Standing.MET if at < 3 else Standing.MISSED if at > 4 else Standing.UNDECIDED, 20
        )
        for at in range(9)
    }
    bracket = bracket_of(tried, schedule)
    assert (bracket.low, bracket.high, bracket.wanted) == (2, 5, {})


def test_where_every_value_holds_or_none_the_words_say_so() -> None:
    def text(boundary: Boundary) -> str:
        return boundary_text(boundary, LABELS)

    assert text(Boundary(Sense.LARGEST, -1, -1, None)) == "not even 1"
    assert text(Boundary(Sense.LARGEST, 199, 199, 199)) == "at least 200"
    assert text(Boundary(Sense.LARGEST, -1, 2, None)) == "at most 3, perhaps not even 1"
    assert text(Boundary(Sense.LARGEST, 12, 14, 13)) == "14 [13, 15]"
    assert text(Boundary(Sense.SMALLEST, 200, 200, None)) == "not even 200"
    assert text(Boundary(Sense.SMALLEST, 0, 0, 0)) == "at most 1"
    assert text(Boundary(None, -1, 199, None)) == "undecided from 1 to 200"
