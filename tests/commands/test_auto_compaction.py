"""Auto compaction: which commits it follows, and what it does then."""

from __future__ import annotations

import pytest

from tests.commands.observing import appends, database, observed, rearranges
from tests.commands.sql_database import made
from whitecap.engine.dialects import DATABRICKS_13_3, DATABRICKS_14_3, Dialect
from whitecap.engine.settings import Settings


def test_auto_compaction_follows_the_commit_that_makes_it_due() -> None:
    db = database(**{"autoOptimize.autoCompact": "true"})
    db.settings = Settings(auto_compact_min_files=3)
    assert observed(db, "INSERT INTO t VALUES (1, 7)") == [
        appends(),
        rearranges("OPTIMIZE", "x IS NOT DISTINCT FROM CAST('1' AS INT)", 3, "1 add-, 3 remove-"),
    ]


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("DELETE FROM t WHERE v = 100", None),
        ("RESTORE TABLE t TO VERSION AS OF 2", "DELETE FROM t"),
    ],
)
def test_nothing_is_compacted_after_a_commit_that_wrote_no_data_file(
    text: str, before: str | None
) -> None:
    db = database(**{"autoOptimize.autoCompact": "true", "enableDeletionVectors": "true"})
    if before is not None:
        db.sql(before)
    db.settings = Settings(auto_compact_min_files=1)
    assert [commit.operation for commit in observed(db, text)] == [text.partition(" ")[0]]


def test_a_clustered_table_is_clustered_as_by_optimize() -> None:
    db = made(**{"autoOptimize.autoCompact": "true"})
    db.sql("ALTER TABLE t CLUSTER BY (k)")
    db.sql("INSERT INTO t VALUES (1, 1)")
    db.settings = Settings(auto_compact_min_files=2)
    db.sql("INSERT INTO t VALUES (2, 1)")
    (file,) = db.snapshot("t").all_files()
    assert file.clustering_provider == "liquid"


UPDATE, DELETE = "UPDATE t SET v = 9 WHERE v = 1", "DELETE FROM t WHERE v = 7 OR v = 1"
MERGE = (
    "MERGE INTO t USING (SELECT 1 AS v) s ON t.v = s.v WHEN MATCHED THEN UPDATE SET v = 9"
    " WHEN NOT MATCHED THEN INSERT (x, v) VALUES (1, s.v)"
)


@pytest.mark.parametrize("dialect", [DATABRICKS_13_3, DATABRICKS_14_3])
@pytest.mark.parametrize("text", [UPDATE, DELETE, MERGE])
def test_on_databricks_compaction_follows_changes_of_rows_whatever_is_set(
    dialect: Dialect, text: str
) -> None:
    operations = [text.partition(" ")[0], "OPTIMIZE"]
    db = database(**{"autoOptimize.autoCompact": "false"})
    db.dialect, db.settings = dialect, Settings(auto_compact=False, auto_compact_min_files=2)
    db.sql("INSERT INTO t VALUES (1, 7), (1, 1), (1, 2)")
    assert [commit.operation for commit in observed(db, text)] == operations


def test_on_databricks_no_compaction_follows_an_insert_unless_it_is_asked_for() -> None:
    for value, follows in (("false", []), ("true", ["OPTIMIZE"])):
        db = database(**{"autoOptimize.autoCompact": value})
        db.dialect, db.settings = DATABRICKS_14_3, Settings(auto_compact_min_files=1)
        seen = observed(db, "INSERT INTO t VALUES (1, 7)")
        assert [commit.operation for commit in seen] == ["WRITE", *follows]
