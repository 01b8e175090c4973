"""Recorded runs, replayed on a real Delta Lake from the recording alone."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from whitecap.cli import main
from whitecap.engine.errors import InvalidInput
from whitecap.sim.recording import read_recording, write_recording
from whitecap.sim.replay.choice import best_cell, choose_run
from whitecap.sim.replay.recorded import Recorded
from whitecap.sim.replay.replay import plan_replay, replay, simulate_again
from whitecap.sim.replay.window import Window
from whitecap.sim.run import run_scenario
from whitecap.sim.scenario import load_scenario

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REGRESSION = Path(__file__).parents[2] / "scenarios" / "regression"
WAIT_S = 150.0


def _record(name: str, out: Path, seed: int = 1) -> Path:
    run_scenario(load_scenario(REGRESSION / f"{name}.yaml"), seed=seed, out=out)
    return out


@pytest.mark.spark
@pytest.mark.parametrize(
    ("name", "exception"),
    [
        ("concurrent-append", "ConcurrentAppendException"),
        ("concurrent-delete-read", "ConcurrentDeleteReadException"),
        ("concurrent-delete-delete", "ConcurrentDeleteDeleteException"),
        ("concurrent-transaction", "ConcurrentTransactionException"),
        ("concurrent-write", "ConcurrentWriteException"),
        ("metadata-changed", "MetadataChangedException"),
        ("protocol-changed", "ProtocolChangedException"),
    ],
)
def test_real_delta_ends_each_transaction_as_the_simulation_did(
    spark: SparkSession, tmp_path: Path, name: str, exception: str
) -> None:
    plan = plan_replay(choose_run(_record(name, tmp_path / name)), limit=8)
    agreement = replay(plan, spark, timeout_s=WAIT_S)
    assert [each for each in agreement.compared if each.comparison != "match"] == []
    assert exception in agreement.agreed_exceptions
    assert agreement.agreed_commits


@pytest.mark.spark
def test_commits_whose_reply_was_lost_are_played_and_not_compared(
    spark: SparkSession, tmp_path: Path
) -> None:
    run = _record("lost-reply-unknown", tmp_path / "run")
    plan = plan_replay(choose_run(run), Window(1, 4))
    agreement = replay(plan, spark, timeout_s=WAIT_S)
    assert agreement.holds
    excused = [each for each in agreement.compared if each.comparison == "not_comparable"]
    assert excused
    assert all("a reply was lost" in each.reason for each in excused)


@pytest.mark.spark
def test_the_command_prints_the_agreement_and_records_it(
    spark: SparkSession,  # noqa: ARG001  the command takes the session that runs
    tmp_path: Path,
) -> None:
    run = _record("concurrent-append", tmp_path / "run")
    called = CliRunner().invoke(main, ["replay", str(run), "--window", "1..2"])
    assert called.exit_code == 0, called.output
    assert "ConcurrentAppendException" in called.stdout
    document = json.loads((run / "replay" / "agreement.json").read_text())
    assert (document["matches"], document["mismatches"]) == (2, 0)
    assert document["window"] == {"from": 1, "to": 2}
    assert (run / "replay" / "agreement.csv").is_file()


@pytest.mark.spark
def test_a_recording_that_says_otherwise_is_a_mismatch(spark: SparkSession, tmp_path: Path) -> None:
    run = _record("concurrent-append", tmp_path / "run")
    plan = plan_replay(choose_run(run), Window(1, 2))
    wrong = tuple(_raising(each, "ConcurrentDeleteReadException") for each in plan.transactions)
    agreement = replay(dataclasses.replace(plan, transactions=wrong), spark, timeout_s=WAIT_S)
    assert not agreement.holds
    (mismatch,) = [each for each in agreement.compared if each.comparison == "mismatch"]
    assert mismatch.reason == "exception differ"


def _raising(each: Recorded, exception: str) -> Recorded:
    """The same transaction, with another exception if it was aborted."""
    if each.result.exception is None:
        return each
    return dataclasses.replace(each, result=dataclasses.replace(each.result, exception=exception))


def test_a_run_that_cannot_be_simulated_again_is_refused(tmp_path: Path) -> None:
    run = _record("concurrent-append", tmp_path / "run")
    recording = read_recording(run)
    other = recording.tables["transactions"].slice(1)
    tables = {**recording.tables, "transactions": other}
    write_recording(type(recording)(recording.manifest, recording.scenario, tables), run)
    with pytest.raises(InvalidInput, match="gives another history"):
        simulate_again(run)


def test_the_best_cell_of_a_sweep_is_the_reports_or_else_that_of_most_goodput(
    tmp_path: Path,
) -> None:
    few = _record("concurrent-append", tmp_path / "runs" / "few" / "0")
    _record("concurrent-transaction", tmp_path / "runs" / "many" / "0")
    assert best_cell(tmp_path) == "many"
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "answer.json").write_text('{"best": "few"}')
    chosen = choose_run(tmp_path)
    assert (chosen.run, chosen.cell, chosen.label) == (few, "few", "runs/few/0")


def test_of_a_cells_replications_the_one_with_most_exceptions_is_replayed(tmp_path: Path) -> None:
    for replication, name in enumerate(("disjoint-partitions", "concurrent-append")):
        _record(name, tmp_path / "runs" / "cell" / str(replication))
    assert choose_run(tmp_path).run.name == "1"


def test_an_unknown_cell_is_refused_with_those_there_are(tmp_path: Path) -> None:
    _record("concurrent-append", tmp_path / "runs" / "cell" / "0")
    with pytest.raises(InvalidInput, match="no cell 'sell'; there are cell"):
        choose_run(tmp_path, "sell")


def test_without_java_the_command_says_what_is_missing_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = _record("concurrent-append", tmp_path / "run")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    called = CliRunner().invoke(main, ["replay", str(run)])
    assert called.exit_code == 4
    assert "Install a Java runtime 17" in called.stderr
    assert not (run / "replay").exists()


def test_a_damaged_recording_is_bad_input(tmp_path: Path) -> None:
    run = _record("concurrent-append", tmp_path / "run")
    (run / "commits.parquet").write_bytes(b"cut off")
    called = CliRunner().invoke(main, ["replay", str(run)])
    assert called.exit_code == 2
    assert "commits.parquet: is damaged" in called.stderr
