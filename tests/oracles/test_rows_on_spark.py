"""The serial replay by a real Spark: the same runs are sound, the same planted tables are not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from tests.oracles.hand_made import FIRST_ROWS, HandMade
from tests.oracles.planted import PLANTED
from whitecap import cli
from whitecap.exit_codes import ExitCode
from whitecap.sim.chaos.swarm import drawn
from whitecap.sim.loading import load_scenario
from whitecap.sim.oracles.finding import Anomaly, Oracle
from whitecap.sim.oracles.on_spark.effects import SparkEffects
from whitecap.sim.oracles.on_spark.judging import judge_rows_on_spark
from whitecap.sim.oracles.on_spark.spark_table import DATABASE
from whitecap.sim.oracles.runs.of_run import evidence_of
from whitecap.sim.replay.real.session_settings import session_settings
from whitecap.sim.run import run_scenario

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
ROOT = Path(__file__).parents[2]


def test_a_drawn_run_under_faults_has_the_rows_that_its_statements_make_on_spark(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    explained: list[int] = []
    explain = SparkEffects.explain

    def counting(effects: SparkEffects, versions: list[int]) -> bool:
        explained.extend(versions)
        return explain(effects, versions)

    monkeypatch.setattr(SparkEffects, "explain", counting)
    scenario = drawn(load_scenario(ROOT / "scenarios/events.yaml", cells=False), 1, 2).scenario
    run = run_scenario(scenario, until_ms=110_000)
    rows = run.recording.transactions.to_pylist()
    commands = {row["command"] for row in rows if row["committed_version"] is not None}
    judgement = judge_rows_on_spark(spark, evidence_of(run, run.world.tables[0]))
    assert not judgement.findings
    assert not judgement.not_checked
    assert len(commands) >= 3
    assert len(explained) >= 10


@pytest.mark.parametrize("anomaly", [Anomaly.LOST_UPDATE, Anomaly.WRONG_ROWS, Anomaly.DUPLICATE])
def test_spark_finds_what_duckdb_finds_in_rows(spark: SparkSession, anomaly: Anomaly) -> None:
    table = PLANTED[anomaly]()
    by_duckdb = [each for each in table.findings() if each.oracle is Oracle.SERIAL_REPLAY]
    by_spark = judge_rows_on_spark(spark, table.evidence).findings
    assert list(by_spark) == by_duckdb


def test_a_restored_table_and_a_batch_are_followed(spark: SparkSession) -> None:
    table = HandMade()
    table.appends("b", [(3, 30)])
    table.rewrites("a", "c", [(1, 11), (2, 20)])
    table.rewrites("c", "d", FIRST_ROWS)
    table.did("stream", '{"rows": [{"id": 3, "v": 30}]}', 0, 1, app_id="q", batch_id=0)
    table.did("etl", "UPDATE t SET v = v + 1 WHERE id = 1", 1, 2)
    table.did("admin", "RESTORE TABLE t TO VERSION AS OF 1", 2, 3)
    judgement = judge_rows_on_spark(spark, table.evidence)
    assert not judgement.findings
    assert not judgement.not_checked


def test_what_is_other_every_time_is_named_as_not_checked(spark: SparkSession) -> None:
    table = HandMade()
    table.appends("b", [(3, 30)])
    table.did("etl", "INSERT INTO t SELECT 3, CAST(rand() * 100 AS BIGINT)", 0, 1)
    (gap,) = judge_rows_on_spark(spark, table.evidence).not_checked
    assert "RAND: it asks the time or for chance" in gap.why
    assert "on Spark" in gap.what


def test_tables_of_the_session_keep_their_names_and_rows(spark: SparkSession) -> None:
    spark.range(1).createOrReplaceTempView("somebody_elses")
    before = _tables_of(spark)
    table = HandMade()
    table.rewrites("a", "b", [(1, 11), (2, 20)])
    table.did("etl", "UPDATE renamed SET v = 11 WHERE id = 1", 0, 1)
    assert not judge_rows_on_spark(spark, table.evidence).findings
    assert _tables_of(spark) == before
    assert not spark.catalog.databaseExists(DATABASE)


def _tables_of(spark: SparkSession) -> list[Any]:
    """Those that are listed, which Spark cannot do with plans that are interpreted."""
    with session_settings(spark, {"spark.sql.codegen.factoryMode": "FALLBACK"}):
        return spark.catalog.listTables()


def test_a_table_that_is_a_path_is_named_as_not_checked(spark: SparkSession) -> None:
    table = HandMade()
    table.appends("b", [(3, 30)])
    table.did("etl", "INSERT INTO delta.`/data/t` VALUES (3, 30)", 0, 1)
    (gap,) = judge_rows_on_spark(spark, table.evidence).not_checked
    assert "not one of a name alone" in gap.why


def test_the_command_runs_statements_on_spark_where_it_is_told_to(tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    scenario = str(ROOT / "scenarios/regression/concurrent-append.yaml")
    runner = CliRunner()
    assert runner.invoke(cli.main, ["run", scenario, "--out", out]).exit_code == ExitCode.FINE
    judged = runner.invoke(cli.main, ["oracle", out, "--spark"])
    assert judged.exit_code == ExitCode.FINE, judged.output
    assert "not checked" not in judged.output


def test_spark_without_a_history_has_nothing_to_run(tmp_path: Path) -> None:
    judged = CliRunner().invoke(cli.main, ["oracle", str(tmp_path), "--spark"])
    assert judged.exit_code == ExitCode.BAD_INPUT
    assert "--history" in judged.output
