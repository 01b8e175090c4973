"""What a design bears: the heaviest loads up to which all objectives are met."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from whitecap.reports.answers.grid import Design, DesignGrid, OfferedLoad
from whitecap.reports.answers.standing import CellStanding, Stands


@dataclass(frozen=True, slots=True)
class Capacity:
    """The loads that a design takes `for_sure`, and those that it takes at least perhaps.

    A load counts if every lighter one does: with fewer writers there is nothing to meet again.
    """

    for_sure: tuple[OfferedLoad, ...]
    perhaps: tuple[OfferedLoad, ...]

    @property
    def heaviest_for_sure(self) -> tuple[OfferedLoad, ...]:
        """Those that no other one is beyond; one, if there is one load axis."""
        return _heaviest(self.for_sure)

    @property
    def heaviest_perhaps(self) -> tuple[OfferedLoad, ...]:
        """Likewise, and none of them for sure."""
        return tuple(load for load in _heaviest(self.perhaps) if load not in self.for_sure)


def capacity_of(
    design: Design, grid: DesignGrid, standings: Mapping[str, CellStanding]
) -> Capacity:
    """What a design bears of the loads that were tried."""
    stands = {load: standings[cell].stands for cell, load in grid.of(design)}
    loads = [load for load in grid.loads if load in stands]

    def borne(accepted: Collection[Stands]) -> tuple[OfferedLoad, ...]:
        return tuple(
            load
            for load in loads
            if all(stands[lighter] in accepted for lighter in loads if lighter.is_within(load))
        )

    return Capacity(borne({Stands.MET}), borne(set(Stands) - {Stands.MISSED}))


def _heaviest(loads: tuple[OfferedLoad, ...]) -> tuple[OfferedLoad, ...]:
    return tuple(
        load
        for load in loads
        if not any(load.is_within(other) for other in loads if other is not load)
    )
