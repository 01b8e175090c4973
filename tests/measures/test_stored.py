"""A measured run survives the tables of a report: what was counted is there again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import astuple

import whitecap
from tests.reports.synthetic_recordings import tables_of, transaction
from tests.sim.sim_worlds import document
from whitecap.engine.recorded import Measure
from whitecap.reports.measures.measured_run import MeasuredRun, measure_run
from whitecap.reports.measures.tally import Latencies, MeasureTally
from whitecap.reports.tables import ReportTables, build_tables


@pytest.fixture(scope="module")
def runs() -> dict[tuple[str, int], MeasuredRun]:
    """Two runs of one cell, and one of another in which nothing happened."""
    empty = measure_run({"warm_up_ms": 0.0, "duration_ms": 60_000.0}, tables_of([]))
    quiet = measure_run(
        {"warm_up_ms": 0.0, "duration_ms": 60_000.0, "live_rows": 3}, tables_of([transaction(0)])
    )
    return {
        ("busy", 0): whitecap.run(document()).measured,
        ("busy", 1): whitecap.run(document(), replication=1).measured,
        ("quiet", 0): quiet,
        ("quiet", 1): empty,
    }


def test_what_was_measured_comes_back_from_the_tables(
    runs: dict[tuple[str, int], MeasuredRun], tmp_path: Path
) -> None:
    labels = {"busy": {"load": "some"}, "quiet": {"load": "none"}}
    build_tables(runs, labels).write(tmp_path)
    stored = ReportTables.read(tmp_path).measured
    for (cell, replication), run in runs.items():
        again = stored[cell][replication]
        assert again.refusals == run.refusals
        assert list(again.groups) == list(run.groups)
        for kept, part in zip(
            [again.whole, *again.groups.values()], [run.whole, *run.groups.values()], strict=True
        ):
            assert kept.left_out == part.left_out
            for measure, tally in part.tallies.items():
                _assert_same(kept.tallies[measure], tally)


def _assert_same(kept: MeasureTally, tally: MeasureTally) -> None:
    if isinstance(tally, Latencies):
        assert isinstance(kept, Latencies)
        assert kept.percent == tally.percent
        np.testing.assert_array_equal(kept.sorted_ms, tally.sorted_ms)
    else:
        assert type(kept) is type(tally)
        np.testing.assert_equal(astuple(kept), astuple(tally))


def test_shares_can_be_pooled_over_replications(
    runs: dict[tuple[str, int], MeasuredRun],
) -> None:
    """The sums of both parts, over the rows of all writers."""
    frame = build_tables(runs, {"busy": {}, "quiet": {}}).tallies
    chosen = frame[(frame["cell"] == "busy") & (frame["measure"] == Measure.ABORT_RATE.value)]
    whole = chosen[chosen["writer_group"].isna()]
    by_group = chosen[chosen["writer_group"].notna()]
    assert len(whole) == 2
    for column in ("part", "whole"):
        assert by_group[column].sum() == whole[column].sum() > 0


def test_refusals_are_pooled_by_cell(runs: dict[tuple[str, int], MeasuredRun]) -> None:
    tables = build_tables(runs, {"busy": {"load": "some"}, "quiet": {"load": "none"}})
    counted = sum(runs["busy", r].tally(Measure.ABORTED).value for r in (0, 1))
    assert tables.refusals["count"].sum() == counted > 0
    assert set(tables.refusals["axis_load"]) == {"some"}
    assert sum(each.count for each in tables.refusals_of("busy")) == counted
    assert tables.refusals_of("quiet") == ()
