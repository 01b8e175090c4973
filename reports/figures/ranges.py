"""Point ranges: measures per cell as points with their 95 % intervals, cells below each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from msgspec import Struct

from whitecap.reports.figures.style import (
    INK,
    MUTED,
    OKABE_ITO,
    frame,
    house_style,
    least_width,
    new_figure,
    place,
    vertical_grid_only,
)
from whitecap.reports.layout import SweepLayout, phrase
from whitecap.reports.measures import Definition, tick, written
from whitecap.reports.statistics import Estimate
from whitecap.reports.subject import Caption
from whitecap.reports.tables import ReportTables

ROW_HEIGHT = 0.27
_HEADER = 0.95
_FOOTER = 0.75
_PANEL = 3.6
_BETWEEN = 0.55
"""Inches, all tried by eye: of a row of text, above and below all rows, of a panel's width, and
between two panels."""

_ALIKE = 0.6
"""From which part of the highest bound on the lowest one lets an axis begin elsewhere than at 0."""

_ROOM_FOR_NUMBERS = 0.26
"""Beside the highest bound, as a part of the axis: as wide as its number in words. By eye."""

ROUND_STEPS = (1, 2, 2.5, 5, 10)
"""What the ticks of an axis may count in, times a power of ten."""


class FigureRow(Struct, frozen=True):
    """A line of the figure: a cell, or a heading above the cells of one group (no cell)."""

    y: float
    text: str
    cell: str | None
    colour: str


def rows_of(layout: SweepLayout) -> list[FigureRow]:
    """One row per cell under a heading per label of the first axis; colours by the last axis."""
    varying = layout.varying
    if len(varying) < 2:
        return [
            FigureRow(float(y), layout.title(cell.name), cell.name, OKABE_ITO[0])
            for y, cell in enumerate(layout.cells)
        ]
    first, last = varying[0], varying[-1]
    colours = colours_of(layout.axes[last])
    rows: list[FigureRow] = []
    y = 0.0
    for label in layout.axes[first]:
        rows.append(FigureRow(y, phrase({first: label}), None, INK))
        for labels in layout.combinations(varying[1:]):
            cell = layout.find({first: label, **labels})
            if cell is not None:
                y += 1
                rows.append(FigureRow(y, phrase(labels), cell.name, colours[labels[last]]))
        y += 1.35
    return rows


def colours_of(labels: Sequence[str]) -> Mapping[str, str]:
    """A colour per label, starting again when the palette is used up."""
    return {label: OKABE_ITO[i % len(OKABE_ITO)] for i, label in enumerate(labels)}


def label_width(rows: Sequence[FigureRow]) -> float:
    """Room for the longest row label, in inches."""
    longest = max(len(row.text) * (0.082 if row.cell is None else 0.074) for row in rows)
    return 0.45 + longest


@house_style()
def range_figure(
    tables: ReportTables, layout: SweepLayout, measures: Sequence[Definition], caption: Caption
) -> Figure:
    """One panel per measure, sharing the rows."""
    rows = rows_of(layout)
    figure, panels = row_panels(rows, len(measures), caption)
    for axes, measure in zip(panels, measures, strict=True):
        _draw(axes, rows, tables.of(measure.name), measure)
    write_row_labels(panels[0], rows)
    return figure


def row_panels(
    rows: Sequence[FigureRow],
    count: int,
    caption: Caption,
    panel: float = _PANEL,
    right: float = 0.35,
) -> tuple[Figure, list[Axes]]:
    """A figure with `count` panels that share the rows, framed by the caption."""
    left = label_width(rows)
    height = _HEADER + _FOOTER + ROW_HEIGHT * (rows[-1].y + 1)
    width = max(left + count * panel + (count - 1) * _BETWEEN + right, least_width(caption))
    figure = new_figure(width, height)
    place(figure, left=left, right=right, top=_HEADER, bottom=_FOOTER)
    grid = figure.subplots(1, count, sharey=True, squeeze=False)
    figure.subplots_adjust(wspace=_BETWEEN / panel)
    panels: list[Axes] = list(grid.flat)
    for axes in panels:
        axes.set_ylim(rows[-1].y + 0.6, -0.6)
        axes.set_yticks([])
        vertical_grid_only(axes)
    frame(figure, caption)
    return figure, panels


def write_row_labels(axes: Axes, rows: Sequence[FigureRow]) -> None:
    """Cells right-aligned against the axis, headings bold above them."""
    for row in rows:
        axes.annotate(
            row.text, (0, row.y), xycoords=("axes fraction", "data"),
            xytext=(-8, 0), textcoords="offset points", ha="right", va="center",
            weight="bold" if row.cell is None else "normal", annotation_clip=False,
        )  # fmt: skip


def _draw(
    axes: Axes, rows: Sequence[FigureRow], estimates: Mapping[str, Estimate], measure: Definition
) -> None:
    ends: list[float] = []
    for row in rows:
        interval = estimates.get(row.cell) if row.cell else None
        if interval is None or math.isnan(interval.point):
            continue
        low, high = interval.bounds()
        axes.plot([low, high], [row.y, row.y], color=row.colour, lw=2.4, alpha=0.55)
        axes.plot(
            interval.point, row.y, "o", color=row.colour, ms=6.5, mec="white", mew=0.8,
            clip_on=False, zorder=3,
        )  # fmt: skip
        axes.annotate(
            written(interval.point, measure.unit), (high, row.y), xytext=(7, 0),
            textcoords="offset points", va="center", size=8.5, color=INK,
        )  # fmt: skip
        ends += [low, high]
    axes.set_xlim(*_limits(ends))
    axes.set_title(measure.title)
    axes.set_xlabel(measure.axis)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=ROUND_STEPS))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: tick(value, measure.unit)))
    if not ends:
        axes.text(0.5, 0.5, "nothing to measure", transform=axes.transAxes, color=MUTED)


def _limits(values: Sequence[float]) -> tuple[float, float]:
    """From zero, or closer in where all values are alike: points need no zero as bars do."""
    low, high = min(values, default=0.0), max(values, default=0.0) or 1.0
    start = 0.0
    if low > _ALIKE * high:
        start = max(0.0, low - max(high - low, 0.06 * high) * 0.6)
    return start, high + _ROOM_FOR_NUMBERS * (high - start)
