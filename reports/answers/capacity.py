"""What a design bears: the heaviest loads up to which all objectives are met."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from msgspec import Struct

from whitecap.reports.answers.grid import Design, DesignGrid, OfferedLoad
from whitecap.reports.answers.standing import CellStanding, ObjectiveStanding


class Capacity(Struct, frozen=True):
    """The loads that a design is `shown` to take, and those that it takes at least perhaps.

    What is shown is so for sure (`is_sure`) unless a count is among the objectives, or a writer
    group had too few jobs: that any design takes less than that has a chance of 5 % at most,
    whichever is picked. A count is met in every run that was made, which shows only how seldom it
    is missed; where not everybody `is_judged`, whether the rest is met is not known at all. Perhaps
    is what no interval of a cell by itself speaks against.

    A load counts if every lighter one does: with fewer writers there is nothing to meet again.
    """

    shown: tuple[OfferedLoad, ...]
    perhaps: tuple[OfferedLoad, ...]
    is_sure: bool = True
    is_judged: bool = True

    @property
    def heaviest_shown(self) -> tuple[OfferedLoad, ...]:
        """Those that no other one is beyond; one, if there is one load axis."""
        return _heaviest(self.shown)

    @property
    def heaviest_for_sure(self) -> tuple[OfferedLoad, ...]:
        """The same, where that is sure."""
        return self.heaviest_shown if self.is_sure else ()

    @property
    def heaviest_perhaps(self) -> tuple[OfferedLoad, ...]:
        """Likewise, and none of them shown."""
        return tuple(load for load in _heaviest(self.perhaps) if load not in self.shown)


def capacity_of(
    design: Design, grid: DesignGrid, standings: Mapping[str, CellStanding]
) -> Capacity:
    """What a design bears of the loads that were tried."""
    shown = _borne(design, grid, standings, lambda standing: standing.is_shown)
    taken = [standings[cell] for cell, load in grid.of(design) if load in shown]
    return Capacity(
        shown,
        perhaps=_borne(design, grid, standings, _may_be_met),
        is_sure=all(each.is_sure for each in taken),
        is_judged=all(each.is_judged for each in taken),
    )


def _may_be_met(standing: CellStanding) -> bool:
    return standing.stands is not ObjectiveStanding.MISSED


def _borne(
    design: Design,
    grid: DesignGrid,
    standings: Mapping[str, CellStanding],
    accepted: Callable[[CellStanding], bool],
) -> tuple[OfferedLoad, ...]:
    """The loads that a design takes with all that are lighter."""
    own = {load: accepted(standings[cell]) for cell, load in grid.of(design)}
    loads = [load for load in grid.loads if load in own]
    return tuple(
        load for load in loads if all(own[lighter] for lighter in loads if lighter.is_within(load))
    )


def picked_from(grid: DesignGrid, standings: Mapping[str, CellStanding]) -> int:
    """Among how many cells a mistake makes what some design is said to take too much.

    One of each design where load has one axis: too much is taken only if the lightest load that it
    does not take is called met, since all lighter ones must be. With more axes there are as many
    such loads as there are rows along the longest of them at most (Dilworth 1950). A design that
    is called missed under the lightest loads is said to take nothing, and is no mistake to make
    (discarded as in Zhao, Small and Su 2019).
    """
    designs = sum(bool(_borne(each, grid, standings, _may_be_met)) for each in grid.designs)
    labels = [len(set(axis)) for axis in zip(*(load.place for load in grid.loads), strict=True)]
    return max(designs, 1) * math.prod(labels) // max(labels, default=1)


def _heaviest(loads: tuple[OfferedLoad, ...]) -> tuple[OfferedLoad, ...]:
    return tuple(
        load
        for load in loads
        if not any(load.is_within(other) for other in loads if other is not load)
    )
