"""What Delta 3.3 does otherwise because it runs on Spark 3.5. Observed on Delta 3.3.2 there."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.commands.sql_database import Database
from whitecap.engine.dialects import DELTA_OSS_3_3, DELTA_OSS_4_4, Dialect
from whitecap.engine.errors import DeltaError
from whitecap.engine.log.protocols import feature_names
from whitecap.engine.settings import Settings
from whitecap.sim.loading import parse_scenario
from whitecap.sim.run import run_scenario

WIDENING = {"enableTypeWidening": "true"}


def _table(
    ddl: str, properties: Mapping[str, str] | None = None, dialect: Dialect = DELTA_OSS_3_3
) -> Database:
    db = Database()
    db.dialect = dialect
    db.create("t", ddl, **(properties or {}))
    return db


def _type(db: Database) -> str:
    (column,) = db.snapshot("t").schema
    return column.type


@pytest.mark.parametrize(
    ("old", "new"), [("TINYINT", "SMALLINT"), ("TINYINT", "INT"), ("SMALLINT", "INT")]
)
def test_small_numbers_are_widened_up_to_int(old: str, new: str) -> None:
    db = _table(f"v {old}", WIDENING)
    db.commit(f"ALTER TABLE t ALTER COLUMN v TYPE {new}")
    assert _type(db) == new.lower()


@pytest.mark.parametrize(
    ("old", "new"),
    [("INT", "BIGINT"), ("INT", "DOUBLE"), ("FLOAT", "DOUBLE"), ("DECIMAL(4,1)", "DECIMAL(6,2)")],
)
def test_no_other_type_is_widened(old: str, new: str) -> None:
    db = _table(f"v {old}", WIDENING)
    with pytest.raises(DeltaError) as refused:
        db.sql(f"ALTER TABLE t ALTER COLUMN v TYPE {new}")
    assert refused.value.exception == "DeltaAnalysisException"
    _table(f"v {old}", WIDENING, DELTA_OSS_4_4).commit(f"ALTER TABLE t ALTER COLUMN v TYPE {new}")


def test_a_write_that_evolves_the_schema_widens_no_further() -> None:
    for old, new, widened in (("SMALLINT", "INT", "int"), ("INT", "BIGINT", "int")):
        db = _table(f"v {old}", WIDENING)
        db.settings = Settings(schema_auto_merge=True)
        db.commit(f"INSERT INTO t SELECT CAST(5 AS {new}) AS v")
        assert _type(db) == widened


def test_type_widening_is_switched_on_as_its_preview() -> None:
    created, altered = _table("v SMALLINT", WIDENING), _table("v SMALLINT")
    altered.commit("ALTER TABLE t SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')")
    for db in (created, altered):
        names = feature_names(db.snapshot("t").protocol)
        assert "typeWidening-preview" in names
        assert "typeWidening" not in names


def test_a_table_that_has_the_feature_itself_gets_no_preview_of_it() -> None:
    db = _table("v SMALLINT", {"feature.typeWidening": "supported", **WIDENING})
    assert "typeWidening-preview" not in feature_names(db.snapshot("t").protocol)


SCENARIO = """
name: without-widening
dialect: delta-oss-3.3
duration: 1 min
table:
  name: t
  schema: "id BIGINT, v SMALLINT"
  key: id
  properties: {delta.enableTypeWidening: true}
  initial: {rows: 10, rows_per_file: 10}
store: {profile: instant}
writers:
  dropping:
    statement: "ALTER TABLE t DROP FEATURE `typeWidening-preview`"
    arrival: {schedule: {every: 1 min, offset: 5 s}}
"""


def test_the_table_of_a_scenario_has_the_preview_too() -> None:
    recording = run_scenario(parse_scenario(SCENARIO, "t.yaml")).recording
    assert recording.tables["transactions"].column("outcome").to_pylist()[-1] == "committed"
