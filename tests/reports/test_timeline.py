"""Timelines: the stretch that is shown, and who refused whom."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from tests.figure_texts import assert_texts_lie_apart
from tests.reports.synthetic_recordings import aborted, transaction
from whitecap.reports.figures.labelled_row import LabelledRow, LabelSide
from whitecap.reports.figures.timeline import (
    TimeSpan,
    busiest_window,
    timeline_figure,
    window_of,
)
from whitecap.reports.instants import with_instants
from whitecap.reports.subject import Caption


def frame(*rows: dict[str, Any]) -> pd.DataFrame:
    """Transactions with snapshots a second before they end, and who refused them."""
    filled = [
        {"winning_version": None, "snapshot_at_ms": r["ended_at_ms"] - 1000} | r for r in rows
    ]
    return pd.DataFrame(filled)


def test_the_busiest_stretch_holds_the_most_refusals() -> None:
    calm = [transaction(i, ended_at_ms=10_000.0 * (i + 1)) for i in range(60)]
    storm = [aborted(100 + i, ended_at_ms=400_000.0 + i) for i in range(5)]
    early = [aborted(200, ended_at_ms=50_000.0)]
    window = busiest_window(frame(*calm, *storm, *early))
    assert window.from_ms <= 400_000 <= 400_004 <= window.to_ms
    assert window.to_ms - window.from_ms < 600_000


def test_a_run_without_refusals_is_shown_from_its_start() -> None:
    window = busiest_window(frame(*(transaction(i) for i in range(3))))
    assert (window.from_ms, window.to_ms) == (0.0, 62_000.0)


def test_the_window_of_a_transaction_shows_it_whole() -> None:
    window = window_of(frame(transaction(7, ended_at_ms=50_000.0)), 7)
    assert window.from_ms < 49_000
    assert window.to_ms > 50_000


@pytest.mark.parametrize(("winner_version", "arrows"), [(3, 1), (99, 0)])
def test_an_arrow_leads_from_the_winning_commit_if_it_is_shown(
    winner_version: int, arrows: int
) -> None:
    rows = frame(
        transaction(1, writer="loader-1", committed_version=3, ended_at_ms=61_000.0),
        aborted(2, writer="merger-1", winning_version=winner_version, ended_at_ms=63_000.0),
    )
    figure = timeline_figure(rows, TimeSpan(59_000, 64_000), Caption("h", "r"))
    drawn = [each for each in figure.findobj(Annotation) if each.arrow_patch is not None]
    assert len(drawn) == arrows
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["loader-1", "merger-1"]


def arrows_of(rows: pd.DataFrame, commits: pd.DataFrame) -> list[float]:
    """The instants from which arrows lead."""
    shown = with_instants(rows, commits)
    figure = timeline_figure(shown, TimeSpan(59_000, 64_000), Caption("h", "r"))
    drawn = (each for each in figure.findobj(Annotation) if each.arrow_patch is not None)
    return [float(each.xyann[0]) for each in drawn]


def test_an_arrow_leads_from_when_a_version_was_there_not_from_its_writers_end() -> None:
    """Who is throttled writes its checksum long after its commit."""
    rows = frame(
        transaction(1, writer="loader-1", committed_version=3, ended_at_ms=63_900.0),
        aborted(2, writer="merger-1", winning_version=3, ended_at_ms=63_000.0),
    )
    commits = pd.DataFrame({"version": [3], "committed_at_ms": [61_000.0]})
    assert arrows_of(rows, commits) == [61_000.0]


def test_of_several_tables_an_arrow_leads_from_a_commit_of_the_same() -> None:
    rows = frame(
        transaction(1, writer="a", committed_version=3, ended_at_ms=61_000.0, table_name="gold"),
        transaction(2, writer="b", committed_version=3, ended_at_ms=62_000.0, table_name="silver"),
        aborted(3, writer="c", winning_version=3, ended_at_ms=63_000.0, table_name="gold"),
        aborted(4, writer="d", winning_version=4, ended_at_ms=63_500.0, table_name="silver"),
    )
    commits = pd.DataFrame(
        {"table_name": ["gold", "silver"], "version": 3, "committed_at_ms": [60_000.0, 61_500.0]}
    )
    assert arrows_of(rows, commits) == [60_000.0]


def test_only_writers_that_did_something_in_the_window_are_shown() -> None:
    rows = frame(
        transaction(1, writer="a", ended_at_ms=5_000.0),
        transaction(2, writer="b", ended_at_ms=90_000.0),
    )
    figure = timeline_figure(rows, TimeSpan(80_000, 95_000), Caption("h", "r"))
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["b"]


@pytest.mark.parametrize("ended_at_ms", [59_001.0, 59_040.0, 63_999.0])
def test_a_version_at_the_edge_does_not_lie_on_the_name_of_its_writer(ended_at_ms: float) -> None:
    rows = frame(
        transaction(1, writer="merger-1", committed_version=4_212, ended_at_ms=ended_at_ms),
        transaction(2, writer="merger-2", committed_version=4_213, ended_at_ms=61_000.0),
    )
    figure = timeline_figure(rows, TimeSpan(59_000, 64_000), Caption("h", "r"))
    assert_texts_lie_apart(figure, "timeline")


def crowd_of(*versions: int, refused_by: int) -> pd.DataFrame:
    """Commits of one writer at four a second, and a transaction that one of them refused."""
    commits = [
        transaction(v, writer="loader-1", committed_version=v, ended_at_ms=60_000.0 + 250 * at)
        for at, v in enumerate(versions)
    ]
    refused = aborted(9, writer="merger-1", winning_version=refused_by, ended_at_ms=63_900.0)
    return frame(*commits, refused)


def versions_in(figure: Figure) -> list[int]:
    """Those that are written."""
    texts = (each.get_text() for each in figure.findobj(Annotation))
    return sorted(int(text) for text in texts if text)


@pytest.mark.parametrize("winner", range(650, 658))
def test_of_versions_close_together_those_are_written_that_have_room(winner: int) -> None:
    figure = timeline_figure(
        crowd_of(*range(650, 658), refused_by=winner), TimeSpan(50_000, 70_000), Caption("h", "r")
    )
    assert_texts_lie_apart(figure, "timeline")
    assert winner in versions_in(figure)
    assert len(versions_in(figure)) < 8


def test_versions_that_all_have_room_are_all_written() -> None:
    figure = timeline_figure(
        crowd_of(3, 4, 5, refused_by=4), TimeSpan(59_500, 64_000), Caption("h", "r")
    )
    assert versions_in(figure) == [3, 4, 5]


def test_a_label_covers_no_mark_and_goes_to_the_right_where_the_left_is_taken() -> None:
    row = LabelledRow(100, marks=[40, 45, 70, 75, 80])
    assert row.side_of("12", 40) is LabelSide.LEFT
    assert row.side_of("13", 45) is LabelSide.RIGHT
    assert row.side_of("14", 75) is None


def test_a_label_that_matters_may_cover_marks_and_no_label() -> None:
    row = LabelledRow(100, marks=[70, 75, 80])
    assert row.side_of("14", 75, may_cover=True) is LabelSide.LEFT
    assert row.side_of("15", 70, may_cover=True) is None


def test_a_label_stays_within_its_row() -> None:
    assert LabelledRow(30, marks=[5]).side_of("123", 5) is LabelSide.RIGHT
    assert LabelledRow(30, marks=[5]).side_of("1234", 5, may_cover=True) is None


@pytest.mark.parametrize(
    ("from_ms", "to_ms", "ticks"),
    [
        (18_312_000, 18_996_000, "5:06:00 5:08:00 5:10:00 5:12:00 5:14:00 5:16:00"),
        (0, 64_000, "0:00:00 0:00:10 0:00:20 0:00:30 0:00:40 0:00:50 0:01:00"),
        (100_000, 13_000_000, "0:30:00 1:00:00 1:30:00 2:00:00 2:30:00 3:00:00 3:30:00"),
        (0, 2.2e9, "0:00:00 96:00:00 192:00:00 288:00:00 384:00:00 480:00:00 576:00:00"),
        (18_400_500, 18_401_600, "5:06:40.6 5:06:40.8 5:06:41.0 5:06:41.2 5:06:41.4 5:06:41.6"),
    ],
)
def test_ticks_are_where_a_clock_is_round(from_ms: float, to_ms: float, ticks: str) -> None:
    rows = frame(transaction(1, ended_at_ms=(from_ms + to_ms) / 2))
    axes = timeline_figure(rows, TimeSpan(from_ms, to_ms), Caption("h", "r")).axes[0]
    inside = [at for at in axes.get_xticks() if from_ms <= at <= to_ms]
    assert axes.xaxis.get_major_formatter().format_ticks(inside) == ticks.split()
