"""Recorded runs, replayed on a real Delta Lake from the recording alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from tests.replay.recorded_cases import REGRESSION, record
from tests.sim.sim_worlds import INSERT, TABLE, rows, scenario
from whitecap.cli import main
from whitecap.engine.errors import InvalidInput
from whitecap.sim.loading import load_scenario
from whitecap.sim.recording.recording import read_recording, write_recording
from whitecap.sim.replay.agreement import Agreement
from whitecap.sim.replay.choice import named_run
from whitecap.sim.replay.history.recorded import Recorded
from whitecap.sim.replay.history.window import Window, parse_window
from whitecap.sim.replay.plan import plan_replay
from whitecap.sim.replay.real.session_settings import FEW_ROWS, session_settings
from whitecap.sim.replay.replay import replay, simulate_again
from whitecap.sim.run import run_scenario

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAIT_S = 150.0


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
    plan = plan_replay(named_run(record(name, tmp_path / name)), limit=8)
    agreement = replay(plan, spark, timeout_s=WAIT_S)
    assert [each for each in agreement.compared if each.comparison != "match"] == []
    assert exception in agreement.agreed_exceptions
    assert agreement.agreed_commits


def _replayed(spark: SparkSession, run: Path, window: str) -> Agreement:
    return replay(plan_replay(named_run(run), parse_window(window)), spark, timeout_s=WAIT_S)


@pytest.mark.spark
def test_a_commit_whose_reply_was_lost_is_compared_with_a_note(
    spark: SparkSession, tmp_path: Path
) -> None:
    agreement = _replayed(spark, record("lost-reply-unknown", tmp_path / "run"), "9..14")
    compared = [(each.comparison, each.reason) for each in agreement.compared]
    assert compared == [
        ("not_comparable", "its outcome is unknown, and it left no commit"),
        ("match", "its writer saw it as unknown: a reply was lost"),
        ("match", ""),
        ("match", ""),
        ("match", ""),
        ("match", ""),
    ]


@pytest.mark.spark
def test_an_update_that_conflicts_with_itself_after_a_lost_reply_is_replayed_as_that(
    spark: SparkSession, tmp_path: Path
) -> None:
    run = record("lost-reply-conflicts-with-itself", tmp_path / "run")
    agreement = _replayed(spark, run, "9..11")
    ends = [(each.comparison, each.transaction, each.recorded.end) for each in agreement.compared]
    assert ends == [
        ("match", "corrector-1 #8 (its put whose reply was lost)", "committed"),
        ("match", "corrector-1 #8", "aborted"),
        ("match", "corrector-1 #9", "committed"),
    ]


SENT_AGAIN: dict[str, Any] = {
    "store": {"profile": "s3", "client": {"on_lost_reply": "resend"}},
    "faults": [{"lost_reply": {"probability": 1}, "between": ["0 s", "70 s"]}],
}
"""The first commits that are put lose their reply."""


@pytest.mark.spark
def test_an_insert_that_commits_twice_leaves_its_rows_once_for_those_after_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Both commits add the same file, so that OPTIMIZE finds nothing to do in its partition."""
    writers = {
        "loader": {
            "statement": "INSERT INTO events VALUES :rows",
            "parameters": {"date": "newest", "rows": {"rows": {"count": 2}}},
            "arrival": {"schedule": {"at": ["1 min"]}},
        },
        "compactor": {
            "statement": "OPTIMIZE events",
            "arrival": {"schedule": {"at": ["5 min"]}},
        },
    }
    table = {**TABLE, "initial": {"rows": 0}}
    run = tmp_path / "run"
    run_scenario(scenario(**SENT_AGAIN, table=table, writers=writers), out=run)
    agreement = _replayed(spark, run, "0..2")
    ends = [(each.comparison, each.real and each.real.end) for each in agreement.compared]
    assert ends == [
        ("match", "committed"),
        ("match", "committed"),
        ("match", "nothing_to_commit"),
    ]


@pytest.mark.spark
def test_a_stream_that_reads_its_own_table_is_replayed_as_one(
    spark: SparkSession, tmp_path: Path
) -> None:
    field = REGRESSION.parent / "field" / "c12-stream-joins-its-own-target.yaml"
    run_scenario(load_scenario(field), out=tmp_path / "run")
    agreement = _replayed(spark, tmp_path / "run", "1..5")
    assert [each.comparison for each in agreement.compared] == ["match"] * 6
    assert agreement.agreed_exceptions == {"ConcurrentAppendException": 2}


def _refused_twice(out: Path) -> None:
    """OPTIMIZE is refused by a new property and tries again; then what it rewrote is deleted.

    The deletion has to come while it tries again, some instant between its two attempts.
    """
    settled = "ALTER TABLE events SET TBLPROPERTIES ('delta.checkpointInterval' = '7')"
    for at_ms in range(120_000, 121_000, 20):
        writers = {
            name: {"statement": sql, "arrival": {"schedule": {"at": [at]}}, "compute": compute}
            for name, sql, at, compute in (
                ("compactor", "OPTIMIZE events", "1 min", "1 min"),
                ("settler", settled, "90 s", "1 s"),
                ("eraser", "DELETE FROM events WHERE date >= '2026-01-01'", f"{at_ms} ms", "0 s"),
            )
        }
        run = run_scenario(scenario(writers=writers), out=out, overwrite=True)
        (optimize,) = [row for row in rows(run) if row["command"] == "OPTIMIZE"]
        if optimize["attempts"] == 2 and optimize["outcome"] == "aborted":
            assert optimize["read_version"] == 2
            return
    raise AssertionError("no deletion came in time")


@pytest.mark.spark
def test_an_optimize_that_is_refused_again_after_it_started_again_is_replayed_as_that(
    spark: SparkSession, tmp_path: Path
) -> None:
    _refused_twice(tmp_path / "run")
    agreement = _replayed(spark, tmp_path / "run", "1..3")
    assert [each.comparison for each in agreement.compared] == ["match"] * 3
    assert "ConcurrentDeleteReadException" in agreement.agreed_exceptions


@pytest.mark.spark
def test_commits_that_the_store_lost_are_left_out_by_name(
    spark: SparkSession, tmp_path: Path
) -> None:
    store = {"profile": "s3", "put_if_absent": {"exclusive": False}}
    together = {"count": 2, "arrival": {"schedule": {"every": "5 s"}}, "compute": "1 s"}
    run = tmp_path / "run"
    writers = {"loader": {**INSERT, **together}}
    run_scenario(scenario(store=store, writers=writers, duration="40 s"), out=run)
    (lost, *_) = [
        each for each in plan_replay(named_run(run), limit=99).transactions if each.left_out
    ]
    agreement = _replayed(spark, run, f"{lost.read_version}..{lost.read_version + 2}")
    reasons = {(str(each.comparison), each.reason) for each in agreement.compared}
    assert reasons == {
        ("match", ""),
        (
            "not_comparable",
            "its commit was overwritten: the store of this run has no put-if-absent",
        ),
    }


@pytest.mark.spark
def test_the_command_prints_the_agreement_and_records_it(
    spark: SparkSession,  # noqa: ARG001  the command takes the session that runs
    tmp_path: Path,
) -> None:
    run = record("concurrent-append", tmp_path / "run")
    called = CliRunner().invoke(main, ["replay", str(run), "--window", "1..2"])
    assert called.exit_code == 0, called.output
    assert "ConcurrentAppendException" in called.stdout
    document = json.loads((run / "replay" / "agreement.json").read_text())
    assert (document["matches"], document["mismatches"]) == (2, 0)
    assert document["window"] == {"from": 1, "to": 2}
    assert (run / "replay" / "agreement.csv").is_file()


@pytest.mark.spark
def test_a_recording_that_says_otherwise_is_a_mismatch_and_the_rest_is_compared(
    spark: SparkSession, tmp_path: Path
) -> None:
    run = record("concurrent-append", tmp_path / "run")
    plan = plan_replay(named_run(run), Window(1, 2))
    wrong = tuple(_raising(each, "ConcurrentDeleteReadException") for each in plan.transactions)
    (table,) = plan.tables
    otherwise = replace(plan, tables=(replace(table, transactions=wrong),))
    agreement = replay(otherwise, spark, timeout_s=WAIT_S)
    assert not agreement.holds
    assert sorted(each.comparison for each in agreement.compared) == ["match", "mismatch"]
    (mismatch,) = [each for each in agreement.compared if each.comparison == "mismatch"]
    assert mismatch.reason == "exception differ"


def _raising(each: Recorded, exception: str) -> Recorded:
    """The same transaction, with another exception if it was aborted."""
    if each.result.exception is None:
        return each
    return replace(each, result=replace(each.result, exception=exception))


def test_a_run_that_cannot_be_simulated_again_is_refused(tmp_path: Path) -> None:
    run = record("concurrent-append", tmp_path / "run")
    recording = read_recording(run)
    other = recording.tables["transactions"].slice(1)
    tables = {**recording.tables, "transactions": other}
    changed = type(recording).of(recording.manifest, recording.scenario, tables)
    write_recording(changed, run, overwrite=True)
    with pytest.raises(InvalidInput, match="gives another history"):
        simulate_again(read_recording(run), "run")


def test_a_window_and_a_number_of_transactions_are_too_much(tmp_path: Path) -> None:
    run = record("concurrent-append", tmp_path / "run")
    with pytest.raises(InvalidInput, match="--transactions: a window says what is replayed"):
        plan_replay(named_run(run), Window(1, 2), limit=3)


def test_what_creates_the_table_is_not_replayed(tmp_path: Path) -> None:
    """Nor is what was decided before: there is no table to begin on."""
    creator = {
        "count": 2,
        "statement": f"CREATE TABLE events ({TABLE['schema']}) USING delta",
        "arrival": {"schedule": {"at": ["10 s"]}},
    }
    writers = {"creator": creator, "loader": INSERT}
    table = {**TABLE, "exists": False, "initial": {"rows": 0}, "partition_by": []}
    run_scenario(scenario(writers=writers, table=table), out=tmp_path / "run")
    plan = plan_replay(named_run(tmp_path / "run"), limit=5)
    assert plan.tables[0].window.first == 0
    assert all(each.read_version >= 0 for each in plan.played)
    del writers["loader"]
    run_scenario(scenario(writers=writers, table=table), out=tmp_path / "bare")
    with pytest.raises(InvalidInput, match="no commit after version 0"):
        plan_replay(named_run(tmp_path / "bare"))


FEATURES = [
    {"delta.enableRowTracking": True},
    {"delta.enableInCommitTimestamps": True},
    {"delta.columnMapping.mode": "name"},
    {"delta.enableChangeDataFeed": True, "delta.enableDeletionVectors": True},
]


@pytest.mark.spark
@pytest.mark.parametrize("properties", FEATURES, ids=lambda properties: "+".join(properties))
def test_a_table_with_features_is_one_to_real_delta_too(
    spark: SparkSession, tmp_path: Path, properties: dict[str, bool]
) -> None:
    """The initial table, which no command made, is as its features want it."""
    run = tmp_path / "run"
    run_scenario(scenario({"table.properties": properties}), out=run)
    agreement = _replayed(spark, run, "1..4")
    assert {each.comparison for each in agreement.compared} == {"match"}
    assert agreement.agreed_commits == 3


def test_a_window_without_conflicts_says_so(tmp_path: Path) -> None:
    run = record("disjoint-partitions", tmp_path / "run")
    plan = plan_replay(named_run(run))
    assert "none of which ended in a conflict" in plan.sentence


def test_what_lies_outside_of_the_window_is_counted(tmp_path: Path) -> None:
    run = record("lost-reply-unknown", tmp_path / "run")
    plan = plan_replay(named_run(run), Window(1, 4))
    total = read_recording(run).transactions.num_rows
    assert plan.outside == total - len(plan.transactions) > 0


def test_without_java_the_command_says_what_is_missing_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = record("concurrent-append", tmp_path / "run")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    called = CliRunner().invoke(main, ["replay", str(run)])
    assert called.exit_code == 4
    assert "Install a Java runtime 17" in called.stderr
    assert not (run / "replay").exists()


def test_a_damaged_recording_is_bad_input(tmp_path: Path) -> None:
    run = record("concurrent-append", tmp_path / "run")
    (run / "commits.parquet").write_bytes(b"cut off")
    called = CliRunner().invoke(main, ["replay", str(run)])
    assert called.exit_code == 2
    assert "commits.parquet: is damaged" in called.stderr


@pytest.mark.spark
@pytest.mark.parametrize(
    ("initial_rows", "compiled"), [(FEW_ROWS, "false"), (FEW_ROWS + 1, "true")]
)
def test_only_large_tables_are_computed_with_compiled_plans(
    spark: SparkSession, tmp_path: Path, initial_rows: int, compiled: str
) -> None:
    table = {**TABLE, "initial": {"rows": initial_rows, "rows_per_file": FEW_ROWS}}
    loader = {**INSERT, "arrival": {"schedule": {"at": ["1 s"]}}, "compute": "1 s"}
    run_scenario(scenario(table=table, writers={"loader": loader}), out=tmp_path / "run")
    plans: list[str | None] = []
    with session_settings(spark, {"spark.sql.codegen.wholeStage": "true"}):
        replay(
            plan_replay(named_run(tmp_path / "run")),
            spark,
            watch=lambda _: plans.append(spark.conf.get("spark.sql.codegen.wholeStage")),
            timeout_s=WAIT_S,
        )
    assert plans == [compiled]
