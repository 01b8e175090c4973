"""Cells of a sweep: what one is called, and which one somebody asks for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from whitecap.engine.errors import InvalidInput, Problem, gathered, nearest, unknown_name

Labels = Mapping[str, str]
"""Axis -> the name of one of its variants."""

CellChoice = Labels | str
"""A cell that is asked for: by a label for each axis, or by its name (`cell_name`)."""

VariantsByAxis = Mapping[str, Collection[str]]
"""Axis -> the names of its variants."""


def show_cell(labels: Labels) -> str:
    """A cell in messages: `partitioning = by date, writers = 8`."""
    return ", ".join(f"{axis} = {label}" for axis, label in labels.items())


def cell_name(labels: Labels) -> str:
    """A directory name that can be read and typed: the labels, without other characters."""
    parts = (re.sub(r"[^\w.]+", "-", str(label)).strip("-.") for label in labels.values())
    return "__".join(part or "none" for part in parts)


def chosen_cell(choice: CellChoice, cells: Mapping[str, Labels]) -> str:
    """The name of the cell that is asked for, of these by their names.

    Raises `InvalidInput` as `whole_labels`, and where none of the cells is it.
    """
    if isinstance(choice, str):
        if choice not in cells:
            raise InvalidInput([Problem("cell", *unknown_name("cell", choice, cells))])
        return choice
    labels = whole_labels(choice, _variants(cells.values()))
    for name, own in cells.items():
        if own == labels:
            return name
    raise InvalidInput([Problem("cell", f"there is none with {show_cell(labels)}")])


def whole_labels(given: Labels, axes: VariantsByAxis) -> dict[str, str]:
    """A label for each axis, in their order; an axis with a single variant need not be given.

    Raises `InvalidInput` for axes and variants that do not exist, and axes that are missing.
    """
    named = {str(axis): str(label) for axis, label in given.items()}  # 8 in Python is "8" here
    with gathered() as problems:
        problems += [
            Problem("cell", f"the sweep has no axis {axis!r}", nearest(axis, axes))
            for axis in named
            if axis not in axes
        ]
        labels = {
            axis: named.get(axis, next(iter(variants)) if len(variants) == 1 else None)
            for axis, variants in axes.items()
        }
        problems += [
            _other_label(axis, label, axes[axis])
            for axis, label in labels.items()
            if label not in axes[axis]
        ]
    return {axis: str(label) for axis, label in labels.items()}


def _other_label(axis: str, label: str | None, variants: Collection[str]) -> Problem:
    listed = " | ".join(variants)
    if label is None:
        return Problem("cell", f"axis {axis!r} is left open: choose {listed}")
    return Problem(
        "cell", f"axis {axis!r} has no {label!r}: there are {listed}", nearest(label, variants)
    )


def _variants(cells: Iterable[Labels]) -> VariantsByAxis:
    axes: dict[str, dict[str, None]] = {}
    for labels in cells:
        for axis, label in labels.items():
            axes.setdefault(axis, {})[label] = None
    return axes
