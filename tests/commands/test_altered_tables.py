"""What ALTER TABLE refuses beyond the observed cases: columns of the change feed, features."""

from __future__ import annotations

import pytest

from tests.commands.sql_database import Database, made
from whitecap.engine.errors import (
    DeltaError,
    InvalidInput,
    RefusedAtCommit,
    UnsupportedFeature,
)
from whitecap.engine.log.column_keys import COLUMN_ID

FEED = {"enableChangeDataFeed": "true"}
MAPPED = {"columnMapping.mode": "name"}


@pytest.mark.parametrize("name", ["_change_type", "_commit_version", "_commit_timestamp"])
def test_a_column_of_the_change_feed_is_refused_by_its_name(name: str) -> None:
    db = made(**FEED)
    with pytest.raises(DeltaError, match=rf"reserved columns \[{name}\]"):
        db.sql(f"ALTER TABLE t ADD COLUMN {name} STRING")


def test_a_table_that_has_such_a_column_gets_no_change_feed() -> None:
    db = made("k INT, _change_type STRING")
    with pytest.raises(DeltaError, match="already contains\nreserved columns"):
        db.sql("ALTER TABLE t SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")


def test_the_last_column_stays() -> None:
    db = made(**MAPPED)
    with pytest.raises(DeltaError, match="single column"):
        db.sql("ALTER TABLE t DROP COLUMNS (k, v)")
    db.sql("ALTER TABLE t DROP COLUMN k")
    assert db.snapshot("t").schema.names == ("v",)


def test_alter_column_makes_one_change_and_change_column_several() -> None:
    db = made()
    with pytest.raises(InvalidInput, match="one change at a time"):
        db.sql("ALTER TABLE t ALTER COLUMN v COMMENT 'wide' FIRST")
    db.sql("ALTER TABLE t CHANGE COLUMN v v BIGINT COMMENT 'wide' FIRST")
    assert db.snapshot("t").schema.names == ("v", "k")


def test_a_catalog_that_commits_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedFeature, match="catalogs that commit"):
        made().sql("ALTER TABLE t SET TBLPROPERTIES ('delta.feature.catalogManaged' = 'supported')")


def test_a_column_put_after_itself_stays_where_it_is() -> None:
    db = made("k INT, v BIGINT, s STRING")
    outcome = db.commit("ALTER TABLE t ALTER COLUMN v AFTER V")
    assert db.snapshot("t").schema.names == ("k", "v", "s")
    assert outcome.commit_info is not None
    parameters = outcome.commit_info.operation_parameters
    assert parameters is not None
    assert parameters["position"] == "AFTER V"


MANIFESTS = "delta.compatibility.symlinkFormatManifest.enabled"
VECTORS = "delta.enableDeletionVectors"


def _set(name: str, value: str) -> str:
    return f"ALTER TABLE t SET TBLPROPERTIES ('{name}' = '{value}')"


@pytest.mark.parametrize(("first", "second"), [(VECTORS, MANIFESTS), (MANIFESTS, VECTORS)])
def test_manifests_and_deletion_vectors_exclude_each_other(first: str, second: str) -> None:
    db = made()
    db.sql(_set(first, "true"))
    with pytest.raises(DeltaError, match="mutually exclusive"):
        db.sql(_set(second, "true"))


def test_manifests_wait_until_no_file_has_a_deletion_vector() -> None:
    db = made(enableDeletionVectors="true")
    db.sql("INSERT INTO t VALUES (1, 1), (2, 2)")
    db.sql("DELETE FROM t WHERE k = 1")
    db.sql(_set(VECTORS, "false"))
    with pytest.raises(DeltaError, match="while deletion vectors are present"):
        db.sql(_set(MANIFESTS, "true"))
    db.sql("REORG TABLE t APPLY (PURGE)")
    db.commit(_set(MANIFESTS, "true"))
    db.commit("ALTER TABLE t ADD COLUMN w INT")


def test_a_default_needs_its_feature_and_is_checked_before() -> None:
    db = made()
    with pytest.raises(InvalidInput, match="string is no int"):
        db.sql("ALTER TABLE t ALTER COLUMN k SET DEFAULT 'text'")
    with pytest.raises(RefusedAtCommit, match="feature was not enabled"):
        db.sql("ALTER TABLE t ALTER COLUMN k SET DEFAULT 5")


def test_the_log_has_the_default_of_new_rows_alone() -> None:
    db = made("k INT, v BIGINT DEFAULT 7", **{"feature.allowColumnDefaults": "supported"})
    assert dict(db.snapshot("t").schema.fields[1].metadata) == {"CURRENT_DEFAULT": "7"}


def test_columns_lose_their_mapping_in_as_many_files_as_spark_has_tasks() -> None:
    db = made(**MAPPED)
    for k in range(3):
        db.sql(f"INSERT INTO t VALUES ({k}, {k})")
    db.sql("ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'none')")
    assert db.snapshot("t").num_files == 2


def test_no_file_is_sorted_by_a_map() -> None:
    db = made("k INT, m MAP<STRING, INT>")
    db.sql("INSERT INTO t (k) VALUES (1)")
    with pytest.raises(DeltaError) as refused:
        db.sql("OPTIMIZE t ZORDER BY (k, m)")
    assert refused.value.exception == "SparkException"


@pytest.mark.parametrize(
    "column", ["k INT NOT NULL", "k INT DEFAULT 5", "k INT FIRST", "k INT GENERATED ALWAYS AS (1)"]
)
def test_replace_columns_takes_types_and_comments_alone(column: str) -> None:
    with pytest.raises(InvalidInput, match="REPLACE COLUMNS"):
        made().sql(f"ALTER TABLE t REPLACE COLUMNS ({column}, v BIGINT)")


def test_replace_columns_drops_columns_that_have_ids_and_not_null() -> None:
    db = made("k INT NOT NULL, v BIGINT, s STRING", **MAPPED)
    db.sql("ALTER TABLE t REPLACE COLUMNS (v BIGINT, k INT)")
    schema = db.snapshot("t").schema
    assert (schema.names, [column.nullable for column in schema]) == (("v", "k"), [True, True])
    with pytest.raises(DeltaError, match=r"dropping column\(s\) \[k\]"):
        db.sql("ALTER TABLE t REPLACE COLUMNS (v BIGINT, w INT)")


def test_replace_columns_leaves_a_limit_and_takes_none() -> None:
    db = made("k INT, c VARCHAR(5)")
    with pytest.raises(DeltaError, match=r"from string to varchar\(9\)"):
        db.sql("ALTER TABLE t REPLACE COLUMNS (k INT, c VARCHAR(9))")
    db.sql("ALTER TABLE t REPLACE COLUMNS (k INT, c STRING)")
    with pytest.raises(DeltaError, match="length\\(c\\) <= 5"):
        db.sql("INSERT INTO t VALUES (1, 'abcdef')")


def test_a_merge_into_an_append_only_table_is_refused_when_it_commits() -> None:
    db = made(appendOnly="true")
    db.sql("INSERT INTO t VALUES (1, 1)")
    with pytest.raises(RefusedAtCommit, match="only allow appends"):
        db.sql("MERGE INTO t USING (SELECT 1 AS i) s ON t.k = s.i WHEN MATCHED THEN DELETE")


OVERWRITE = "INSERT OVERWRITE t WITH ('overwriteSchema' = 'true') SELECT"


def _mapped(db: Database) -> dict[str, tuple[int, str]]:
    """Each column's id, and its name in data files."""
    columns = db.snapshot("t").schema
    return {c.name: (int(c.metadata[COLUMN_ID]), c.physical_name) for c in columns}


def test_an_overwritten_schema_keeps_what_mapped_columns_are_called_in_files() -> None:
    db = made(**MAPPED)
    before = _mapped(db)
    db.sql(f"{OVERWRITE} 1 AS K, CAST(2 AS BIGINT) AS v, 3 AS n")
    after = _mapped(db)
    assert (after["K"], after["v"]) == (before["k"], before["v"])
    assert after["n"][0] == 3
    assert after["n"][1].startswith("col-")


def test_an_overwritten_column_of_another_type_is_a_new_one() -> None:
    db = made(**MAPPED)
    before = _mapped(db)
    db.sql(f"{OVERWRITE} 1 AS k, 'a' AS v")
    number, physical = _mapped(db)["v"]
    assert number == 3
    assert physical.startswith("col-")
    assert physical != before["v"][1]


@pytest.mark.parametrize("columns", ["1 AS k", "1 AS K, CAST(2 AS BIGINT) AS v"])
def test_a_change_feed_lets_no_write_drop_or_rename_mapped_columns(columns: str) -> None:
    db = made(**MAPPED, **FEED)
    db.sql("INSERT INTO t VALUES (1, 1)")
    version = db.snapshot("t").version
    with pytest.raises(DeltaError) as refused:
        db.sql(f"{OVERWRITE} {columns}")
    error_class = "DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION"
    assert refused.value.exception == "DeltaUnsupportedOperationException"
    assert refused.value.error_class == error_class
    assert db.snapshot("t").version == version


def test_a_change_feed_lets_mapped_columns_be_dropped_alone_and_be_added_by_a_write() -> None:
    db = made(**MAPPED, **FEED)
    db.sql(f"{OVERWRITE} 1 AS k, CAST(2 AS BIGINT) AS v, 3 AS n")
    db.commit("ALTER TABLE t DROP COLUMN n")
