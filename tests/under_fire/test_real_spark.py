"""Real Delta Lake in a JVM that is killed in the midst: oracles judge what is left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks.killed_jvm import SCENARIO as CAMPAIGN
from benchmarks.killed_jvm import TITLE
from benchmarks.markdown import REAL_ENGINES
from whitecap.cli import main
from whitecap.sim.loading import load_scenario
from whitecap.sim.oracles.finding import Anomaly
from whitecap.sim.oracles.judging import judge_directory
from whitecap.sim.replay.real.session import FEEDS_PYTHON
from whitecap.sim.under_fire.expecting import NO_REQUESTS, expected_of_spark
from whitecap.sim.under_fire.order import NobodyLeft

ROOT = Path(__file__).parents[2]

SCENARIO = """
name: under-fire
duration: 40 s
store: s3
table:
  schema: "id BIGINT, day BIGINT, v BIGINT"
  key: id
  values: {day: [1, 2]}
  partition_by: [day]
  initial: {rows: 40, rows_per_file: 10}
writers:
  loader:
    statement: INSERT INTO events VALUES :rows
    parameters: {rows: {rows: {count: 5}}}
    arrival: {schedule: {every: 10 s}}
    compute: 1 s
    rerun: {fixed: {wait: 2 s, budget: 4, after_unknown: AGAIN}}
  corrector:
    statement: UPDATE events SET v = v + 1 WHERE day = :day
    parameters: {day: {uniform: {}}}
    arrival: {schedule: {every: 15 s}}
    compute: 2 s
    rerun: {fixed: {wait: 2 s, budget: 4}}
  compactor:
    statement: OPTIMIZE events
    arrival: {schedule: {every: 30 s}}
    compute: 2 s
faults:
  - lost_reply: {nth: 1}
"""


def scenario(tmp_path: Path, again: bool = False, more: str = "") -> Path:
    path = tmp_path / "under-fire.yaml"
    path.write_text(SCENARIO.replace("AGAIN", str(again).lower()) + more)
    return path


@pytest.mark.spark
def test_what_a_killed_jvm_and_the_next_one_leave_is_sound_and_checked_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Neither JVM lives until the optimizing compiler has paid for itself: 52 s of CPU, not 83.
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", FEEDS_PYTHON)
    out = str(tmp_path / "out")
    arguments = ["chaos", str(scenario(tmp_path)), "--real", "spark", "--json", "--out", out]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    verdict: dict[str, Any] = json.loads(result.stdout)["runs"][0]
    assert verdict["engine"] == "delta-spark 4.4.0"
    assert verdict["left_out"] == {"fault lost_reply": NO_REQUESTS}
    assert verdict["killed"] == 1
    assert not verdict["findings"]
    assert not verdict["not_checked"]
    assert not verdict["errors"]
    ended = {row["what"]: row["real"] for row in verdict["outcomes"]}
    assert ended["committed"] >= 4
    assert ended["WriterCrash"] >= 1
    _is_seen_when_a_commit_is_gone(Path(verdict["directory"]))


def _is_seen_when_a_commit_is_gone(place: Path) -> None:
    """The same table with its newest commit lost: so the oracles have looked."""
    newest = max((place / "table/_delta_log").glob("[0-9]*.json"))
    newest.unlink()
    findings = judge_directory(place / "table", place / "history.jsonl").findings
    assert Anomaly.LOST_COMMIT in {finding.anomaly for finding in findings}


def test_a_job_that_is_run_again_after_a_death_may_be_there_twice_and_that_is_said_before(
    tmp_path: Path,
) -> None:
    careless = expected_of_spark(load_scenario(scenario(tmp_path, again=True)), 1, 0)
    careful = expected_of_spark(load_scenario(scenario(tmp_path)), 1, 0)
    assert careless.possible == {Anomaly.DUPLICATE.value}
    assert not careful.possible


def test_the_simulated_jvm_dies_once_while_somebody_is_at_work(tmp_path: Path) -> None:
    plan = expected_of_spark(load_scenario(scenario(tmp_path)), 1, 0)
    exceptions = plan.run.recording.transactions.column("exception").to_pylist()
    assert "WriterCrash" in exceptions
    assert {each.cluster for each in plan.run.scenario.writers.values()} == {"jvm"}


def test_streaming_queries_are_left_out_by_name(tmp_path: Path) -> None:
    stream = (
        SCENARIO[: SCENARIO.index("writers:")]
        + """writers:
  stream:
    streaming: {checkpoint: loads, rows: {count: 3}}
    arrival: {schedule: {every: 30 s}}
"""
    )
    path = tmp_path / "stream.yaml"
    path.write_text(stream)
    with pytest.raises(NobodyLeft, match="stream: a streaming query"):
        expected_of_spark(load_scenario(path), 1, 0)


def test_the_committed_page_has_the_last_campaign_and_it_was_sound() -> None:
    section = REAL_ENGINES.read_text().partition(TITLE)[2]
    assert CAMPAIGN in section
    assert "Findings: none." in section
    assert "Not checked: nothing." in section


def test_the_campaign_has_every_kind_of_statement() -> None:
    groups = load_scenario(ROOT / CAMPAIGN).writers.values()
    first = {(group.statement or "").split()[0] for group in groups}
    assert first == {"INSERT", "MERGE", "UPDATE", "DELETE", "OPTIMIZE"}
