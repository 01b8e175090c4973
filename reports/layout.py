"""How the cells of a sweep are arranged in a figure: rows, columns, panels and series.

A sweep may have any axes. Axes with one label say nothing and are left out; an axis whose labels
are all numbers (a number of writers, a rate) is a quantity and goes on the horizontal axis.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

AxisLabels = Mapping[str, str]
"""Axis -> label."""


class LabelledCell(Struct, frozen=True):
    """One cell of a sweep by the name of its directory, with its label per axis."""

    name: str
    labels: AxisLabels


class SweepLayout(Struct, frozen=True):
    """The cells of a sweep, in order, and the axes along which they differ."""

    cells: tuple[LabelledCell, ...]
    axes: Mapping[str, tuple[str, ...]]

    @property
    def varying(self) -> tuple[str, ...]:
        """The axes with more than one label."""
        return tuple(axis for axis, labels in self.axes.items() if len(labels) > 1)

    @property
    def numeric(self) -> str | None:
        """The axis to draw as a quantity: one called `writers` before any other with numbers."""
        numeric = [a for a in self.varying if all(is_number(x) for x in self.axes[a])]
        return min(numeric, key=lambda axis: axis != "writers", default=None)

    @property
    def grid(self) -> tuple[str, str] | None:
        """The two axes of a heat map, names before quantities; `None` if fewer than two vary."""
        by_kind = sorted(self.varying, key=lambda axis: axis == self.numeric)
        return (by_kind[0], by_kind[1]) if len(by_kind) >= 2 else None

    def rest(self, *axes: str) -> tuple[str, ...]:
        """The varying axes other than these."""
        return tuple(axis for axis in self.varying if axis not in axes)

    def combinations(self, axes: Sequence[str]) -> Iterator[AxisLabels]:
        """Every combination of the labels of these axes, in order; one empty one for none."""
        for labels in itertools.product(*(self.axes[axis] for axis in axes)):
            yield dict(zip(axes, labels, strict=True))

    def find(self, labels: AxisLabels) -> LabelledCell | None:
        """The first cell with these labels; `None` while it is not finished."""
        wanted = labels.items()
        return next((cell for cell in self.cells if wanted <= cell.labels.items()), None)

    def title(self, cell: str) -> str:
        """A cell as people call it: its labels along the varying axes."""
        labels = next(c.labels for c in self.cells if c.name == cell)
        return phrase({axis: labels[axis] for axis in self.varying if axis in labels}) or cell

    def led(self, cell: str, text: str) -> str:
        """What is said of a cell, led by its title where there is another one to mean."""
        return f"{self.title(cell)}: {text}" if self.axes else text


def layout_of(cells: Mapping[str, AxisLabels], axes: Mapping[str, Sequence[str]]) -> SweepLayout:
    """The layout of these finished cells along the sweep's axes."""
    ordered = tuple(LabelledCell(name, labels) for name, labels in cells.items())
    return SweepLayout(ordered, {axis: tuple(labels) for axis, labels in axes.items()})


def phrase(labels: AxisLabels) -> str:
    """`by date · Serializable`; a bare number is named by its axis: `8 writers`."""
    return " · ".join(_worded(axis, label) for axis, label in labels.items())


def _worded(axis: str, label: str) -> str:
    """A number with what it counts: `8 writers`; `8 upserters` for `writers.upserter.count`."""
    if not is_number(label):
        return label
    *parents, last = axis.split(".")
    if not parents:
        return f"{label} {_counted(last, label)}" if last.endswith("s") else f"{label} {last}"
    return f"{label} {_members(parents[-1], label)}" if last == "count" else f"{last} {label}"


def _members(group: str, number: str) -> str:
    """`upserters`; of a name to which no plain `s` can be put, `writers of team-b`."""
    return (
        _counted(group, number) if group.isalpha() else f"{_counted('writers', number)} of {group}"
    )


def _counted(noun: str, number: str) -> str:
    """`writers` and `upserter` as they follow a number."""
    singular = noun.removesuffix("s")
    return singular if float(number) == 1 else f"{singular}s"


def is_number(label: str) -> bool:
    """Whether a label is a finite number."""
    try:
        return abs(float(label)) != float("inf") and float(label) == float(label)
    except ValueError:
        return False
