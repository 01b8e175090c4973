"""What moves a result, drawn: a line per parameter, a bar per value, the largest effect on top."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from msgspec import Struct

from whitecap.engine.recorded import Unit
from whitecap.reports.answers.phrases import held_text
from whitecap.reports.figures.ranges import ROUND_STEPS
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
from whitecap.reports.sensitivity.result import MovedMeasure, Sensitivity
from whitecap.reports.sensitivity.wording import change_text
from whitecap.reports.statistics import EstimatedDifference
from whitecap.reports.subject import Caption

_WIDTH = 4.6
_PER_CHARACTER = 0.095
"""Of a panel's title, in inches at most."""
_PER_BAR = 0.3
_BETWEEN = 1.05
_MOST_TICKS = 6
"""As many as leave room between `-12,000 h` and the next at this width."""
_READING = "Change against the scenario as it stands; simultaneous 95 % intervals, paired."


@house_style()
def effects_figure(sensitivity: Sensitivity) -> Figure:
    """A panel per measure, one below the other."""
    heights = [_PER_BAR * max(len(_bars(moved)), 1) + 0.2 for moved in sensitivity.measures]
    names = [_label(bar) for moved in sensitivity.measures for bar in _bars(moved)]
    left, right, top, bottom = 0.3 + 0.068 * max(map(len, names), default=9), 0.4, 1.05, 0.85
    width = max(_WIDTH, *(_PER_CHARACTER * len(_title(each)) for each in sensitivity.measures))
    title = f"What moves {sensitivity.scenario_name}, one parameter at a time"
    caption = Caption(title, _READING, sensitivity.origin)
    height = sum(heights) + _BETWEEN * (len(heights) - 1) + top + bottom
    figure = new_figure(max(left + right + width, least_width(caption)), height)
    place(figure, left=left, right=right, top=top, bottom=bottom)
    panels = figure.subplots(len(heights), 1, squeeze=False, gridspec_kw={"height_ratios": heights})
    figure.subplots_adjust(hspace=_BETWEEN * len(heights) / sum(heights))
    frame(figure, caption)
    for axes, moved in zip(panels.flat, sensitivity.measures, strict=True):
        _draw(axes, moved)
    return figure


class _Bar(Struct, frozen=True):
    """What one value of a parameter does; `number` among the parameter's values."""

    name: str
    number: int
    gap: EstimatedDifference

    @property
    def has_interval(self) -> bool:
        """Whether both its bounds are known."""
        return math.isfinite(self.gap.low + self.gap.high)


def _bars(moved: MovedMeasure) -> list[_Bar]:
    """Of all values that can be compared with what stands."""
    return [
        _Bar(f"{moving.path}: {change_text(moving, effect)}", number, effect.gap)
        for moving in moved.moving
        for number, effect in enumerate(moving.effects)
        if effect.gap is not None and math.isfinite(effect.gap.point)
    ]


def _label(bar: _Bar) -> str:
    return bar.name if bar.has_interval else f"{bar.name} (no interval)"


def _tick(value: float, unit: Unit) -> str:
    """Differences of shares are points, which the axis says."""
    if not value:
        return "0"
    return f"{100 * value:g}" if unit is Unit.SHARE else tick(value, unit)


def _draw(axes: Axes, moved: MovedMeasure) -> None:
    vertical_grid_only(axes)
    bars = _bars(moved)
    for y, bar in enumerate(bars):
        gap, colour = bar.gap, OKABE_ITO[bar.number % len(OKABE_ITO)]
        axes.barh(y, gap.point, height=0.62, color=colour, alpha=0.75)
        if bar.has_interval:
            around = [[gap.point - gap.low], [gap.high - gap.point]]
            axes.errorbar(gap.point, y, xerr=around, fmt="none", ecolor=INK,
                          elinewidth=1.1, capsize=2)  # fmt: skip
    axes.axvline(0.0, color=MUTED, lw=1.0)
    axes.set_yticks(range(len(bars)), [_label(bar) for bar in bars], fontsize=8)
    axes.set_ylim(max(len(bars), 1) - 0.4, -0.6)
    unit = moved.followed.measure.unit
    axes.xaxis.set_major_locator(MaxNLocator(_MOST_TICKS, steps=ROUND_STEPS))
    axes.xaxis.set_major_formatter(lambda value, _: _tick(round(value, 9), unit))
    if unit is Unit.SHARE:
        axes.set_xlabel("percentage points")
    axes.set_title(_title(moved))


def _title(moved: MovedMeasure) -> str:
    return f"change of {held_text(moved.followed)}"
