"""Ranking under one load: goodput, then waste, among the cells that meet their objectives."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct, field

from whitecap.engine.recorded import Direction, Measure
from whitecap.reports.answers.standing import CellStanding, ObjectiveStanding
from whitecap.reports.estimates import estimated
from whitecap.reports.measures.measured_run import Runs
from whitecap.reports.statistics import (
    ComparisonWithBest,
    Estimate,
    EstimatedDifference,
    compare_with_best,
)

RANKED_BY = Measure.GOODPUT_PER_MINUTE
THEN_BY = Measure.WASTED_COMPUTE_SHARE


class DesignChoice(Struct, frozen=True):
    """The best under one load of those that meet their objectives, and how the others compare.

    `most` has the most goodput; of what cannot be told apart from it `best` wastes the least.
    Every other one stands in one place: among the `equal` ones (told apart from the best in
    neither), with `more_waste` (that is the difference) or with `less_goodput` than `most`.
    """

    best: str
    most: str
    equal: tuple[str, ...] = ()
    more_waste: Mapping[str, EstimatedDifference] = field(default_factory=dict)
    less_goodput: Mapping[str, EstimatedDifference] = field(default_factory=dict)
    compared: int = 1
    flattered_by: float = 0.0
    """By how much `most` looks better than it is, for having been chosen as the best of several."""

    @property
    def good(self) -> tuple[str, ...]:
        """All that nothing speaks against."""
        return (self.best, *self.equal)


def choose(
    standings: Sequence[CellStanding], measured: Mapping[str, Runs], damaged: Collection[str] = ()
) -> DesignChoice | None:
    """The best of the cells that meet their objectives; `None` if none does. One of the `damaged`
    ones, whose runs did not leave the table whole, only where no other does."""
    every = [each.cell for each in standings if each.stands is ObjectiveStanding.MET]
    meeting = [cell for cell in every if cell not in damaged] or every
    if not meeting:
        return None
    goodput = _compared(meeting, measured, RANKED_BY)
    most = goodput.best if goodput else meeting[0]
    less = {cell: goodput.differences[cell] for cell in goodput.worse} if goodput else {}
    alike = [cell for cell in meeting if cell not in less]
    waste = _compared(alike, measured, THEN_BY)
    best = waste.best if waste else most
    more = {cell: -waste.differences[cell] for cell in waste.worse} if waste else {}
    equal = tuple(cell for cell in alike if cell != best and cell not in more)
    flattered_by = goodput.flattered_by if goodput else 0.0
    return DesignChoice(best, most, equal, more, less, len(meeting), flattered_by)


def nearest(standings: Sequence[CellStanding]) -> CellStanding | None:
    """Of cells of which none meets its objectives, the one that comes nearest.

    What is undecided before what is missed, then by the worst shortfall.
    """
    order = (ObjectiveStanding.UNDECIDED, ObjectiveStanding.TOO_FEW, ObjectiveStanding.MISSED)
    short = [each for each in standings if each.stands is not ObjectiveStanding.MET]
    return min(short, key=lambda each: (order.index(each.stands), shortfall(each)), default=None)


def shortfall(standing: CellStanding) -> float:
    """Of what falls shortest in a cell, as a part of its threshold."""
    return 0.0 if standing.worst is None else standing.worst.shortfall


def _compared(
    cells: Sequence[str], measured: Mapping[str, Runs], measure: Measure
) -> ComparisonWithBest | None:
    """The best of these cells by one measure; `None` if they cannot be compared."""
    shared = sorted(set.intersection(*(set(measured[cell]) for cell in cells)))
    if not shared:
        return None
    estimates: dict[str, Estimate] = {
        cell: estimated(measure, [measured[cell][r].tally(measure) for r in shared])
        for cell in cells
    }
    return compare_with_best(estimates, higher_is_better=measure.better is Direction.AT_LEAST)
