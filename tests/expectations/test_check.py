"""`whitecap check`: which scenarios it runs, what it prints, JUnit XML, and how it exits."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import whitecap
from tests.command_line import invoked
from tests.refusals import require_refused
from tests.sweeps.sweep_scenario import SCENARIO as SWEPT
from whitecap.checking.scenarios import CheckedScenario, check_scenarios
from whitecap.engine.recorded import Measure
from whitecap.exit_codes import ExitCode
from whitecap.reports.junit import JUnitCase, Suite, junit_of

SCENARIO = SWEPT.partition("sweep:")[0]
MET = SCENARIO + "expect:\n  - {measure: committed, writer: loader, at_least: 1}\n"
MISSED = SCENARIO.replace("name: tiny", "name: strict") + (
    "expect:\n"
    "  - {measure: committed, writer: loader, at_least: 1}\n"
    "  - {measure: conflict_rate, at_most: 0.001, because: nobody likes conflicts}\n"
)


check = partial(invoked, "check", "--jobs", 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One scenario that is met, one that is missed, one without expectations, in subfolders."""
    folder = tmp_path / "scenarios"
    (folder / "deep").mkdir(parents=True)
    (folder / "a-met.yaml").write_text(MET)
    (folder / "deep" / "b-missed.yaml").write_text(MISSED)
    (folder / "c-plain.yaml").write_text(SCENARIO)
    return folder


def test_a_met_scenario_is_one_line_and_exit_code_zero(folder: Path) -> None:
    result = check(folder / "a-met.yaml")
    assert result.exit_code == ExitCode.FINE, result.output
    assert result.stdout.splitlines()[0].startswith("ok ")
    assert result.stdout.splitlines()[0].endswith(" s of computing)")
    assert "1 ok, 0 missed, 0 undecided, 0 broken" in result.output


def test_a_missed_expectation_is_told_with_value_threshold_and_reason(folder: Path) -> None:
    result = check(folder, "--jobs", 2)
    assert result.exit_code == ExitCode.EXPECTATION_MISSED, result.output
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["ok", "missed", "missed:", "1"]
    assert "expected at most 0.1 % (nobody likes conflicts)" in lines[2]
    assert "c-plain" not in result.output


def test_results_come_in_the_order_of_the_paths_and_once_each(folder: Path) -> None:
    result = check(folder / "deep", folder)
    names = [line.split()[1] for line in result.stdout.splitlines() if ".yaml" in line]
    assert [Path(name).name for name in names] == ["b-missed.yaml", "a-met.yaml"]


def test_an_interrupted_check_says_how_far_it_was(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: Any, **options: Any) -> Iterator[CheckedScenario]:
        yield next(check_scenarios(*arguments, **options))
        raise KeyboardInterrupt

    monkeypatch.setattr("whitecap.commands.check.paths_to_check.check_scenarios", interrupted)
    result = check(folder, "--junit", folder / "junit.xml")
    assert result.exit_code == ExitCode.INTERRUPTED
    assert "interrupted: 1 scenario was checked, and no file is written" in result.stderr
    assert not (folder / "junit.xml").exists()


def test_junit_holds_a_suite_per_scenario_and_a_case_per_expectation(folder: Path) -> None:
    check(folder, "--jobs", 1, "--junit", folder / "out" / "junit.xml")
    root = ET.parse(folder / "out" / "junit.xml").getroot()
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("3", "1", "0")
    suites = {suite.get("name"): suite for suite in root}
    assert set(suites) == {"tiny", "strict"}
    failures = suites["strict"].findall("testcase/failure")
    assert len(failures) == 1
    assert "missed: conflict_rate is " in str(failures[0].get("message"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SCENARIO, "expects nothing"),
        (MET.replace("store: instant", "store: instnt"), "did you mean 'instant'"),
        (MET.replace("measure: committed", "measure: comitted"), "comitted"),
        ("{", "is not YAML"),
    ],
)
def test_bad_input_is_exit_code_two_before_anything_runs(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text)
    result = check(path)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert message in result.output


def test_all_bad_inputs_are_told_together(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(MET.replace("store: instant", "store: nowhere"))
    (tmp_path / "b.yaml").write_text(MET.replace("seed: 5", "seed: five"))
    (tmp_path / "plain.yml").write_text(SCENARIO)
    result = check(tmp_path, tmp_path / "absent", tmp_path / "plain.yml")
    require_refused(result, "nowhere", "b.yaml", "is not there", "plain.yml: expects nothing")


def test_a_file_that_expects_nothing_is_told_its_other_problems_too(tmp_path: Path) -> None:
    path = tmp_path / "plain.yaml"
    path.write_text(SCENARIO.replace("seed: 5", "seed: five").replace("store: inst", "store: int"))
    result = check(path)
    require_refused(result, "expects nothing", "seed: needs a whole number", "'instant'")


def test_options_that_are_wrong_hide_nothing_from_each_other(folder: Path) -> None:
    places = ("--junit", folder, "--markdown", folder / "a-met.yaml" / "x.md")
    wrong = ("--until", "conflict_rat +- 1 point", "--baseline", folder / "absent.json")
    result = check(folder, *places, *wrong)
    require_refused(result, f"{folder}: ", "x.md: ", "did you mean 'conflict_rate'?", "absent.json")


def test_a_sweep_that_cannot_be_read_is_told_before_anything_runs(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "sweep.json").write_text("{}")
    result = check(folder / "a-met.yaml", tmp_path)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "sweep.json: is damaged: scenario_name is missing" in result.output
    assert result.stdout == ""


def test_a_folder_without_expectations_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "plain.yaml").write_text(SCENARIO)
    result = check(tmp_path)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "no scenario with an `expect:` lies there" in result.output


def test_a_run_that_breaks_is_exit_code_three_and_an_error_in_junit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a rule of ours is broken")

    monkeypatch.setattr("whitecap.sim.run.run_scenario", broken)
    result = check(folder, "--jobs", 1, "--junit", folder / "junit.xml")
    assert result.exit_code == ExitCode.INVARIANT_VIOLATED
    assert "to reproduce: whitecap run" in result.output
    assert "--seed 5" in result.output
    root = ET.parse(folder / "junit.xml").getroot()
    assert root.get("errors") == "2"


CLOSE = MET + "  - {measure: conflict_rate, at_most: 0.2}\n"


@pytest.fixture
def undecided(tmp_path: Path) -> Path:
    """A scenario whose conflict rate lies close to what it may be at most."""
    path = tmp_path / "close.yaml"
    rate = whitecap.run(MET).measured.tally(Measure.CONFLICT_RATE).value
    path.write_text(CLOSE.replace("at_most: 0.2", f"at_most: {rate + 0.01:.3f}"))
    return path


def test_what_is_undecided_fails_and_says_how_many_replications_would_do(undecided: Path) -> None:
    result = check(undecided, "--replications", 2)
    assert result.exit_code == ExitCode.EXPECTATION_MISSED, result.output
    line = result.stdout.splitlines()[1]
    assert line.split()[0] == "undecided:"
    assert "replications would tell" in " ".join(result.stdout.split())
    assert "0 missed, 1 undecided" in result.output


def test_what_is_undecided_may_pass_and_is_skipped_in_junit(undecided: Path) -> None:
    junit = undecided.parent / "junit.xml"
    result = check(undecided, "--replications", 2, "--undecided", "pass", "--junit", junit)
    assert result.exit_code == ExitCode.FINE, result.output
    root = ET.parse(junit).getroot()
    assert (root.get("failures"), root.get("skipped")) == ("0", "1")
    check(undecided, "--replications", 2, "--junit", junit)
    root = ET.parse(junit).getroot()
    assert (root.get("failures"), root.get("skipped")) == ("1", "0")


def test_exactly_is_decided_by_one_run(undecided: Path) -> None:
    text = undecided.read_text()
    undecided.write_text(text.replace("at_most:", "exactly: true, at_most:"))
    result = check(undecided)
    assert result.exit_code == ExitCode.FINE, result.output


def test_junit_survives_texts_that_xml_cannot_hold(tmp_path: Path) -> None:
    case = JUnitCase("<&> \x00 …", failure="first\x1b[31m line\nsecond")
    (tmp_path / "j.xml").write_bytes(junit_of([Suite("s", "f", 0.5, (case,))]))
    failure = ET.parse(tmp_path / "j.xml").getroot().find("testsuite/testcase/failure")
    assert failure is not None
    assert str(failure.get("message")).startswith("first")
    assert "second" in str(failure.text)


def test_replications_of_a_sweep_that_was_made_are_not_passed_over_in_silence(
    tmp_path: Path,
) -> None:
    (tmp_path / "sweep.json").write_text("{}")
    require_refused(check(tmp_path, "--replications", 3), "--replications: nothing is run")
