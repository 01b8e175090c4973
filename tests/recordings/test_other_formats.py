"""Files of another format version are refused with what to do, whoever reads them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import invoked
from tests.sweeps.sweep_scenario import SCENARIO
from whitecap.engine.recorded import RECORDING_FORMAT, SWEEP_FORMAT
from whitecap.exit_codes import ExitCode
from whitecap.sim.loading import parse_scenario
from whitecap.sim.scenario.model import SCENARIO_FORMAT

PLAIN = SCENARIO.partition("sweep:")[0]
UPGRADE = "a newer Whitecap wrote it, and reads it: pip install --upgrade whitecap"
ANEW = "it can be made anew from the scenario that it holds"


def _of_format(file: Path, version: int) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), "format_version": version}))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run and a sweep of the same small scenario."""
    folder = tmp_path_factory.mktemp("formats")
    (folder / "plain.yaml").write_text(PLAIN)
    (folder / "swept.yaml").write_text(SCENARIO.partition("    isolation:")[0])
    words = ["--out", folder / "sweep", "--engine", "processes", "--replications", 1]
    for made in (
        invoked("run", folder / "plain.yaml", "--out", folder / "run"),
        invoked("sweep", folder / "swept.yaml", *words),
    ):
        assert made.exit_code == ExitCode.FINE, made.output
    return folder


@pytest.mark.parametrize("command", [["report"], ["oracle"], ["compare", "RUN"], ["replay"]])
@pytest.mark.parametrize(("version", "advice"), [(RECORDING_FORMAT + 1, UPGRADE), (1, ANEW)])
def test_a_run_of_another_format_is_refused_by_who_reads_it(
    folder: Path, command: list[str], version: int, advice: str
) -> None:
    place = folder / "run"
    _of_format(place / "manifest.json", version)
    result = invoked(*(str(place) if word == "RUN" else word for word in command), place)
    _of_format(place / "manifest.json", RECORDING_FORMAT)
    assert result.exit_code == ExitCode.BAD_INPUT, result.output
    message = f"has format version {version}, and this Whitecap reads {RECORDING_FORMAT}: {advice}"
    assert message in result.stderr


@pytest.mark.parametrize("command", ["check", "compare"])
@pytest.mark.parametrize(("version", "advice"), [(SWEEP_FORMAT + 1, UPGRADE), (0, ANEW)])
def test_a_sweep_of_another_format_is_refused_by_who_reads_it(
    folder: Path, command: str, version: int, advice: str
) -> None:
    place = folder / "sweep"
    _of_format(place / "sweep.json", version)
    result = invoked(command, *([place] if command == "check" else [place, place]))
    _of_format(place / "sweep.json", SWEEP_FORMAT)
    assert result.exit_code == ExitCode.BAD_INPUT, result.output
    assert advice in result.stderr


def test_a_sweep_whose_runs_are_of_an_older_format_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whitecap.sim.recording.dataset.place.RECORDING_FORMAT", 3)
    result = invoked("compare", folder / "sweep", folder / "sweep")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert f"sweep: has format version 2, and this Whitecap reads 3: {ANEW}" in result.stderr


def test_a_scenario_of_a_newer_format_is_refused_without_a_word_on_its_keys(folder: Path) -> None:
    text = PLAIN.replace("name: tiny", "format_version: 2\nname: tiny\nnew_key: 3")
    (folder / "newer.yaml").write_text(text)
    result = invoked("run", folder / "newer.yaml")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert result.stderr.splitlines() == [
        f"error: {folder / 'newer.yaml'}:1 format_version: has format version 2, and this Whitecap "
        f"reads {SCENARIO_FORMAT}: {UPGRADE}"
    ]


@pytest.mark.parametrize("version", [0, "two", None, 1.5])
def test_a_scenario_of_no_known_format_is_refused(folder: Path, version: object) -> None:
    (folder / "other.yaml").write_text(f"format_version: {json.dumps(version)}\n{PLAIN}")
    result = invoked("run", folder / "other.yaml")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "format_version" in result.stderr


def test_a_scenario_says_the_same_with_its_format_and_without() -> None:
    with_it = parse_scenario(f"format_version: {SCENARIO_FORMAT}\n{PLAIN}")
    assert with_it.hash == parse_scenario(PLAIN).hash
