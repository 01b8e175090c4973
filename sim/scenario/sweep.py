"""The `sweep:` of a scenario: axes of variants, each a set of changes to the scenario."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import prod
from typing import Any

from pydantic import Field, field_validator

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.bounds import MAX_CELLS, MAX_REPLICATIONS
from whitecap.sim.scenario.names import nearest
from whitecap.sim.section import Section
from whitecap.sim.units import Whole

Changes = Mapping[str, Any]
"""Dotted path in the scenario file -> the value to put there."""

Labels = Mapping[str, str]
"""Axis -> the name of one of its variants."""


def show_cell(labels: Labels) -> str:
    """A cell in messages: `partitioning = by date, writers = 8`."""
    return ", ".join(f"{axis} = {label}" for axis, label in labels.items())


Axes = dict[str, dict[str, dict[str, Any]]]
"""Axis -> variant -> its changes."""


class Sweep(Section):
    """A grid: every combination of one variant per axis, each run `replications` times."""

    axes: Axes = Field(min_length=1)
    replications: Whole = Field(default=5, ge=1, le=MAX_REPLICATIONS)

    @field_validator("axes")
    @classmethod
    def _cells_to_run(cls, axes: Axes) -> Axes:
        empty = [name for name, variants in axes.items() if not variants]
        if empty:
            raise ValueError(f"axis without variants: {', '.join(empty)}")
        cells = prod(len(variants) for variants in axes.values())
        if cells > MAX_CELLS:
            raise ValueError(f"{cells:,} cells are more than {MAX_CELLS:,}")
        return axes

    def cells(self) -> list[dict[str, str]]:
        """Every combination, as axis -> name of the variant."""
        names = [list(variants) for variants in self.axes.values()]
        return [dict(zip(self.axes, combination, strict=True)) for combination in product(*names)]

    def cell(self, given: Labels) -> dict[str, str]:
        """One of `cells`; an axis with a single variant need not be given.

        Raises `InvalidInput` for axes and variants that do not exist, and axes that are missing.
        """
        problems = [
            Problem("cell", f"the sweep has no axis {axis!r}", nearest(axis, self.axes))
            for axis in given
            if axis not in self.axes
        ]
        labels: dict[str, str] = {}
        for axis, variants in self.axes.items():
            label = given.get(axis, next(iter(variants)) if len(variants) == 1 else None)
            listed = " | ".join(variants)
            if label is None:
                said = f"axis {axis!r} is left open: choose {listed}"
                problems.append(Problem("cell", said))
            elif label not in variants:
                said = f"axis {axis!r} has no {label!r}: there are {listed}"
                problems.append(Problem("cell", said, nearest(label, variants)))
            else:
                labels[axis] = label
        if problems:
            raise InvalidInput(problems)
        return labels

    def changes(self, cell: Labels) -> dict[str, Any]:
        """All changes of a cell together."""
        together: dict[str, Any] = {}
        for axis, variant in cell.items():
            together.update(self.axes[axis][variant])
        return together
