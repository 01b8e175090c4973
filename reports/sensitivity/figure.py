"""What moves a result, drawn: a line per parameter, a bar per value, the largest effect on top."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whitecap.engine.recorded import Unit
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
from whitecap.reports.measures import tick
from whitecap.reports.sensitivity.result import Moved, Sensitivity
from whitecap.reports.sensitivity.wording import change_text, followed_text
from whitecap.reports.subject import Caption

_WIDTH = 4.6
_PER_BAR = 0.3
_BETWEEN = 0.9
_READING = "Change against the scenario as it stands; simultaneous 95 % intervals, paired."


@house_style()
def effects_figure(sensitivity: Sensitivity) -> Figure:
    """A panel per measure, one below the other."""
    heights = [_PER_BAR * max(len(_bars(moved)), 1) + 0.2 for moved in sensitivity.measures]
    names = [name for moved in sensitivity.measures for name, _, _ in _bars(moved)]
    left, right, top, bottom = 0.3 + 0.068 * max(map(len, names), default=9), 0.4, 1.05, 0.75
    title = f"What moves {sensitivity.scenario_name}, one parameter at a time"
    caption = Caption(title, _READING, sensitivity.origin)
    height = sum(heights) + _BETWEEN * (len(heights) - 1) + top + bottom
    figure = new_figure(max(left + right + _WIDTH, least_width(caption)), height)
    place(figure, left=left, right=right, top=top, bottom=bottom)
    panels = figure.subplots(len(heights), 1, squeeze=False, gridspec_kw={"height_ratios": heights})
    figure.subplots_adjust(hspace=_BETWEEN * len(heights) / sum(heights))
    frame(figure, caption)
    for axes, moved in zip(panels.flat, sensitivity.measures, strict=True):
        _draw(axes, moved)
    return figure


def _bars(moved: Moved) -> list[tuple[str, int, tuple[float, float, float]]]:
    """Name, number among its parameter's values, and point with bounds."""
    found = []
    for moving in moved.moving:
        for number, effect in enumerate(moving.effects):
            if effect.gap is not None and math.isfinite(effect.gap.point):
                gap = effect.gap
                bounds = (gap.low, gap.high) if math.isfinite(gap.low + gap.high) else (
                    gap.point, gap.point
                )  # fmt: skip
                name = f"{moving.path}: {change_text(moving, effect)}"
                found.append((name, number, (gap.point, *bounds)))
    return found


def _tick(value: float, unit: Unit) -> str:
    """Differences of shares are points."""
    if not value:
        return "0"
    return f"{100 * value:g} points" if unit is Unit.SHARE else tick(value, unit)


def _draw(axes: Axes, moved: Moved) -> None:
    vertical_grid_only(axes)
    bars = _bars(moved)
    for y, (_, number, (point, low, high)) in enumerate(bars):
        colour = OKABE_ITO[number % len(OKABE_ITO)]
        axes.barh(y, point, height=0.62, color=colour, alpha=0.75)
        axes.errorbar(point, y, xerr=[[point - low], [high - point]], fmt="none", ecolor=INK,
                      elinewidth=1.1, capsize=2)  # fmt: skip
    axes.axvline(0.0, color=MUTED, lw=1.0)
    axes.set_yticks(range(len(bars)), [name for name, _, _ in bars], fontsize=8)
    axes.invert_yaxis()
    unit = moved.followed.measure.unit
    axes.xaxis.set_major_formatter(lambda value, _: _tick(round(value, 9), unit))
    axes.set_title(f"change of {followed_text(moved.followed)}")
