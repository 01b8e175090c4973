"""Expectations that name variants of a sweep are held against those cells."""

from __future__ import annotations

from pathlib import Path

import pytest

from whitecap.checking import check_scenarios
from whitecap.engine.errors import InvalidInput
from whitecap.engine.recorded import Measure
from whitecap.reports.expectations.cells import JudgedCells
from whitecap.reports.expectations.checked import CheckResult, CheckVerdict
from whitecap.reports.measures.measured_run import measure_run
from whitecap.reports.statistics import Standing
from whitecap.sim.loading import cell_of, load_scenario, parse_scenario
from whitecap.sim.sweeps.experiment import load_experiment
from whitecap.sim.sweeps.regression import RunEffort, run_expecting

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


def checked(path: Path, *, replications: int | None = None) -> CheckResult:
    """What a check finds, run in this process."""
    (result,) = check_scenarios([path], RunEffort(replications=replications))
    return result.checked


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


def test_expectations_of_one_text_are_told_apart_by_their_cells() -> None:
    expected = parse_scenario(SCENARIO.replace("equals: 1,", "equals: 2,")).expect
    assert [str(JudgedCells(each, {})) for each in expected] == [
        "aborted 0",
        "committed 2 when load is once",
        "committed 2 when load is twice",
        "live_rows 12 when load is twice and isolation is strict",
    ]


def test_a_variant_changes_one_of_two_writers_that_share_an_anchor() -> None:
    text = SCENARIO.replace("  loader:\n", "  loader: &loader\n").replace(
        "sweep:\n", "  twin: *loader\nsweep:\n"
    )
    cell = cell_of(parse_scenario(text), {"load": "twice", "isolation": "strict"})
    starts = {name: group.arrival.schedule for name, group in cell.writers.items()}
    assert {name: len(s.at or ()) for name, s in starts.items() if s} == {"loader": 2, "twin": 1}


def test_a_check_runs_every_cell_and_says_which_one_an_expectation_is_about(tmp_path: Path) -> None:
    result = checked(_written(tmp_path, SCENARIO))
    assert result.verdict is CheckVerdict.OK
    assert [cell.said(each.subject) for cell, each in result.judged] == [
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
    result = checked(_written(tmp_path, SCENARIO.replace("equals: 12", "equals: 11")))
    assert result.verdict is CheckVerdict.MISSED
    ((cell, missed),) = result.having(Standing.MISSED)
    assert (cell.where, missed.measured) == ("load = twice, isolation = strict", 12)


def test_without_variants_in_expectations_every_cell_is_run_all_the_same(tmp_path: Path) -> None:
    result = checked(_written(tmp_path, SCENARIO.partition("  - {measure: committed")[0]))
    assert [each.subject for _, each in result.judged] == ["aborted"] * 4


def runs_of(path: Path, replications: int | None = None) -> list[list[int]]:
    """The replications that are made of each cell."""
    (result,) = run_expecting([path], measure_run, RunEffort(replications=replications))
    return [sorted(cell.runs) for cell in result.cells]


def test_a_cell_is_run_as_often_as_is_asked_for_or_its_sweep_says(tmp_path: Path) -> None:
    path = _written(tmp_path, SCENARIO)
    assert runs_of(path) == [[0, 1, 2, 3, 4]] * 4
    assert runs_of(path, 2) == [[0, 1]] * 4
    path.write_text(SCENARIO.replace("sweep:\n", "sweep:\n  replications: 3\n"))
    assert runs_of(path) == [[0, 1, 2]] * 4


def test_what_is_expected_exactly_takes_one_run(tmp_path: Path) -> None:
    text = SCENARIO.replace("equals: 0}", "equals: 0, exactly: true}").replace(
        "{measure: committed, equals: 2", "{measure: committed, exactly: true, equals: 2"
    )
    assert [len(runs) for runs in runs_of(_written(tmp_path, text))] == [5, 5, 5, 1]


def test_a_cell_of_which_nothing_is_expected_is_not_run(tmp_path: Path) -> None:
    text = SCENARIO.replace("  - {measure: aborted, equals: 0}\n", "").replace(
        "when: {load: once}", "when: {load: once, isolation: strict}"
    )
    assert len(runs_of(_written(tmp_path, text))) == 3


def test_runs_in_processes_of_their_own_find_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whitecap.sim.machine.processes.HERE_S", 0.0)
    path = _written(tmp_path, SCENARIO)
    (alone,) = run_expecting([path], measure_run, RunEffort(replications=2))
    (together,) = run_expecting([path], measure_run, RunEffort(jobs=2, replications=2))
    assert [cell.labels for cell in together.cells] == [cell.labels for cell in alone.cells]
    for here, elsewhere in zip(alone.cells, together.cells, strict=True):
        for number, run in here.runs.items():
            assert elsewhere.runs[number].tally(Measure.COMMITTED) == run.tally(Measure.COMMITTED)


def test_a_run_that_breaks_says_in_which_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a rule of ours is broken")

    monkeypatch.setattr("whitecap.sim.run.run_scenario", broken)
    result = checked(_written(tmp_path, SCENARIO))
    assert result.verdict is CheckVerdict.BROKEN
    assert str(result.error).startswith("load = once, isolation = strict: RuntimeError")


@pytest.mark.parametrize(
    ("said", "text", "nearest"),
    [
        ("{loads: once}", "the sweep has no axis 'loads'", "load"),
        ("{load: onces}", "axis 'load' has no variant 'onces'", "once"),
    ],
)
def test_an_unknown_axis_or_variant_is_a_problem(said: str, text: str, nearest: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        parse_scenario(SCENARIO.replace("{load: once}", said))
    (problem,) = raised.value.problems
    assert (problem.text, problem.nearest) == (text, nearest)


def test_a_sweep_of_some_variants_keeps_the_expectations_for_these(tmp_path: Path) -> None:
    experiment = load_experiment(_written(tmp_path, SCENARIO), only={"load": ["once"]})
    assert [cell.name for cell in experiment.cells] == ["once"]
    assert [e.equals for e in experiment.cells[0].scenario.expect] == [0, 1]


def test_what_a_sweep_writes_for_a_cell_is_a_scenario_of_its_own(tmp_path: Path) -> None:
    (first, *_) = load_experiment(_written(tmp_path, SCENARIO)).cells
    from whitecap.sim.scenario.yaml.text import show_document

    path = tmp_path / "cell.yaml"
    path.write_text(show_document(first.scenario.document))
    assert [e.measure for e in load_scenario(path).expect] == ["aborted", "committed"]
