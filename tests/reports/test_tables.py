"""From measures per run to intervals per cell, and paired differences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from tests.reports.synthetic_recordings import made_up_run
from whitecap.reports.statistics import Claim, Estimate, EstimatedDifference
from whitecap.reports.statistics.estimate import nothing
from whitecap.reports.tables import ReportTables, build_tables
from whitecap.reports.tables.rows import (
    difference_columns,
    difference_in,
    estimate_columns,
    estimate_in,
)

Given = Mapping[str, Mapping[str, Sequence[float]]]
"""By measure and cell, what each replication had."""

LABELS = {"a": {"size": "small"}, "b": {"size": "large"}}


def _of_cell(given: Given, cell: str, replication: int, measure: str) -> float:
    return given[measure][cell][replication] if measure in given else 0.0


def tables(
    goodput: dict[str, list[float]],
    labels: dict[str, dict[str, str]] = LABELS,
    **more: dict[str, list[float]],
) -> ReportTables:
    """Tables of cells with these goodputs per replication; the last cell has aborts."""
    last = list(goodput)[-1]
    given = {"goodput_per_minute": goodput, **more}
    measured = {
        (cell, r): made_up_run(
            partial(_of_cell, given, cell, r),
            {"ConcurrentAppendException": 300} if (cell, r) == (last, 1) else {},
        )
        for cell, values in goodput.items()
        for r in range(len(values))
    }
    return build_tables(measured, labels)


def test_differences_are_taken_within_replications_not_between_means() -> None:
    """Replications differ by 10, cells by 1: only pairing can see the cells' difference."""
    made = tables({"a": [11.0, 21.0, 31.1], "b": [10.0, 20.0, 30.0]})
    gap = made.difference("goodput_per_minute", "a", "b")
    assert gap.point == pytest.approx(1.0333, abs=1e-4)
    assert gap.is_distinguishable
    overlap = made.of("goodput_per_minute")
    assert overlap["a"].low < overlap["b"].high


def test_a_difference_reads_the_same_from_both_sides() -> None:
    made = tables({"a": [3.0, 4.0, 6.0], "b": [1.0, 3.0, 2.0]})
    there = made.difference("goodput_per_minute", "a", "b")
    back = made.difference("goodput_per_minute", "b", "a")
    assert (there.point, there.low, there.high) == (-back.point, -back.high, -back.low)


def test_a_run_without_an_exception_counts_as_rate_zero() -> None:
    made = tables({"a": [1.0, 1.0], "b": [1.0, 1.0]})
    rates = made.aborts_by("ConcurrentAppendException")
    assert rates["b"].point == pytest.approx(0.15)
    assert rates["a"].point == 0.0
    assert rates["a"].replications == 2


def test_tables_come_back_as_they_were_written(tmp_path: Path) -> None:
    made = tables({"a": [5.0, 3.0], "b": [4.0, 4.0]})
    made.write(tmp_path)
    pd.testing.assert_frame_equal(ReportTables.read(tmp_path).cells, made.cells)
    assert (tmp_path / "cells.csv").read_text().splitlines()[0].startswith("cell,axis_size,measure")


def test_a_bound_that_is_open_is_empty_in_tables_and_open_when_it_is_read() -> None:
    open_above = Estimate(2.0, 1.0, math.inf, Claim.AT_LEAST, 5, units=3.0, beyond=0.0)
    unknown = nothing(5)
    open_gap = EstimatedDifference(1.0, -math.inf, 3.0, Claim.AT_MOST, 5)
    assert math.isnan(estimate_columns(open_above)["high"])
    assert math.isnan(difference_columns(open_gap)["low"])
    assert estimate_in(estimate_columns(open_above)) == open_above
    assert difference_in(difference_columns(open_gap)) == open_gap
    assert not estimate_in(estimate_columns(unknown)).is_known
    alike = EstimatedDifference(1.0, math.nan, math.nan, Claim.ALIKE, 5)
    assert math.isnan(difference_in(difference_columns(alike)).low)
