"""One table, two engines: this project's on a directory, and real Delta Lake."""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.replay.engine_on_disk import Paused, execute, rows
from whitecap.engine.outcomes import Aborted, Committed
from whitecap.engine.rules import ConflictException
from whitecap.sim.replay.real.failures import failure_of
from whitecap.sim.replay.real.phase_locks import Interleaving
from whitecap.sim.replay.real.tables import commit_info, latest_version, log_lines, name_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
MakeTable = Callable[..., Path]
VECTORS = {"delta.enableDeletionVectors": "true"}
DELETE = "DELETE FROM target WHERE x = 1 AND v = 2"
UPDATE = "UPDATE target SET v = v + 1000 WHERE v = 101"
INSERT = "INSERT INTO target VALUES (3, 7), (NULL, 8)"


def _spark_rows(spark: SparkSession, folder: Path) -> list[tuple[Any, ...]]:
    read = spark.read.format("delta").load(str(folder)).orderBy("x", "v")
    return [tuple(row) for row in read.collect()]


@pytest.mark.parametrize("properties", [{}, VECTORS], ids=["rewriting", "vectors"])
def test_real_delta_reads_what_the_engine_wrote(
    spark: SparkSession, make_table: MakeTable, properties: dict[str, str]
) -> None:
    table = make_table(**properties)
    for sql in (DELETE, UPDATE, "INSERT INTO target VALUES (3, 7)", "OPTIMIZE target WHERE x = 2"):
        assert isinstance(execute(sql, table), Committed), sql
    kept = [(1, v) for v in (0, 1, 3, 100, 102, 103, 1101)]
    kept += [(2, v) for v in (0, 1, 2, 3, 100, 102, 103, 1101)]
    assert _spark_rows(spark, table) == [*kept, (3, 7)]


@pytest.mark.parametrize("properties", [{}, VECTORS], ids=["rewriting", "vectors"])
def test_the_engine_reads_what_real_delta_wrote(
    spark: SparkSession, make_table: MakeTable, properties: dict[str, str]
) -> None:
    table = make_table(**properties)
    for sql in (DELETE, UPDATE, INSERT, "OPTIMIZE target ZORDER BY (v)"):
        spark.sql(sql)
    live_rows = rows(table)
    assert live_rows == _spark_rows(spark, table)
    assert len(live_rows) == 17


def test_a_column_that_one_widens_is_read_by_the_other(
    spark: SparkSession, make_table: MakeTable
) -> None:
    table = make_table(**{"delta.enableTypeWidening": "true"})
    for sql in (
        "ALTER TABLE target ALTER COLUMN v TYPE DECIMAL(22,2)",
        "INSERT INTO target VALUES (3, 7.25)",
    ):
        assert isinstance(execute(sql, table), Committed), sql
    assert _spark_rows(spark, table)[-1] == (3, Decimal("7.25"))
    spark.sql("ALTER TABLE target ALTER COLUMN x TYPE BIGINT")
    spark.sql("UPDATE target SET x = 4000000000, v = v + 0.5 WHERE x = 1 AND v < 3")
    assert rows(table) == _spark_rows(spark, table)


def test_both_take_turns_on_one_table_with_deletion_vectors(
    spark: SparkSession, make_table: MakeTable
) -> None:
    table = make_table(**VECTORS)
    execute("DELETE FROM target WHERE v = 0", table)
    spark.sql("DELETE FROM target WHERE v = 1")
    execute("DELETE FROM target WHERE v = 2", table)
    spark.sql("UPDATE target SET v = 5 WHERE v = 3")
    left = [(x, v) for x in (1, 2) for v in (5, 100, 101, 102, 103)]
    assert rows(table) == left
    assert _spark_rows(spark, table) == left


def test_real_delta_creates_and_the_engine_continues_through_its_checkpoint(
    spark: SparkSession, make_table: MakeTable
) -> None:
    table = make_table()
    for value in range(6):
        spark.sql(f"INSERT INTO target VALUES (9, {value})")
    assert list((table / "_delta_log").glob("*.checkpoint.parquet"))
    outcome = execute("DELETE FROM target WHERE x = 9 AND v < 5", table)
    assert isinstance(outcome, Committed)
    assert outcome.version == latest_version(table)
    assert [row for row in _spark_rows(spark, table) if row[0] == 9] == [(9, 5)]


def test_real_delta_opens_a_table_that_the_engine_created(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = tmp_path / "made"
    ddl = "CREATE TABLE target (x INT, day DATE, s STRING) USING delta PARTITIONED BY (day)"
    execute(ddl, table)
    execute("INSERT INTO target VALUES (1, DATE '2026-01-02', 'a'), (2, NULL, 'b')", table)
    name_table(spark, "made_by_us", table)
    collected = spark.sql("SELECT x, CAST(day AS STRING), s FROM made_by_us ORDER BY x").collect()
    assert [tuple(row) for row in collected] == [(1, "2026-01-02", "a"), (2, None, "b")]
    spark.sql("INSERT INTO made_by_us VALUES (3, DATE '2026-01-03', 'c')")
    assert len(rows(table)) == 3
    spark.sql("DROP TABLE made_by_us")


def test_a_commit_of_the_engine_makes_a_waiting_real_transaction_conflict(
    spark: SparkSession, make_table: MakeTable
) -> None:
    table = make_table()
    with Interleaving(spark, 120.0) as interleaving:
        interleaving.begin("update", lambda: spark.sql(UPDATE).collect())
        assert isinstance(execute("INSERT INTO target VALUES (1, 7)", table), Committed)
        ended = interleaving.finish("update")
    assert ended.error is not None
    failure = failure_of(ended.error)
    assert failure.exception == ConflictException.CONCURRENT_APPEND
    assert failure.message_parameters["partitionValues"] == "[x=1]"


def test_a_real_commit_makes_a_waiting_transaction_of_the_engine_conflict(
    spark: SparkSession, make_table: MakeTable
) -> None:
    table = make_table()
    paused = Paused("DELETE FROM target WHERE x = 1", table)
    spark.sql("DELETE FROM target WHERE x = 1 AND v = 2")
    outcome = paused.finish()
    assert isinstance(outcome, Aborted)
    assert outcome.verdict.exception is ConflictException.CONCURRENT_APPEND
    assert outcome.verdict.winning_version == latest_version(table)


def test_a_real_commit_elsewhere_is_rebased_over_by_the_engine(
    spark: SparkSession, make_table: MakeTable
) -> None:
    table = make_table()
    paused = Paused("DELETE FROM target WHERE x = 1", table)
    spark.sql("DELETE FROM target WHERE x = 2")
    outcome = paused.finish()
    assert isinstance(outcome, Committed)
    assert rows(table) == []
    assert _spark_rows(spark, table) == []


def test_both_write_the_same_facts_about_a_commit(
    spark: SparkSession, make_table: MakeTable
) -> None:
    table = make_table()
    execute(DELETE, table)
    ours = commit_info(table, latest_version(table))
    kinds = sorted(next(iter(line)) for line in log_lines(table, latest_version(table)))
    real = make_table()
    spark.sql(DELETE)
    assert kinds == sorted(next(iter(line)) for line in log_lines(real, latest_version(real)))
    theirs = commit_info(real, latest_version(real))
    for key in ("operation", "readVersion", "isolationLevel", "isBlindAppend"):
        assert ours[key] == theirs[key], key
    assert ours["timestamp"] <= time.time() * 1000


@pytest.mark.parametrize("vectors", ["false", "true"])
def test_real_delta_reads_the_change_feed_that_the_engine_wrote(
    spark: SparkSession, make_table: MakeTable, vectors: str
) -> None:
    properties = {"delta.enableChangeDataFeed": "true", "delta.enableDeletionVectors": vectors}
    table = make_table(**properties)
    first = latest_version(table) + 1
    for sql in (
        DELETE,
        "UPDATE target SET v = 77 WHERE x = 1 AND v = 3",
        "MERGE INTO target t USING (SELECT 2 AS x, 2L AS v UNION ALL SELECT 3, 3L) s"
        " ON t.x = s.x AND t.v = s.v WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *",
        "INSERT INTO target REPLACE WHERE x = 1 AND v = 77 VALUES (1, 77)",
        "DELETE FROM target WHERE x = 3",
    ):
        assert isinstance(execute(sql, table), Committed), sql
    feed = spark.read.format("delta").option("readChangeFeed", "true")
    changes = feed.option("startingVersion", first).load(str(table)).collect()
    changed_rows = sorted((r._commit_version - first, r._change_type, r.x, r.v) for r in changes)
    assert changed_rows == [
        (0, "delete", 1, 2),
        (1, "update_postimage", 1, 77),
        (1, "update_preimage", 1, 3),
        (2, "delete", 2, 2),
        (2, "insert", 3, 3),
        (3, "delete", 1, 77),
        (3, "insert", 1, 77),
        (4, "delete", 3, 3),
    ]
