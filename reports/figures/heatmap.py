"""Heat maps: one measure over two axes of a sweep, each tile with its value and interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from whitecap.engine.recorded import Direction
from whitecap.reports.figures.style import (
    MAGNITUDES,
    MUTED,
    frame,
    house_style,
    ink_on,
    least_width,
    new_figure,
    place,
)
from whitecap.reports.layout import AxisLabels, SweepLayout, phrase
from whitecap.reports.measures import Definition, Unit, tick, written
from whitecap.reports.statistics import Estimate, written_bounds
from whitecap.reports.subject import Caption

_Estimates = Mapping[str, Estimate]
"""Cell -> one measure's mean and interval."""

LEAST_FULL_SCALE = 0.01
"""The colours of a share span at least 1 %: what hardly differs should not look as if it did."""

_TILE = (1.62, 0.78)
_MOST_PANELS_PER_ROW = 4
_BETWEEN_ROWS = 0.62
_BETWEEN_COLUMNS = 0.22
_TOP, _PANEL_TITLE, _BOTTOM = 0.85, 0.35, 0.85


@house_style()
def heat_map(
    estimates: _Estimates, layout: SweepLayout, measure: Definition, caption: Caption
) -> Figure:
    """`measure` over the layout's two grid axes; further axes become panels side by side.

    Raises `ValueError` where the layout has no two varying axes.
    """
    if layout.grid is None:
        raise ValueError("a heat map needs two axes that vary")
    rows, columns = layout.grid
    panels = list(layout.combinations(layout.rest(rows, columns)))
    scale = _scale(estimates, measure)
    figure, grid = _panels(layout, len(panels), caption)
    for axes, labels in zip(grid, panels, strict=False):
        _draw_panel(axes, estimates, layout, labels, scale, measure)
        axes.set_title(phrase(labels))
        axes.set_xlabel(columns)
    for position, axes in enumerate(grid):
        first = position % _MOST_PANELS_PER_ROW == 0
        axes.set_yticks(range(len(layout.axes[rows])), layout.axes[rows] if first else [])
        axes.set_visible(position < len(panels))
    _colour_bar(figure, scale, measure)
    frame(figure, caption)
    return figure


def _scale(estimates: _Estimates, measure: Definition) -> Normalize:
    """From nothing to the most there is; shares of which one wants all, from the least to all."""
    values = [tile.point for tile in estimates.values() if not math.isnan(tile.point)]
    most, least = max(values, default=0.0), min(values, default=0.0)
    if measure.unit is not Unit.SHARE:
        return Normalize(0, most or 1.0)
    if measure.measure.better is Direction.AT_LEAST:
        return Normalize(min(least, 1 - LEAST_FULL_SCALE), 1)
    return Normalize(0, max(most, LEAST_FULL_SCALE))


def _panels(layout: SweepLayout, count: int, caption: Caption) -> tuple[Figure, Sequence[Axes]]:
    """A figure just large enough for the tiles, the row labels and the colour bar."""
    assert layout.grid is not None
    rows, columns = (layout.axes[axis] for axis in layout.grid)
    across = min(count, _MOST_PANELS_PER_ROW)
    down = math.ceil(count / across)
    left = 0.45 + 0.082 * max(len(label) for label in rows)
    tiles_wide, tiles_high = _TILE[0] * len(columns), _TILE[1] * len(rows)
    gaps = (across - 1) * _BETWEEN_COLUMNS, (down - 1) * (_BETWEEN_ROWS + 0.3)
    width = max(left + across * tiles_wide + gaps[0] + 1.25, least_width(caption))
    top = _TOP + (_PANEL_TITLE if count > 1 else 0)
    height = top + down * tiles_high + gaps[1] + _BOTTOM
    figure = new_figure(width, height)
    right = width - left - across * tiles_wide - gaps[0]
    place(figure, left=left, right=right, top=top, bottom=_BOTTOM)
    grid = figure.subplots(down, across, squeeze=False)
    figure.subplots_adjust(
        wspace=_BETWEEN_COLUMNS / tiles_wide, hspace=(_BETWEEN_ROWS + 0.3) / tiles_high
    )
    return figure, list(grid.flat)


def _draw_panel(
    axes: Axes,
    estimates: _Estimates,
    layout: SweepLayout,
    labels: AxisLabels,
    scale: Normalize,
    measure: Definition,
) -> None:
    assert layout.grid is not None
    row_axis, column_axis = layout.grid
    rows, columns = layout.axes[row_axis], layout.axes[column_axis]
    colours = MAGNITUDES[measure.measure.better]
    values = np.full((len(rows), len(columns)), np.nan)
    for (i, row), (j, column) in ((a, b) for a in enumerate(rows) for b in enumerate(columns)):
        cell = layout.find({row_axis: row, column_axis: column, **labels})
        if cell is None or cell.name not in estimates:
            axes.text(j, i, "not run", ha="center", va="center", color=MUTED)
            continue
        tile = estimates[cell.name]
        values[i, j] = tile.point
        ink = ink_on(colours(scale(tile.point)))
        _write_tile(axes, j, i, tile, measure, ink)
    axes.imshow(values, cmap=colours, norm=scale, aspect="auto")
    axes.set_xticks(range(len(columns)), columns)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_xticks(np.arange(len(columns) - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(len(rows) - 1) + 0.5, minor=True)
    axes.grid(True, which="minor", color="white", linewidth=2.5)
    axes.tick_params(which="minor", length=0)


def _write_tile(
    axes: Axes, x: float, y: float, tile: Estimate, measure: Definition, ink: str
) -> None:
    axes.text(
        x, y - (0.12 if tile.is_known else 0), written(tile.point, measure.unit),
        ha="center", va="center", size=11.5, weight="bold", color=ink,
    )  # fmt: skip
    if tile.is_known:
        bounds = written_bounds(tile, measure.unit)
        axes.text(x, y + 0.2, bounds, ha="center", va="center", size=7.5, color=ink)


def _colour_bar(figure: Figure, scale: Normalize, measure: Definition) -> None:
    margins, (width, _) = figure.subplotpars, figure.get_size_inches()
    box = (margins.right + 0.2 / width, margins.bottom, 0.13 / width, margins.top - margins.bottom)
    bar = figure.colorbar(
        ScalarMappable(scale, MAGNITUDES[measure.measure.better]),
        cax=figure.add_axes(box),
        format=FuncFormatter(lambda value, _: tick(value, measure.unit)),
    )
    if measure.measure.better is not None:
        better = "more" if measure.measure.better is Direction.AT_LEAST else "less"
        bar.set_label(f"{better} is better", size=8)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=8)
