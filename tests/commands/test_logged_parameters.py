"""What commitInfo and tags say of names and values, letter by letter as Delta 4.4.0 wrote it."""

from __future__ import annotations

import pytest

from tests.commands.sql_database import Database, adds, made
from whitecap.engine.commands import SharedTable
from whitecap.engine.settings import Settings

CLUSTERED = "CREATE TABLE t (id INT, `país` STRING) USING delta CLUSTER BY (id, `país`)"


def parameters(db: Database, statement: str, **given: object) -> dict[str, object]:
    """The operation's parameters of a statement that commits."""
    commit_info = db.commit(statement, **given).commit_info
    return dict(commit_info.operation_parameters or {})


def empty() -> Database:
    db = Database()
    db.shared["t"] = SharedTable()
    return db


def clustered() -> Database:
    db = empty()
    db.sql(CLUSTERED)
    db.sql("INSERT INTO t VALUES (1, 'a')")
    db.sql("INSERT INTO t VALUES (2, 'b')")
    return db


def test_letters_beyond_ascii_stand_as_they_are() -> None:
    db = Database()
    db.create("t", "id INT, country STRING", "country")
    db.sql("INSERT INTO t VALUES (1, 'São')")
    logged = parameters(db, "DELETE FROM t WHERE country = 'São'")["predicate"]
    assert isinstance(logged, str)
    assert "São" in logged


def test_a_table_made_clustered_names_its_columns_in_quotes_where_they_need_some() -> None:
    assert parameters(empty(), CLUSTERED)["clusterBy"] == '["id","`país`"]'


def test_clustering_says_by_which_columns_and_whether_of_all_files() -> None:
    by = {"predicate": "[]", "auto": False, "clusterBy": '["id","`país`"]', "zOrderBy": "[]"}
    assert parameters(clustered(), "OPTIMIZE t") == {**by, "isFull": False}
    assert parameters(clustered(), "OPTIMIZE t FULL") == {**by, "isFull": True}


def test_compaction_of_a_table_that_is_not_clustered_does_not_say_whether_of_all_files() -> None:
    db = made("id INT")
    db.sql("INSERT INTO t VALUES (1)")
    db.sql("INSERT INTO t VALUES (2)")
    assert "isFull" not in parameters(db, "OPTIMIZE t")


def test_a_clustered_file_has_its_cube_and_columns_as_tags() -> None:
    db = clustered()
    (file,) = adds(db.commit("OPTIMIZE t"))
    tags = dict(file.tags or {})
    assert tags.pop("ZCUBE_ID")
    assert tags == {"ZCUBE_ZORDER_BY": '["id","`país`"]'}


def test_files_clustered_by_the_same_columns_are_clustered_again() -> None:
    db = clustered()
    db.sql("OPTIMIZE t")
    db.sql("INSERT INTO t VALUES (3, 'c')")
    assert len(adds(db.commit("OPTIMIZE t"))) == 1
    assert len(db.snapshot("t").all_files()) == 1


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO t VALUES (1, 7)",
        "INSERT OVERWRITE t VALUES (1, 7)",
        "INSERT INTO t REPLACE WHERE x = 1 VALUES (1, 7)",
    ],
)
@pytest.mark.parametrize("partition_columns", [(), ("x",)])
def test_every_insert_of_a_session_that_overwrites_dynamically_says_so(
    text: str, partition_columns: tuple[str, ...]
) -> None:
    db = Database()
    db.settings = Settings(partition_overwrite_mode="dynamic")
    db.create("t", "x INT, v INT", *partition_columns)
    assert parameters(db, text)["isDynamicPartitionOverwrite"] is True


@pytest.mark.parametrize("condition", ["", "IF EXISTS "])
def test_unset_properties_may_be_missing_whatever_the_statement_says(condition: str) -> None:
    db = made("id INT")
    logged = parameters(db, f"ALTER TABLE t UNSET TBLPROPERTIES {condition}('team')")
    assert logged == {"properties": '["team"]', "ifExists": True}


@pytest.mark.parametrize(
    ("clauses", "matched", "not_matched", "by_source"),
    [
        (
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
            '[{"actionType":"update"}]',
            '[{"actionType":"insert"}]',
            "[]",
        ),
        (
            "WHEN MATCHED AND t.v > :least THEN UPDATE SET v = 1 WHEN MATCHED THEN DELETE"
            " WHEN NOT MATCHED BY SOURCE AND t.id > 1000 THEN DELETE",
            '[{"predicate":"(t.v > 5)","actionType":"update"},{"actionType":"delete"}]',
            "[]",
            '[{"predicate":"(t.id > 1000)","actionType":"delete"}]',
        ),
    ],
)
def test_a_merge_says_which_clauses_it_has(
    clauses: str, matched: str, not_matched: str, by_source: str
) -> None:
    db = Database()
    for name in ("t", "s"):
        db.create(name, "id INT, v INT")
        db.sql(f"INSERT INTO {name} VALUES (1, 7), (2, 8)")
    text = f"MERGE INTO t USING s ON t.id = s.id {clauses}"
    given = {"least": 5} if ":least" in text else {}
    assert parameters(db, text, **given) == {
        "predicate": '["(t.id = s.id)"]',
        "matchedPredicates": matched,
        "notMatchedPredicates": not_matched,
        "notMatchedBySourcePredicates": by_source,
    }


@pytest.mark.parametrize(
    ("check", "logged"),
    [
        ("v > -5", "v > - 5"),
        ("v>=1.5 AND  v<>3", "v >= 1.5 AND v <> 3"),
        ("length(`a-b`)>0 OR v <=> -1e-3", "length ( `a-b` ) > 0 OR v <=> - 1e-3"),
        ("`a-b` != 'it\\'s  -- one' -- two", "`a-b` != 'it\\'s  -- one'"),
    ],
)
def test_a_check_is_kept_as_its_words_with_blanks_between_them(check: str, logged: str) -> None:
    """`v > - 5` was seen on Delta Lake 4.4.0. Source: DeltaSqlParser.scala
    (buildCheckConstraintText), DeltaSqlBase.g4."""
    db = made("v INT, `a-b` STRING")
    assert parameters(db, f"ALTER TABLE t ADD CONSTRAINT c CHECK ({check}\n)")["expr"] == logged
    assert db.snapshot("t").configuration["delta.constraints.c"] == logged


def test_a_feature_that_is_switched_on_by_its_property_is_named_in_small_letters() -> None:
    """Source: DeltaConfig.scala (validateConfigurations)."""
    set_both = "('delta.feature.domainMetadata' = 'supported', 'delta.appendonly' = 'false')"
    logged = parameters(made("id INT"), f"ALTER TABLE t SET TBLPROPERTIES {set_both}")
    assert logged["properties"] == (
        '{"delta.feature.domainmetadata":"supported","delta.appendOnly":"false"}'
    )
