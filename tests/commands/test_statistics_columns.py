"""Which columns have statistics, and what asks for them: ZORDER BY, CLUSTER BY, renames, drops."""

from __future__ import annotations

import json

import pytest

from tests.commands.sql_database import Database, adds, made
from whitecap.engine.column_names import column_paths, paths_text
from whitecap.engine.dialects.delta_rs import DELTA_RS_1_6_6
from whitecap.engine.errors import DeltaError, UnsupportedFeature
from whitecap.engine.settings import Settings

STATISTICS_COLUMNS = "delta.dataSkippingStatsColumns"


def counted(db: Database, insert: str) -> set[str]:
    """The columns whose NULLs an INSERT's file counts."""
    (file,) = adds(db.commit(insert))
    assert file.stats is not None
    return set(json.loads(file.stats).get("nullCount", {}))


def test_fields_of_a_struct_take_one_place_each_among_the_indexed() -> None:
    ddl = "s STRUCT<a: INT, b: STRUCT<c: INT, d: INT>>, k INT, v BIGINT"
    db = made(ddl, dataSkippingNumIndexedCols="4")
    assert counted(db, "INSERT INTO t (k, v) VALUES (1, 2)") == {"k"}


def test_an_array_takes_one_place_whatever_is_in_it() -> None:
    db = made("l ARRAY<STRUCT<a: INT, b: INT>>, k INT, v BIGINT", dataSkippingNumIndexedCols="2")
    assert counted(db, "INSERT INTO t (k, v) VALUES (1, 2)") == {"k"}


def test_of_named_columns_those_alone_have_statistics() -> None:
    db = made("k INT, `a-b` INT, v BIGINT", dataSkippingStatsColumns=" V , `a-b`")
    assert counted(db, "INSERT INTO t VALUES (1, 2, 3)") == {"a-b", "v"}


def test_who_names_no_column_gets_no_statistics() -> None:
    db = made(dataSkippingStatsColumns="")
    assert counted(db, "INSERT INTO t VALUES (1, 2)") == set()


MAPPED = {"columnMapping.mode": "name"}


def named_after(change: str, names: str) -> str:
    db = made("k INT, v BIGINT, `a-b` INT", dataSkippingStatsColumns=names, **MAPPED)
    db.sql(f"ALTER TABLE t {change}")
    metadata = db.snapshot("t").metadata
    assert metadata is not None
    return metadata.configuration[STATISTICS_COLUMNS]


@pytest.mark.parametrize(
    ("change", "names", "after"),
    [
        ("RENAME COLUMN k TO n", "k, v", "n,v"),
        ("RENAME COLUMN k TO `k-2`", "k, v", "`k-2`,v"),
        ("RENAME COLUMN `a-b` TO b", "k , `a-b`", "k,b"),
        ("RENAME COLUMN v TO w", "k , `a-b`", "k,`a-b`"),
        ("DROP COLUMN k", "k, v", "v"),
        ("DROP COLUMNS (k, v)", "k, v", ""),
    ],
)
def test_a_column_that_has_statistics_by_name_keeps_them_by_its_new_name_until_it_goes(
    change: str, names: str, after: str
) -> None:
    assert named_after(change, names) == after


@pytest.mark.parametrize("text", ["k", "k,v", "s.a.b,`x y`.`a``b`", "`1k`", ""])
def test_names_are_written_as_they_are_read(text: str) -> None:
    assert paths_text(column_paths(text)) == text


@pytest.mark.parametrize("text", [",", "k,", "k,,v", "a-b", "k v", "s.", "``"])
def test_what_is_no_list_of_names_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="separated by commas"):
        column_paths(text)


def refused(db: Database, sql: str) -> DeltaError:
    with pytest.raises(DeltaError) as error:
        db.sql(sql)
    return error.value


def test_all_columns_without_statistics_are_told_at_once() -> None:
    error = refused(made(dataSkippingNumIndexedCols="0"), "OPTIMIZE t ZORDER BY (k, V)")
    assert "Z-Ordering on [k, V] will be ineffective" in error.message


def test_a_table_cannot_be_created_with_clustering_columns_that_have_no_statistics() -> None:
    db = made()
    error = refused(
        db,
        "CREATE OR REPLACE TABLE t (k INT, V INT) USING delta CLUSTER BY (v)"
        " TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '1')",
    )
    assert error.error_class == "DELTA_CLUSTERING_COLUMN_MISSING_STATS"
    assert "'V'" in error.message


def test_a_clustering_column_may_be_moved_among_the_indexed_alone() -> None:
    db = made("k INT, v BIGINT, w INT", dataSkippingNumIndexedCols="2")
    db.sql("ALTER TABLE t CLUSTER BY (k)")
    db.sql("ALTER TABLE t ALTER COLUMN k AFTER v")
    error = refused(db, "ALTER TABLE t ALTER COLUMN k AFTER w")
    assert error.error_class == "DELTA_CLUSTERING_COLUMN_MISSING_STATS"
    db.sql("ALTER TABLE t ADD COLUMN x INT FIRST")  # which real Delta does not look at


def test_delta_rs_sorts_by_columns_without_statistics() -> None:
    assert not DELTA_RS_1_6_6.adjusted(Settings()).zorder_needs_statistics


@pytest.mark.parametrize("name", ["s.a", "`s`.`a`", "s.nope"])
def test_zorder_by_a_field_is_refused_by_name(name: str) -> None:
    with pytest.raises(UnsupportedFeature, match="a field of a struct"):
        made("s STRUCT<a: INT>, k INT").sql(f"OPTIMIZE t ZORDER BY ({name})")


@pytest.mark.parametrize("begin", ["ALTER TABLE t", "REPLACE TABLE t (k INT) USING delta"])
def test_clustering_by_a_field_is_refused_by_name(begin: str) -> None:
    with pytest.raises(UnsupportedFeature, match=r"CLUSTER BY s\.a, a field of a struct"):
        made("s STRUCT<a: INT>, k INT").sql(f"{begin} CLUSTER BY (k, s.a)")
