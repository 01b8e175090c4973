"""What a plan tried: each objective along the parameter, with its threshold and the boundaries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whitecap.reports.answers.objectives import Held
from whitecap.reports.answers.phrases import asked, held_text
from whitecap.reports.figures.quantity import LOGARITHMIC_FROM, name_ends
from whitecap.reports.figures.ranges import colours_of
from whitecap.reports.figures.style import (
    INK,
    MUTED,
    frame,
    horizontal_grid_only,
    house_style,
    least_width,
    new_figure,
    place,
)
from whitecap.reports.measures import MEASURES, tick
from whitecap.reports.planning.planned import Boundary, Plan, PlannedVariant
from whitecap.reports.planning.wording import boundary_text, sense_text
from whitecap.reports.subject import Caption

_PANEL = (6.2, 2.7)
_BETWEEN = 0.75
_READING = "Estimates with 95 % intervals; shaded: where the boundary lies, with 95 % confidence."
_CHARACTER = 0.08
"""Inches of one in a label."""


@house_style()
def boundary_figure(plan: Plan) -> Figure:
    """A panel per objective and writer group that is tried, a line per variant."""
    panels = list(
        dict.fromkeys(
            quantity.held
            for variant in plan.variants
            for tried in variant.tried.values()
            for quantity in tried.quantities
        )
    )
    names = [_name(plan, variant) for variant in plan.variants]
    colours = colours_of(names)
    caption = Caption(_headline(plan), _READING, plan.origin)
    figure, grid = _grid(len(panels), max(map(len, names)), caption)
    for axes, held in zip(grid, panels, strict=True):
        _scale(axes, plan)
        ends = []
        for variant, name in zip(plan.variants, names, strict=True):
            _shade(axes, plan, variant.boundary, colours[name])
            end = _draw(axes, plan, variant, held, colours[name])
            ends += [(end, name, colours[name])] if end is not None else []
        _threshold(axes, held)
        axes.set_title(held_text(held))
        name_ends(axes, ends)
    for axes in grid[-1:]:
        axes.set_xlabel(plan.path)
    return figure


def _headline(plan: Plan) -> str:
    sense = plan.variants[0].boundary.sense
    return f"{sense_text(sense).capitalize()} {plan.path} at which the objectives hold"


def _name(plan: Plan, variant: PlannedVariant) -> str:
    return f"{variant.name}: {boundary_text(variant.boundary, plan.labels)}"


def _grid(panels: int, longest_name: int, caption: Caption) -> tuple[Figure, Sequence[Axes]]:
    left, right, top, bottom = 0.85, 0.3 + 0.085 * longest_name, 1.0, 0.8
    panels = max(panels, 1)
    height = panels * _PANEL[1] + (panels - 1) * _BETWEEN
    figure = new_figure(max(left + right + _PANEL[0], least_width(caption)), height + top + bottom)
    place(figure, left=left, right=right, top=top, bottom=bottom)
    grid = list(figure.subplots(panels, 1, sharex=True, squeeze=False).flat)
    figure.subplots_adjust(hspace=_BETWEEN / _PANEL[1])
    frame(figure, caption)
    return figure, grid


def _scale(axes: Axes, plan: Plan) -> None:
    horizontal_grid_only(axes)
    positions = sorted(
        {
            at
            for variant in plan.variants
            for at in (*variant.tried, *_edges(plan, variant.boundary))
        }
    )
    numbers = [plan.numbers[at] for at in positions]
    is_logarithmic = (
        bool(numbers) and numbers[0] > 0 and numbers[-1] / numbers[0] >= LOGARITHMIC_FROM
    )
    if is_logarithmic:
        axes.set_xscale("log")
    shown = list(_apart(positions, plan, is_logarithmic))
    axes.set_xticks([plan.numbers[at] for at in shown], [plan.labels[at] for at in shown])
    axes.minorticks_off()


def _apart(positions: Sequence[int], plan: Plan, is_logarithmic: bool) -> Iterator[int]:
    """Those whose labels do not lie on each other, from the first one on."""
    numbers = [plan.numbers[at] for at in positions]
    places = [math.log(number) if is_logarithmic else number for number in numbers]
    longest = max((len(plan.labels[at]) for at in positions), default=0)
    free = -math.inf
    for at, where in zip(positions, places, strict=True):
        if where >= free:
            yield at
            free = where + (longest + 1) * _CHARACTER / _PANEL[0] * (places[-1] - places[0])


def _shade(axes: Axes, plan: Plan, boundary: Boundary, colour: str) -> None:
    """Where the boundary lies, as far as that is within the values of the grid."""
    low, high = (plan.numbers[at] for at in _edges(plan, boundary))
    axes.axvspan(low, high, color=colour, alpha=0.12, lw=1.5)


def _edges(plan: Plan, boundary: Boundary) -> list[int]:
    last = len(plan.numbers) - 1
    return [min(max(at, 0), last) for at in (boundary.low, boundary.high)]


def _draw(axes: Axes, plan: Plan, variant: PlannedVariant, held: Held, colour: str) -> float | None:
    """The line of a variant; its height at the end."""
    points = [
        (plan.numbers[at], quantity.estimate)
        for at, tried in sorted(variant.tried.items())
        for quantity in tried.quantities
        if quantity.held == held and quantity.estimate.point == quantity.estimate.point
    ]
    if not points:
        return None
    x = [number for number, _ in points]
    values = [estimate.point for _, estimate in points]
    bounds = [estimate.bounds() for _, estimate in points]
    below = [value - low for value, (low, _) in zip(values, bounds, strict=True)]
    above = [high - value for value, (_, high) in zip(values, bounds, strict=True)]
    axes.errorbar(
        x, values, yerr=[below, above], fmt="-o", color=colour, lw=1.6, ms=4.5, mec="white",
        mew=0.7, elinewidth=1.4, capsize=2,
    )  # fmt: skip
    return values[-1]


def _threshold(axes: Axes, held: Held) -> None:
    unit = held.measure.unit
    axes.axhline(held.objective.threshold, color=INK, lw=1.1, ls=(0, (5, 3)))
    axes.annotate(
        asked(held.objective), (0, held.objective.threshold),
        xycoords=("axes fraction", "data"), xytext=(4, 3), textcoords="offset points",
        fontsize=8, color=MUTED,
    )  # fmt: skip
    axes.set_ylabel(MEASURES[held.measure].axis)
    axes.yaxis.set_major_formatter(lambda value, _: tick(round(value, 9), unit))
