"""Stacked bars: what share of a cell's transactions was aborted, by exception."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from whitecap.reports.figures.ranges import (
    ROUND_STEPS,
    FigureRow,
    row_panels,
    rows_of,
    write_row_labels,
)
from whitecap.reports.figures.style import INK, MUTED, OKABE_ITO, house_style, ink_on
from whitecap.reports.layout import SweepLayout
from whitecap.reports.measures import CONFLICTS, Unit, tick, written
from whitecap.reports.subject import Caption
from whitecap.reports.tables import ReportTables

OTHER_COLOURS = ("#9AA5B1", "#52606D", "#CBD2D9")
"""Greys for what is no conflict: a crashed writer, a store that refuses, any other error."""

_COLOURS = dict(zip(CONFLICTS, OKABE_ITO, strict=False))
"""An exception has the same colour in every report."""

_LEAST_LABELLED = 0.06
"""A segment is labelled when it takes at least this part of the axis."""

_BAR = 0.66
_LEGEND_WIDTH = 2.75


@house_style()
def exception_bars(tables: ReportTables, layout: SweepLayout, caption: Caption) -> Figure:
    """One bar per cell, a segment per exception, in Delta's order of exceptions."""
    rows = rows_of(layout)
    figure, (axes,) = row_panels(rows, 1, caption, panel=6.0, right=_LEGEND_WIDTH)
    names = ordered_exceptions(tables.exceptions)
    colours = colours_by_exception(names)
    aborts = {name: tables.aborts_by(name) for name in names}
    shares = {
        row.cell: {name: aborts[name][row.cell].point for name in names if row.cell in aborts[name]}
        for row in rows
        if row.cell is not None
    }
    most = max((sum(each.values()) for each in shares.values()), default=0.0)
    full = (most or 0.01) * 1.12
    for row in rows:
        if row.cell is not None:
            _stack(axes, row, shares[row.cell], colours, full)
    axes.set_xlim(0, full)
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=ROUND_STEPS))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: tick(v, Unit.SHARE)))
    axes.set_xlabel("share of ended transactions that were aborted")
    write_row_labels(axes, rows)
    _legend(axes, colours)
    return figure


def ordered_exceptions(exceptions: pd.DataFrame) -> list[str]:
    """The exceptions that occurred: Delta's seven first, in Delta's order, then others by name."""
    occurred = set(exceptions.loc[exceptions["aborted"] > 0, "exception"])
    return [name for name in CONFLICTS if name in occurred] + sorted(occurred - set(CONFLICTS))


def _stack(
    axes: Axes, row: FigureRow, shares: Mapping[str, float], colours: Mapping[str, str], full: float
) -> None:
    left = 0.0
    for name, share in shares.items():
        colour = colours[name]
        axes.barh(row.y, share, _BAR, left=left, color=colour, edgecolor="white", linewidth=0.8)
        if share >= _LEAST_LABELLED * full:
            axes.text(
                left + share / 2, row.y, written(share, Unit.SHARE, 2),
                ha="center", va="center", size=8, color=ink_on(colour),
            )  # fmt: skip
        left += share
    total = written(left, Unit.SHARE) if left else "none"
    axes.annotate(
        total, (left, row.y), xytext=(6, 0), textcoords="offset points", va="center",
        size=8.5, weight="bold" if left else "normal", color=INK if left else MUTED,
    )  # fmt: skip


def colours_by_exception(names: Sequence[str]) -> dict[str, str]:
    """Fixed colours for Delta's conflicts, greys for the rest."""
    others = [name for name in names if name not in _COLOURS]
    greys = {name: OTHER_COLOURS[i % len(OTHER_COLOURS)] for i, name in enumerate(others)}
    return {name: _COLOURS.get(name) or greys[name] for name in names}


def _legend(axes: Axes, colours: Mapping[str, str]) -> None:
    patches = [
        Patch(color=colour, label=name.removesuffix("Exception"))
        for name, colour in colours.items()
    ]
    if patches:
        axes.legend(
            handles=patches, title="Exception", alignment="left", loc="upper left",
            bbox_to_anchor=(1.02, 1.0), borderaxespad=0, handlelength=1.1, handleheight=1.1,
        ).get_title().set_fontweight("bold")  # fmt: skip
