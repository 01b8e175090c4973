"""What is found: what each load's cells are, what is chosen under it, and what that bears."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from msgspec import Struct

from whitecap.reports.answers.capacity import Capacity, capacity_of, picked_from
from whitecap.reports.answers.choice import DesignChoice, choose, nearest, shortfall
from whitecap.reports.answers.grid import Design, DesignGrid, OfferedLoad
from whitecap.reports.answers.objectives import ObjectiveSet
from whitecap.reports.answers.standing import CellStanding, ObjectiveStanding, standing_of
from whitecap.reports.measures.measured_run import Runs


class UnderLoad(Struct, frozen=True):
    """What is to be said of one load.

    `design` is chosen if its cell meets all objectives (`choice` ranks it among those that do);
    where none does, it is the one that comes nearest.
    """

    load: OfferedLoad
    standings: Mapping[Design, CellStanding]
    choice: DesignChoice | None
    design: Design

    @property
    def standing(self) -> CellStanding:
        """The named design's."""
        return self.standings[self.design]

    @property
    def cells(self) -> tuple[str, ...]:
        """Its cells, in the order of their designs."""
        return tuple(each.cell for each in self.standings.values())

    def count(self, stands: ObjectiveStanding) -> int:
        """How many designs stand so."""
        return sum(each.stands is stands for each in self.standings.values())

    def design_of(self, cell: str) -> Design:
        """The design of one of its cells."""
        return next(design for design, each in self.standings.items() if each.cell == cell)


class AnswerFindings(Struct, frozen=True):
    """What follows from a sweep's or a run's recordings.

    `design` is named for as many loads as it can be, and `cell` is the one to look at: that design
    under the heaviest load that it is shown to take; perhaps; or, if there is none, the lightest.
    """

    objectives: ObjectiveSet
    grid: DesignGrid
    loads: tuple[UnderLoad, ...]
    capacities: Mapping[Design, Capacity]
    design: Design
    cell: str
    picked_from: int
    """How many cells may be one that is said to take too much."""
    damaged: Collection[str] = ()
    """Cells of which a run lost or doubled commits, or made them over removed files."""

    @property
    def capacity(self) -> Capacity:
        """What the named design bears."""
        return self.capacities[self.design]

    @property
    def load(self) -> OfferedLoad:
        """The load of the named cell."""
        return self.load_of(self.cell)

    def load_of(self, cell: str) -> OfferedLoad:
        """That of a cell of the named design."""
        return next(load for each, load in self.grid.of(self.design) if each == cell)

    @property
    def standings(self) -> dict[str, CellStanding]:
        """Every cell's, lightest load first."""
        every = (each for under in self.loads for each in under.standings.values())
        return {standing.cell: standing for standing in every}


def findings_of(
    measured: Mapping[str, Runs],
    grid: DesignGrid,
    objectives: ObjectiveSet,
    damaged: Collection[str] = (),
) -> AnswerFindings:
    """What follows from all cells that have runs; of at least one."""
    by_itself = {
        cell: standing_of(cell, measured[cell], objectives)
        for load in grid.loads
        for cell, _ in grid.under(load)
    }
    several = picked_from(grid, by_itself)
    standings = {cell: standing.among(several) for cell, standing in by_itself.items()}
    capacities = {design: capacity_of(design, grid, standings) for design in grid.designs}
    choices = {
        load: choose([standings[cell] for cell, _ in grid.under(load)], measured, damaged)
        for load in grid.loads
    }
    favourite = _favourite(grid, capacities, choices, standings, damaged)
    loads = tuple(
        _under(load, grid, standings, choices[load], favourite)
        for load in grid.loads
        if any(grid.under(load))
    )
    cell = _cell_of(favourite, grid, capacities[favourite])
    return AnswerFindings(objectives, grid, loads, capacities, favourite, cell, several, damaged)


def _favourite(
    grid: DesignGrid,
    capacities: Mapping[Design, Capacity],
    choices: Mapping[OfferedLoad, DesignChoice | None],
    standings: Mapping[str, CellStanding],
    damaged: Collection[str],
) -> Design:
    """The design to name wherever nothing speaks against it: its table stays whole, most is shown
    to be borne with it, then perhaps, then it is best under the most loads, then what it is
    undecided in falls least short and is decided soonest; if none is borne, the one that comes
    nearest."""
    run = [design for design in grid.designs if any(grid.of(design))]

    def rank(design: Design) -> tuple[float, ...]:
        cells = [(cell, choices[load]) for cell, load in grid.of(design)]
        good = sum(choice is not None and cell in choice.good for cell, choice in cells)
        best = sum(choice is not None and cell == choice.best for cell, choice in cells)
        capacity = capacities[design]
        return len(capacity.shown), len(capacity.perhaps), good, best

    def doubt(design: Design) -> tuple[float, float]:
        own = [standings[cell] for cell, _ in grid.of(design)]
        open_ = [each for each in own if each.stands is ObjectiveStanding.UNDECIDED]
        return max(map(shortfall, open_), default=0.0), max(map(_to_decide, open_), default=0.0)

    borne = [design for design in run if any(rank(design))]
    whole = [each for each in borne if not any(cell in damaged for cell, _ in grid.of(each))]
    if borne:
        return min(
            whole or borne, key=lambda design: (*(-each for each in rank(design)), *doubt(design))
        )
    lightest = next(load for load in grid.loads if any(grid.under(load)))
    near = nearest([standings[cell] for cell, _ in grid.under(lightest)])
    return next(design for cell, design in grid.under(lightest) if near and cell == near.cell)


def _to_decide(standing: CellStanding) -> float:
    """About how many replications; infinite where nobody can say."""
    return math.inf if standing.needed is None else standing.needed


def _under(
    load: OfferedLoad,
    grid: DesignGrid,
    standings: Mapping[str, CellStanding],
    choice: DesignChoice | None,
    favourite: Design,
) -> UnderLoad:
    """The favourite where it is as good as any, else what is best or nearest there."""
    every = sorted(grid.under(load), key=lambda pair: pair[1] != favourite)
    designs = {design: standings[cell] for cell, design in every}
    own = designs.get(favourite)
    if choice is not None:
        name = own.cell if own and own.cell in choice.good else choice.best
    elif own is not None and own.stands is not ObjectiveStanding.MISSED:
        name = own.cell
    else:
        near = nearest(list(designs.values()))
        assert near is not None
        name = near.cell
    in_order = {design: designs[design] for design in grid.designs if design in designs}
    named = next(design for design, standing in designs.items() if standing.cell == name)
    return UnderLoad(load, in_order, choice, named)


def _cell_of(design: Design, grid: DesignGrid, capacity: Capacity) -> str:
    cells = {load: cell for cell, load in grid.of(design)}
    borne = capacity.heaviest_shown or capacity.heaviest_perhaps
    return cells[borne[-1] if borne else next(iter(cells))]
