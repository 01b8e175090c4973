"""What refusals say: Delta's templates, with the values that the engine knows.

Source: delta-error-classes.json of Delta Lake 4.4.0, DeltaErrors.scala; seen there, but for the
brackets that Spark puts into the conditions of a CHECK.
"""

from __future__ import annotations

import pytest

from tests.commands.sql_database import Database
from whitecap.engine.commands import SharedTable
from whitecap.engine.errors import DeltaError
from whitecap.engine.log.properties import interval_text

T = "CREATE TABLE t (id INT NOT NULL, v INT, s VARCHAR(3), p STRING) USING delta"
CLUSTERED = "CREATE TABLE c (id INT, v INT) USING delta CLUSTER BY (id)"
CHECKED = "ALTER TABLE t ADD CONSTRAINT pos CHECK (v > 0)"
ADVICE = """
Please enable Column Mapping on your Delta table with mapping mode 'name'.
You can use one of the following commands.

ALTER TABLE table_name SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')

Note, if your table is not on the required protocol version it will be upgraded.
Column mapping requires at least protocol (2, 5)
"""

TEXTS = [
    (
        ["INSERT INTO c VALUES (1, 1)"],
        "REPLACE TABLE c SHALLOW CLONE t",
        "[DELTA_UNSUPPORTED_NON_EMPTY_CLONE] The clone destination table is non-empty. Please"
        " TRUNCATE or DELETE FROM the table before running CLONE.",
    ),
    (
        [],
        "ALTER TABLE t DROP CONSTRAINT pos",
        "[DELTA_CONSTRAINT_DOES_NOT_EXIST] Cannot drop nonexistent constraint pos from table"
        " `default`.`t`. To avoid throwing an error, provide the parameter IF EXISTS or set the SQL"
        " session configuration spark.databricks.delta.constraints.assumesDropIfExists.enabled to"
        " true.",
    ),
    (
        [],
        "ALTER TABLE t SET TBLPROPERTIES ('delta.feature.clustering' = 'supported')",
        "[DELTA_ALTER_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED] Cannot enable clustering"
        " table feature using ALTER TABLE SET TBLPROPERTIES. Please use CREATE OR REPLACE TABLE"
        " CLUSTER BY to create a Delta table with clustering.",
    ),
    (
        [],
        "CREATE TABLE n (id INT) USING delta TBLPROPERTIES"
        " ('delta.feature.clustering' = 'supported')",
        "[DELTA_CREATE_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED] Cannot enable clustering"
        " table feature using TBLPROPERTIES. Please use CREATE OR REPLACE TABLE CLUSTER BY to"
        " create a Delta table with clustering.",
    ),
    (
        [],
        "INSERT INTO t VALUES (1, 2, 'a')",
        "[DELTA_INSERT_COLUMN_ARITY_MISMATCH] Cannot write to 'spark_catalog.default.t', not enough"
        " data columns; target table has 4 column(s) but the inserted data has 3 column(s)",
    ),
    (
        [],
        "INSERT INTO t VALUES (NULL, 2, 'a', 'x')",
        "[DELTA_NOT_NULL_CONSTRAINT_VIOLATED] NOT NULL constraint violated for column: id.",
    ),
    (
        [CHECKED],
        "INSERT INTO t VALUES (1, NULL, 'a', 'x')",
        "[DELTA_VIOLATE_CONSTRAINT_WITH_VALUES] CHECK constraint pos (v > 0) violated by row with"
        " values:\n - v : null",
    ),
    (
        ["ALTER TABLE t ADD CONSTRAINT k CHECK (v > 0 OR s = 'b')"],
        "INSERT INTO t VALUES (1, -2, 'a', 'x')",
        "[DELTA_VIOLATE_CONSTRAINT_WITH_VALUES] CHECK constraint k (v > 0 OR s = 'b') violated by"
        " row with values:\n - s : a\n - v : -2",
    ),
    (
        [],
        "INSERT INTO t VALUES (1, 2, 'long', 'x')",
        '[DELTA_EXCEED_CHAR_VARCHAR_LIMIT] Value "long" exceeds char/varchar type length'
        " limitation. Failed check: ((s IS NULL) OR (length(s) <= 3)).",
    ),
    (
        [CHECKED, "ALTER TABLE t ADD CONSTRAINT top CHECK (id > 0)"],
        "ALTER TABLE t DROP FEATURE checkConstraints",
        "[DELTA_CANNOT_DROP_CHECK_CONSTRAINT_FEATURE] Cannot drop the CHECK constraints table"
        " feature.\nThe following constraints must be dropped first: `pos`, `top`.",
    ),
    (
        [],
        "VACUUM t RETAIN 0 HOURS",
        "[DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT] The specified VACUUM retention period is too low"
        " and may corrupt this Delta table if any writes are in progress.\n\nIf no operations"
        " (insert, upsert, delete, optimize) are running, you can disable this safety check by"
        " setting:\ndelta.retentionDurationCheck.enabled = false\n\nOtherwise, use a retention"
        " period of at least 168 hours.",
    ),
    (
        [
            "ALTER TABLE t SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true',"
            " 'delta.logRetentionDuration' = 'interval 2 weeks')",
        ],
        "ALTER TABLE t DROP FEATURE deletionVectors TRUNCATE HISTORY",
        "[DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD] Dropping deletionVectors was partially"
        " successful.\n\nThe feature is now no longer used in the current version of the table."
        " However, the feature\nis still present in historical versions of the table. The table"
        " feature cannot be dropped\nfrom the table protocol until these historical versions have"
        " expired.\n\nTo drop the table feature from the protocol, please wait for the historical"
        " versions to\nexpire, and then repeat this command. The retention period for historical"
        " versions is\ncurrently configured as delta.logRetentionDuration=14 days.\n\n"
        "Alternatively, please wait for the TRUNCATE HISTORY retention period to expire (24 hours)"
        "\nand then run:\n    ALTER TABLE table_name DROP FEATURE feature_name TRUNCATE HISTORY",
    ),
    (
        [],
        "ALTER TABLE t DROP COLUMN v",
        f"[DELTA_UNSUPPORTED_DROP_COLUMN] DROP COLUMN is not supported for your Delta table."
        f" {ADVICE}",
    ),
    (
        [],
        "ALTER TABLE t RENAME COLUMN v TO w",
        "[DELTA_UNSUPPORTED_RENAME_COLUMN] Column rename is not supported for your Delta table."
        f" {ADVICE}",
    ),
    (
        [],
        "ALTER TABLE c CLUSTER BY (v, v)",
        "[DELTA_DUPLICATE_COLUMNS_FOUND.CLUSTER_BY] Found duplicate column(s): `v`. The duplicate"
        " was found in CLUSTER BY.",
    ),
    (
        [CHECKED],
        "ALTER TABLE t DROP FEATURE checkConstraints TRUNCATE HISTORY",
        "[DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED] The particular feature does not"
        " require history truncation.",
    ),
]


@pytest.mark.parametrize(("before", "statement", "text"), TEXTS)
def test_a_refusal_says_what_delta_says(before: list[str], statement: str, text: str) -> None:
    db = Database()
    db.shared = {name: SharedTable() for name in ("t", "c", "n")}
    for each in (T, CLUSTERED, *before):
        db.sql(each)
    with pytest.raises(DeltaError) as refused:
        db.sql(statement)
    assert refused.value.message == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("interval 30 days", "30 days"),
        ("interval 1 week", "7 days"),
        ("interval 1 week 1 day 36 hours", "8 days 36 hours"),
        ("90 minutes 1 second 500 milliseconds", "1 hours 30 minutes 1.5 seconds"),
        ("interval 0 days", "0 seconds"),
    ],
)
def test_an_interval_is_written_as_spark_writes_it(text: str, shown: str) -> None:
    assert interval_text(text) == shown
