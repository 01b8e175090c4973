"""The axes of a scenario's sweep, and whether those that are named elsewhere are among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from whitecap.engine.errors import nearest
from whitecap.sim.loading.checks.well_formed import well_formed
from whitecap.sim.scenario.sweep import SweepSection
from whitecap.sim.scenario.yaml.text import PlacedProblem


def axes_of(given: Any) -> dict[str, list[str]] | None:
    """The variants of each axis; none where the sweep is not well formed, `None` without one."""
    if given is None:
        return None
    sweep = well_formed(SweepSection, given)
    return {} if sweep is None else {axis: list(named) for axis, named in sweep.axes.items()}


def unknown_variants(
    cell: Mapping[str, str], axes: Mapping[str, Sequence[str]]
) -> Iterator[PlacedProblem]:
    """Axes and variants by which a cell is named, and which there are not."""
    for axis, variant in cell.items():
        variants = axes.get(axis)
        if variants is None:
            yield (axis,), f"the sweep has no axis {axis!r}", nearest(axis, axes)
        elif variant not in variants:
            yield (axis,), f"axis {axis!r} has no variant {variant!r}", nearest(variant, variants)
