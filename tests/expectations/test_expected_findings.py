"""Scenarios that expect something of what the oracles find."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

import whitecap
from tests.sim.sim_worlds import INSERT, document
from whitecap import cli
from whitecap.checking import check_scenarios
from whitecap.engine.errors import InvalidInput
from whitecap.exit_codes import ExitCode
from whitecap.reports.expectations.checked import CheckVerdict
from whitecap.scenarios import SCENARIOS
from whitecap.sim.loading import scenario_of
from whitecap.sim.sweeps import regression
from whitecap.sim.sweeps.regression import RunEffort

STALE = {"stale_listing": {"of_jobs": 2, "nth": [1, 2]}, "writers": ["loader"]}
SOUND = {"measure": "findings", "equals": 0}
UNSOUND = {"measure": "findings", "at_least": 1}


def _scenario(**more: Any) -> dict[str, Any]:
    loader = {**INSERT, "arrival": {"schedule": {"every": "1 min"}}}
    return document(store="s3", duration="5 min", writers={"loader": loader}, **more)


@pytest.mark.parametrize(
    ("faults", "expected", "verdict"),
    [
        ([], SOUND, CheckVerdict.OK),
        ([], UNSOUND, CheckVerdict.MISSED),
        ([STALE], SOUND, CheckVerdict.MISSED),
        ([STALE], UNSOUND, CheckVerdict.OK),
    ],
)
def test_a_check_holds_that_a_table_is_sound_or_is_not(
    tmp_path: Path, faults: list[Any], expected: dict[str, Any], verdict: CheckVerdict
) -> None:
    file = tmp_path / "expecting.yaml"
    file.write_text(yaml.safe_dump(_scenario(faults=faults, expect=[expected])))
    (checked,) = check_scenarios([file], RunEffort(replications=1))
    assert checked.checked.error is None
    assert checked.checked.verdict is verdict


def test_a_recording_names_what_is_found_if_anybody_asks() -> None:
    asked = whitecap.run(scenario_of(_scenario(faults=[STALE], expect=[UNSOUND])))
    assert asked.recording.manifest["findings"] == {"stale read": 1}
    assert [each.is_met for each in asked.expectations] == [True]
    unasked = whitecap.run(scenario_of(_scenario(faults=[STALE])))
    assert "findings" not in unasked.recording.manifest
    objective = whitecap.run(scenario_of(_scenario(objective="findings of all <= 0")))
    assert objective.recording.manifest["findings"] == {}


def test_a_sweep_keeps_what_was_found_for_later_checks(tmp_path: Path) -> None:
    axes = {"listing": {"stale": {"faults": [STALE]}, "consistent": {"faults": []}}}
    expect = [
        {**UNSOUND, "when": {"listing": "stale"}},
        {**SOUND, "when": {"listing": "consistent"}},
    ]
    sweep = {"axes": axes, "replications": 1}
    file = tmp_path / "swept.yaml"
    file.write_text(yaml.safe_dump(_scenario(faults=[], sweep=sweep, expect=expect)))
    swept = whitecap.sweep(file, out=tmp_path / "out", engine="processes")
    assert list(swept.expectations["judgement"]) == ["met", "met"]


def test_findings_are_of_the_whole_table() -> None:
    with pytest.raises(InvalidInput, match="of the whole table"):
        scenario_of(_scenario(expect=[{**SOUND, "writer": "loader"}]))


def test_findings_that_nothing_can_look_for_are_not_taken_for_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(regression, "duckdb_is_there", lambda: False)
    cycle = str(SCENARIOS / "regression" / "write-serializable-cycle.yaml")
    result = CliRunner().invoke(cli.main, ["check", "--jobs", "1", cycle])
    assert result.exit_code == ExitCode.ENVIRONMENT_MISSING
    assert "pip install 'whitecap[oracles]'" in result.stderr
    append = str(SCENARIOS / "regression" / "concurrent-append.yaml")
    assert CliRunner().invoke(cli.main, ["check", "--jobs", "1", append]).exit_code == ExitCode.FINE
