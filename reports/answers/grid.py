"""The cells of a sweep as a grid: under which load they ran, and which design they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, product

from msgspec import Struct

from whitecap.engine.recorded import AxisRole
from whitecap.reports.layout import AxisLabels, SweepLayout, phrase


@dataclass(frozen=True, slots=True)
class OfferedLoad:
    """One load by its label on every load axis, at its `place` on them, lightest first."""

    labels: AxisLabels = field(hash=False)
    place: tuple[int, ...]

    @property
    def title(self) -> str:
        """As people call it: `8 writers`; nothing where load does not vary."""
        return phrase(self.labels)

    def is_within(self, other: OfferedLoad) -> bool:
        """Whether it is no heavier than another on any axis."""
        return all(a <= b for a, b in zip(self.place, other.place, strict=True))


@dataclass(frozen=True, slots=True)
class Design:
    """Something to choose, by its label on every design axis; the `number`-th of the sweep."""

    labels: AxisLabels = field(hash=False)
    number: int

    @property
    def title(self) -> str:
        """As people call it: `by date · Serializable`; nothing where there is one design only."""
        return phrase(self.labels)


class DesignGrid(Struct, frozen=True):
    """Loads, lightest first, and designs in the sweep's order, with the finished cells."""

    loads: tuple[OfferedLoad, ...]
    designs: tuple[Design, ...]
    layout: SweepLayout

    def cell(self, load: OfferedLoad, design: Design) -> str | None:
        """The name of a cell, if it has finished runs."""
        cell = self.layout.find({**load.labels, **design.labels})
        return None if cell is None else cell.name

    def under(self, load: OfferedLoad) -> Iterator[tuple[str, Design]]:
        """The cells under a load, each with its design."""
        for design in self.designs:
            cell = self.cell(load, design)
            if cell is not None:
                yield cell, design

    def of(self, design: Design) -> Iterator[tuple[str, OfferedLoad]]:
        """The cells of a design, each with its load."""
        for load in self.loads:
            cell = self.cell(load, design)
            if cell is not None:
                yield cell, load


def grid_of(
    layout: SweepLayout,
    roles: Mapping[str, AxisRole],
    lightest_first: Mapping[str, Sequence[str]],
) -> DesignGrid:
    """The grid of a sweep whose axes have these roles; an axis without one is design."""
    axes = {
        role: [axis for axis in layout.varying if roles.get(axis, AxisRole.DESIGN) is role]
        for role in AxisRole
    }
    ordered = [_ordered(layout.axes[axis], lightest_first.get(axis, ())) for axis in axes[_LOAD]]
    loads = (
        OfferedLoad(
            dict(zip(axes[_LOAD], labels, strict=True)),
            tuple(order.index(label) for order, label in zip(ordered, labels, strict=True)),
        )
        for labels in product(*ordered)
    )
    designs = map(Design, layout.combinations(axes[AxisRole.DESIGN]), count())
    return DesignGrid(tuple(loads), tuple(designs), layout)


_LOAD = AxisRole.LOAD


def _ordered(labels: Sequence[str], order: Sequence[str]) -> list[str]:
    """Labels as `order` has them; those that it lacks stay behind, in their own order."""
    return [*(each for each in order if each in labels), *(x for x in labels if x not in order)]
