"""Recordings on disk: whole or absent, checked when read, the same tables back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sim.sim_worlds import scenario
from whitecap.engine.errors import InvalidInput
from whitecap.sim.loading import parse_scenario
from whitecap.sim.recording.recording import SCHEMAS, read_recording
from whitecap.sim.run import run_scenario


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("runs") / "one"
    run_scenario(scenario(), out=directory, requests=True, labels={"layout": "by date"})
    return directory


@pytest.fixture
def copy(recorded: Path, tmp_path: Path) -> Path:
    directory = tmp_path / "copy"
    directory.mkdir()
    for file in recorded.iterdir():
        (directory / file.name).write_bytes(file.read_bytes())
    return directory


def test_what_is_read_is_what_was_recorded(recorded: Path) -> None:
    run = run_scenario(scenario(), requests=True)
    read = read_recording(recorded)
    for name in SCHEMAS:
        assert read.tables[name].equals(run.recording.tables[name])
        assert read.tables[name].schema.equals(SCHEMAS[name])


def test_the_manifest_says_what_was_run(recorded: Path) -> None:
    manifest = read_recording(recorded).manifest
    assert manifest["scenario_name"] == "small"
    assert manifest["scenario_hash"] == scenario().hash
    assert manifest["seed"] == 1
    assert manifest["replication"] == 0
    assert manifest["labels"] == {"layout": "by date"}
    assert manifest["duration_ms"] == 600_000
    assert manifest["counts"]["submitted"] == manifest["tables"]["transactions"]["rows"]


def test_the_recorded_scenario_can_be_run_again_and_gives_the_same(recorded: Path) -> None:
    read = read_recording(recorded)
    again = run_scenario(parse_scenario(read.scenario))
    assert again.recording.transactions.equals(read.transactions)


def _truncate(directory: Path) -> None:
    file = directory / "transactions.parquet"
    file.write_bytes(file.read_bytes()[:-20])


def _flip_a_byte(directory: Path) -> None:
    file = directory / "commits.parquet"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def _remove_a_table(directory: Path) -> None:
    (directory / "attempts.parquet").unlink()


def _break_the_manifest(directory: Path) -> None:
    (directory / "manifest.json").write_text("{")


def _another_format(directory: Path) -> None:
    file = directory / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "format_version": 99}))


def _lose_the_manifest(directory: Path) -> None:
    (directory / "manifest.json").unlink()


def _lose_the_scenario(directory: Path) -> None:
    (directory / "scenario.yaml").unlink()


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (_truncate, "transactions.parquet: is damaged"),
        (_flip_a_byte, "commits.parquet: is damaged"),
        (_remove_a_table, "attempts.parquet: is missing"),
        (_break_the_manifest, "manifest.json: is damaged"),
        (_another_format, "format version 99"),
        (_lose_the_manifest, "is not a run's directory"),
        (_lose_the_scenario, "scenario.yaml: is missing"),
    ],
)
def test_damage_is_noticed_and_named(copy: Path, harm: Callable[[Path], None], words: str) -> None:
    harm(copy)
    with pytest.raises(InvalidInput) as raised:
        read_recording(copy)
    assert words in str(raised.value)


def test_all_damage_is_told_at_once(copy: Path) -> None:
    _truncate(copy)
    _remove_a_table(copy)
    with pytest.raises(InvalidInput) as raised:
        read_recording(copy)
    assert len(raised.value.problems) == 2


def test_a_run_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import whitecap.sim.recording.recording

    def fails(*_: object) -> str:
        raise OSError("disk full")

    monkeypatch.setattr(whitecap.sim.recording.recording, "_digest", fails)
    with pytest.raises(OSError, match="disk full"):
        run_scenario(scenario(), out=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
