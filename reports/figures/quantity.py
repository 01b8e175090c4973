"""Lines over a quantity: how a measure changes with the number of writers, or any other number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.reports.figures.ranges import colours_of
from whitecap.reports.figures.style import (
    frame,
    horizontal_grid_only,
    house_style,
    least_width,
    new_figure,
    place,
)
from whitecap.reports.layout import AxisLabels, SweepLayout, phrase
from whitecap.reports.measures import Definition, tick
from whitecap.reports.statistics import Estimate
from whitecap.reports.subject import Caption

_Point = tuple[float, float, float, float]
"""x, mean, low and high."""

LineEnd = tuple[float, str, str]
"""The height of a line's right end, its name and its colour."""

_PANEL = (4.1, 2.9)
_BETWEEN = 0.35
_LEAST_GAP = 0.062
"""Between the labels at the ends of two lines, as a part of the axis's height."""

LOGARITHMIC_FROM = 8.0
"""Quantities that span at least this factor are spaced by ratio."""


@house_style()
def quantity_figure(
    estimates: Mapping[str, Estimate], layout: SweepLayout, measure: Definition, caption: Caption
) -> Figure:
    """`measure` against the layout's numeric axis: panels by the first name, lines by the others.

    Raises `InvalidInput` where no axis is numeric.
    """
    axis = layout.numeric
    if axis is None:
        raise InvalidInput([Problem("", "no axis of the sweep is a quantity")])
    others = layout.rest(axis)
    panel_axes, line_axes = (others[:1], others[1:]) if len(others) > 1 else ((), others)
    panels = list(layout.combinations(panel_axes))
    lines = list(layout.combinations(line_axes))
    figure, grid = _grid(len(panels), max(len(phrase(labels)) for labels in lines), caption)
    top = max((each.bounds()[1] for each in estimates.values()), default=0.0)
    for position, (axes, labels) in enumerate(zip(grid, panels, strict=True)):
        axes.set_ylim(0, (top or 1.0) * 1.08)
        _scale(axes, layout.axes[axis])
        points = {
            phrase(line): _points(estimates, layout, axis, {**labels, **line}) for line in lines
        }
        ends = _draw_lines(axes, points)
        if axes is grid[-1]:
            name_ends(axes, ends)
        axes.set_title(phrase(labels))
        axes.set_xlabel(axis)
        axes.yaxis.set_major_formatter(lambda value, _: tick(value, measure.unit))
        axes.tick_params(labelleft=position == 0)
    grid[0].set_ylabel(measure.axis)
    return figure


def _grid(panels: int, longest_label: int, caption: Caption) -> tuple[Figure, list[Axes]]:
    left, right = 0.85, 0.3 + 0.075 * longest_label
    top = 1.05 if panels > 1 else 0.8
    width = max(left + right + panels * _PANEL[0] + (panels - 1) * _BETWEEN, least_width(caption))
    figure = new_figure(width, _PANEL[1] + top + 0.8)
    place(figure, left=left, right=right, top=top, bottom=0.8)
    grid = list(figure.subplots(1, panels, sharey=True, squeeze=False).flat)
    figure.subplots_adjust(wspace=_BETWEEN / _PANEL[0])
    frame(figure, caption)
    return figure, grid


def _draw_lines(axes: Axes, points: Mapping[str, Sequence[_Point]]) -> list[LineEnd]:
    """A line and its band for each name. Returns where they end."""
    colours = colours_of(list(points))
    ends: list[LineEnd] = []
    for name, line in points.items():
        if not line:
            continue
        x, mean, low, high = zip(*line, strict=True)
        axes.fill_between(x, low, high, color=colours[name], alpha=0.18, lw=0)
        axes.plot(x, mean, "-o", color=colours[name], lw=2, ms=5, mec="white", mew=0.8)
        ends.append((mean[-1], name, colours[name]))
    return ends


def _points(
    estimates: Mapping[str, Estimate], layout: SweepLayout, axis: str, labels: AxisLabels
) -> list[_Point]:
    """By rising x; without bounds the band has no height."""
    points = []
    for label in layout.axes[axis]:
        cell = layout.find({**labels, axis: label})
        if cell is None or cell.name not in estimates:
            continue
        interval = estimates[cell.name]
        if not math.isnan(interval.point):
            points.append((float(label), interval.point, *interval.bounds()))
    return sorted(points)


def _scale(axes: Axes, labels: Sequence[str]) -> None:
    horizontal_grid_only(axes)
    ordered = sorted((float(label), label) for label in labels)
    if ordered[0][0] > 0 and ordered[-1][0] / ordered[0][0] >= LOGARITHMIC_FROM:
        axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator([value for value, _ in ordered]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks([value for value, _ in ordered], [label for _, label in ordered])


def name_ends(axes: Axes, ends: Sequence[LineEnd]) -> None:
    """Each line's name at its right end, moved apart where two would overlap."""
    bottom, top = axes.get_ylim()
    heights = spread([(end - bottom) / (top - bottom) for end, _, _ in ends], _LEAST_GAP)
    for height, (_, name, colour) in zip(heights, ends, strict=True):
        axes.annotate(
            name, (1, height), xycoords="axes fraction", xytext=(8, 0),
            textcoords="offset points", va="center", color=colour, weight="bold",
            annotation_clip=False,
        )  # fmt: skip


def spread(heights: Sequence[float], least_gap: float) -> list[float]:
    """The heights in the same order, moved as little as needed to be `least_gap` apart.

    Heights that collide are pooled into a stack around their mean, which may collide with the
    next one and swallow it.
    """
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    stacks: list[list[int]] = []
    for index in order:
        stacks.append([index])
        while len(stacks) > 1 and _collide(stacks[-2], stacks[-1], heights, least_gap):
            last = stacks.pop()
            stacks[-1].extend(last)
    moved = [0.0] * len(heights)
    for stack in stacks:
        for index, height in zip(stack, _stacked(stack, heights, least_gap), strict=True):
            moved[index] = height
    return moved


def _collide(
    lower: Sequence[int], upper: Sequence[int], heights: Sequence[float], gap: float
) -> bool:
    return _stacked(upper, heights, gap)[0] - _stacked(lower, heights, gap)[-1] < gap


def _stacked(stack: Sequence[int], heights: Sequence[float], gap: float) -> list[float]:
    middle = sum(heights[i] for i in stack) / len(stack)
    first = middle - gap * (len(stack) - 1) / 2
    return [first + gap * i for i in range(len(stack))]
