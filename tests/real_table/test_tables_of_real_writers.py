"""Runs that begin with tables which others wrote: this simulator, delta-rs, Delta Lake on Spark."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from click.testing import CliRunner
from deltalake import DeltaTable, write_deltalake

from tests.real_table.beginnings import beginning_with, fingerprint
from tests.sim.sim_worlds import steps_of
from whitecap.cli import main
from whitecap.exit_codes import ExitCode
from whitecap.sim.loading import load_scenario, scenario_of
from whitecap.sim.oracles.runs.of_run import judge
from whitecap.sim.run import FinishedRun, run_scenario
from whitecap.sim.table.export import export_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAYS = [dt.date(2026, 1, day) for day in (1, 2, 3)]


def _updated(place: Path, dialect: str) -> FinishedRun:
    """A run of UPDATEs of keys on a day, on the files of the table there with all their rows."""
    document = beginning_with(place, key="id", rows_each=1)
    document["dialect"] = dialect
    document["writers"]["loader"] |= {
        "count": 2,
        "statement": "UPDATE events SET amount = amount + 1 WHERE day = :day AND id IN (:keys)",
        "parameters": {"day": "uniform", "keys": {"keys": {"count": 3}}},
        "arrival": {"closed": {"think": "4 s"}},
    }
    return run_scenario(scenario_of(document))


def _require_sound(run: FinishedRun) -> None:
    assert judge(run).findings == ()
    updates = [step for step in steps_of(run) if step.operation == "UPDATE"]
    assert sum(step.files_removed for step in updates) > 1
    assert {step.rows_added for step in updates} == {0}


def _write_with_deltalake(place: Path) -> None:
    for number in range(6):
        ids = [(number * 50 + at) * 7919 % 10_007 for at in range(50)]
        rows = {
            "id": pa.array(ids, pa.int64()),
            "day": [DAYS[number % 3]] * 50,
            "amount": [float(at) for at in ids],
            "note": [f"n{at}" if at % 2 else None for at in ids],
            "tags": [["a", "b"]] * 50,
        }
        write_deltalake(place, pa.table(rows), mode="append", partition_by=["day"])
    DeltaTable(place).optimize.compact(partition_filters=[("day", "=", "2026-01-01")])
    DeltaTable(place).create_checkpoint()


def test_a_table_of_deltalake(tmp_path: Path) -> None:
    place = tmp_path / "sales"
    _write_with_deltalake(place)
    before = fingerprint(place)
    run = _updated(place, "delta-rs-1.6.3")
    assert fingerprint(place) == before
    files = run.world.tables[0].history.snapshot(1).all_files()
    actions = pa.table(DeltaTable(place).get_add_actions()).to_pydict()
    sizes = dict(zip(actions["path"], actions["size_bytes"], strict=True))
    assert {file.path: file.size for file in files} == sizes
    (real_table,) = run.recording.manifest["real_tables"].values()
    assert real_table["left_out"] == ["values of tags (array<string>), which is NULL"]
    _require_sound(run)


def test_an_exported_table_goes_on_where_it_ended(tmp_path: Path) -> None:
    """Rows that are not thinned out are as many as before, in the same files."""
    place = tmp_path / "events"
    document = beginning_with(place)
    document["table"] = {
        "schema": "id BIGINT, day DATE, amount DOUBLE",
        "partition_by": ["day"],
        "key": "id",
        "values": {"day": {"days": 3}},
        "initial": {"rows": 600, "rows_per_file": 20},
    }
    ended = run_scenario(scenario_of(document))
    export_table(ended.world.store, place)
    before = fingerprint(place)
    run = _updated(place, "delta-oss-4.4")
    assert fingerprint(place) == before
    begun = run.world.tables[0].history.snapshot(1).all_files()
    last = ended.world.tables[0].history.snapshot(ended.world.store.log.newest).all_files()
    assert [(f.path, f.size, f.partition_values, f.stats) for f in begun] == [
        (f.path, f.size, f.partition_values, f.stats) for f in last
    ]
    assert steps_of(run)[1].live_rows == steps_of(ended)[-1].live_rows == 600
    _require_sound(run)


def test_a_draft_that_begins_with_the_tables_files(tmp_path: Path) -> None:
    place, out = tmp_path / "sales", tmp_path / "mine.yaml"
    _write_with_deltalake(place)
    for number in range(50, 53):
        where = f"day = '2026-01-02' AND id = {number * 7919 % 10_007}"
        DeltaTable(place).update({"amount": "0"}, predicate=where)
    arguments = ["from-log", str(place), "--from-files", "--out", str(out)]
    drafted = CliRunner().invoke(main, arguments)
    assert drafted.exit_code == ExitCode.FINE, drafted.output
    assert "not in the log" not in drafted.output
    scenario = load_scenario(out)
    assert scenario.table is not None
    assert scenario.table.columns.startswith("id BIGINT, day DATE, amount DOUBLE, note STRING")
    update = str(scenario.writers["update"].statement)
    assert update == "UPDATE sales SET amount = amount + 1 WHERE day = :day AND id IN (:keys)"


def test_a_draft_with_other_names_cannot_begin_with_the_files(tmp_path: Path) -> None:
    refused = CliRunner().invoke(main, ["from-log", str(tmp_path), "--from-files", "--anonymise"])
    assert refused.exit_code == ExitCode.BAD_INPUT
    assert "names the table, which --anonymise does not" in refused.output


@pytest.mark.spark
def test_a_table_of_delta_spark(spark: SparkSession, tmp_path: Path) -> None:
    """With deletion vectors and mapped columns, whose names in files are other ones."""
    place = tmp_path / "sales"
    name = f"delta.`{place}`"
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, day DATE, amount DOUBLE) USING delta PARTITIONED BY (day)"
        " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true',"
        " 'delta.columnMapping.mode' = 'name', 'delta.isolationLevel' = 'Serializable')"
    )
    for number in range(4):
        spark.sql(
            f"INSERT INTO {name} SELECT id, date_add(DATE'2026-01-01', CAST(id % 2 AS INT)),"
            f" id * 1.0 FROM range({number * 100}, {number * 100 + 100}, 1, 1)"
        )
    spark.sql(f"DELETE FROM {name} WHERE id % 10 = 3")
    before = fingerprint(place)
    run = _updated(place, "delta-oss-4.4")
    assert fingerprint(place) == before
    snapshot = run.world.tables[0].history.snapshot(1)
    vectors = [file.deletion_vector for file in snapshot.all_files()]
    assert sum(vector.cardinality for vector in vectors if vector is not None) == 40
    assert steps_of(run)[1].live_rows == 360
    assert snapshot.configuration["delta.columnMapping.mode"] == "name"
    _require_sound(run)
