"""Real deltalake under fire: what is planned happens, and the oracles see what came of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from whitecap.cli import main
from whitecap.sim.oracles.judging import judge_directory

ROOT = Path(__file__).parents[2]
DIES_AFTER_THE_PUT = 4
"""The cell of that scenario's sweep in which an INSERT's driver dies after its put."""

SCENARIO = """
name: under-fire
duration: 2 min
store: s3
table:
  schema: "id BIGINT, day BIGINT, v BIGINT"
  key: id
  values: {day: [1, 2]}
  partition_by: [day]
  initial: {rows: 40, rows_per_file: 10}
writers:
  loader:
    count: 2
    statement: INSERT INTO events VALUES :rows
    parameters: {rows: {rows: {count: 5}}}
    arrival: {schedule: {every: 20 s}}
    compute: 4 s
    rerun: {fixed: {wait: 2 s, budget: 4, after_unknown: true}}
  merger:
    statement: >-
      MERGE INTO events AS t USING (SELECT * FROM VALUES :rows AS v(id, day, v)) AS s
      ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *
    parameters: {rows: {rows: {count: 4, existing: 0.5}}}
    arrival: {schedule: {every: 30 s}}
    compute: 6 s
    rerun: {fixed: {wait: 2 s, budget: 4}}
  compactor:
    statement: OPTIMIZE events
    arrival: {schedule: {every: 50 s}}
    compute: 6 s
"""


def run(tmp_path: Path, faults: str, writers: str = "") -> tuple[int, dict[str, Any]]:
    scenario = tmp_path / "under-fire.yaml"
    scenario.write_text(SCENARIO.replace("2 min", "1 min") + writers + faults)
    arguments = ["chaos", str(scenario), "--real", "deltalake", "--json"]
    result = CliRunner().invoke(main, [*arguments, "--out", str(tmp_path / "out")])
    assert result.exit_code in (0, 1, 2, 3), result.output
    return result.exit_code, json.loads(result.stdout)["runs"][0]


def counts(verdict: dict[str, Any], what: str) -> dict[str, int]:
    return {row["what"]: row["real"] for row in verdict[what]}


def test_without_faults_what_real_writers_leave_is_sound_and_checked_whole(tmp_path: Path) -> None:
    code, verdict = run(tmp_path, "faults: []\n")
    assert code == 0
    assert verdict["is_sound"]
    assert not verdict["not_checked"]
    assert not verdict["errors"]
    assert counts(verdict, "outcomes")["committed"] >= 6
    place = Path(verdict["directory"])
    assert not judge_directory(place / "table", place / "history.jsonl").findings


def failure(name: str, number: int, out: Path) -> dict[str, Any]:
    """One run of a shipped failure, of a writer that has no rival: the plan hits its commit."""
    scenario = str(ROOT / "scenarios/failures" / f"{name}.yaml")
    arguments = ["chaos", scenario, "--real", "deltalake", "--only", str(number), "--json"]
    result = CliRunner().invoke(main, [*arguments, "--out", str(out)])
    assert result.exit_code == 1, result.output
    verdict: dict[str, Any] = json.loads(result.stdout)["runs"][0]
    return verdict


def test_a_lost_reply_makes_deltalake_commit_twice_as_the_simulator_says(tmp_path: Path) -> None:
    verdict = failure("f01-lost-reply", 0, tmp_path)
    assert verdict["struck"] == {"lost_reply": 1}
    assert verdict["anomalies"] == [{"what": "duplicate", "simulated": 1, "real": 1}]
    assert verdict["is_expected"]


def test_a_killed_client_that_works_again_brings_its_rows_twice(tmp_path: Path) -> None:
    verdict = failure("f13-crash-at-each-step", DIES_AFTER_THE_PUT, tmp_path)
    assert verdict["killed"] == 1
    assert counts(verdict, "outcomes")["WriterCrash"] == 1
    assert "2 tries of job loader-1 #1 changed rows" in verdict["findings"][0]["sentence"]


def test_what_deltalake_cannot_do_is_left_out_by_name(tmp_path: Path) -> None:
    stream = """  stream:
    streaming: {checkpoint: loads, rows: {count: 3}}
    arrival: {schedule: {every: 30 s}}
"""
    _, verdict = run(tmp_path, "faults: []\n", stream)
    assert verdict["left_out"] == {"stream": "a streaming query, not statements"}


def test_the_interpreter_is_asked_for_only_with_real_writers(tmp_path: Path) -> None:
    scenario = tmp_path / "s.yaml"
    scenario.write_text(SCENARIO)
    result = CliRunner().invoke(main, ["chaos", str(scenario), "--python", "python3"])
    assert result.exit_code == 2
    assert "--python is of --real" in result.output


@pytest.mark.parametrize(
    "option", ["--save=kept", "--minutes=1", "--jobs=2", "--no-shrink", "--resume"]
)
def test_an_option_that_real_writers_would_pass_over_is_refused(
    option: str, tmp_path: Path
) -> None:
    scenario = tmp_path / "s.yaml"
    scenario.write_text(SCENARIO)
    out = f"--out={tmp_path / 'out'}"
    arguments = ["chaos", str(scenario), "--real", "deltalake", option, out]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert "is of simulated writers" in result.output


def test_a_run_is_printed_with_the_prediction_beside_it(tmp_path: Path) -> None:
    scenario = tmp_path / "s.yaml"
    scenario.write_text(SCENARIO.replace("duration: 2 min", "duration: 15 s"))
    arguments = ["chaos", str(scenario), "--real", "deltalake", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert "under-fire, run 0: sound" in result.output
    assert "simulated" in result.output
