"""The warm-up is found in the runs, told beside the stated one, and used where it is `auto`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import whitecap
from tests.command_line import invoked
from tests.sweeps.sweep_scenario import SCENARIO, write_scenario
from whitecap.api import scenario_from
from whitecap.checking import check_scenarios
from whitecap.engine.errors import InvalidInput
from whitecap.engine.recorded import Measure
from whitecap.exit_codes import ExitCode
from whitecap.reports.measures import duration
from whitecap.reports.measures.measured_run import measure_run
from whitecap.sim.run import run_scenario

MINUTE = 60_000.0

TRANSIENT = """\
name: late
duration: 90 min
store: instant
table:
  schema: "event_id BIGINT, date DATE, amount DOUBLE"
  partition_by: [date]
  key: event_id
  values: {date: {days: 1}}
  initial: {rows: 40, rows_per_file: 10}
writers:
  early:
    count: 2
    statement: UPDATE events SET amount = amount + 1.0 WHERE date = :date
    parameters: {date: newest}
    arrival: {closed: {think: {exponential: {mean: 30 s}}}}
    compute: {lognormal: {median: 4 s, sigma: 0.3}}
    rerun: {fixed: {wait: 1 s, budget: 5}}
  late:
    count: 4
    statement: UPDATE events SET amount = amount + 2.0 WHERE date = :date
    parameters: {date: newest}
    arrival: {closed: {think: {exponential: {mean: 30 s}}}}
    compute: {lognormal: {median: 4 s, sigma: 0.3}}
    starts: 15 min
    rerun: {fixed: {wait: 1 s, budget: 5}}
expect:
  - {measure: job_success_rate, at_least: 0.2}
sweep:
  replications: 2
  axes:
    late:
      few: {writers.late.count: 3}
      many: {writers.late.count: 5}
"""
"""For a quarter of an hour two writers have the table to themselves, then there are more."""

AUTO = TRANSIENT.replace("90 min\n", "90 min\nwarm_up: auto\n")


def call(*words: object) -> str:
    """What a command prints."""
    result = invoked(*words, columns=200)
    assert result.exit_code == ExitCode.FINE, result.output
    return result.stdout


Swept = tuple[Path, whitecap.Sweep]


def _swept(directory: Path, text: str) -> Swept:
    scenario = write_scenario(directory, text)
    sweep = whitecap.sweep(scenario, out=directory / "out", engine="processes", quiet=True)
    return scenario, sweep


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Swept:
    """The transient's sweep, with nothing left out."""
    return _swept(tmp_path_factory.mktemp("late"), TRANSIENT)


@pytest.fixture(scope="module")
def left_to_be_found(tmp_path_factory: pytest.TempPathFactory) -> Swept:
    """The same, with its warm-up left to be found."""
    return _swept(tmp_path_factory.mktemp("auto"), AUTO)


def test_a_missing_warm_up_is_found_and_warned_of_everywhere(
    swept: Swept,
) -> None:
    _, sweep = swept
    settling = sweep.answer.settling
    assert settling.is_warning
    assert settling.found_ms == pytest.approx(15 * MINUTE, rel=0.25)
    text = sweep.answer.sentences[0]
    assert text.startswith("The warm-up is too short: no warm-up is left out, MSER-5 finds")
    assert "or auto" in text
    out = sweep.directory
    assert text in call("report", out, "--engine", "processes")
    page = (out / "report" / "report.html").read_text(encoding="utf-8")
    assert text in page.replace("\u00a0", " ")
    document = json.loads((out / "report" / "answer.json").read_text())["warm_up"]
    assert document["found_ms"] == settling.found_ms
    assert (document["used_ms"], document["is_warning"], document["is_auto"]) == (0.0, True, False)
    assert set(document["cells"]) == {"few", "many"}


def test_left_to_be_found_it_is_the_same_in_all_cells(
    swept: Swept, left_to_be_found: Swept
) -> None:
    (_, without), (_, sweep) = swept, left_to_be_found
    settling = sweep.answer.settling
    assert settling.is_auto
    assert not settling.is_warning
    assert settling.used_ms == settling.found_ms == without.answer.settling.found_ms
    assert settling.used_ms == pytest.approx(15 * MINUTE, rel=0.25)
    assert f"MSER-5 finds {duration(settling.used_ms)} in " in sweep.answer.sentences[-1]
    rates = [each.subject.tables.of(Measure.ABORT_RATE) for each in (sweep, without)]
    assert all(rates[0][cell].point > rates[1][cell].point for cell in rates[0])
    for cell in rates[0]:
        recording = sweep.run(cell, 1).recording
        assert recording.manifest["warm_up"] == "auto"
        own = measure_run(recording.manifest, recording.tables, settling.used_ms)
        runs = sweep.runs.set_index(["cell", "replication"])
        assert runs.loc[(cell, 1), "abort_rate"] == own.tally(Measure.ABORT_RATE).value


def test_a_stated_warm_up_that_is_long_enough_stands_beside_what_is_found(tmp_path: Path) -> None:
    stated = write_scenario(tmp_path, TRANSIENT.replace("90 min\n", "90 min\nwarm_up: 30 min\n"))
    text = call("run", stated, "--cell", "late=many")
    assert "the first 30 min left out below" in text
    assert "The first 30.0 min are left out as warm-up; MSER-5 finds" in text
    document = json.loads(call("run", stated, "--cell", "late=many", "--json"))
    assert document["warm_up_ms"] == 30 * MINUTE
    assert document["answer"]["warm_up"]["used_ms"] == 30 * MINUTE


def test_a_single_run_finds_its_own(tmp_path: Path) -> None:
    auto = write_scenario(tmp_path, AUTO)
    run = whitecap.run(auto, cell={"late": "many"}, out=tmp_path / "run")
    used_ms = run.measured.warm_up.used_ms
    assert used_ms == pytest.approx(15 * MINUTE, rel=0.3)
    assert run.answer.settling.used_ms == used_ms
    assert whitecap.load(tmp_path / "run").measured.warm_up.used_ms == used_ms
    assert "MSER-5 finds" in call("report", tmp_path / "run")


def test_a_check_measures_all_cells_with_the_same(
    left_to_be_found: Swept,
) -> None:
    scenario, swept = left_to_be_found
    (checked,) = check_scenarios([scenario])
    measured = {cell.where: cell.judged[0].measured for cell in checked.checked.cells}
    expected = swept.expectations.set_index("cell")["found"]
    assert list(measured.values()) == [expected["few"], expected["many"]]


def test_cells_that_state_a_warm_up_have_no_say_in_what_others_find(tmp_path: Path) -> None:
    apart = AUTO.replace("late.count: 5}", "late.count: 5, warm_up: 5 min, duration: 20 min}")
    mixed = write_scenario(tmp_path, apart)
    swept = whitecap.sweep(mixed, out=tmp_path / "out", engine="processes", quiet=True)
    alone = whitecap.sweep(
        mixed, only={"late": ["few"]}, out=tmp_path / "few", engine="processes", quiet=True
    )
    (checked,) = check_scenarios([mixed])
    by_cell = swept.expectations.set_index("cell")["found"]
    assert by_cell["few"] == alone.expectations["found"][0]
    assert list(by_cell) == [cell.judged[0].measured for cell in checked.checked.cells]


def test_too_little_to_say_is_said(tmp_path: Path) -> None:
    scenario = write_scenario(tmp_path, SCENARIO.partition("sweep:")[0])
    text = call("run", scenario, "--set", "duration=3 min")
    assert "with fewer than 100 transactions a run is too short to find one" in text


def test_the_recording_is_the_same_but_for_what_it_says_of_the_warm_up() -> None:
    document = scenario_from(SCENARIO.partition("sweep:")[0]).document
    stated = run_scenario(scenario_from(document)).recording
    auto = run_scenario(scenario_from({**document, "warm_up": "auto"})).recording
    assert auto.tables["transactions"].equals(stated.tables["transactions"])
    assert (auto.manifest["warm_up_ms"], auto.manifest["warm_up"]) == (0.0, "auto")
    assert "warm_up" not in stated.manifest


@pytest.mark.parametrize("given", ["automatic", "-1 s", "yes"])
def test_anything_else_is_no_warm_up(given: str) -> None:
    document = scenario_from(SCENARIO.partition("sweep:")[0]).document
    with pytest.raises(InvalidInput, match="warm_up"):
        scenario_from({**document, "warm_up": given})
