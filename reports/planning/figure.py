"""What a plan tried: each objective along the parameter, with its threshold and the boundaries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whitecap.reports.answers.objectives import Held
from whitecap.reports.answers.phrases import asked, held_text
from whitecap.reports.figures.quantity import LOGARITHMIC_FROM, LineEnd, name_ends
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
from whitecap.reports.planning.search import Sense
from whitecap.reports.planning.wording import boundary_text, sense_text
from whitecap.reports.subject import Caption

_PANEL = (6.2, 2.7)
_BETWEEN = 0.75
_ROW = 0.13
"""Inches of a boundary's bar above a panel."""
_READING = (
    "Estimates with 95 % intervals; a boundary asks stricter ones of each value. Bars above: where "
    "each boundary lies, with 95 % confidence, an arrow where it may lie beyond."
)
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
            for quantity in tried.judged
        )
    )
    names = [_name(plan, variant) for variant in plan.variants]
    colours = colours_of(names)
    caption = Caption(_headline(plan), " ".join([_READING, *_surviving(plan)]), plan.origin)
    figure, grid = _grid(len(panels), len(names), max(map(len, names)), caption)
    for axes, held in zip(grid, panels, strict=True):
        _scale(axes, plan)
        ends: list[LineEnd] = []
        for row, (variant, name) in enumerate(zip(plan.variants, names, strict=True)):
            _bar(axes, plan, variant.boundary, colours[name], len(names) - row)
            end = _draw(axes, plan, variant, held, colours[name])
            ends += [(end, name, colours[name])] if end is not None else []
        _threshold(axes, held)
        axes.set_title(held_text(held), pad=72 * _ROW * (len(names) + 1))
        _name_bars(axes, len(names))
        name_ends(axes, ends)
    for axes in grid[-1:]:
        axes.set_xlabel(plan.path)
    return figure


def _headline(plan: Plan) -> str:
    sense = plan.variants[0].boundary.sense
    return f"{sense_text(sense).capitalize()} {plan.path} at which the objectives hold"


def _surviving(plan: Plan) -> Iterator[str]:
    """Where nothing is asked of success, how much of it there is at a boundary at the least."""
    at_boundaries = [each.survivors for each in plan.variants]
    unasked = [each for every in at_boundaries for each in every if not each.is_asked]
    if unasked:
        least = min(unasked, key=lambda each: each.success.point)
        yield f"Latency is that of jobs that committed: at a boundary {least.text}."


def _name(plan: Plan, variant: PlannedVariant) -> str:
    return f"{variant.name}: {boundary_text(variant.boundary, plan.labels)}"


def _grid(
    panels: int, rows: int, longest_name: int, caption: Caption
) -> tuple[Figure, Sequence[Axes]]:
    left, right, top, bottom = 0.85, 0.3 + 0.085 * longest_name, 1.0 + _ROW * rows, 0.8
    panels, between = max(panels, 1), _BETWEEN + _ROW * rows
    height = panels * _PANEL[1] + (panels - 1) * between
    figure = new_figure(max(left + right + _PANEL[0], least_width(caption)), height + top + bottom)
    place(figure, left=left, right=right, top=top, bottom=bottom)
    grid = list(figure.subplots(panels, 1, sharex=True, squeeze=False).flat)
    figure.subplots_adjust(hspace=between / _PANEL[1])
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
    """Those whose labels do not lie on each other: the first, the last, and others between."""
    numbers = [plan.numbers[at] for at in positions]
    places = [math.log(number) if is_logarithmic else number for number in numbers]
    longest = max((len(plan.labels[at]) for at in positions), default=0)
    room = (longest + 1) * _CHARACTER / _PANEL[0] * (places[-1] - places[0]) if places else 0.0
    free = -math.inf
    for at, where in zip(positions, places, strict=True):
        is_end = at in (positions[0], positions[-1])
        if is_end or free <= where <= places[-1] - room:
            yield at
            free = where + room


def _bar(axes: Axes, plan: Plan, boundary: Boundary, colour: str, row: int) -> None:
    """Where the boundary lies, as far as that is within the values of the grid; in a row of its
    own above the panel, so that bars of several variants do not lie on each other."""
    low, high = (plan.numbers[at] for at in _edges(plan, boundary))
    style: dict[str, Any] = {
        "color": colour, "transform": axes.get_xaxis_transform(), "clip_on": False,
    }  # fmt: skip
    height = _above(row)
    axes.plot([low, high], [height, height], lw=3, solid_capstyle="butt", **style)
    below, beyond = _is_open(boundary, len(plan.numbers))
    axes.plot(low, height, marker="<" if below else "|", ms=7, mew=2, **style)
    axes.plot(high, height, marker=">" if beyond else "|", ms=7, mew=2, **style)


def _above(row: float) -> float:
    """The height of a row, the lowest of which is 1, as a share of the panel's."""
    return 1 + row * _ROW / _PANEL[1]


def _is_open(boundary: Boundary, end: int) -> tuple[bool, bool]:
    """Whether it may lie before the first value, and beyond the last."""
    below = boundary.low < (0 if boundary.sense is Sense.LARGEST else 1)
    return below, boundary.high >= (end if boundary.sense is Sense.SMALLEST else end - 1)


def _name_bars(axes: Axes, rows: int) -> None:
    axes.annotate(
        "boundary", (0, _above((rows + 1) / 2)), xycoords="axes fraction", xytext=(-4, 0),
        textcoords="offset points", fontsize=8, color=MUTED, ha="right", va="center",
    )  # fmt: skip


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
