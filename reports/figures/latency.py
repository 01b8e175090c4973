"""Latency of jobs: median, 95th and 99th percentile per cell on one logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from whitecap.reports.figures.ranges import FigureRow, row_panels, rows_of, write_row_labels
from whitecap.reports.figures.style import INK, MUTED, house_style
from whitecap.reports.layout import SweepLayout
from whitecap.reports.measures import duration, round_duration
from whitecap.reports.statistics import Estimate
from whitecap.reports.subject import Caption
from whitecap.reports.tables import ReportTables

PERCENTILES = {
    "latency_p50_ms": ("median", "o", "#0072B2"),
    "latency_p95_ms": ("95th percentile", "D", "#E69F00"),
    "latency_p99_ms": ("99th percentile", "s", "#D55E00"),
}
"""Measure -> its name, marker and colour; the markers differ too, for print in grey."""

_ROUND = (1, 2, 5, 10, 20, 50, 100, 200, 500)
_ROUND_MS = sorted(
    [*(ms for ms in _ROUND), *(s * 1e3 for s in (1, 2, 5, 10, 30)),
     *(m * 6e4 for m in (1, 2, 5, 10, 30)), *(h * 3.6e6 for h in (1, 2, 5, 10, 24))]
)  # fmt: skip
"""Durations that people count in; powers of ten stop making sense above a second."""
_UNITS_MS = (1.0, 1e3, 6e4, 3.6e6)


@house_style()
def latency_figure(tables: ReportTables, layout: SweepLayout, caption: Caption) -> Figure:
    """Three points per cell with their intervals."""
    rows = rows_of(layout)
    figure, (axes,) = row_panels(rows, 1, caption, panel=6.4, right=2.0)
    axes.set_xscale("log")
    estimates = {measure: tables.of(measure) for measure in PERCENTILES}
    drawn = [
        value for row in rows if row.cell for value in _draw_row(axes, row, row.cell, estimates)
    ]
    _scale(axes, drawn)
    axes.set_xlabel("time from first submission to commit (logarithmic)")
    write_row_labels(axes, rows)
    _legend(axes)
    return figure


def _draw_row(
    axes: Axes, row: FigureRow, cell: str, estimates: Mapping[str, Mapping[str, Estimate]]
) -> list[float]:
    """Draw one cell and return every value drawn, for the axis."""
    intervals = {m: estimates[m][cell] for m in PERCENTILES if _is_known(estimates[m].get(cell))}
    means = [interval.point for interval in intervals.values()]
    if not intervals:
        _say_nothing_committed(axes, row)
        return []
    axes.plot([means[0], means[-1]], [row.y, row.y], color="#CBD2D9", lw=1.2, zorder=1)
    drawn = list(means)
    for measure, interval in intervals.items():
        _, marker, colour = PERCENTILES[measure]
        low, high = interval.bounds()
        ends = [max(low, interval.point / 10), high]
        axes.plot(ends, [row.y, row.y], color=colour, lw=3.2, alpha=0.45, zorder=2)
        axes.plot(interval.point, row.y, marker, color=colour, ms=6, mec="white", mew=0.8, zorder=3)
        drawn += ends
    axes.annotate(
        " · ".join(duration(mean, 2) for mean in means), (1, row.y),
        xycoords=("axes fraction", "data"), xytext=(8, 0), textcoords="offset points",
        va="center", size=8, color=INK, annotation_clip=False,
    )  # fmt: skip
    return drawn


def _is_known(interval: Estimate | None) -> bool:
    return interval is not None and not math.isnan(interval.point)


def _say_nothing_committed(axes: Axes, row: FigureRow) -> None:
    axes.annotate(
        "no job committed", (0, row.y), xycoords=("axes fraction", "data"), xytext=(8, 0),
        textcoords="offset points", va="center", size=8, color=MUTED,
    )  # fmt: skip


def _scale(axes: Axes, drawn: list[float]) -> None:
    low, high = (min(drawn) / 1.25, max(drawn) * 1.25) if drawn else (1.0, 1000.0)
    axes.set_xlim(low, high)
    ticks = ticks_between(low, high)
    most = 7
    axes.xaxis.set_major_locator(FixedLocator(ticks[:: math.ceil(len(ticks) / most) or 1]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: round_duration(value)))


def ticks_between(low: float, high: float) -> list[float]:
    """Round durations; where fewer than two lie in a narrow range, equal steps of a unit."""
    ticks = [ms for ms in _ROUND_MS if low <= ms <= high]
    if len(ticks) >= 2:
        return ticks
    unit = max((ms for ms in _UNITS_MS if ms <= low), default=1.0)
    steps = MaxNLocator(4, steps=[1, 1.5, 3, 6, 10]).tick_values(low / unit, high / unit)
    ticks = [round(float(step) * unit, 3) for step in steps]
    return [ms for ms in ticks if low <= ms <= high]


def _legend(axes: Axes) -> None:
    handles = [
        Line2D([], [], marker=marker, color=colour, ls="", ms=6.5, label=name)
        for name, marker, colour in PERCENTILES.values()
    ]
    axes.annotate(
        "median · 95th · 99th", (1, 1), xycoords="axes fraction", xytext=(8, 9),
        textcoords="offset points", size=8, color=MUTED, annotation_clip=False,
    )  # fmt: skip
    axes.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=3,
        borderaxespad=0.2, handletextpad=0.2, columnspacing=1.4,
    )  # fmt: skip
