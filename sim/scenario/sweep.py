"""The `sweep:` of a scenario: axes of variants, each a set of changes to the scenario."""

from __future__ import annotations

from itertools import product
from typing import Any

from pydantic import Field, field_validator

from whitecap.sim.section import Section

Changes = dict[str, Any]
"""Dotted path in the scenario file -> the value to put there."""


class Sweep(Section):
    """A grid: every combination of one variant per axis, each run `replications` times."""

    axes: dict[str, dict[str, Changes]] = Field(min_length=1)
    replications: int = Field(default=5, ge=1)

    @field_validator("axes")
    @classmethod
    def _no_empty_axis(cls, axes: dict[str, dict[str, Changes]]) -> dict[str, dict[str, Changes]]:
        empty = [name for name, variants in axes.items() if not variants]
        if empty:
            raise ValueError(f"axis without variants: {', '.join(empty)}")
        return axes

    def cells(self) -> list[dict[str, str]]:
        """Every combination, as axis -> name of the variant."""
        names = [list(variants) for variants in self.axes.values()]
        return [dict(zip(self.axes, combination, strict=True)) for combination in product(*names)]

    def changes(self, cell: dict[str, str]) -> Changes:
        """All changes of a cell together."""
        together: Changes = {}
        for axis, variant in cell.items():
            together.update(self.axes[axis][variant])
        return together
