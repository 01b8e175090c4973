"""What other commands read and commit: maintenance, ALTER, creation, streams and writers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.commands.observing import (
    DV,
    MAPPED,
    SERIALIZABLE,
    SNAPSHOT,
    Seen,
    alters,
    appends,
    changes,
    database,
    observed,
    rearranges,
    watched,
)
from tests.commands.sql_database import Database, made
from whitecap.engine.commands import Batch, SharedTable, run_batch
from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.log.clustering import clustering_columns
from whitecap.engine.outcomes import NothingToCommit
from whitecap.engine.settings import Settings
from whitecap.engine.storage.requests import ListTree


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("OPTIMIZE t", rearranges("OPTIMIZE", "true", 4, "2 add-, 4 remove-")),
        ("OPTIMIZE t WHERE x = 1", rearranges("OPTIMIZE", "x = 1", 2, "1 add-, 2 remove-")),
        ("OPTIMIZE t WHERE x = 3", Seen()),
        ("OPTIMIZE t ZORDER BY (v)", rearranges("OPTIMIZE", "true", 5, "3 add-, 5 remove-")),
    ],
)
def test_optimize_reads_the_files_that_it_rewrites(text: str, expected: Seen) -> None:
    assert observed(database(), text) == [expected]


def test_reorg_rewrites_files_that_hide_rows() -> None:
    db = database(**DV)
    db.sql("DELETE FROM t WHERE v = 3")
    purge = "REORG TABLE t APPLY (PURGE)"
    assert observed(db, purge) == [rearranges("REORG", "true", 3, "3 add-, 3 remove- dv")]
    assert observed(db, purge) == [Seen()]


def test_an_upgrade_to_uniform_changes_metadata_before_and_after_the_rewrite() -> None:
    assert observed(
        database(), "REORG TABLE t APPLY (UPGRADE UNIFORM (ICEBERG_COMPAT_VERSION = 2))"
    ) == [
        alters("REORG TABLE UPGRADE UNIFORM", "1 metaData, 1 protocol"),
        rearranges("REORG", "true", 5, "3 add-, 5 remove-"),
        alters("SET TBLPROPERTIES"),
    ]


@pytest.mark.parametrize(
    ("text", "properties", "expected"),
    [
        ("ALTER TABLE t SET TBLPROPERTIES ('a' = 'b')", {}, alters("SET TBLPROPERTIES")),
        ("ALTER TABLE t UNSET TBLPROPERTIES ('a')", {}, alters("UNSET TBLPROPERTIES")),
        ("COMMENT ON TABLE t IS 'c'", {}, alters("SET TBLPROPERTIES")),
        ("ALTER TABLE t ADD COLUMN n INT", {}, alters("ADD COLUMNS")),
        ("ALTER TABLE t DROP COLUMN v", MAPPED, alters("DROP COLUMNS")),
        ("ALTER TABLE t RENAME COLUMN v TO w", MAPPED, alters("RENAME COLUMN")),
        ("ALTER TABLE t ALTER COLUMN v COMMENT 'c'", {}, alters("CHANGE COLUMN")),
        (
            "ALTER TABLE t SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
            {},
            alters("SET TBLPROPERTIES", "1 metaData, 1 protocol"),
        ),
        (
            "ALTER TABLE t ADD CONSTRAINT c CHECK (v >= 0)",
            {},
            changes("ADD CONSTRAINT", "true", 5, "1 metaData, 1 protocol"),
        ),
        (
            "ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'none')",
            MAPPED,
            changes("REMOVE COLUMN MAPPING", "true", 5, "5 add-, 1 metaData, 5 remove-"),
        ),
    ],
)
def test_alter_table_reads_no_rows_but_for_constraints_and_rewrites(
    text: str, properties: dict[str, str], expected: Seen
) -> None:
    assert observed(database(**properties), text) == [expected]


def test_dropping_a_constraint_reads_nothing() -> None:
    db = database()
    db.sql("ALTER TABLE t ADD CONSTRAINT c CHECK (v >= 0)")
    assert observed(db, "ALTER TABLE t DROP CONSTRAINT c") == [alters("DROP CONSTRAINT")]


def test_enabling_row_tracking_takes_three_commits() -> None:
    enable = "ALTER TABLE t SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')"
    protocol, backfill, metadata = observed(database(), enable)
    assert protocol == alters("UPGRADE PROTOCOL", "1 protocol")
    assert backfill == Seen(
        files=5,
        operation="ROW TRACKING BACKFILL",
        does="5 add-, 1 delta.rowTracking",
        is_blind=False,
        level=SNAPSHOT,
    )
    assert metadata == replace(
        alters("SET TBLPROPERTIES"), tags={"rowTrackingEnablementOnly": "true"}
    )


@pytest.mark.parametrize("command", ["DELETE FROM t WHERE v = 3", "OPTIMIZE t WHERE x = 1"])
def test_what_rewrites_rows_says_that_it_keeps_their_ids(command: str) -> None:
    (seen,) = observed(database(enableRowTracking="true"), command)
    assert seen.tags == {"delta.rowTracking.preserved": "true"}


def test_dropping_deletion_vectors_takes_seven_commits() -> None:
    db = database(**DV)
    db.sql("DELETE FROM t WHERE v = 3")
    empty = Seen(operation="Empty Commit", is_blind=True, level=SNAPSHOT)
    assert observed(db, "ALTER TABLE t DROP FEATURE deletionVectors") == [
        alters("UNSET TBLPROPERTIES"),
        rearranges("REORG", "true", 3, "3 add-, 3 remove- dv"),
        Seen(
            operation="Deletion Vector Tombstones",
            does="1 remove-",
            is_blind=False,
            level=SNAPSHOT,
        ),
        empty,
        empty,
        empty,
        alters("DROP FEATURE", "1 metaData, 1 protocol"),
    ]


def test_clustering_columns_are_a_domain() -> None:
    db = made()
    assert observed(db, "ALTER TABLE t CLUSTER BY (k)") == [
        alters("CLUSTER BY", "1 delta.clustering, 1 metaData, 1 protocol")
    ]
    assert observed(db, "ALTER TABLE t CLUSTER BY (v)") == [
        alters("CLUSTER BY", "1 delta.clustering")
    ]


def test_optimize_of_a_clustered_table_takes_files_that_are_in_no_cube() -> None:
    db = made()
    db.sql("ALTER TABLE t CLUSTER BY (k)")
    db.sql("INSERT INTO t VALUES (1, 1)")
    db.sql("INSERT INTO t VALUES (2, 1)")
    assert observed(db, "OPTIMIZE t") == [rearranges("OPTIMIZE", "true", 2, "1 add-, 2 remove-")]
    (file,) = db.snapshot("t").all_files()
    assert file.clustering_provider == "liquid"


def clustered_with_a_hidden_row() -> Database:
    db = made(enableDeletionVectors="true")
    db.sql("ALTER TABLE t CLUSTER BY (k)")
    db.sql("INSERT INTO t SELECT * FROM VALUES (1, 1), (2, 1)")
    db.sql("DELETE FROM t WHERE k = 1")
    return db


def test_purging_a_clustered_table_puts_files_into_a_cube() -> None:
    db = clustered_with_a_hidden_row()
    db.commit("REORG TABLE t APPLY (PURGE)")
    (file,) = db.snapshot("t").all_files()
    assert (file.clustering_provider, file.deletion_vector) == ("liquid", None)


def test_purging_leaves_rows_hidden_in_the_files_of_a_single_small_cube() -> None:
    db = clustered_with_a_hidden_row()
    db.commit("OPTIMIZE t")
    db.sql("INSERT INTO t SELECT * FROM VALUES (3, 1), (4, 1)")
    db.commit("OPTIMIZE t")
    db.commit("DELETE FROM t WHERE k = 3")
    assert isinstance(db.sql("REORG TABLE t APPLY (PURGE)"), NothingToCommit)
    with pytest.raises(UnsupportedFeature, match="the rows are there again"):
        db.sql("ALTER TABLE t DROP FEATURE deletionVectors")


@pytest.mark.parametrize(("logging", "count"), [(None, 2), (True, 2), (False, 0)])
def test_vacuum_logs_its_start_and_its_end_unless_logging_is_off(
    logging: bool | None, count: int
) -> None:
    db = database()
    db.settings = Settings(vacuum_logging=logging)
    seen = [transaction for transaction in observed(db, "VACUUM t") if transaction.operation]
    expected = Seen(is_blind=True, level=SNAPSHOT)
    both = [replace(expected, operation=f"VACUUM {when}") for when in ("START", "END")]
    assert seen == both[:count]


def test_restore_reads_nothing_and_brings_files_back() -> None:
    db = database()
    db.sql("DELETE FROM t WHERE x = 1")
    does = "2 add+, 1 metaData, 1 protocol, 1 remove+"
    assert observed(db, "RESTORE TABLE t TO VERSION AS OF 4") == [
        replace(alters("RESTORE", does), is_blind=False)
    ]


def test_a_clone_names_the_files_of_its_source_by_absolute_paths() -> None:
    db = database()
    db.shared["c"] = SharedTable()
    (seen,) = observed(db, "CREATE TABLE c SHALLOW CLONE t", "c")
    assert seen == replace(alters("CLONE", "5 add+, 1 metaData, 1 protocol"), is_blind=False)
    assert all(file.path.startswith("/t/") for file in db.snapshot("c").all_files())
    assert db.rows("c") == db.rows("t")


def test_creating_a_table_is_blind_and_replacing_one_reads_it_all() -> None:
    db = database()
    db.shared["n"] = SharedTable()
    created = alters("CREATE TABLE AS SELECT", "2 add+, 1 metaData, 1 protocol")
    create = "CREATE TABLE n USING delta PARTITIONED BY (x) AS SELECT * FROM s"
    assert observed(db, create, "n") == [created]
    assert observed(db, "CREATE TABLE IF NOT EXISTS n (y INT) USING delta", "n") == [Seen()]
    assert observed(db, "CREATE OR REPLACE TABLE n (y INT) USING delta", "n") == [
        changes("CREATE OR REPLACE TABLE", "true", 2, "1 metaData, 2 remove+")
    ]
    assert observed(db, "CREATE OR REPLACE TABLE t USING delta AS SELECT * FROM t WHERE x = 1") == [
        replace(
            changes("CREATE OR REPLACE TABLE AS SELECT", "", 5, "2 add+, 1 metaData, 5 remove+"),
            reads=("x = 1", "true"),
        )
    ]


def test_identity_columns_move_their_mark_with_the_rows() -> None:
    db = made("id BIGINT GENERATED BY DEFAULT AS IDENTITY, v BIGINT")
    tags = {"delta.identity.schemaUpdate": "true"}
    assert observed(db, "INSERT INTO t (v) VALUES (7)") == [
        replace(appends(does="1 add+, 1 metaData"), tags=tags)
    ]
    synced = Seen(("true",), 1, True, (), "CHANGE COLUMN", "1 metaData", False, SERIALIZABLE, tags)
    assert observed(db, "ALTER TABLE t ALTER COLUMN id SYNC IDENTITY") == [
        replace(synced, reads=("true", "true"))
    ]


def test_an_idempotent_write_reads_the_progress_of_its_application() -> None:
    db = database()
    text = "INSERT INTO t WITH ('txnAppId' = 'a', 'txnVersion' = '1') VALUES (1, 7)"
    first = replace(appends(does="1 add+, 1 txn"), applications=("a",))
    assert observed(db, text) == [first]
    assert observed(db, text) == [Seen(applications=("a",))]


def test_statements_take_the_application_from_the_session_too() -> None:
    db = database()
    db.settings = Settings(txn_app_id="a", txn_version=1)
    (seen,) = observed(db, "DELETE FROM t WHERE x = 1")
    assert (seen.applications, seen.does) == (("a",), "2 remove+, 1 txn")
    assert observed(db, "DELETE FROM t WHERE x = 2") == [Seen(applications=("a",))]


def test_a_streaming_batch_records_its_query_even_without_rows() -> None:
    db = database()
    batch = replace(
        appends(does="1 add+, 1 txn"), applications=("q",), operation="STREAMING UPDATE"
    )
    assert watched(db, lambda c: run_batch(c["t"], Batch("q", 1, [(1, 7)]))) == [batch]
    empty = replace(batch, does="1 txn")
    assert watched(db, lambda c: run_batch(c["t"], Batch("q", 2, []))) == [empty]
    assert watched(db, lambda c: run_batch(c["t"], Batch("q", 2, [(1, 7)]))) == [
        Seen(applications=("q",))
    ]


def test_a_table_without_rows_is_metadata_and_protocol_alone() -> None:
    db = Database()
    db.shared["n"] = SharedTable()
    created = alters("CREATE TABLE", "1 metaData, 1 protocol")
    assert observed(db, "CREATE TABLE n (x INT) USING delta", "n") == [created]


def test_replacing_a_clustered_table_leaves_its_domain_without_columns() -> None:
    db = made()
    db.sql("ALTER TABLE t CLUSTER BY (k)")
    db.sql("INSERT INTO t VALUES (1, 1)")
    does = "1 delta.clustering, 1 metaData, 1 remove+"
    assert observed(db, "REPLACE TABLE t (k INT) USING delta") == [
        changes("REPLACE TABLE", "true", 1, does)
    ]


@pytest.mark.parametrize(
    ("statement", "does"),
    [
        ("INSERT OVERWRITE t VALUES (2, 2)", "1 add+, 1 delta.clustering, 1 remove+"),
        ("INSERT INTO t REPLACE WHERE k = 1 VALUES (1, 2)", "1 add+, 1 remove+"),
        ("INSERT INTO t VALUES (1, 2)", "1 add+"),
    ],
)
def test_overwriting_a_clustered_table_leaves_its_domain_without_columns(
    statement: str, does: str
) -> None:
    db = made()
    db.sql("ALTER TABLE t CLUSTER BY (k)")
    db.sql("INSERT INTO t VALUES (1, 1)")
    (seen,) = observed(db, statement)
    assert seen.does == does
    columns = clustering_columns(db.snapshot("t"))
    assert columns == (() if "OVERWRITE" in statement else ("k",))


def test_a_merge_that_counts_identities_moves_their_mark() -> None:
    db = made("id BIGINT GENERATED ALWAYS AS IDENTITY, v BIGINT")
    db.create("s", "v BIGINT")
    db.sql("INSERT INTO s VALUES (7)")
    merge = "MERGE INTO t USING s ON t.v = s.v WHEN NOT MATCHED THEN INSERT (v) VALUES (s.v)"
    tags = {"delta.identity.schemaUpdate": "true"}
    assert observed(db, merge) == [
        replace(changes("MERGE", "true", 0, "1 add+, 1 metaData"), tags=tags)
    ]


def test_a_stream_that_reads_the_table_it_writes_has_read_all_of_it() -> None:
    batch = replace(
        appends("true", does="1 add+, 1 txn"),
        applications=("q",),
        operation="STREAMING UPDATE",
        whole_table=True,
    )
    (seen,) = watched(
        database(), lambda c: run_batch(c["t"], Batch("q", 1, [(1, 7)], reads_table=True))
    )
    assert replace(seen, reads=("true",), files=0) == batch


def test_without_statistics_a_self_read_is_of_the_whole_table() -> None:
    db = database()
    db.settings = Settings(stats_skipping=False)
    (seen,) = observed(db, "INSERT INTO t SELECT x, v FROM t WHERE x = 1")
    assert seen.whole_table
    assert not seen.is_blind


def test_vacuum_deletes_what_no_version_within_the_retention_needs() -> None:
    db = database()
    db.settings = Settings(retention_check=False)
    db.sql("DELETE FROM t WHERE x = 1")
    before = set(_data_keys(db))
    assert observed(db, "VACUUM t RETAIN 0 HOURS DRY RUN") == [Seen()]
    assert set(_data_keys(db)) == before
    db.sql("VACUUM t RETAIN 0 HOURS")
    gone = before - set(_data_keys(db))
    assert len(gone) == 2
    assert all("x=1" in key for key in gone)


def _data_keys(db: Database) -> list[str]:
    listing = db.store.answer(ListTree("t/"))
    return [entry.key for entry in listing.entries if entry.key.endswith(".parquet")]  # type: ignore[union-attr]
