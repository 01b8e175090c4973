"""The search for a boundary: which value next, and between which values it lies.

Values are positions 0, 1, ... of a grid, of which those before the boundary are alike and those
from it on are otherwise. Two walks go over them, outward in doubling steps and then by halves: one
for the last position that is shown to be as the first ones, one for the first that is shown to be
otherwise. A value that stays undecided counts against either, so the interval widens around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from whitecap.reports.planning.levels import LookSchedule, outward
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


class ValueStanding(Struct, frozen=True):
    """How a value stands after so many replications, at the level of its looks; `is_given_up` where
    no number of them that anybody would make would decide it."""

    standing: Standing
    replications: int
    is_given_up: bool = False


class Bracket(Struct, frozen=True):
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
    grid = _TriedGrid(tried, schedule)
    if sense is None:
        sense, waiting = grid.sense()
        if sense is None:
            return Bracket(None, -1, schedule.positions, grid.next_looks(waiting))
    near, far = sense.near, sense.far
    low, _, for_low = _walk(grid, lambda standing: standing is near)
    _, high, for_high = _walk(grid, lambda standing: standing is not far)
    wanted = grid.next_looks(at for at in (for_low, for_high) if at is not None)
    return Bracket(sense, low, max(high, low + 1), wanted)


class _TriedGrid(Struct, frozen=True):
    """The positions of a search, as far as they were tried."""

    tried: Mapping[int, ValueStanding]
    schedule: LookSchedule

    def standing(self, at: int) -> Standing | None:
        """How a position stands in the end; `None` as long as it is not tried enough."""
        attempt = self.tried.get(at)
        if attempt is None:
            return None
        may_be_decided = attempt.replications < self.schedule.most and not attempt.is_given_up
        is_open = attempt.standing is Standing.UNDECIDED and may_be_decided
        return None if is_open else attempt.standing

    def sense(self) -> tuple[Sense | None, Sequence[int]]:
        """The sense, or which end is to be tried to learn it; neither where no end tells it."""
        for at, senses in ((0, _BY_FIRST), (self.schedule.positions - 1, _BY_LAST)):
            standing = self.standing(at)
            if standing is None:
                return None, [at]
            if standing in senses:
                return senses[standing], []
        return None, []

    def next_looks(self, positions: Iterable[int]) -> dict[int, int]:
        """The replications at which these are looked at next."""
        return {at: self.schedule.next_look(self._seen(at)) for at in positions}

    def _seen(self, at: int) -> int:
        return self.tried[at].replications if at in self.tried else 0


_BY_FIRST = {Standing.MET: Sense.LARGEST, Standing.MISSED: Sense.SMALLEST}
_BY_LAST = {Standing.MET: Sense.SMALLEST, Standing.MISSED: Sense.LARGEST}


def _walk(grid: _TriedGrid, is_near: Callable[[Standing], bool]) -> tuple[int, int, int | None]:
    """The last position found near and the first found not to be, and what the walk waits for.

    It goes outward until something is found not to be near, then halves what lies between.
    """
    positions = grid.schedule.positions
    low, high, at = -1, positions, 0
    while high - low > 1:
        standing = grid.standing(at)
        if standing is None:
            return low, high, at
        low, high = (at, high) if is_near(standing) else (low, at)
        at = outward(at, positions) if high == positions else (low + high) // 2
    return low, high, None
