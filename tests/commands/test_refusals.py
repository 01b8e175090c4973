"""What Delta 4.4 on Spark 4.2 refuses, under the exception and error class seen there."""

from __future__ import annotations

import pytest

from tests.commands.sql_database import Database
from whitecap.engine.commands import SharedTable
from whitecap.engine.errors import DeltaError, InvalidInput
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.sql.parsing.table_statements import CreateTable

IN_PLAN = "ExtendedAnalysisException"
UNCHANGED = "SparkException", "UNSUPPORTED_TABLE_CHANGE"
SET = "ALTER TABLE t SET TBLPROPERTIES"
MERGE = "MERGE INTO t USING s ON t.x = s.x AND t.v = s.v"

REFUSED = [
    (f"{SET} ('owner' = 'me')", "ParseException", "UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY"),
    (f"{SET} ('a' = 'b', 'a' = 'c')", "ParseException", "DUPLICATE_KEY"),
    (f"{SET} ('delta.nosuch' = '1')", "DeltaAnalysisException", "DELTA_UNKNOWN_CONFIGURATION"),
    (f"{SET} ('delta.appendOnly' = 'maybe')", *UNCHANGED),
    (f"{SET} ('delta.checkpointInterval' = '0')", *UNCHANGED),
    (f"{SET} ('delta.checkpointPolicy' = 'x')", *UNCHANGED),
    (f"{SET} ('delta.isolationLevel' = 'WriteSerializable')", *UNCHANGED),
    (f"{SET} ('delta.logRetentionDuration' = 'interval 3 days')", *UNCHANGED),
    (
        f"{SET} ('delta.logRetentionDuration' = 'abc')",
        "DeltaIllegalArgumentException",
        "DELTA_INVALID_INTERVAL",
    ),
    (
        f"{SET} ('delta.feature.nosuch' = 'supported')",
        "DeltaTableFeatureException",
        "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG",
    ),
    (f"{SET} ('delta.columnMapping.mode' = 'x')", "ColumnMappingUnsupportedException", None),
    (
        f"{SET} ('delta.dataSkippingStatsColumns' = 'nope')",
        "DeltaAnalysisException",
        "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
    ),
    (
        "ALTER TABLE t ADD COLUMN w INT DEFAULT 5",
        "DeltaAnalysisException",
        "WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED",
    ),
    (
        "ALTER TABLE t ALTER COLUMN v SET DEFAULT 5",
        "DeltaAnalysisException",
        "WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED",
    ),
    (
        "ALTER TABLE t REPLACE COLUMNS (x INT)",
        "DeltaAnalysisException",
        "DELTA_UNSUPPORTED_ALTER_TABLE_REPLACE_COL_OP",
    ),
    ("ALTER TABLE t CHANGE v w BIGINT", "ParseException", "_LEGACY_ERROR_TEMP_0034"),
    (
        "OPTIMIZE t ZORDER BY (nope)",
        "DeltaIllegalArgumentException",
        "DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST",
    ),
    ("OPTIMIZE t FULL", "DeltaUnsupportedOperationException", "DELTA_OPTIMIZE_FULL_NOT_SUPPORTED"),
    (
        "VACUUM t RETAIN 0 HOURS",
        "DeltaIllegalArgumentException",
        "DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT",
    ),
    (
        "TRUNCATE TABLE t PARTITION (x = 1)",
        "DeltaAnalysisException",
        "DELTA_TRUNCATE_TABLE_PARTITION_NOT_SUPPORTED",
    ),
    ("DELETE FROM t WHERE rand() < 2", IN_PLAN, "INVALID_NON_DETERMINISTIC_EXPRESSIONS"),
    ("UPDATE t SET v = 1 WHERE rand() > 2", IN_PLAN, "INVALID_NON_DETERMINISTIC_EXPRESSIONS"),
    ("DELETE FROM t WHERE nope = 1", IN_PLAN, "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
    ("DELETE FROM t WHERE x = DATE'2026-01-01'", IN_PLAN, "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES"),
    ("DELETE FROM t WHERE x = 1 AND", "ParseException", "PARSE_SYNTAX_ERROR"),
    (
        f"{MERGE} WHEN MATCHED THEN DELETE WHEN MATCHED THEN UPDATE SET v = 1",
        "ParseException",
        "NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION",
    ),
    (f"{MERGE} WHEN MATCHED THEN DO NOTHING", "ParseException", "PARSE_SYNTAX_ERROR"),
    (f"{MERGE} WHEN NOT MATCHED THEN INSERT VALUES (1)", "ParseException", "PARSE_SYNTAX_ERROR"),
]


@pytest.mark.parametrize(("sql", "exception", "error_class"), REFUSED)
def test_what_is_refused_has_spark_s_words(
    db: Database, sql: str, exception: str, error_class: str | None
) -> None:
    db.create("s", "x INT, v BIGINT")
    with pytest.raises((DeltaError, InvalidInput)) as refused:
        db.sql(sql)
    raised = refused.value
    error = raised if isinstance(raised, DeltaError) else raised.as_refusal()  # type: ignore[attr-defined]
    assert error is not None
    assert (error.exception, error.error_class) == (exception, error_class)


@pytest.mark.parametrize("spelling", ["CHECKCONSTRAINTS", "checkconstraints"])
def test_a_feature_is_dropped_in_its_own_spelling_alone(spelling: str) -> None:
    made = Database()
    made.create("t", "x INT", **{"feature.checkConstraints": "supported"})
    with pytest.raises(DeltaError) as refused:
        made.sql(f"ALTER TABLE t DROP FEATURE {spelling}")
    assert refused.value.error_class == "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT"
    made.sql("ALTER TABLE t DROP FEATURE checkConstraints")


@pytest.mark.parametrize("last", ["rowTrackingSuspended", "enableRowTracking"])
def test_row_tracking_is_not_both_on_and_suspended(last: str) -> None:
    made = Database()
    made.create("t", "x INT")
    made.sql("INSERT INTO t VALUES (1)")
    first = {"rowTrackingSuspended", "enableRowTracking"} - {last}
    made.sql(f"{SET} ('delta.{first.pop()}' = 'true')")
    with pytest.raises(DeltaError) as refused:
        made.sql(f"{SET} ('delta.{last}' = 'true')")
    assert refused.value.error_class == "DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION"


@pytest.mark.parametrize(
    ("clause", "why"),
    [
        ("WHEN MATCHED THEN UPDATE SET t.w = s.w", "a new one is named without the table"),
        ("WHEN NOT MATCHED THEN INSERT (x, t.w) VALUES (s.x, s.w)", "named without the table"),
        ("WHEN NOT MATCHED BY SOURCE THEN UPDATE SET w = 1", "does for what a source has"),
    ],
)
def test_a_column_that_no_evolution_makes_is_refused_with_the_reason(clause: str, why: str) -> None:
    made = Database()
    made.create("t", "x INT")
    made.create("s", "x INT, w INT")
    with pytest.raises(InvalidInput, match=why):
        made.sql(f"MERGE WITH SCHEMA EVOLUTION INTO t USING s ON t.x = s.x {clause}")


def test_a_comment_of_a_partition_column_is_no_function_of_it() -> None:
    sql = "CREATE TABLE t (x INT) USING delta PARTITIONED BY (d DATE COMMENT 'days (UTC)')"
    created = parse_statement(sql)
    assert isinstance(created, CreateTable)
    assert created.partition_columns == ("d",)


@pytest.mark.parametrize("unclustered", [False, True])
@pytest.mark.parametrize(
    "replacing",
    [
        "REPLACE TABLE t (x INT, y INT) USING delta PARTITIONED BY (x)",
        "CREATE OR REPLACE TABLE t USING delta PARTITIONED BY (x) AS SELECT 1 AS x, 2 AS y",
    ],
)
def test_a_clustered_table_is_not_replaced_by_a_partitioned_one(
    replacing: str, unclustered: bool
) -> None:
    made = Database()
    made.create("t", "x INT, y INT")
    made.sql("ALTER TABLE t CLUSTER BY (x)")
    if unclustered:
        made.sql("ALTER TABLE t CLUSTER BY NONE")
    with pytest.raises(DeltaError) as refused:
        made.sql(replacing)
    error_class = "DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE"
    assert refused.value.error_class == error_class
    made.sql("REPLACE TABLE t (x INT, y INT) USING delta")


@pytest.mark.parametrize("partitions", ["id", "x, ID"])
def test_a_table_is_not_partitioned_by_an_identity_column(partitions: str) -> None:
    made = Database()
    made.shared["t"] = SharedTable()
    columns = "id BIGINT GENERATED BY DEFAULT AS IDENTITY, x INT, y INT"
    with pytest.raises(DeltaError, match="PARTITIONED BY IDENTITY column id") as refused:
        made.sql(f"CREATE TABLE t ({columns}) USING delta PARTITIONED BY ({partitions})")
    assert refused.value.error_class == "DELTA_IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED"
    made.sql(f"CREATE TABLE t ({columns}) USING delta PARTITIONED BY (x)")
