"""`whitecap oracle` on tables and runs: what it says, and how it ends."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest

from tests.command_line import invoked
from tests.oracles.hand_made import HandMade
from tests.oracles.planted import lost_update
from whitecap.engine.errors import InvalidInput
from whitecap.engine.log.commit_file import log_key
from whitecap.exit_codes import ExitCode
from whitecap.sim.oracles.history import Promise, history_lines, read_history

SCENARIO = str(Path(__file__).parents[2] / "scenarios/regression/write-serializable.yaml")

KEEPS = "which keeps no run's directory: make one of a cell"

_oracle = partial(invoked, "oracle", columns=80)


def _on_disk(table: HandMade, directory: Path) -> Path:
    """The log of a hand-made table, without its data files."""
    for version, body in table.bodies.items():
        place = directory / log_key(version)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(body)
    return directory


@pytest.fixture
def exported(tmp_path: Path) -> tuple[Path, Path]:
    table, history = tmp_path / "table", tmp_path / "history.jsonl"
    arguments = ["run", SCENARIO, "--export", str(table), "--data", "--history", str(history)]
    assert invoked(*arguments, "--quiet").exit_code == ExitCode.FINE
    return table, history


def test_an_exported_run_with_its_history_is_checked_whole(exported: tuple[Path, Path]) -> None:
    table, history = exported
    result = _oracle(table, "--history", history)
    assert result.output == "no anomaly was found\n"
    assert result.exit_code == ExitCode.FINE


def test_a_log_without_any_data_file_is_told_what_it_may_be(tmp_path: Path) -> None:
    table = tmp_path / "table"
    arguments = ["run", SCENARIO, "--export", str(table), "--quiet"]
    assert invoked(*arguments).exit_code == ExitCode.FINE
    result = _oracle(table)
    assert result.exit_code == ExitCode.INVARIANT_VIOLATED
    said = " ".join(result.stdout.split())
    assert said.startswith("durability: none of the ")
    assert "perhaps the log alone was copied or exported" in said


def test_a_history_that_tells_another_statement_is_found_out(exported: tuple[Path, Path]) -> None:
    table, history = exported
    history.write_bytes(history.read_bytes().replace(b"SET amount = 0", b"SET amount = 1"))
    result = _oracle(table, "--history", history, "--json")
    document: dict[str, Any] = json.loads(result.stdout)
    assert result.exit_code == ExitCode.INVARIANT_VIOLATED
    assert not document["is_sound"]
    (finding,) = document["findings"]
    assert finding["anomaly"] == "wrong rows"
    assert finding["breaks"].startswith("The table at each version is what its statements make")


def test_a_recorded_run_brings_its_history(tmp_path: Path) -> None:
    out = tmp_path / "run"
    invoked("run", SCENARIO, "--out", out, "--quiet")
    result = _oracle(out)
    assert result.output == "no anomaly was found\n"


def test_a_table_of_deltalake_is_judged_by_its_log_and_the_rest_is_named(tmp_path: Path) -> None:
    place = tmp_path / "table"
    rows = pa.table({"id": [1, 2, 3], "v": [10, 20, 30]})
    deltalake.write_deltalake(str(place), rows)
    table = deltalake.DeltaTable(str(place))
    table.delete("id = 2")
    table.optimize.compact()
    result = _oracle(place)
    assert result.exit_code == ExitCode.FINE, result.output
    assert "not checked: acknowledgements" in result.output
    assert "no anomaly was found in what was checked" in result.output


def test_deltalake_with_a_history_is_judged_by_its_rows(tmp_path: Path) -> None:
    place, history = tmp_path / "table", tmp_path / "history.jsonl"
    deltalake.write_deltalake(str(place), pa.table({"id": [1, 2], "v": [10, 20]}))
    deltalake.DeltaTable(str(place)).delete("id = 2")
    line: dict[str, Any] = {
        "type": "transaction",
        "name": "eraser",
        "writer": "eraser",
        "outcome": "committed",
    }
    line |= {"statement": "DELETE FROM t WHERE id = 2", "read_version": 0, "acknowledged": [1]}
    history.write_text(json.dumps(line) + "\n")
    assert _oracle(place, "--history", history).exit_code == ExitCode.FINE
    history.write_text(json.dumps({**line, "statement": "DELETE FROM t WHERE id = 1"}) + "\n")
    assert "wrong rows" in _oracle(place, "--history", history).output


def test_a_finding_fits_into_eighty_columns_with_versions_and_files(tmp_path: Path) -> None:
    result = _oracle(_on_disk(lost_update(), tmp_path / "table"))
    assert result.exit_code == ExitCode.INVARIANT_VIOLATED
    assert "dead file (log)" in result.output
    assert "    file a\n" in result.output
    assert max(map(len, result.output.splitlines())) <= 80


def test_a_directory_without_a_log_is_bad_input(tmp_path: Path) -> None:
    result = _oracle(tmp_path)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "is no Delta table" in result.stderr
    absent = _oracle(tmp_path / "absent")
    assert absent.exit_code == ExitCode.BAD_INPUT
    assert "absent: is not there" in absent.stderr
    (tmp_path / "file").touch()
    assert "file: is a file, and a Delta table is" in _oracle(tmp_path / "file").stderr


def test_a_sweep_is_told_how_one_of_its_runs_is_judged(tmp_path: Path) -> None:
    (tmp_path / "sweep.json").write_text("{}")
    result = _oracle(tmp_path)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert f"is a sweep, {KEEPS} (`whitecap run {tmp_path}/cells/CELL.yaml" in result.stderr


def test_an_empty_log_is_bad_input_unless_a_history_says_what_is_lost(tmp_path: Path) -> None:
    (tmp_path / "table" / "_delta_log").mkdir(parents=True)
    result = _oracle(tmp_path / "table")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "table: is no Delta table: no commits in _delta_log" in result.stderr
    history = tmp_path / "history.jsonl"
    transaction = {"type": "transaction", "name": "a", "writer": "a", "outcome": "committed"}
    history.write_text(json.dumps({**transaction, "acknowledged": [0]}))
    lost = _oracle(tmp_path / "table", "--history", history)
    assert lost.exit_code == ExitCode.INVARIANT_VIOLATED
    assert "holds neither a commit nor a checkpoint" in lost.output


def test_every_line_of_a_wrong_history_is_told(tmp_path: Path) -> None:
    history = tmp_path / "history.jsonl"
    history.write_text('{"type": "table", "lebel": 1}\nnot json\n')
    with pytest.raises(InvalidInput) as caught:
        read_history(history)
    assert len(caught.value.problems) == 2


def test_a_history_survives_its_lines(tmp_path: Path) -> None:
    table = lost_update()
    table.promise = Promise(real_time=False, bound=1.0)
    history = table.evidence.history
    assert history is not None
    (tmp_path / "history.jsonl").write_bytes(history_lines(history))
    assert read_history(tmp_path / "history.jsonl") == history
