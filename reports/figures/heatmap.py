"""Heat maps: one measure over two axes of a sweep, each tile with its value and interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem
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

    Raises `InvalidInput` where the layout has no two varying axes.
    """
    if layout.grid is None:
        raise InvalidInput([Problem("", "a heat map needs two axes that vary")])
    rows, columns = layout.grid
    panels = list(layout.combinations(layout.rest(rows, columns)))
    tiles = _Tiles(estimates, layout, measure, _scale(estimates, measure))
    figure, grid = _panels(layout, len(panels), caption)
    for axes, labels in zip(grid, panels, strict=False):
        tiles.draw(axes, labels)
        axes.set_title(phrase(labels))
        axes.set_xlabel(columns)
    for position, axes in enumerate(grid):
        first = position % _MOST_PANELS_PER_ROW == 0
        axes.set_yticks(range(len(layout.axes[rows])), layout.axes[rows] if first else [])
        axes.set_visible(position < len(panels))
    _colour_bar(figure, tiles)
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


class _Tiles(Struct, frozen=True):
    """One measure of every cell, in the colours of one scale."""

    estimates: _Estimates
    layout: SweepLayout
    measure: Definition
    scale: Normalize

    @property
    def colours(self) -> LinearSegmentedColormap:
        """By whether more is better, or less."""
        return MAGNITUDES[self.measure.measure.better]

    def draw(self, axes: Axes, labels: AxisLabels) -> None:
        """The tiles of a panel, whose cells have these labels."""
        assert self.layout.grid is not None
        row_axis, column_axis = self.layout.grid
        rows, columns = self.layout.axes[row_axis], self.layout.axes[column_axis]
        values = np.full((len(rows), len(columns)), np.nan)
        for (i, row), (j, column) in product(enumerate(rows), enumerate(columns)):
            cell = self.layout.find({row_axis: row, column_axis: column, **labels})
            if cell is None or cell.name not in self.estimates:
                axes.text(j, i, "not run", ha="center", va="center", color=MUTED)
            else:
                values[i, j] = self.estimates[cell.name].point
                self._write(axes, j, i, self.estimates[cell.name])
        axes.imshow(values, cmap=self.colours, norm=self.scale, aspect="auto")
        axes.set_xticks(range(len(columns)), columns)
        _part(axes, len(rows), len(columns))

    def _write(self, axes: Axes, x: float, y: float, tile: Estimate) -> None:
        unit, ink = self.measure.unit, ink_on(self.colours(self.scale(tile.point)))
        axes.text(
            x, y - (0.12 if tile.is_known else 0), written(tile.point, unit),
            ha="center", va="center", size=11.5, weight="bold", color=ink,
        )  # fmt: skip
        if tile.is_known:
            bounds = written_bounds(tile, unit)
            axes.text(x, y + 0.2, bounds, ha="center", va="center", size=7.5, color=ink)


def _part(axes: Axes, rows: int, columns: int) -> None:
    """White lines between so many rows and columns of tiles, and no frame around them."""
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_xticks(np.arange(columns - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(rows - 1) + 0.5, minor=True)
    axes.grid(True, which="minor", color="white", linewidth=2.5)
    axes.tick_params(which="minor", length=0)


def _colour_bar(figure: Figure, tiles: _Tiles) -> None:
    margins, (width, _) = figure.subplotpars, figure.get_size_inches()
    box = (margins.right + 0.2 / width, margins.bottom, 0.13 / width, margins.top - margins.bottom)
    bar = figure.colorbar(
        ScalarMappable(tiles.scale, tiles.colours),
        cax=figure.add_axes(box),
        format=FuncFormatter(lambda value, _: tick(value, tiles.measure.unit)),
    )
    direction = tiles.measure.measure.better
    if direction is not None:
        better = "more" if direction is Direction.AT_LEAST else "less"
        bar.set_label(f"{better} is better", size=8)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=8)
