"""Bundled scenarios go by name; a user's own file goes before; what is unknown is told."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import whitecap
from tests.command_line import invoked
from whitecap.engine.errors import InvalidInput
from whitecap.exit_codes import ExitCode
from whitecap.scenarios import SCENARIOS
from whitecap.sim.bundled import all_bundled
from whitecap.sim.loading import load_scenario
from whitecap.sim.scenario.yaml.text import read_yaml

SHORT = ["--set", "duration=20 min", "--set", "warm_up=0 s"]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("evnts", "events"),
        ("lost-reply", "lost-reply-checked"),
        ("regresion/throtled", "throttled"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_ones(name: str, nearest: str) -> None:
    for command in (["run"], ["sweep"], ["check"], ["chaos"]):
        result = invoked(*command, name)
        assert result.exit_code == ExitCode.BAD_INPUT
        (line,) = result.stderr.splitlines()
        assert line.startswith(f"error: {name}: is not there")
        assert nearest in line.partition("did you mean")[2]


def test_a_misspelt_folder_is_answered_with_the_one_that_is_bundled() -> None:
    for arguments in (["check", "regresion"], ["scenarios", "regresion"]):
        result = invoked(*arguments)
        assert result.exit_code == ExitCode.BAD_INPUT
        assert "did you mean regression?" in result.stderr


def test_a_bundled_folder_is_no_scenario_and_told_to_be_one() -> None:
    result = invoked("run", "regression")
    assert result.exit_code == ExitCode.BAD_INPUT
    said = "is a folder of bundled ones: `whitecap scenarios regression`"
    assert result.stderr == f"error: regression: {said}\n"


def test_a_path_that_is_not_there_is_answered_with_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "regression").mkdir()
    (tmp_path / "throttled.yaml").touch()
    for wrong, right in (("regresion", "regression"), ("throtled", "throttled.yaml")):
        result = invoked("check", str(tmp_path / wrong))
        assert result.exit_code == ExitCode.BAD_INPUT
        assert f"did you mean {tmp_path / right}?" in result.stderr


def test_a_file_that_is_not_there_is_answered_with_the_one_beside_it(tmp_path: Path) -> None:
    (tmp_path / "nightly.yaml").touch()
    result = invoked("run", str(tmp_path / "nightli.yaml"))
    assert result.exit_code == ExitCode.BAD_INPUT
    assert f"(did you mean '{tmp_path / 'nightly.yaml'}'?)" in result.stderr


def test_a_table_is_no_scenario_and_a_scenario_no_table() -> None:
    as_scenario = invoked("run", "merge-and-optimize")
    as_table = invoked("explain", "--table", "events")
    assert as_scenario.exit_code == as_table.exit_code == ExitCode.BAD_INPUT
    assert "merge-and-optimize: is not there" in as_scenario.stderr
    assert "events: is not there" in as_table.stderr


def test_a_file_that_is_no_text_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "table.parquet").write_bytes(b"PAR1\xba\xff")
    result = invoked("run", str(tmp_path / "table.parquet"))
    assert result.exit_code == ExitCode.BAD_INPUT
    assert result.stderr.rstrip().endswith("cannot be read: it is not text in UTF-8")


def test_a_path_that_is_not_there_is_told_the_name_that_is() -> None:
    result = invoked("run", "scenarios/events.yaml")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "cannot be read" in result.stderr
    assert "did you mean 'events'?" in result.stderr
    assert "did you mean" not in invoked("run", "mine.yaml").stderr


def test_catalogues_and_profiles_are_no_scenarios() -> None:
    for name in ("faults", "restarts", "s3", "stores/s3"):
        assert invoked("run", name).exit_code == ExitCode.BAD_INPUT
        assert invoked("scenarios", name).exit_code == ExitCode.BAD_INPUT


def test_json_is_of_the_list_alone() -> None:
    result = invoked("scenarios", "events", "--json")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "--json goes with the list" in result.stderr


@pytest.mark.parametrize("name", ["late-commit", "regression/late-commit"])
def test_a_scenario_is_run_and_checked_by_its_name(name: str) -> None:
    ran = json.loads(invoked("run", name, "--json").stdout)
    assert ran["scenario_name"] == "late-commit"
    checked = invoked("check", name, "--replications", "1")
    assert checked.exit_code == ExitCode.FINE
    assert checked.stdout.startswith(f"ok        {name}  ")


def test_a_name_gives_what_its_file_gives() -> None:
    by_name, by_path = (load_scenario(each) for each in ("events", SCENARIOS / "events.yaml"))
    assert by_name.hash == by_path.hash
    assert by_name.document == by_path.document
    assert by_name.command == "whitecap run events"


def test_a_sweep_and_python_take_a_name_too() -> None:
    result = invoked("sweep", "f11-throttling-storm", "--replications", "1", "--json", "--engine",
                     "processes")  # fmt: skip
    assert result.exit_code == ExitCode.FINE, result.stderr
    assert whitecap.run("late-commit").scenario.name == "late-commit"


def test_a_folder_of_bundled_scenarios_is_checked_by_its_name() -> None:
    result = invoked("check", "failures", "--replications", "1", "--undecided", "pass")
    listed = [each.name for each in all_bundled() if each.folder == "failures"]
    checked = [line.split()[1] for line in result.stdout.splitlines()[:-1] if line[:1].strip()]
    assert sorted(set(checked)) == sorted(listed)


def test_a_table_is_explained_by_its_name() -> None:
    result = invoked("explain", "--table", "merge-and-optimize")
    assert result.exit_code == ExitCode.FINE
    assert "They conflict" in result.stdout


@pytest.mark.parametrize("own", ["late-commit", "late-commit.yaml"])
def test_a_file_of_the_working_directory_goes_before(own: str, tmp_path: Path) -> None:
    text = (SCENARIOS / "regression" / "concurrent-write.yaml").read_text()
    (tmp_path / own).write_text(text)
    assert load_scenario("late-commit").name == "concurrent-write"
    assert load_scenario("late-commit").source == own


def test_a_folder_of_the_working_directory_is_no_scenario(tmp_path: Path) -> None:
    (tmp_path / "late-commit").mkdir()
    assert load_scenario("late-commit").name == "late-commit"


def test_a_folder_of_the_working_directory_is_checked_before_a_bundled_one(tmp_path: Path) -> None:
    (tmp_path / "regression").mkdir()
    result = invoked("check", "regression")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "no scenario with an `expect:` lies there" in result.stderr


def test_every_bundled_file_is_listed_with_a_line_about_it() -> None:
    listed = json.loads(invoked("scenarios", "--json").stdout)["scenarios"]
    files = {str(path) for path in SCENARIOS.rglob("*.yaml")}
    left_out = files - {each["file"] for each in listed}
    assert {Path(path).name for path in left_out if "/stores/" not in path} == {
        "faults.yaml",
        "prices.yaml",
        "restarts.yaml",
    }
    for each in listed:
        assert len(each["description"].split()) > 3, each["name"]
    shown = invoked("scenarios").stdout
    assert all(each["name"].rpartition("/")[2] in shown for each in listed)


def test_no_two_bundled_files_have_one_name() -> None:
    counted = Counter(each.stem for each in all_bundled())
    assert not [stem for stem, count in counted.items() if count > 1]


def test_what_is_called_a_table_is_none_for_run() -> None:
    for each in all_bundled():
        assert ("writers" in read_yaml(each.file).content) != each.is_table


def test_a_printed_scenario_is_its_file_and_can_be_run(tmp_path: Path) -> None:
    printed = invoked("scenarios", "events").stdout
    assert printed == (SCENARIOS / "events.yaml").read_text(encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(printed)
    assert invoked("run", "mine.yaml", *SHORT).exit_code == ExitCode.FINE


def test_a_folder_is_listed_alone() -> None:
    shown = invoked("scenarios", "field").stdout
    assert invoked("scenarios", "field/").stdout == shown
    assert "c01-merge-joins" in shown
    assert "optimize " not in shown.splitlines()[1]
    assert "regression" not in shown.splitlines()[0]


def test_a_bundled_scenario_that_is_wrong_is_told_by_its_name() -> None:
    with pytest.raises(InvalidInput, match=r"^regression/late-commit table\.nme, as it was set"):
        load_scenario("regression/late-commit", {"table.nme": "x"})
