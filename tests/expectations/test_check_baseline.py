"""`whitecap check --baseline`: what is written, compared, told and refused, and how it exits."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from click.testing import Result

from tests.command_line import invoked
from tests.sweeps.sweep_scenario import SCENARIO as SWEPT
from whitecap.exit_codes import ExitCode

PLAIN = SWEPT.partition("sweep:")[0]
MET = PLAIN + "expect:\n  - {measure: committed, writer: loader, at_least: 1, exactly: true}\n"
SLOWER = ("open: {rate: 4 per min}", "open: {rate: 1 per min}")
TIMES = 3


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.yaml"
    path.write_text(MET)
    return path


def check(*arguments: object) -> Result:
    """The command's result, with few replications."""
    return check_recorded("--replications", TIMES, *arguments)


check_recorded = partial(invoked, "check", "--jobs", 1)
"""Where nothing may be left to run."""


@pytest.fixture
def baseline(scenario: Path) -> Path:
    """What the scenario does as it is."""
    path = scenario.parent / "baseline.json"
    result = check(scenario, "--baseline", path, "--update-baseline")
    assert result.exit_code == ExitCode.FINE, result.output
    assert f"baseline  {path}" in result.stderr
    return path


def _changed(scenario: Path, *changes: tuple[str, str]) -> None:
    text = scenario.read_text()
    for was, now in changes:
        assert was in text
        text = text.replace(was, now)
    scenario.write_text(text)


def test_the_same_scenario_is_the_same_to_the_last_bit(scenario: Path, baseline: Path) -> None:
    before = baseline.read_bytes()
    result = check(scenario, "--baseline", baseline)
    assert result.exit_code == ExitCode.FINE, result.output
    assert f"the same ({TIMES} replications, paired)" in result.stdout
    assert "worse" not in result.stdout
    check(scenario, "--baseline", baseline, "--update-baseline")
    assert baseline.read_bytes() == before


def test_worse_than_the_baseline_has_an_exit_code_and_says_by_how_much(
    scenario: Path, baseline: Path
) -> None:
    _changed(scenario, SLOWER)
    result = check(scenario, "--baseline", baseline)
    assert result.exit_code == ExitCode.WORSE, result.output
    assert result.stdout.startswith("worse ")
    assert "worse: goodput" in result.stdout
    assert "The scenario is another one than before." in result.stdout
    assert result.stdout.splitlines()[-1].endswith("1 worse")


def test_better_is_told_and_is_fine(scenario: Path, baseline: Path) -> None:
    _changed(scenario, (SLOWER[0], "open: {rate: 16 per min}"))
    result = check(scenario, "--baseline", baseline, "--tolerate", "conflict_rate +- 99 points")
    assert "better: goodput" in result.stdout


def test_a_missed_expectation_goes_before_worse(scenario: Path, baseline: Path) -> None:
    _changed(scenario, SLOWER, ("at_least: 1,", "at_least: 1000,"))
    result = check(scenario, "--baseline", baseline)
    assert result.exit_code == ExitCode.EXPECTATION_MISSED
    assert "worse: goodput" in result.stdout


def test_every_replication_is_run_although_one_would_do_for_the_expectation(
    baseline: Path,
) -> None:
    (kept,) = json.loads(baseline.read_text())["scenarios"]
    assert kept["cells"][0]["replications"] == list(range(TIMES))
    assert [writers["writer_group"] for writers in kept["cells"][0]["writers"]] == [
        None, "corrector", "loader",
    ]  # fmt: skip


def test_a_named_scenario_needs_no_expectations(tmp_path: Path) -> None:
    path = tmp_path / "plain.yaml"
    path.write_text(PLAIN)
    where = tmp_path / "b.json"
    assert check(path, "--baseline", where, "--update-baseline").exit_code == ExitCode.FINE
    assert check(path, "--baseline", where).exit_code == ExitCode.FINE


def test_json_has_every_comparison_with_its_interval(scenario: Path, baseline: Path) -> None:
    _changed(scenario, SLOWER)
    result = check(scenario, "--baseline", baseline, "--json")
    assert result.exit_code == ExitCode.WORSE
    document = json.loads(result.stdout)
    assert document["counts"]["worse"] == 1
    comparison = document["scenarios"][0]["baseline"]
    assert comparison["is_worse"]
    goodput = next(
        each for each in comparison["changes"]
        if (each["measure"], each["writer_group"]) == ("goodput_per_minute", "loader")
    )  # fmt: skip
    assert goodput["low"] < goodput["difference"] < goodput["high"] < 0
    assert goodput["verdict"] == "worse"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("seed: 5", "seed: 6"), "has seed 6, and the baseline"),
        (("name: tiny", "name: small"), "'small' is not in the baseline"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_what_to_do_before_anything_runs(
    scenario: Path, baseline: Path, change: tuple[str, str], message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    _changed(scenario, change)
    monkeypatch.setattr("whitecap.sim.run.run_scenario", None)
    result = check(scenario, "--baseline", baseline)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert message in result.stderr
    assert "--update-baseline" in result.stderr


@pytest.mark.parametrize("words", [[], ["--update-baseline"]])
def test_one_replication_is_nothing_to_compare(
    scenario: Path, baseline: Path, words: list[str]
) -> None:
    before = baseline.read_bytes()
    result = check(scenario, "--baseline", baseline, "--replications", 1, *words)
    assert result.exit_code == ExitCode.BAD_INPUT
    said = "one replication says nothing of a difference: take --replications 5"
    assert result.stderr == f"error: --replications: {said}\n"
    assert baseline.read_bytes() == before


def test_another_layout_is_refused_where_no_cell_is_the_same(tmp_path: Path) -> None:
    path, where = tmp_path / "swept.yaml", tmp_path / "b.json"
    path.write_text(SWEPT.partition("    isolation:")[0])
    assert check(path, "--baseline", where, "--update-baseline").exit_code == ExitCode.FINE
    path.write_text(path.read_text().replace("by date:", "by day:"))
    some = check(path, "--baseline", where)
    assert some.exit_code == ExitCode.FINE, some.output
    assert "No longer there, and not compared: partitioning = by date." in some.stdout
    assert "New, and not compared: partitioning = by day." in some.stdout
    path.write_text(path.read_text().replace("partitioning:", "parts:"))
    none = check(path, "--baseline", where)
    assert none.exit_code == ExitCode.BAD_INPUT
    assert "has no cell in common with the baseline" in none.stderr


def test_two_scenarios_of_one_name_cannot_be_told_apart(scenario: Path, baseline: Path) -> None:
    (scenario.parent / "again.yaml").write_text(MET)
    result = check(scenario.parent, "--baseline", baseline, "--update-baseline")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "2 scenarios have this name" in result.stderr


def test_a_recorded_sweep_is_compared_as_well(tmp_path: Path) -> None:
    path, place, where = tmp_path / "swept.yaml", tmp_path / "sweep", tmp_path / "b.json"
    path.write_text(SWEPT.partition("    isolation:")[0])
    words = ["sweep", path, "--out", place, "--engine", "processes", "--replications", TIMES]
    assert invoked(*words).exit_code == ExitCode.FINE
    kept = check_recorded(place, "--baseline", where, "--update-baseline")
    assert kept.exit_code == ExitCode.FINE, kept.output
    result = check(path, "--baseline", where)
    assert result.exit_code == ExitCode.FINE, result.output
    assert f"the same ({TIMES} replications, paired)" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--update-baseline"], "--update-baseline needs --baseline"),
        (["--tolerate", "conflict_rate +- 1 point"], "--tolerate needs --baseline"),
        (["--baseline", "b.json", "--tolerate", "rerun_rate +- 1 point"], "is not compared"),
        (["--baseline", "b.json", "--tolerate", "nothing"], "tolerate 'nothing': write for"),
        (["--json", "--annotations"], "take one of both"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    scenario: Path, arguments: list[str], message: str
) -> None:
    result = check(scenario, *arguments)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert message in result.stderr
