"""The search for a boundary: which value next, and between which values it lies.

Values are positions 0, 1, ... of a grid, of which those before the boundary are alike and those
from it on are otherwise. Two walks go over them, outward in doubling steps and then by halves: one
for the last position that is shown to be as the first ones, one for the first that is shown to be
otherwise. A value that stays undecided counts against either, so the interval widens around it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from whitecap.reports.planning.levels import LookSchedule
from whitecap.reports.statistics import Standing


class Sense(StrEnum):
    """Which end of the values that hold is looked for."""

    LARGEST = "largest"
    SMALLEST = "smallest"

    @property
    def near(self) -> Standing:
        """How the first positions stand."""
        return Standing.MET if self is Sense.LARGEST else Standing.MISSED

    @property
    def far(self) -> Standing:
        """How those beyond the boundary stand."""
        return Standing.MISSED if self is Sense.LARGEST else Standing.MET


@dataclass(frozen=True, slots=True)
class ValueStanding:
    """How a value stands after so many replications, at the level of its looks; `is_given_up` where
    no number of them that anybody would make would decide it."""

    standing: Standing
    replications: int
    is_given_up: bool = False


@dataclass(frozen=True, slots=True)
class Bracket:
    """The last position that is as the first ones lies between `low` and `high` - 1.

    `low` is -1 where not even the first position is shown to be so, `high` the number of positions
    where none is shown to be otherwise. `wanted`: replications that positions are to have next;
    without any the search is at its end.
    """

    sense: Sense | None
    low: int
    high: int
    wanted: Mapping[int, int]


def bracket_of(
    tried: Mapping[int, ValueStanding], schedule: LookSchedule, sense: Sense | None = None
) -> Bracket:
    """Where the boundary lies, as far as these values say, and what to try next.

    Without a `sense` it follows from the first position, or where that stays undecided from the
    last one: values that hold first and then do not have a largest, others a smallest.
    """
    first, last = 0, schedule.positions - 1
    if sense is None:
        sense, waiting = _sense(
            _standing(tried, first, schedule), lambda: _standing(tried, last, schedule)
        )
        if sense is None:
            wanted = {} if waiting is None else {(first, last)[waiting]: 0}
            return _bracket(None, -1, schedule.positions, wanted, tried, schedule)
    near, far = sense.near, sense.far
    is_near = _holds(lambda standing: standing is near, tried, schedule)
    is_not_far = _holds(lambda standing: standing is not far, tried, schedule)
    low, _, for_low = _walk(schedule.positions, is_near)
    _, high, for_high = _walk(schedule.positions, is_not_far)
    wanted = {at: 0 for at in (for_low, for_high) if at is not None}
    return _bracket(sense, low, max(high, low + 1), wanted, tried, schedule)


def _bracket(
    sense: Sense | None,
    low: int,
    high: int,
    positions: Mapping[int, int],
    tried: Mapping[int, ValueStanding],
    schedule: LookSchedule,
) -> Bracket:
    seen = {at: tried[at].replications if at in tried else 0 for at in positions}
    return Bracket(sense, low, high, {at: schedule.next_look(count) for at, count in seen.items()})


def _standing(
    tried: Mapping[int, ValueStanding], at: int, schedule: LookSchedule
) -> Standing | None:
    """How a position stands in the end; `None` as long as it is not tried enough."""
    attempt = tried.get(at)
    if attempt is None:
        return None
    is_open = attempt.standing is Standing.UNDECIDED and attempt.replications < schedule.most
    return None if is_open and not attempt.is_given_up else attempt.standing


def _sense(
    first: Standing | None, last: Callable[[], Standing | None]
) -> tuple[Sense | None, int | None]:
    """The sense; without one the end that is waited for, if any: 0 the first, 1 the last."""
    match first:
        case None:
            return None, 0
        case Standing.MET:
            return Sense.LARGEST, None
        case Standing.MISSED:
            return Sense.SMALLEST, None
    match last():
        case None:
            return None, 1
        case Standing.MET:
            return Sense.SMALLEST, None
        case Standing.MISSED:
            return Sense.LARGEST, None
    return None, None


def _holds(
    of: Callable[[Standing], bool], tried: Mapping[int, ValueStanding], schedule: LookSchedule
) -> Callable[[int], bool | None]:
    """Whether that is so of a position; `None` as long as it is not tried enough."""

    def answer(at: int) -> bool | None:
        standing = _standing(tried, at, schedule)
        return None if standing is None else of(standing)

    return answer


def _walk(positions: int, is_near: Callable[[int], bool | None]) -> tuple[int, int, int | None]:
    """The last position found near and the first found not to be, and what the walk waits for.

    It goes outward until something is found not to be near, then halves what lies between.
    """
    low, high, at = -1, positions, 0
    while high - low > 1:
        near = is_near(at)
        if near is None:
            return low, high, at
        low, high = (at, high) if near else (low, at)
        at = outward(at, positions) if high == positions else (low + high) // 2
    return low, high, None


def outward(at: int, positions: int) -> int:
    """The next position of the first part of a walk: 0, 1, 3, 7, ... and the last."""
    return min(2 * at + 1, positions - 1)
