"""Costs: counted by hand, in groups that add up, for a run, its cells and its report alike."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import whitecap
from tests.deciding.worlds import written_to
from tests.sim.sim_worlds import INSERT, UPDATE, document, ran
from whitecap.cli import main
from whitecap.engine.errors import InvalidInput
from whitecap.engine.recorded import OF_A_PRICE, Measure, columns_read
from whitecap.exit_codes import ExitCode
from whitecap.reports.measures.measured_run import MeasuredRun, measure_run
from whitecap.sim.loading import scenario_of

PRICE = {"per_slot_hour": 0.5, "currency": "EUR"}
HEAP: dict[str, Any] = {
    "table": {**document()["table"], "partition_by": []},
    "writers": {"loader": {**INSERT, "count": 2}, "corrector": {**UPDATE, "count": 3}},
}
"""Updates of one heap: many are aborted."""


def _measured(**parts: Any) -> tuple[MeasuredRun, list[dict[str, Any]]]:
    recording = ran(**{**HEAP, **parts}).recording
    measured = measure_run(recording.manifest, recording.columns(columns_read(recording.manifest)))
    return measured, recording.tables["transactions"].to_pylist()


@pytest.fixture(scope="module")
def priced() -> tuple[MeasuredRun, list[dict[str, Any]]]:
    return _measured(price=PRICE)


def test_slot_hours_and_money_are_those_of_the_transactions(
    priced: tuple[MeasuredRun, list[dict[str, Any]]],
) -> None:
    measured, rows = priced
    ended = [row for row in rows if row["outcome"] != "in_flight"]
    hours = sum(row["compute_ms"] for row in ended) / 3_600_000
    wasted = sum(r["compute_ms"] for r in ended if r["outcome"] == "aborted") / 3_600_000
    a_month = 730 / (10 / 60)  # runs of ten minutes
    done = sum(row["outcome"] == "committed" for row in rows)
    assert wasted > 0
    value = measured.whole.value
    assert value(Measure.SLOT_HOURS_PER_MONTH) == pytest.approx(hours * a_month)
    assert value(Measure.COST_PER_MONTH) == pytest.approx(0.5 * hours * a_month)
    assert value(Measure.WASTED_COST_PER_MONTH) == pytest.approx(0.5 * wasted * a_month)
    assert value(Measure.COST_PER_JOB) == pytest.approx(0.5 * hours / done)


def test_the_costs_of_writer_groups_add_up(
    priced: tuple[MeasuredRun, list[dict[str, Any]]],
) -> None:
    measured, _ = priced
    for measure in (Measure.COST_PER_MONTH, Measure.WASTED_COST_PER_MONTH):
        parts = [part.value(measure) for part in measured.groups.values()]
        assert sum(parts) == pytest.approx(measured.whole.value(measure))


def test_waste_is_the_share_of_the_cost_that_the_waste_of_compute_is(
    priced: tuple[MeasuredRun, list[dict[str, Any]]],
) -> None:
    value = priced[0].whole.value
    share = value(Measure.WASTED_COST_PER_MONTH) / value(Measure.COST_PER_MONTH)
    assert share == pytest.approx(value(Measure.WASTED_COMPUTE_SHARE))


def test_without_a_price_there_are_slot_hours_and_no_costs() -> None:
    measured, _ = _measured()
    assert measured.whole.value(Measure.SLOT_HOURS_PER_MONTH) > 0
    assert all(math.isnan(measured.whole.value(each)) for each in OF_A_PRICE)


def test_a_price_changes_no_recorded_row_and_another_price_is_another_scenario() -> None:
    assert (
        ran(price=PRICE)
        .recording.tables["transactions"]
        .equals(ran().recording.tables["transactions"])
    )
    hashes = {scenario_of(document(**each)).hash for each in ({}, {"price": PRICE})}
    assert len(hashes) == 2


@pytest.mark.parametrize(
    ("price", "said"),
    [
        ({"per_slot_hour": 0}, "must be more than 0"),
        ({"per_slot_hour": "cheap"}, "number"),
        ({"currency": "EUR"}, "per_slot_hour"),
        ({"per_slot_hour": 1, "curency": "EUR"}, "currency"),
    ],
)
def test_a_wrong_price_is_refused_by_name(price: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        scenario_of(document(price=price))
    assert said in str(refused.value)


def test_an_objective_on_cost_needs_a_price() -> None:
    with pytest.raises(InvalidInput) as refused:
        scenario_of(document(objective="cost_per_month <= 100"))
    assert "needs a price" in str(refused.value)
    assert scenario_of(document(objective="cost_per_month <= 100", price=PRICE)).objectives


def test_a_run_says_what_it_costs(tmp_path: Path) -> None:
    file = written_to(tmp_path / "priced.yaml", price=PRICE, **HEAP)
    told = CliRunner().invoke(main, ["run", str(file)])
    assert told.exit_code == ExitCode.FINE, told.output
    assert "At 0.5 EUR per slot-hour: " in told.stdout
    document = json.loads(CliRunner().invoke(main, ["run", str(file), "--json"]).stdout)
    assert document["cost"]["currency"] == "EUR"
    assert document["cost"]["cost_per_month"] > document["cost"]["wasted_cost_per_month"] > 0


def test_a_sweep_and_its_tables_know_the_same_costs_as_its_runs(tmp_path: Path) -> None:
    axes = {"partitioning": {"by date": {"table.partition_by": ["date"]}, "heap": {}}}
    file = written_to(tmp_path / "priced.yaml", price=PRICE, sweep={"axes": axes}, **HEAP)
    sweep = whitecap.sweep(
        file, replications=1, out=tmp_path / "out", engine="processes", quiet=True
    )
    heap = next(cell for cell, labels in sweep.cells.items() if "heap" in labels.values())
    measured, _ = _measured(price=PRICE)
    counted = sweep.subject.tables.of(Measure.COST_PER_MONTH)[heap].point
    assert counted == pytest.approx(measured.whole.value(Measure.COST_PER_MONTH))
    assert "Cost per month" in sweep.table.columns
