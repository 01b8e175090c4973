"""Figures: nothing overlaps, colours are told apart, layout follows the axes, bytes repeat."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.figure_texts import assert_texts_lie_apart, texts_of
from tests.reports.synthetic_recordings import made_up_subject
from whitecap.engine.recorded import Direction
from whitecap.reports.figures.exceptions import colours_by_exception
from whitecap.reports.figures.figures import draw_all
from whitecap.reports.figures.latency import ticks_between
from whitecap.reports.figures.quantity import spread
from whitecap.reports.figures.style import MAGNITUDES, OKABE_ITO, ink_on, save
from whitecap.reports.layout import layout_of, phrase
from whitecap.reports.measures import CONFLICTS, Unit, duration, round_duration, tick, written

GRIDS = {
    "two names": {"partitioning": ["none", "by date"], "isolation": ["A", "B"]},
    "a number": {"writers": ["2", "8", "32"]},
    "names and a number": {
        "partitioning": ["unpartitioned", "by date", "by date and country"],
        "isolation": ["Serializable", "WriteSerializable"],
        "writers": ["2", "16"],
    },
}


@pytest.mark.parametrize("name", sorted(GRIDS))
def test_no_text_overlaps_another_or_leaves_the_figure(tmp_path: Path, name: str) -> None:
    subject = made_up_subject(tmp_path / "s", GRIDS[name])
    for drawing in draw_all(subject):
        assert_texts_lie_apart(drawing.figure, drawing.name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("two names", {"job_success_rate_map", "conflict_rate_map"}),
        ("a number", {"goodput_over_quantity"}),
        (
            "names and a number",
            {"job_success_rate_map", "conflict_rate_map", "goodput_over_quantity"},
        ),
    ],
)
def test_which_figures_there_are_follows_from_the_axes(
    tmp_path: Path, name: str, expected: set[str]
) -> None:
    drawn = {d.name for d in draw_all(made_up_subject(tmp_path / "s", GRIDS[name]))}
    always = {"conflict_and_retry", "exceptions", "goodput", "latency"}
    assert drawn == always | expected


def test_the_same_numbers_give_the_same_bytes(tmp_path: Path) -> None:
    for turn in ("first", "second"):
        subject = made_up_subject(tmp_path / f"{turn}-sweep", GRIDS["names and a number"])
        for drawing in draw_all(subject):
            save(drawing.figure, tmp_path / turn, drawing.name)
    files = sorted((tmp_path / "first").iterdir())
    assert len(files) == 14
    for file in files:
        assert file.read_bytes() == (tmp_path / "second" / file.name).read_bytes(), file.name


def test_every_figure_carries_its_origin(tmp_path: Path) -> None:
    subject = made_up_subject(tmp_path / "s", GRIDS["two names"])
    for drawing in draw_all(subject):
        assert subject.provenance.line in [words for words, _ in texts_of(drawing.figure)]
    for part in ("scenario 5f1d5f1d5f1d", "seed 7", "delta-oss-4.4", "whitecap 0.1.0"):
        assert part in subject.provenance.line


def test_every_conflict_has_a_colour_of_its_own() -> None:
    colours = colours_by_exception([*CONFLICTS, "WriterCrash", "StoreRefused"])
    assert len(set(colours.values())) == len(colours)


def _luminance(colour: Sequence[float]) -> float:
    red, green, blue = colour[:3]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("better", MAGNITUDES)
def test_tile_colours_darken_evenly_so_that_lightness_alone_reads(better: Direction | None) -> None:
    colours = MAGNITUDES[better]
    luminances = [_luminance(colours(i / 20)) for i in range(21)]
    steps = [a - b for a, b in itertools.pairwise(luminances)]
    assert all(step > 0.01 for step in steps)
    assert ink_on(colours(0.0)) != ink_on(colours(1.0))


def test_what_one_wants_much_of_has_another_colour_than_what_one_wants_little_of() -> None:
    blue, vermilion = (MAGNITUDES[better](0.6) for better in Direction)
    assert blue[2] > 2 * blue[0]
    assert vermilion[0] > 2 * vermilion[2]


def test_the_palette_repeats_only_when_it_is_used_up() -> None:
    assert len(set(OKABE_ITO)) == len(OKABE_ITO) == 8


def test_labels_at_line_ends_keep_their_order_and_their_distance() -> None:
    moved = spread([0.50, 0.51, 0.10, 0.52], 0.06)
    assert sorted(range(4), key=lambda i: moved[i]) == [2, 0, 1, 3]
    gaps = [b - a for a, b in itertools.pairwise(sorted(moved))]
    assert min(gaps) == pytest.approx(0.06)
    assert moved[2] == pytest.approx(0.10)


def test_axes_with_one_label_say_nothing_and_are_left_out() -> None:
    axes = {"store": ["s3"], "partitioning": ["a", "b"], "rate": ["1", "2"], "writers": ["1", "2"]}
    layout = layout_of({"x": {"store": "s3", "partitioning": "a", "writers": "1"}}, axes)
    assert layout.varying == ("partitioning", "rate", "writers")
    assert layout.numeric == "writers"
    assert layout.grid == ("partitioning", "rate")
    assert layout.title("x") == "a · 1 writer"


def test_numbers_are_named_by_their_axis() -> None:
    assert phrase({"writers": "8", "isolation": "Serializable"}) == "8 writers · Serializable"
    assert phrase({"writers.loader.count": "8"}) == "8 loaders"
    assert phrase({"writers.team-b.count": "6"}) == "6 writers of team-b"
    assert phrase({"writers.team-b.count": "1"}) == "1 writer of team-b"
    assert phrase({"table.initial.rows": "500"}) == "rows 500"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.1234, Unit.SHARE, "12.3 %"),
        (0.00376, Unit.SHARE, "0.38 %"),
        (0.0, Unit.SHARE, "0 %"),
        (1.0, Unit.SHARE, "100 %"),
        (12.345, Unit.PER_MINUTE, "12.3 / min"),
        (950.4, Unit.MILLISECONDS, "950 ms"),
        (90_000.0, Unit.MILLISECONDS, "1.50 min"),
        (float("nan"), Unit.SHARE, "n/a"),
    ],
)
def test_values_are_written_with_their_unit(value: float, unit: Unit, text: str) -> None:
    assert written(value, unit) == text


def test_ticks_and_durations_use_units_that_people_count_in() -> None:
    assert tick(0.25, Unit.SHARE) == "25 %"
    assert duration(7_200_000, 2) == "2.0 h"
    assert duration(0.5, 2) == "0.50 ms"


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (10.4e3, 47.5e3, ["20 s", "30 s", "40 s"]),
        (62e3, 110e3, ["1.2 min", "1.5 min", "1.8 min"]),
        (6.3e6, 11e6, ["1.8 h", "2.4 h", "3 h"]),
        (8e3, 130e3, ["10 s", "30 s", "1 min", "2 min"]),
    ],
)
def test_an_axis_of_latencies_has_two_ticks_however_narrow_it_is(
    low: float, high: float, expected: list[str]
) -> None:
    assert [round_duration(ms) for ms in ticks_between(low, high)] == expected
