"""What each command writes, and that it leaves the rows that SQL promises."""

from __future__ import annotations

import json

import pytest

from tests.commands.sql_database import Database, adds, removes
from whitecap.engine.commands import Batch, run_batch
from whitecap.engine.errors import DeltaError, InvalidInput
from whitecap.engine.log.actions import AddFile, Metadata, SetTransaction
from whitecap.engine.outcomes import NothingToCommit
from whitecap.engine.settings import Settings
from whitecap.engine.storage.memory import run
from whitecap.engine.storage.requests import Compute, ReadRows

ALL = [(1, 1), (1, 2), (1, 11), (1, 12), (2, 1), (2, 21)]


def test_insert_writes_one_file_for_each_partition_with_statistics(db: Database) -> None:
    outcome = db.commit("INSERT INTO t VALUES (3, 30), (4, 40), (3, NULL)")
    stats = {a.partition_values["x"]: json.loads(a.stats or "") for a in adds(outcome)}  # type: ignore[index]
    assert stats["3"] == {
        "numRecords": 2,
        "minValues": {"v": 30},
        "maxValues": {"v": 30},
        "nullCount": {"v": 1},
    }
    assert outcome.commit_info.is_blind_append is True


def test_insert_takes_rows_from_a_parameter(db: Database) -> None:
    db.commit("INSERT INTO t VALUES :rows", rows=[(5, 50), (5, 51)])
    assert db.rows("t") == [*ALL, (5, 50), (5, 51)]


def test_insert_by_column_list_fills_the_other_columns_with_null(db: Database) -> None:
    db.commit("INSERT INTO t (x) VALUES (9)")
    assert (9, None) in db.rows("t")


def test_insert_select_from_the_table_itself_is_not_blind(db: Database) -> None:
    outcome = db.commit("INSERT INTO t SELECT x + 10, v FROM t WHERE x = 2")
    assert outcome.commit_info.is_blind_append is False
    assert db.rows("t") == [*ALL, (12, 1), (12, 21)]


def test_a_subquery_means_its_own_column_before_one_of_the_query_around_it(db: Database) -> None:
    db.create("u", "x INT, v BIGINT")
    db.commit("INSERT INTO u VALUES (2, 7)")
    db.commit("INSERT INTO t SELECT x + 10, v FROM t WHERE x IN (SELECT x FROM u WHERE v = 7)")
    assert db.rows("t") == [*ALL, (12, 1), (12, 21)]


def test_insert_from_an_old_version_of_the_table_is_blind(db: Database) -> None:
    outcome = db.commit("INSERT INTO t SELECT x + 10, v FROM t VERSION AS OF 1")
    assert outcome.commit_info.is_blind_append is True
    assert db.rows("t") == [*ALL, (11, 1), (11, 2)]


def test_a_limit_reads_no_more_files_than_it_needs(db: Database) -> None:
    db.commit("INSERT INTO t SELECT 9, v FROM t LIMIT 1")
    db.create("u", "x INT, v BIGINT")
    db.commit("INSERT INTO u SELECT * FROM t WHERE x = 1 LIMIT 3")
    assert len(db.rows("u")) == 3
    assert len(db.rows("t")) == len(ALL) + 1


def test_a_static_partition_overwrite_replaces_that_partition(db: Database) -> None:
    db.commit("INSERT OVERWRITE t PARTITION (x = 1) SELECT v FROM t WHERE x = 2")
    assert db.rows("t") == [(1, 1), (1, 21), (2, 1), (2, 21)]


def test_a_dynamic_overwrite_replaces_the_partitions_it_writes(db: Database) -> None:
    db.settings = Settings(partition_overwrite_mode="dynamic")
    db.commit("INSERT OVERWRITE t VALUES (2, 99)")
    assert db.rows("t") == [(1, 1), (1, 2), (1, 11), (1, 12), (2, 99)]


def test_replace_where_refuses_rows_outside_its_condition(db: Database) -> None:
    with pytest.raises(DeltaError, match="DELTA_REPLACE_WHERE_MISMATCH"):
        db.sql("INSERT INTO t REPLACE WHERE x = 1 VALUES (2, 5)")
    db.commit("INSERT INTO t REPLACE WHERE x = 1 AND v > 5 VALUES (1, 6)")
    assert db.rows("t") == [(1, 1), (1, 2), (1, 6), (2, 1), (2, 21)]


def test_delete_of_a_partition_removes_its_files_without_reading_them(db: Database) -> None:
    db.store.requests.clear()
    outcome = db.commit("DELETE FROM t WHERE x = 1")
    assert (len(adds(outcome)), len(removes(outcome))) == (0, 2)
    assert not any(isinstance(request, ReadRows) for request in db.store.requests)


def test_delete_rewrites_only_the_files_that_hold_matching_rows(db: Database) -> None:
    outcome = db.commit("DELETE FROM t WHERE v = 11")
    assert len(removes(outcome)) == 1
    assert db.rows("t") == [row for row in ALL if row != (1, 11)]


def test_delete_that_matches_nothing_commits_nothing(db: Database) -> None:
    assert db.sql("DELETE FROM t WHERE x = 1 AND v = 7") == NothingToCommit(3)


def test_update_moves_rows_between_partitions(db: Database) -> None:
    db.commit("UPDATE t SET x = 3, v = v * 2 WHERE v = 1")
    assert db.rows("t") == [(1, 2), (1, 11), (1, 12), (2, 21), (3, 2), (3, 2)]


def test_merge_updates_deletes_and_inserts_by_the_first_clause_that_applies(db: Database) -> None:
    db.commit(
        "MERGE INTO t USING (VALUES (1, 1), (1, 2), (7, 7), (8, 8)) AS s(x, v)"
        " ON t.x = s.x AND t.v = s.v"
        " WHEN MATCHED AND s.v = 1 THEN DELETE"
        " WHEN MATCHED THEN UPDATE SET v = t.v + 100"
        " WHEN NOT MATCHED AND s.x = 7 THEN INSERT (v, x) VALUES (s.v * 10, s.x)"
        " WHEN NOT MATCHED BY SOURCE AND t.x = 2 THEN UPDATE SET v = 0"
    )
    assert db.rows("t") == [(1, 11), (1, 12), (1, 102), (2, 0), (2, 0), (7, 70)]


def test_merge_refuses_two_source_rows_for_one_target_row(db: Database) -> None:
    text = "MERGE INTO t USING (VALUES (1), (1)) AS s(x) ON t.x = s.x AND t.v = 1 WHEN MATCHED THEN"
    with pytest.raises(DeltaError, match="MULTIPLE_SOURCE_ROW"):
        db.sql(f"{text} UPDATE SET v = 5")
    db.commit(f"{text} DELETE")
    assert (1, 1) not in db.rows("t")


def test_merge_by_null_keys_matches_only_with_null_safe_equality(db: Database) -> None:
    db.commit("INSERT INTO t VALUES (1, NULL)")
    text = "MERGE INTO t USING (VALUES (1, NULL)) AS s(x, v) ON t.x = s.x AND t.v {} s.v"
    insert = " WHEN NOT MATCHED THEN INSERT *"
    assert db.commit(text.format("=") + insert).version == 5
    assert isinstance(db.sql(text.format("<=>") + insert), NothingToCommit)


def test_deletion_vectors_hide_rows_and_keep_the_file(db: Database) -> None:
    db.commit("ALTER TABLE t SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    outcome = db.commit("DELETE FROM t WHERE v = 11")
    (file,) = adds(outcome)
    assert [r.path for r in removes(outcome)] == [file.path]
    assert file.deletion_vector is not None
    assert file.deletion_vector.cardinality == 1
    assert json.loads(file.stats or "")["tightBounds"] is False
    emptied = db.commit("DELETE FROM t WHERE v = 12")
    assert (len(adds(emptied)), len(removes(emptied))) == (0, 1)
    assert db.rows("t") == [(1, 1), (1, 2), (2, 1), (2, 21)]


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM t WHERE v = 11",
        "UPDATE t SET v = 11 WHERE v = 11",
        "MERGE INTO t USING (VALUES (11)) AS s(v) ON t.v = s.v WHEN MATCHED THEN DELETE",
    ],
)
def test_a_file_without_statistics_has_them_with_its_first_vector(
    db: Database, statement: str
) -> None:
    db.commit("ALTER TABLE t SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    db.forget_statistics("t")
    (vectored,) = [file for file in adds(db.commit(statement)) if file.deletion_vector is not None]
    assert json.loads(vectored.stats or "") == {
        "numRecords": 2,
        "minValues": {"v": 11},
        "maxValues": {"v": 12},
        "nullCount": {"v": 0},
        "tightBounds": False,
    }


def test_update_with_deletion_vectors_writes_only_the_changed_rows(db: Database) -> None:
    db.commit("ALTER TABLE t SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    outcome = db.commit("UPDATE t SET v = 13 WHERE v = 11")
    new = [file for file in adds(outcome) if file.deletion_vector is None]
    assert [json.loads(file.stats or "")["numRecords"] for file in new] == [1]
    assert db.rows("t") == [(1, 1), (1, 2), (1, 12), (1, 13), (2, 1), (2, 21)]


def test_optimize_compacts_partitions_that_have_several_files(db: Database) -> None:
    outcome = db.commit("OPTIMIZE t")
    assert (len(adds(outcome)), len(removes(outcome))) == (1, 2)
    assert not any(file.data_change for file in adds(outcome))
    assert not any(file.data_change for file in removes(outcome))
    assert outcome.commit_info.isolation_level == "SnapshotIsolation"
    assert db.rows("t") == ALL
    assert isinstance(db.sql("OPTIMIZE t"), NothingToCommit)


def test_zorder_rewrites_every_partition_in_the_order_of_its_columns(db: Database) -> None:
    outcome = db.commit("OPTIMIZE t WHERE x = 2 ZORDER BY (v)")
    assert (len(adds(outcome)), len(removes(outcome))) == (1, 1)


def test_optimize_refuses_a_condition_on_data_columns(db: Database) -> None:
    with pytest.raises(DeltaError, match="non-partition column"):
        db.sql("OPTIMIZE t WHERE v = 1")


def test_optimize_in_batches_commits_several_times(db: Database) -> None:
    db.commit("INSERT INTO t VALUES (2, 22)")
    db.settings = Settings(optimize_batch_size=1)
    assert db.commit("OPTIMIZE t").version == 6
    assert db.snapshot("t").num_files == 2


def test_vacuum_commits_its_start_and_its_end(db: Database) -> None:
    assert db.commit("VACUUM t").version == 5
    db.settings = Settings(vacuum_logging=False)
    assert isinstance(db.sql("VACUUM t"), NothingToCommit)


def test_restore_brings_an_old_version_back(db: Database) -> None:
    db.commit("DELETE FROM t WHERE x = 1")
    db.commit("RESTORE TABLE t TO VERSION AS OF 2")
    assert db.rows("t") == [(1, 1), (1, 2), (1, 11), (1, 12)]
    with pytest.raises(DeltaError, match="DELTA_CANNOT_RESTORE_TABLE_VERSION"):
        db.sql("RESTORE TABLE t TO VERSION AS OF 9")


def test_restore_to_the_newest_version_does_nothing(db: Database) -> None:
    newest = db.commit("DELETE FROM t WHERE x = 1").version
    assert db.sql(f"RESTORE TABLE t TO VERSION AS OF {newest}") == NothingToCommit(newest)


@pytest.mark.parametrize(
    ("instant", "error_class"),
    [("1960-01-01", "TIMESTAMP_EARLIER"), ("2999-01-01", "TIMESTAMP_GREATER")],
)
def test_restore_to_an_instant_without_the_table_is_refused(
    db: Database, instant: str, error_class: str
) -> None:
    with pytest.raises(DeltaError, match=error_class):
        db.sql(f"RESTORE TABLE t TO TIMESTAMP AS OF '{instant}'")


def test_a_version_that_the_table_never_had_cannot_be_read(db: Database) -> None:
    with pytest.raises(DeltaError, match="DELTA_VERSION_NOT_FOUND"):
        db.sql("INSERT INTO t SELECT * FROM t VERSION AS OF 99")


def test_added_columns_are_null_in_old_rows(db: Database) -> None:
    db.commit("ALTER TABLE t ADD COLUMNS (name STRING, n INT)")
    db.commit("INSERT INTO t VALUES (3, 3, 'c', 1)")
    assert db.rows("t")[0] == (1, 1, None, None)
    with pytest.raises(DeltaError, match="DELTA_INSERT_COLUMN_ARITY_MISMATCH"):
        db.sql("INSERT INTO t VALUES (3, 3)")
    with pytest.raises(DeltaError, match="FIELD_ALREADY_EXISTS"):
        db.sql("ALTER TABLE t ADD COLUMN V INT")


def test_a_check_constraint_holds_from_its_commit_on(db: Database) -> None:
    with pytest.raises(DeltaError, match="DELTA_NEW_CHECK_CONSTRAINT_VIOLATION"):
        db.sql("ALTER TABLE t ADD CONSTRAINT big CHECK (v > 1)")
    db.commit("ALTER TABLE t ADD CONSTRAINT positive CHECK (v > 0)")
    for text in ("INSERT INTO t VALUES (1, 0)", "UPDATE t SET v = -v WHERE v = 21"):
        with pytest.raises(
            DeltaError, match=r"VIOLATE_CONSTRAINT_WITH_VALUES.*positive (?s:.*) v : (0|-21)$"
        ):
            db.sql(text)
    db.commit("ALTER TABLE t DROP CONSTRAINT positive")
    db.commit("INSERT INTO t VALUES (1, 0)")


def test_properties_are_set_and_unset_and_the_isolation_level_is_refused(db: Database) -> None:
    outcome = db.commit(
        "ALTER TABLE t SET TBLPROPERTIES ('a.b' = '1', 'delta.appendOnly' = 'true')"
    )
    assert any(isinstance(action, Metadata) for action in outcome.actions)
    with pytest.raises(DeltaError, match="APPEND_ONLY"):
        db.sql("DELETE FROM t WHERE x = 1")
    db.commit("ALTER TABLE t UNSET TBLPROPERTIES ('delta.appendOnly')")
    assert db.snapshot("t").configuration == {"a.b": "1"}
    with pytest.raises(DeltaError, match="must be Serializable"):
        db.sql("ALTER TABLE t SET TBLPROPERTIES ('delta.isolationLevel' = 'WriteSerializable')")


def test_a_streaming_batch_is_appended_once(db: Database) -> None:
    table = db.client()["t"]
    first = run(run_batch(table, Batch("query", 0, [(6, 60)])), db.store)
    again = run(run_batch(db.client()["t"], Batch("query", 0, [(6, 60)])), db.store)
    assert any(isinstance(action, SetTransaction) for action in first.actions)  # type: ignore[union-attr]
    assert isinstance(again, NothingToCommit)
    empty = run(run_batch(db.client()["t"], Batch("query", 1, [])), db.store)
    assert empty.commit_info.operation == "STREAMING UPDATE"  # type: ignore[union-attr]


def test_after_a_batch_its_client_reads_no_version_any_more(db: Database) -> None:
    table = db.client()["t"]
    run(run_batch(table, Batch("query", 0, [(6, 60)])), db.store)
    assert table.reading is None


def test_an_idempotent_writer_is_skipped_the_second_time(db: Database) -> None:
    db.settings = Settings(txn_app_id="job", txn_version=1)
    db.commit("INSERT INTO t VALUES (6, 60)")
    assert isinstance(db.sql("INSERT INTO t VALUES (6, 61)"), NothingToCommit)


def test_a_table_that_exists_is_not_created_again(db: Database) -> None:
    with pytest.raises(DeltaError, match="already exists"):
        db.sql("CREATE TABLE t (y INT) USING delta")
    assert isinstance(db.sql("CREATE TABLE IF NOT EXISTS t (y INT) USING delta"), NothingToCommit)


def test_each_data_command_tells_its_job_what_it_read_and_wrote(db: Database) -> None:
    db.store.requests.clear()
    db.commit("UPDATE t SET v = v + 1 WHERE v = 11")
    (spent,) = [request for request in db.store.requests if isinstance(request, Compute)]
    assert (spent.job, spent.rows_read) == ("UPDATE", 2)
    assert spent.bytes_written > 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("DELETE FROM tt WHERE x = 1", "tt: no such table.*'t'"),
        ("DELETE FROM t WHERE xx = 1", "xx: no such column.*'x'"),
        ("UPDATE t SET vv = 1", "vv: no such column.*'v'"),
        ("DELETE FROM t WHERE s.x = 1", "s.x: no such table here"),
        ("UPDATE t SET u.v = 1", "u.v: no such table here"),
        ("UPDATE t SET v = s.x", "s.x: no such table here"),
        ("INSERT INTO t SELECT y FROM t", "y: no such column"),
        ("MERGE INTO t USING u s ON t.x = s.x WHEN MATCHED THEN DELETE", "u: no such table"),
        ("DELETE FROM t WHERE", "line 1"),
        ("DELETE FROM t WHERE x = :key", "key.*no value"),
    ],
)
def test_wrong_statements_are_refused_with_place_and_nearest_name(
    db: Database, text: str, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        db.sql(text)


def test_data_files_are_named_below_their_partition(db: Database) -> None:
    db.create("u", "day DATE, country STRING, v INT", "day", "country")
    outcome = db.commit("INSERT INTO u VALUES (DATE '2026-01-01', 'A B', 1), (NULL, '', 2)")
    paths = sorted(file.path.rpartition("/")[0] for file in adds(outcome))
    assert paths == [
        "day=2026-01-01/country=A%20B",
        "day=__HIVE_DEFAULT_PARTITION__/country=__HIVE_DEFAULT_PARTITION__",
    ]
    values = [file.partition_values for file in outcome.actions if isinstance(file, AddFile)]
    assert {"day": None, "country": None} in values


def test_a_partition_of_an_instant_is_logged_as_delta_writes_it(db: Database) -> None:
    db.create("u", "at TIMESTAMP, local TIMESTAMP_NTZ, v INT", "at", "local")
    outcome = db.commit(
        "INSERT INTO u VALUES ('2026-01-01 12:30:00.5', '2026-01-01 12:30:00.5', 1)"
    )
    (added,) = adds(outcome)
    instant, local = "2026-01-01T12:30:00.500000Z", "2026-01-01 12:30:00.5"
    assert added.partition_values == {"at": instant, "local": local}
