"""Several engines on one table: each writer group checks its commits by its own dialect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from msgspec.structs import replace

from tests.sim.sim_worlds import INSERT, TABLE, UPDATE, document, ran, rows, scenario, steps_of
from whitecap.cli import main
from whitecap.engine.dialects import DELTA_OSS_4_4, DELTA_RS_1_6_6
from whitecap.engine.errors import InvalidInput
from whitecap.engine.isolation import IsolationLevel
from whitecap.scenarios import SCENARIOS
from whitecap.sim.history.damage import Damage
from whitecap.sim.history.walk import WalkedVersion
from whitecap.sim.loading import load_scenario
from whitecap.sim.oracles.runs.of_run import history_of
from whitecap.sim.replay.choice import named_run
from whitecap.sim.replay.plan import plan_replay
from whitecap.sim.run import FinishedRun, run_scenario

EVERY_MINUTE = {"schedule": {"every": "1 min"}}
COMPACTION: dict[str, Any] = {
    "statement": "OPTIMIZE events",
    "arrival": EVERY_MINUTE,
    "compute": {"constant": "20 s"},
    "stops": "1 min",
}
NOTHING_ELSE: dict[str, Any] = {"duration": "3 min", "store": {"profile": "instant"}}


def _two_compactions(second: str) -> FinishedRun:
    """Spark's and another one, of the same files, the other 5 s later."""
    late = {**COMPACTION, "starts": "5 s", "dialect": second}
    return ran(writers={"spark": COMPACTION, "other": late}, **NOTHING_ELSE)


def _endings(run: FinishedRun, group: str) -> list[str | None]:
    return [row["exception"] or row["outcome"] for row in rows(run) if row["writer_group"] == group]


@pytest.mark.parametrize("sound", ["delta-oss-4.4", "delta-rs-1.6.3"])
def test_of_two_compactions_the_second_gives_up_where_its_engine_looks(sound: str) -> None:
    run = _two_compactions(sound)
    assert _endings(run, "spark") == ["committed"]
    assert _endings(run, "other")[0] in (
        "ConcurrentDeleteDeleteException",
        "ConcurrentDeleteReadException",
    )
    assert run.recording.manifest["live_rows"] == TABLE["initial"]["rows"]
    assert "damage" not in run.recording.manifest


def test_where_it_does_not_look_every_row_is_there_twice_and_counted() -> None:
    run = _two_compactions("delta-rs-1.6.6")
    assert _endings(run, "other") == ["committed"]
    assert run.recording.manifest["live_rows"] == 2 * TABLE["initial"]["rows"]
    assert steps_of(run)[-1].live_rows == 2 * TABLE["initial"]["rows"]
    files = TABLE["initial"]["rows"] // TABLE["initial"]["rows_per_file"]
    assert run.recording.manifest["damage"] == {
        "commits": 1,
        "files_removed_again": files,
        "first_version": 3,
    }


def test_an_append_of_another_engine_is_no_blind_append_to_those_who_trust_them() -> None:
    """Under WriteSerializable an update overlooks Spark's appends, not those of delta-rs."""

    def conflicts(appends_by: str) -> set[str]:
        changes = {"writers.loader.dialect": appends_by, "table.isolation": "WriteSerializable"}
        run = ran(changes, writers={"loader": {**INSERT, "count": 3}, "corrector": UPDATE})
        return {row["exception"] for row in rows(run) if row["writer_group"] == "corrector"}

    assert "ConcurrentAppendException" not in conflicts("delta-oss-4.4")
    assert "ConcurrentAppendException" in conflicts("delta-rs-1.6.6")


def test_a_group_whose_dialect_is_that_of_the_scenario_changes_nothing_but_its_name() -> None:
    plain, named = ran(), ran({"writers.loader.dialect": "delta-oss-4.4"})
    for table in ("transactions", "attempts", "commits"):
        assert rows(plain, table) == rows(named, table)
    assert plain.recording.manifest["dialect"] == "delta-oss-4.4"
    assert named.recording.manifest["dialect"] == "delta-oss-4.4, loader delta-oss-4.4"


def test_a_scenario_without_such_groups_keeps_its_hash() -> None:
    assert scenario().hash == scenario({"writers.loader.dialect": None}).hash
    assert scenario().hash != scenario({"writers.loader.dialect": "delta-oss-4.4"}).hash


def _refused(**changes: Any) -> str:
    with pytest.raises(InvalidInput) as refused:
        scenario(changes)
    return str(refused.value)


def test_a_dialect_that_is_not_there_is_refused_with_those_that_are() -> None:
    said = _refused(**{"writers.loader.dialect": "delta-rs-9"})
    assert "writers.loader.dialect" in said
    assert "delta-rs-1.6.6" in said


@pytest.mark.parametrize(
    ("properties", "feature"),
    [
        ({"delta.enableRowTracking": True}, "rowTracking"),
        ({"delta.enableInCommitTimestamps": True}, "inCommitTimestamp"),
    ],
)
def test_a_table_that_the_engine_cannot_write_is_refused_before_the_run(
    properties: dict[str, Any], feature: str
) -> None:
    table = {**TABLE, "properties": properties}
    scenario(table=table)
    with pytest.raises(InvalidInput) as refused:
        scenario({"writers.loader.dialect": "delta-rs-1.6.6"}, table=table)
    assert "writers.loader.statement" in str(refused.value)
    assert f"{feature}]: delta-rs-1.6.6 cannot write it" in str(refused.value)


def test_statements_and_streams_that_the_engine_has_not_are_refused() -> None:
    stream = {
        "streaming": {"checkpoint": "c", "rows": {"count": 3}},
        "arrival": EVERY_MINUTE,
        "dialect": "delta-rs-1.6.3",
    }
    drop = {**INSERT, "statement": "ALTER TABLE events DROP COLUMN country", "parameters": {}}
    with pytest.raises(InvalidInput) as refused:
        scenario(writers={"stream": stream, "drop": {**drop, "dialect": "delta-rs-1.6.3"}})
    assert "the package has no streaming queries" in str(refused.value)
    assert "DROP COLUMNS is not part of delta-rs-1.6.3" in str(refused.value)


def test_writers_of_one_cluster_are_one_program_of_one_dialect() -> None:
    here = {**INSERT, "cluster": "etl"}
    with pytest.raises(InvalidInput, match="is one program, of one dialect"):
        scenario(writers={"a": here, "b": {**here, "dialect": "delta-rs-1.6.6"}})


def test_of_the_settings_a_group_has_those_of_its_own_dialect() -> None:
    settings = {"spark.sql.sources.partitionOverwriteMode": "DYNAMIC"}
    mixed = scenario({"writers.loader.dialect": "delta-rs-1.6.6"}, settings=settings)
    loader, corrector = (mixed.settings_of(mixed.writers[n]) for n in ("loader", "corrector"))
    assert (loader.partition_overwrite_mode, corrector.partition_overwrite_mode) == (
        "STATIC",
        "DYNAMIC",
    )


def test_the_settings_of_the_scenario_must_be_of_its_own_dialect() -> None:
    settings = {"spark.sql.sources.partitionOverwriteMode": "DYNAMIC"}
    with pytest.raises(InvalidInput, match="is not part of delta-rs"):
        scenario(dialect="delta-rs-1.6.6", settings=settings)


def test_a_run_of_several_engines_is_doubted_where_one_of_them_is_not_delta(tmp_path: Path) -> None:
    run_scenario(scenario({"writers.corrector.dialect": "delta-rs-1.6.6"}), out=tmp_path / "run")
    plan = plan_replay(named_run(tmp_path / "run"))
    assert plan.doubt == "delta-rs-1.6.6 is not Delta Lake 4.4.0"


def test_damage_is_told_with_the_run(tmp_path: Path) -> None:
    late = {**COMPACTION, "starts": "5 s", "dialect": "delta-rs-1.6.6"}
    file = tmp_path / "two.yaml"
    parts = {"writers": {"spark": COMPACTION, "other": late}, **NOTHING_ELSE}
    file.write_text(yaml.safe_dump(document(**parts)))
    shown = CliRunner().invoke(main, ["run", str(file)], env={"COLUMNS": "1000"})
    assert "Damage: 1 commit, from version 3 on, removed 6 files" in shown.output
    asked = CliRunner().invoke(main, ["run", str(file), "--json"])
    assert json.loads(asked.stdout)["damage"]["commits"] == 1


def test_of_engines_with_different_defaults_the_weaker_level_is_what_a_table_promises() -> None:
    spark = ran(**NOTHING_ELSE)
    assert history_of(spark).promise.level is IsolationLevel.SERIALIZABLE
    mixed = ran({"writers.loader.dialect": "databricks-14.3"}, **NOTHING_ELSE)
    assert history_of(mixed).promise.level is IsolationLevel.WRITE_SERIALIZABLE


def test_damage_of_a_sound_engine_is_not_excused_by_another_one_on_its_table() -> None:
    mixed = scenario({"writers.loader.dialect": "delta-rs-1.6.6"})
    damage = Damage(mixed)
    of_spark = WalkedVersion(
        version=7,
        transaction_id=1,
        landed_at_ms=0.0,
        operation="OPTIMIZE",
        files_added=1,
        files_removed=1,
        live_files=1,
        size_bytes=1,
        rows_added=0,
        live_rows=1,
        engine_info=DELTA_OSS_4_4.engine_info,
        faults=("removes a, which is not live",),
    )
    assert damage.unless_expected(of_spark) == ["version 7 removes a, which is not live"]
    assert not damage.document()
    of_the_other = replace(of_spark, engine_info=DELTA_RS_1_6_6.engine_info)
    assert not damage.unless_expected(of_the_other)
    assert damage.document()["damage"]["first_version"] == 7


def test_the_bundled_scenario_damages_its_table_with_the_newer_delta_rs_alone() -> None:
    """Its compactions add rows again that Spark's, after commits, have added already."""
    file = SCENARIOS / "mixed-engines.yaml"
    newer = run_scenario(load_scenario(file)).recording.manifest
    older = run_scenario(load_scenario(file, {"writers.compactor.dialect": "delta-rs-1.6.3"}))
    assert newer["damage"]["commits"] >= 1
    assert "damage" not in older.recording.manifest
    assert newer["live_rows"] > older.recording.manifest["live_rows"]
