"""Costs: counted by hand, in groups that add up, for a run, its cells and its report alike."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
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
from whitecap.reports.estimates import estimated
from whitecap.reports.measures import measures_shown
from whitecap.reports.measures.measured_run import MeasuredRun, measure_run
from whitecap.reports.measures.tally import PerJob
from whitecap.reports.pages.page_tables import measures_table
from whitecap.reports.statistics import Claim, Estimate, difference
from whitecap.sim.loading import scenario_of
from whitecap.sim.run import run_scenario
from whitecap.sim.scenario.clusters import price_lists
from whitecap.sim.store.requests.kinds import KIND_NAMED

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


def test_a_slot_that_is_always_busy_takes_all_hours_of_a_month_beside_a_warm_up_too() -> None:
    """Jobs of a minute, one after the other: five end in the five minutes that are measured, of
    which the first began in the warm-up; the last one that began is not over."""
    measured, _ = _measured(
        writers={"busy": {**INSERT, "compute": "1 min", "arrival": "closed"}},
        store={"profile": "instant"}, warm_up="5.5 min", duration="10.5 min", price=PRICE,
    )  # fmt: skip
    value = measured.whole.value
    assert value(Measure.SLOT_HOURS_PER_MONTH) == pytest.approx(730)
    assert value(Measure.COST_PER_MONTH) == pytest.approx(0.5 * 730)
    assert value(Measure.COST_PER_JOB) == pytest.approx(0.5 / 60)


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


def test_maintenance_costs_something_and_is_no_job_to_divide_it_among() -> None:
    tidy = {
        "statement": "OPTIMIZE events",
        "arrival": {"schedule": {"every": "2 min"}},
        "compute": "30 s",
    }
    loader = {**INSERT, "arrival": {"schedule": {"every": "1 min"}}, "compute": "10 s"}
    idle = {**tidy, "statement": "DELETE FROM events WHERE country = 'nowhere'"}
    plain, _ = _measured(writers={"loader": loader}, price=PRICE)
    measured, rows = _measured(writers={"loader": loader, "tidy": tidy, "idle": idle}, price=PRICE)
    inserts = sum(row["command"] == "INSERT" and row["outcome"] == "committed" for row in rows)
    hours = sum(row["compute_ms"] for row in rows if row["outcome"] != "in_flight") / 3_600_000
    assert inserts < sum(row["outcome"] == "committed" for row in rows)
    cost = measured.whole.value(Measure.COST_PER_JOB)
    assert cost == pytest.approx(0.5 * hours / inserts)
    assert cost > plain.whole.value(Measure.COST_PER_JOB)
    assert math.isnan(measured.tally(Measure.COST_PER_JOB, "tidy").value)


def _cost_per_job(*tallies: PerJob) -> Estimate:
    return estimated(Measure.COST_PER_JOB, tallies)


def test_what_a_job_costs_is_what_all_cost_over_all_jobs_also_of_runs_that_commit_none() -> None:
    assert _cost_per_job(PerJob(10, 1), PerJob(10, 9)).point == pytest.approx(2)
    assert _cost_per_job(PerJob(10, 0), PerJob(10, 10)).point == pytest.approx(2)
    assert math.isnan(_cost_per_job(PerJob(10, 0), PerJob(10, 0)).point)
    assert math.isnan(_cost_per_job(PerJob(math.nan, 5), PerJob(math.nan, 5)).point)


def test_runs_whose_jobs_cost_the_same_are_alike_however_many_jobs_they_have() -> None:
    same = _cost_per_job(*(PerJob(0.3 * jobs, jobs) for jobs in (3, 7, 11, 19, 23)))
    assert same.statement == Claim.ALIKE
    assert same.point == pytest.approx(0.3)


def test_its_interval_is_that_of_a_ratio() -> None:
    """By hand (Cochran 1977, 6.4): 20 over 10 jobs, residuals -1, 1, 1, -1, 0 of 2 jobs each."""
    tallies = [PerJob(amount, 2) for amount in (3, 5, 5, 3, 4)]
    estimate = _cost_per_job(*tallies)
    half = 2.776445 * math.sqrt(4 / 4 / 5) / 2
    assert estimate.low == pytest.approx(2 - half)
    cheaper = _cost_per_job(*(PerJob(each.amount - 1, 2) for each in tallies))
    assert difference(estimate, cheaper).point == pytest.approx(0.5)


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


def test_requests_cost_what_the_list_says_of_their_kinds() -> None:
    run = ran(price={"per_slot_hour": 0.5, "requests": "s3-us-east"})
    kinds = Counter(run.recording.tables["requests"]["kind"].to_pylist())
    priced = run.recording.manifest["price"]["requests"]
    assert priced["counts"] == dict(kinds)
    dear = kinds["list"] + kinds["put"] + kinds["put_if_absent"] + kinds["copy"]
    cheap = kinds["get"] + kinds["head"]
    assert min(dear, cheap) > 0
    assert set(kinds) <= set(price_lists()["s3-us-east"]["per_1000"])
    amount = (5 * dear + 0.4 * cheap) / 1_000_000
    by_group = [cost for costs in priced["costs"].values() for cost in costs.values()]
    assert sum(by_group) == pytest.approx(amount)
    tables = run.recording.columns(columns_read(run.recording.manifest))
    measured = measure_run(run.recording.manifest, tables)
    cost = measured.whole.value(Measure.REQUEST_COST_PER_MONTH)
    assert cost == pytest.approx(amount * 730 * 6)  # a run of ten minutes


def test_pricing_requests_changes_no_transaction() -> None:
    price = {"per_slot_hour": 0.5, "requests": "s3-us-east"}
    recordings = [run_scenario(scenario_of(document(**each))).recording
                  for each in ({}, {"price": price})]  # fmt: skip
    plain, priced = (each.tables["transactions"] for each in recordings)
    assert plain.equals(priced)


@pytest.mark.parametrize("name", price_lists())
def test_every_price_list_says_where_it_is_from_and_when(name: str) -> None:
    listed = price_lists()[name]
    assert re.search(r"\b20\d\d-\d\d-\d\d\b", listed["source"])
    assert set(listed["per_1000"]) <= set(KIND_NAMED)


@pytest.mark.parametrize(
    ("price", "said"),
    [
        ({"per_slot_hour": 0}, "must be more than 0"),
        ({"per_slot_hour": "cheap"}, "number"),
        ({"currency": "EUR"}, "per_slot_hour"),
        ({"per_slot_hour": 1, "curency": "EUR"}, "currency"),
        ({"per_slot_hour": 1, "requests": "azure"}, "there is no price list 'azure'"),
        (
            {"per_slot_hour": 1, "currency": "EUR", "requests": "s3-us-east"},
            "the list prices of s3-us-east are in USD",
        ),
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
    result = CliRunner().invoke(main, ["run", str(file)])
    assert result.exit_code == ExitCode.FINE, result.output
    assert "At 0.5 EUR per slot-hour: " in result.stdout
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
    headings = measures_table(sweep.subject, measures_shown(True)).headings
    assert {"Slot-hours per month", "Cost per month (EUR)"} <= set(headings)
