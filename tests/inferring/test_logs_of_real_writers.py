"""Logs that real engines wrote: delta-rs by its Python package, and Delta Lake on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from whitecap.sim.inferring.drafting import DraftedScenario, draft_of
from whitecap.sim.inferring.evidence.figures import Surety
from whitecap.sim.inferring.log.observed import observe
from whitecap.sim.inferring.text import Options
from whitecap.sim.loading import parse_scenario
from whitecap.sim.run import run_scenario

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TIMES = 3
MINUTES_MS = 180_000


def _drafted(folder: Path) -> DraftedScenario:
    return draft_of(observe(str(folder), 100), Options())


def _require_that_it_runs(draft: DraftedScenario) -> None:
    """Whatever rates the machine's speed made: its groups take turns of a second."""
    names = (writer.group.name for writer in draft.writers)
    changes = {f"writers.{name}.arrival": {"closed": {"think": "1 s"}} for name in names}
    run = run_scenario(
        parse_scenario(draft.text, changes=changes, cells=False), until_ms=MINUTES_MS
    )
    assert {row["writer_group"] for row in run.recording.transactions.to_pylist()} == set(
        parse_scenario(draft.text).writers
    )


def _commits(draft: DraftedScenario) -> dict[str, int]:
    return {writer.group.name: len(writer.group.commits) for writer in draft.writers}


def test_a_log_of_deltalake_becomes_a_scenario(tmp_path: Path) -> None:
    place = tmp_path / "sales"
    days = ["2026-01-01", "2026-01-02", "2026-01-03"]
    for number in range(9):
        ids, day = list(range(number * 10, number * 10 + 10)), [days[number % 3]] * 10
        rows = pa.table({"id": ids, "day": day, "amount": [1.0] * 10})
        write_deltalake(place, rows, mode="append", partition_by=["day"])
    table = DeltaTable(place)
    for number in range(TIMES):
        table.delete(f"day = '2026-01-01' AND id IN ({number}, {number + 30})")
        table.update({"amount": "amount + 1"}, predicate="day = '2026-01-02'")
        source = pa.table(
            {"id": [15, 1000 + number], "day": ["2026-01-02"] * 2, "amount": [5.0] * 2}
        )
        on = "t.id = s.id AND t.day = '2026-01-02'"
        merge = table.merge(source, on, source_alias="s", target_alias="t")
        merge.when_matched_update_all().when_not_matched_insert_all().execute()

    draft = _drafted(place)
    # The append that created the table is in no group.
    assert _commits(draft) == {"insert": 8, "delete": TIMES, "update": TIMES, "merge": TIMES}
    scenario = parse_scenario(draft.text)
    assert scenario.dialect == "delta-rs-1.6.3"
    assert scenario.table is not None
    assert (scenario.table.partition_by, scenario.table.key) == (["day"], "id")
    statements = {name: str(group.statement) for name, group in scenario.writers.items()}
    assert statements["update"].endswith("WHERE day = :day")
    assert statements["delete"].endswith("WHERE day = :day AND id IN (:keys)")
    assert "ON t.id = s.id AND t.day = :day" in statements["merge"]
    assert scenario.writers["merge"].parameters["rows"].rows is not None
    assert scenario.writers["merge"].parameters["rows"].rows.existing == 0.5
    assert "executionTimeMs of 3 commits" in draft.text
    _require_that_it_runs(draft)


@pytest.mark.spark
def test_a_log_of_delta_spark_becomes_a_scenario(spark: SparkSession, tmp_path: Path) -> None:
    place = tmp_path / "sales"
    name = f"delta.`{place}`"
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, day DATE, amount DOUBLE) USING delta"
        " PARTITIONED BY (day) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true',"
        " 'delta.checkpointInterval' = '5', 'delta.logRetentionDuration' = 'interval 8 days')"
    )
    for number in range(TIMES):
        rows = f"({number * 2}, DATE'2026-01-01', 1.0), ({number * 2 + 1}, DATE'2026-01-02', 1.0)"
        spark.sql(f"INSERT INTO {name} VALUES {rows}")
    for number in range(TIMES):
        spark.sql(f"UPDATE {name} SET amount = amount + 1 WHERE day = DATE'2026-01-01'")
        spark.sql(f"DELETE FROM {name} WHERE day = DATE'2026-01-02' AND id = {number * 2 + 1}")
        spark.sql(
            f"MERGE INTO {name} t USING (SELECT * FROM VALUES (0L, DATE'2026-01-01', 9.0D),"
            f" ({number + 100}L, DATE'2026-01-01', 9.0D) AS v(id, day, amount)) s ON t.id = s.id"
            " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )

    draft = _drafted(place)
    assert _commits(draft) == {
        "insert": TIMES, "update": TIMES, "delete": TIMES, "merge": TIMES,
    }  # fmt: skip
    sureties = {w.group.name: w.window.figure.surety for w in draft.writers}
    assert {sureties[name] for name in ("update", "delete", "merge")} == {Surety.FITTED}
    assert sureties["insert"] is Surety.ASSUMED
    scenario = parse_scenario(draft.text)
    assert scenario.dialect == "delta-oss-4.4"
    assert scenario.table is not None
    assert scenario.table.properties["delta.enableDeletionVectors"] == "true"
    assert scenario.table.log is not None
    assert scenario.table.log.checkpoint_interval == 5
    statements = {name: str(group.statement) for name, group in scenario.writers.items()}
    assert statements["update"].endswith("WHERE day = :day")
    assert statements["delete"].endswith("WHERE day = :day AND id IN (:keys)")
    assert "ON t.id = s.id\n" in statements["merge"] or "ON t.id = s.id WHEN" in statements["merge"]
    merged = scenario.writers["merge"].parameters["rows"].rows
    assert merged is not None
    assert (merged.count, merged.existing) == (2, 0.5)
    _require_that_it_runs(draft)
