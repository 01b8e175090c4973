"""Expectations that name variants of a sweep are held against those cells."""

from __future__ import annotations

from pathlib import Path

import pytest

from whitecap.engine.errors import InvalidInput
from whitecap.sim.experiment import load_experiment
from whitecap.sim.regression import Verdict, check_scenario
from whitecap.sim.scenario import cell_of, load_scenario, parse_scenario

SCENARIO = """\
name: told-apart
duration: 1 min
store: instant
table:
  schema: "event_id BIGINT, date DATE"
  key: event_id
  values: {date: {days: 2}}
  initial: {rows: 8, rows_per_file: 4}
writers:
  loader:
    statement: INSERT INTO events VALUES :rows
    parameters: {rows: {rows: {count: 2}}}
    arrival: {schedule: {at: [10 s]}}
sweep:
  axes:
    load:
      once: {}
      twice: {writers.loader.arrival: {schedule: {at: [10 s, 20 s]}}}
    isolation:
      strict: {table.isolation: Serializable}
      loose: {table.isolation: WriteSerializable}
expect:
  - {measure: aborted, equals: 0}
  - {measure: committed, equals: 1, when: {load: once}}
  - {measure: committed, equals: 2, when: {load: twice}}
  - {measure: live_rows, equals: 12, when: {load: twice, isolation: strict}}
"""


def _written(directory: Path, text: str) -> Path:
    path = directory / "told-apart.yaml"
    path.write_text(text)
    return path


def test_a_cell_has_the_expectations_for_it_and_those_for_all() -> None:
    scenario = parse_scenario(SCENARIO)
    cell = cell_of(scenario, {"load": "twice", "isolation": "loose"})
    assert [(e.measure, e.equals, e.when) for e in cell.expect] == [
        ("aborted", 0, {}),
        ("committed", 2, {}),
    ]


def test_a_variant_changes_one_of_two_writers_that_share_an_anchor() -> None:
    text = SCENARIO.replace("  loader:\n", "  loader: &loader\n").replace(
        "sweep:\n", "  twin: *loader\nsweep:\n"
    )
    cell = cell_of(parse_scenario(text), {"load": "twice", "isolation": "strict"})
    starts = {name: group.arrival.schedule for name, group in cell.writers.items()}
    assert {name: len(s.at or ()) for name, s in starts.items() if s} == {"loader": 2, "twin": 1}


def test_a_check_runs_every_cell_and_says_which_one_an_expectation_is_about(tmp_path: Path) -> None:
    checked = check_scenario(_written(tmp_path, SCENARIO))
    assert checked.verdict is Verdict.OK
    assert [each.subject for each in checked.expectations] == [
        "load = once, isolation = strict: aborted",
        "load = once, isolation = strict: committed",
        "load = once, isolation = loose: aborted",
        "load = once, isolation = loose: committed",
        "load = twice, isolation = strict: aborted",
        "load = twice, isolation = strict: committed",
        "load = twice, isolation = strict: live_rows",
        "load = twice, isolation = loose: aborted",
        "load = twice, isolation = loose: committed",
    ]


def test_an_expectation_that_one_cell_misses_is_missed(tmp_path: Path) -> None:
    text = SCENARIO.replace("equals: 12", "equals: 11")
    checked = check_scenario(_written(tmp_path, text))
    assert checked.verdict is Verdict.MISSED
    (missed,) = checked.misses
    assert (missed.subject, missed.found) == ("load = twice, isolation = strict: live_rows", 12)


def test_without_variants_in_expectations_the_scenario_runs_as_it_stands(tmp_path: Path) -> None:
    text = SCENARIO.partition("  - {measure: committed")[0]
    checked = check_scenario(_written(tmp_path, text))
    assert [each.subject for each in checked.expectations] == ["aborted"]


def test_a_run_that_breaks_says_in_which_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a rule of ours is broken")

    monkeypatch.setattr("whitecap.sim.run.run_scenario", broken)
    checked = check_scenario(_written(tmp_path, SCENARIO))
    assert checked.verdict is Verdict.BROKEN
    assert str(checked.error).startswith("load = once, isolation = strict: RuntimeError")


@pytest.mark.parametrize(
    ("said", "told", "nearest"),
    [
        ("{loads: once}", "the sweep has no axis 'loads'", "load"),
        ("{load: onces}", "axis 'load' has no variant 'onces'", "once"),
    ],
)
def test_an_unknown_axis_or_variant_is_a_problem(said: str, told: str, nearest: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        parse_scenario(SCENARIO.replace("{load: once}", said))
    (problem,) = raised.value.problems
    assert (problem.text, problem.nearest) == (told, nearest)


def test_a_sweep_of_some_variants_keeps_the_expectations_for_these(tmp_path: Path) -> None:
    experiment = load_experiment(_written(tmp_path, SCENARIO), only={"load": ["once"]})
    assert [cell.name for cell in experiment.cells] == ["once"]
    assert [e.equals for e in experiment.cells[0].scenario.expect] == [0, 1]


def test_what_a_sweep_writes_for_a_cell_is_a_scenario_of_its_own(tmp_path: Path) -> None:
    (first, *_) = load_experiment(_written(tmp_path, SCENARIO)).cells
    from whitecap.sim.scenario import show_document

    path = tmp_path / "cell.yaml"
    path.write_text(show_document(first.scenario.document))
    assert [e.measure for e in load_scenario(path).expect] == ["aborted", "committed"]
