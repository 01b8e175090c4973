"""From measures per run to intervals per cell, paired differences and the written answer."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from synthetic_recordings import made_up_run

from whitecap.reports.answer import answer_of, difference
from whitecap.reports.layout import layout_of
from whitecap.reports.tables import Tables, build_tables

LABELS = {"a": {"size": "small"}, "b": {"size": "large"}}
AXES = {"size": ("small", "large")}


def tables(
    goodput: dict[str, list[float]],
    labels: dict[str, dict[str, str]] = LABELS,
    **more: dict[str, list[float]],
) -> Tables:
    """Tables of cells with these goodputs per replication; the last cell has aborts."""
    last = list(goodput)[-1]
    given = {"goodput_per_minute": goodput, **more}
    measured = {
        (cell, r): made_up_run(
            lambda measure, cell=cell, r=r: given[measure][cell][r] if measure in given else 0.0,
            {"ConcurrentAppendException": 300} if (cell, r) == (last, 1) else {},
        )
        for cell, values in goodput.items()
        for r in range(len(values))
    }
    return build_tables(measured, labels)


def test_differences_are_taken_within_replications_not_between_means() -> None:
    """Replications differ by 10, cells by 1: only pairing can see the cells' difference."""
    made = tables({"a": [11.0, 21.0, 31.1], "b": [10.0, 20.0, 30.0]})
    gap = difference(made, "goodput_per_minute", "a", "b")
    assert gap.point == pytest.approx(1.0333, abs=1e-4)
    assert gap.is_distinguishable
    overlap = made.of("goodput_per_minute")
    assert overlap["a"].low < overlap["b"].high


def test_a_difference_reads_the_same_from_both_sides() -> None:
    made = tables({"a": [3.0, 4.0, 6.0], "b": [1.0, 3.0, 2.0]})
    there = difference(made, "goodput_per_minute", "a", "b")
    back = difference(made, "goodput_per_minute", "b", "a")
    assert (there.point, there.low, there.high) == (-back.point, -back.high, -back.low)


def test_a_run_without_an_exception_counts_as_rate_zero() -> None:
    made = tables({"a": [1.0, 1.0], "b": [1.0, 1.0]})
    rates = made.aborts_by("ConcurrentAppendException")
    assert rates["b"].point == pytest.approx(0.15)
    assert rates["a"].point == 0.0
    assert rates["a"].replications == 2


def test_the_answer_names_the_best_cell_and_that_the_next_is_worse() -> None:
    made = tables({"a": [5.0, 5.1, 5.0], "b": [3.0, 3.1, 3.0]})
    answer = answer_of(made, layout_of(LABELS, AXES))
    assert answer is not None
    assert (answer.best, answer.next, answer.distinguishable) == ("a", "b", True)
    assert answer.headline == "Best by goodput: small"
    assert "distinguishably less" in answer.sentences[1]


def test_the_answer_admits_when_the_next_cannot_be_told_apart() -> None:
    wasted = {"a": [0.4, 0.4, 0.4], "b": [0.1, 0.1, 0.1]}
    made = tables({"a": [5.0, 3.0, 4.2], "b": [4.0, 4.0, 4.0]}, wasted_compute_share=wasted)
    answer = answer_of(made, layout_of(LABELS, AXES))
    assert answer is not None
    assert (answer.best, answer.distinguishable, answer.tied) == ("a", False, ("b",))
    assert "not distinguishable from one other" in answer.headline
    assert "large wastes the least compute: 10.0 %" in answer.sentences[2]


def test_layouts_are_compared_under_the_most_writers() -> None:
    labels = {
        f"{size}{count}": {"size": size, "writers": count}
        for size in ("small", "large")
        for count in ("8", "16")
    }
    axes = {"size": ("small", "large"), "writers": ("8", "16")}
    goodput = {"small8": [9.0, 9.0], "large8": [1.0, 1.0], "small16": [2.0, 2.1]}
    made = tables({**goodput, "large16": [3.0, 3.1]}, labels)
    answer = answer_of(made, layout_of(labels, axes))
    assert answer is not None
    assert (answer.best, answer.next, answer.tied) == ("large16", "small16", ())


def test_one_replication_claims_no_certainty() -> None:
    answer = answer_of(tables({"a": [5.0], "b": [3.0]}), layout_of(LABELS, AXES))
    assert answer is not None
    assert not answer.distinguishable
    assert "One replication says nothing about chance" in answer.sentences[0]


def test_a_cell_without_a_value_is_not_ranked() -> None:
    assert answer_of(tables({"a": [math.nan], "b": [3.0]}), layout_of(LABELS, AXES)) is None


def test_tables_come_back_as_they_were_written(tmp_path: Path) -> None:
    made = tables({"a": [5.0, 3.0], "b": [4.0, 4.0]})
    made.write(tmp_path)
    pd.testing.assert_frame_equal(Tables.read(tmp_path).cells, made.cells)
    assert (tmp_path / "cells.csv").read_text().splitlines()[0].startswith("cell,axis_size,measure")
