"""A percentile says how many values it rests on, and is marked where too few lie beyond it."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import whitecap
from tests.sweeps.sweep_scenario import write_scenario
from whitecap.cli import main
from whitecap.engine.recorded import Measure, Unit
from whitecap.reports.pages.page_tables import estimate_entry
from whitecap.reports.statistics import FEWEST_BEYOND, percentile, written_estimate
from whitecap.reports.tables.rows import estimate_columns, estimate_in
from whitecap.terminal.percentiles import percentile_text

MILLISECONDS = Unit.MILLISECONDS


@pytest.mark.parametrize(
    ("measure", "fewest"),
    [
        (Measure.LATENCY_P50_MS, 20),
        (Measure.LATENCY_P95_MS, 200),
        (Measure.LATENCY_P99_MS, 1_000),
        (Measure.LATENCY_P99_9_MS, 10_000),
    ],
)
def test_a_percentile_is_marked_until_ten_values_lie_beyond_it(
    measure: Measure, fewest: int
) -> None:
    assert percentile_text(measure, 1_500.0, fewest) == "1.50 s"
    assert percentile_text(measure, 1_500.0, fewest - 1) == "≈1.50 s"


def test_p99_9_is_not_shown_of_fewer_than_a_thousand_values() -> None:
    assert percentile_text(Measure.LATENCY_P99_9_MS, 1_500.0, 999) == "·"
    assert percentile_text(Measure.LATENCY_P99_9_MS, 1_500.0, 1_000) == "≈1.50 s"
    assert percentile_text(Measure.LATENCY_P50_MS, math.nan, 0) == "·"


def test_sentences_tables_and_page_say_how_many_values_there_are() -> None:
    few, many = percentile([range(100)] * 5, 99), percentile([range(1_000)] * 5, 99)
    assert "only 500 values" in written_estimate(few, MILLISECONDS)
    assert written_estimate(many, MILLISECONDS).endswith(", 5,000 values)")
    assert estimate_entry(few, MILLISECONDS).text.startswith("≈")
    assert estimate_entry(few, MILLISECONDS).below.endswith("only 500 values")
    assert not estimate_entry(many, MILLISECONDS).text.startswith("≈")
    assert estimate_columns(few)["values"] == 500
    assert estimate_columns(few)["beyond"] == pytest.approx(5)
    stored = estimate_in(estimate_columns(few))
    assert stored == replace(few, observations=None)
    assert stored.is_thin is (stored.beyond is not None and stored.beyond < FEWEST_BEYOND)


def test_a_sweep_tells_the_number_everywhere(tmp_path: Path) -> None:
    scenario = write_scenario(tmp_path)
    words = ["sweep", str(scenario), "--engine", "processes", "--out", str(tmp_path / "out")]
    document = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
    swept = whitecap.load_sweep(tmp_path / "out", engine="processes")
    shown = CliRunner().invoke(main, words, env={"COLUMNS": "200"}).stdout
    for cell in document["cells"]:
        measures = cell["measures"]
        values = measures["latency_p95_ms"]["values"]
        assert values == measures["committed"]["mean"] * measures["committed"]["replications"]
        assert measures["conflict_rate"]["values"] is None
        own = swept.measures[swept.measures["cell"] == cell["name"]].set_index("measure")
        assert own.loc["latency_p95_ms", "values"] == values
        assert f" {values:,.0f}\n" in shown


def test_no_caption_names_a_percentile_that_its_table_left_out(tmp_path: Path) -> None:
    scenario = write_scenario(tmp_path)
    swept = ["sweep", str(scenario), "--engine", "processes", "--out", str(tmp_path / "out")]
    for words in (["run", str(scenario)], swept):
        shown = CliRunner().invoke(main, words, env={"COLUMNS": "80"}).stdout
        assert "Percentiles: " in shown
        assert "p99.9" not in shown.partition("Left out at this width")[0]
