"""A timeline: what each writer did in a stretch of a run, and which commit refused whom.

A bar runs from the snapshot that a transaction works on to its end, split where it began to
commit. A commit is marked with its version when that is in the log, which may be long before its
writer is done with checksum and checkpoint; a refused transaction ends in a cross, with an arrow
from the commit that refused it. Of commits that lie close together only those are written that
have room.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MultipleLocator
from msgspec import Struct

from whitecap.engine.recorded import RecordedOutcome
from whitecap.reports.figures.labelled_row import LABEL_GAP, LABEL_SIZE, LabelledRow, LabelSide
from whitecap.reports.figures.style import (
    INK,
    MUTED,
    frame,
    house_style,
    least_width,
    new_figure,
    place,
    vertical_grid_only,
)
from whitecap.reports.measures.groups import TABLE_COLUMN
from whitecap.reports.natural_order import natural
from whitecap.reports.subject import Caption

COLOURS = {
    RecordedOutcome.COMMITTED: "#009E73",
    RecordedOutcome.ABORTED: "#D55E00",
    RecordedOutcome.UNKNOWN: "#7A5195",
    RecordedOutcome.IN_FLIGHT: "#9AA5B1",
}
"""Outcome -> colour of its bar."""

WORDS = {RecordedOutcome.IN_FLIGHT: "still under way"}

_ROW = 0.36
_BAR = 0.56
_TRANSACTIONS_SHOWN = 24

_SECOND, _MINUTE, _HOUR, _DAY = 1e3, 6e4, 3.6e6, 8.64e7
_STEPS_MS = (
    *(times * unit for unit in (_SECOND, _MINUTE) for times in (1, 2, 5, 10, 15, 30)),
    *(times * _HOUR for times in (1, 2, 3, 6, 12, 24)),
)
"""Between two ticks, so that they lie where a clock shows whole minutes and hours."""
_MOST_STEPS = 8


class TimeSpan(Struct, frozen=True):
    """A stretch of simulated time."""

    from_ms: float
    to_ms: float


def busiest_window(transactions: pd.DataFrame) -> TimeSpan:
    """The stretch in which most transactions were refused, long enough for about two dozen."""
    ends = transactions["ended_at_ms"].fillna(transactions["submitted_at_ms"].max())
    last = float(ends.max())
    length = last * min(1.0, _TRANSACTIONS_SHOWN / max(len(transactions), 1))
    refused = sorted(
        transactions.loc[transactions["outcome"] == RecordedOutcome.ABORTED, "ended_at_ms"]
    )
    if not refused:
        return TimeSpan(0.0, length)
    starts = [max(0.0, end - length) for end in refused]
    held = [sum(start <= end <= start + length for end in refused) for start in starts]
    best = starts[held.index(max(held))]
    return TimeSpan(best, best + length)


def window_of(transactions: pd.DataFrame, transaction_id: int) -> TimeSpan:
    """The stretch that shows one transaction with what went on around it."""
    values = transactions[transactions["transaction_id"] == transaction_id].iloc[0].to_dict()
    end = _instant(values, "ended_at_ms", _instant(values, "submitted_at_ms", 0.0))
    begin = _instant(values, "snapshot_at_ms", end)
    margin = 0.15 * (end - begin) or 1_000.0
    return TimeSpan(max(0.0, begin - margin), end + margin)


@house_style()
def timeline_figure(transactions: pd.DataFrame, window: TimeSpan, caption: Caption) -> Figure:
    """One row per writer that did something in the window."""
    shown = _in_window(transactions, window)
    writers = sorted(shown["writer"].unique(), key=natural)
    rows = {writer: float(y) for y, writer in enumerate(writers)}
    left = 0.4 + 0.078 * max((len(writer) for writer in writers), default=4)
    height = 1.12 + 0.8 + _ROW * max(len(writers), 2)
    figure = new_figure(max(11.0, least_width(caption)), height)
    place(figure, left=left, right=0.35, top=1.12, bottom=0.8)
    axes = figure.subplots()
    for row in shown.to_dict("records"):
        _draw_transaction(axes, row, rows[str(row["writer"])], window)
    _draw_marks(axes, _marks(shown, rows, window), window)
    for arrow in _refusals(shown, rows):
        _draw_refusal(axes, *arrow, window)
    _finish(axes, writers, window, shown)
    frame(figure, caption)
    return figure


def _in_window(transactions: pd.DataFrame, window: TimeSpan) -> pd.DataFrame:
    ends = transactions["ended_at_ms"].fillna(math.inf)
    overlaps = (transactions["snapshot_at_ms"] < window.to_ms) & (ends > window.from_ms)
    return transactions[overlaps].sort_values("transaction_id")


def _draw_transaction(axes: Axes, row: Mapping[Any, Any], y: float, window: TimeSpan) -> None:
    colour = COLOURS[RecordedOutcome(row["outcome"])]
    end = _instant(row, "ended_at_ms", window.to_ms)
    snapshot = _instant(row, "snapshot_at_ms", end)
    commit = _instant(row, "commit_started_at_ms", end)
    for start, stop, alpha in ((snapshot, commit, 0.4), (commit, end, 1.0)):
        start, stop = max(start, window.from_ms), min(stop, window.to_ms)
        if stop > start:
            axes.barh(y, stop - start, _BAR, left=start, color=colour, alpha=alpha, lw=0)


class Mark(Struct, frozen=True):
    """What became of a transaction and when: a commit with its version, or a refusal."""

    at_ms: float
    y: float
    version: int | None
    refused_others: bool


def _marks(shown: pd.DataFrame, rows: Mapping[str, float], window: TimeSpan) -> list[Mark]:
    """All in the window, those first that arrows lead from: their labels say most."""
    refused = shown[shown["outcome"] == RecordedOutcome.ABORTED].to_dict("records")
    winners = {(row.get(TABLE_COLUMN), row["winning_version"]) for row in refused}
    marks = [
        Mark(at_ms, rows[str(row["writer"])], version, (row.get(TABLE_COLUMN), version) in winners)
        for row in shown.to_dict("records")
        for at_ms, version in _became(row)
        if window.from_ms <= at_ms <= window.to_ms
    ]
    return sorted(marks, key=lambda mark: not mark.refused_others)


def _became(row: Mapping[Any, Any]) -> Iterator[tuple[float, int | None]]:
    """When it was refused, or in the log with which version; nothing if neither."""
    end, version = _instant(row, "ended_at_ms", math.inf), row.get("committed_version")
    if row["outcome"] == RecordedOutcome.ABORTED:
        yield end, None
    elif version is not None and not pd.isna(version):
        yield _instant(row, "committed_at_ms", end), int(version)


def _draw_marks(axes: Axes, marks: Sequence[Mark], window: TimeSpan) -> None:
    length = 72 * axes.get_window_extent().width / axes.figure.dpi
    scale = length / (window.to_ms - window.from_ms)
    at = {mark: scale * (mark.at_ms - window.from_ms) for mark in marks}
    labelled = {
        y: LabelledRow(length, [at[mark] for mark in marks if mark.y == y])
        for y in {mark.y for mark in marks}
    }
    for mark in marks:
        _draw_mark(axes, mark)
        if mark.version is not None:
            row, text = labelled[mark.y], f"{mark.version}"
            _write(axes, mark, text, row.side_of(text, at[mark], may_cover=mark.refused_others))


def _draw_mark(axes: Axes, mark: Mark) -> None:
    if mark.version is None:
        colour = COLOURS[RecordedOutcome.ABORTED]
        axes.plot(mark.at_ms, mark.y, "x", color=colour, ms=7, mew=2.2, zorder=4, clip_on=False)
    else:
        ends = [mark.y - _BAR / 2, mark.y + _BAR / 2]
        axes.plot([mark.at_ms, mark.at_ms], ends, color=INK, lw=1.6, zorder=4)


def _write(axes: Axes, mark: Mark, text: str, side: LabelSide | None) -> None:
    if side is None:
        return
    axes.annotate(
        text, (mark.at_ms, mark.y), xytext=(LABEL_GAP * side, 0),
        textcoords="offset points", ha="right" if side is LabelSide.LEFT else "left", va="center",
        size=LABEL_SIZE, color="white", weight="bold", zorder=5,
        bbox={"boxstyle": "round,pad=0.15", "fc": INK, "ec": "none"},
    )  # fmt: skip


def _refusals(
    shown: pd.DataFrame, rows: Mapping[str, float]
) -> Iterator[tuple[float, float, float, float]]:
    """Where each arrow begins (the winning commit) and ends (the refused transaction)."""
    winners = {
        (row.get(TABLE_COLUMN), row["committed_version"]): (
            _instant(row, "committed_at_ms", _instant(row, "ended_at_ms", math.inf)),
            rows[str(row["writer"])],
        )
        for row in shown[shown["committed_version"].notna()].to_dict("records")
    }
    for row in shown[shown["outcome"] == RecordedOutcome.ABORTED].to_dict("records"):
        winner = winners.get((row.get(TABLE_COLUMN), row["winning_version"]))
        if winner is not None:
            yield (*winner, float(row["ended_at_ms"]), rows[str(row["writer"])])


def _draw_refusal(
    axes: Axes, from_x: float, from_y: float, to_x: float, to_y: float, window: TimeSpan
) -> None:
    if window.from_ms <= from_x and to_x <= window.to_ms:
        axes.annotate(
            "", (to_x, to_y), (from_x, from_y), zorder=3,
            arrowprops={"arrowstyle": "->", "color": COLOURS[RecordedOutcome.ABORTED], "lw": 0.9,
                        "alpha": 0.75, "shrinkA": 6, "shrinkB": 6,
                        "connectionstyle": "arc3,rad=0.12"},
        )  # fmt: skip


def _finish(axes: Axes, writers: list[str], window: TimeSpan, shown: pd.DataFrame) -> None:
    axes.set_yticks(range(len(writers)), writers)
    axes.set_ylim(len(writers) - 0.4, -0.6)
    axes.set_xlim(window.from_ms, window.to_ms)
    axes.set_xlabel("simulated time")
    vertical_grid_only(axes)
    step_ms = _step_ms(window.to_ms - window.from_ms)
    decimals = max(0, math.ceil(math.log10(_SECOND / step_ms)))
    axes.xaxis.set_major_locator(MultipleLocator(step_ms))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _clock(value, decimals)))
    outcomes = [outcome for outcome in COLOURS if (shown["outcome"] == outcome).any()]
    handles: list[Patch | Line2D] = [
        Patch(color=COLOURS[outcome], label=WORDS.get(outcome, outcome)) for outcome in outcomes
    ]
    handles += [
        Patch(color=MUTED, alpha=0.4, label="reads and computes"),
        Patch(color=MUTED, label="commits"),
    ]
    axes.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(-0.005, 1.0), ncols=len(handles),
        borderaxespad=0.3, handlelength=1.1, handleheight=1.0, columnspacing=1.4,
    )  # fmt: skip


def _step_ms(length_ms: float) -> float:
    """The shortest step of a clock that goes into such a stretch `_MOST_STEPS` times at most."""
    least = length_ms / _MOST_STEPS
    if least <= _SECOND:
        power = 10.0 ** math.floor(math.log10(least))
        return next(times * power for times in (1, 2, 5, 10) if times * power >= least)
    steps = (step for step in _STEPS_MS if step >= least)
    return next(steps, _DAY * math.ceil(least / _DAY))


def _clock(milliseconds: float, decimals: int) -> str:
    """`1:02:05`, with so many decimals of the second."""
    minutes, second = divmod(round(milliseconds / 1000, decimals), 60)
    hour, minute = divmod(int(minutes), 60)
    width = 3 + decimals if decimals else 2
    return f"{hour}:{minute:02}:{second:0{width}.{decimals}f}"


def _instant(row: Mapping[Any, Any], name: str, otherwise: float) -> float:
    value = row.get(name)
    if value is None or pd.isna(value):
        return otherwise
    return float(value)
