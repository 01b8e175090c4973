"""How long removed files are kept: what VACUUM and time travel make of it in which dialect."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.commands.sql_database import Database
from whitecap.engine.commands import SharedTable
from whitecap.engine.dialects import DELTA_OSS_4_4, DIALECTS, Dialect, Vendor
from whitecap.engine.errors import DeltaError, UnsupportedFeature
from whitecap.engine.settings import Settings
from whitecap.engine.storage.requests import Listing, ListTree

HOUR_MS = 3_600_000
IGNORING = "spark.databricks.delta.vacuum.retentionWindowIgnore.enabled"
ENFORCING = "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration"
OLDER = [
    dialect
    for dialect in DIALECTS.values()
    if dialect.vendor is not Vendor.DELTA_RS and dialect is not DELTA_OSS_4_4
]
BY_NAME = [dialect.name for dialect in OLDER]


def _with_removed_files(dialect: Dialect, **settings: bool) -> Database:
    """A table whose only file was deleted two hours ago."""
    db = Database()
    db.dialect = dialect
    db.settings = Settings(**settings)  # type: ignore[arg-type]
    db.create("t", "x INT")
    db.sql("INSERT INTO t VALUES (1)")
    db.sql("DELETE FROM t")
    db.store.passed_ms += 2 * HOUR_MS
    return db


def _data_files(db: Database) -> list[str]:
    listing = db.store.answer(ListTree("t/"))
    assert isinstance(listing, Listing)
    return [entry.key for entry in listing.entries if entry.key.endswith(".parquet")]


@pytest.mark.parametrize("dialect", OLDER, ids=BY_NAME)
def test_vacuum_heeds_what_it_is_told_to_retain_in_older_dialects(dialect: Dialect) -> None:
    db = _with_removed_files(dialect, retention_check=False)
    db.sql("VACUUM t RETAIN 3 HOURS")
    assert _data_files(db)
    db.sql("VACUUM t RETAIN 1 HOURS")
    assert not _data_files(db)


def test_delta_4_4_goes_by_the_table_whatever_vacuum_is_told_to_retain() -> None:
    db = _with_removed_files(DELTA_OSS_4_4, retention_check=False)
    db.sql("VACUUM t RETAIN 1 HOURS")
    assert _data_files(db)


@pytest.mark.parametrize("dialect", OLDER, ids=BY_NAME)
def test_a_short_retention_is_a_failed_requirement_in_older_dialects(dialect: Dialect) -> None:
    db = _with_removed_files(dialect)
    with pytest.raises(DeltaError, match='not less than "168 hours"') as refused:
        db.sql("VACUUM t RETAIN 1 HOURS")
    assert refused.value.exception == "IllegalArgumentException"
    assert refused.value.error_class is None
    assert _data_files(db)


def test_delta_4_4_refuses_a_short_retention_where_it_is_set_to_heed_it() -> None:
    db = _with_removed_files(DELTA_OSS_4_4, vacuum_ignores_retention=False)
    with pytest.raises(DeltaError) as refused:
        db.sql("VACUUM t RETAIN 1 HOURS")
    assert refused.value.error_class == "DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT"


@pytest.mark.parametrize("dialect", OLDER, ids=BY_NAME)
def test_what_came_after_a_dialect_cannot_be_switched_on_in_it(dialect: Dialect) -> None:
    with pytest.raises(UnsupportedFeature, match="pull/5028"):
        dialect.settings_of({IGNORING: "true"})
    with pytest.raises(UnsupportedFeature, match="pull/5022"):
        dialect.settings_of({ENFORCING: "true"})


RETENTIONS = [("deletedFileRetentionDuration", "60 days"), ("logRetentionDuration", "5 days")]


@pytest.mark.parametrize("dialect", OLDER, ids=BY_NAME)
@pytest.mark.parametrize(("key", "span"), RETENTIONS)
def test_a_log_may_be_kept_for_less_time_than_removed_files_in_older_dialects(
    dialect: Dialect, key: str, span: str
) -> None:
    db = Database()
    db.dialect = dialect
    db.create("t", "x INT", **{key: span})
    db.create("s", "x INT")
    db.commit(f"ALTER TABLE s SET TBLPROPERTIES ('delta.{key}' = 'interval {span}')")


@pytest.mark.parametrize(("key", "span"), RETENTIONS)
def test_delta_4_4_keeps_a_log_at_least_as_long_as_removed_files(key: str, span: str) -> None:
    db = Database()
    db.create("t", "x INT")
    with pytest.raises(DeltaError, match="needs to be greater than or equal to"):
        db.sql(f"ALTER TABLE t SET TBLPROPERTIES ('delta.{key}' = 'interval {span}')")


WEEK_MS = 7 * 24 * HOUR_MS
TRAVELS = [
    "RESTORE TABLE t TO VERSION AS OF 1",
    "INSERT INTO s SELECT * FROM t VERSION AS OF 1",
    "CREATE TABLE c SHALLOW CLONE t VERSION AS OF 1",
]
BEYOND = "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION"


def _of_versions(dialect: Dialect, passed_ms: int, **properties: str) -> Database:
    """A table of three versions, as old as that, beside one to write to and one to make."""
    db = Database()
    db.dialect = dialect
    db.create("t", "x INT", **properties)
    db.create("s", "x INT")
    db.shared["c"] = SharedTable()
    db.sql("INSERT INTO t VALUES (1)")
    db.sql("INSERT INTO t VALUES (2)")
    db.store.passed_ms += passed_ms
    return db


@pytest.mark.parametrize("travel", TRAVELS)
def test_time_travel_ends_where_removed_files_are_kept_no_longer(travel: str) -> None:
    db = _of_versions(DELTA_OSS_4_4, WEEK_MS)
    with pytest.raises(DeltaError, match=r"deletedFileRetentionDuration \(168 HOURS\)") as refused:
        db.sql(travel)
    assert (refused.value.exception, refused.value.error_class) == (
        "DeltaAnalysisException",
        BEYOND,
    )
    _of_versions(DELTA_OSS_4_4, WEEK_MS - HOUR_MS).commit(travel)


@pytest.mark.parametrize("dialect", OLDER, ids=BY_NAME)
@pytest.mark.parametrize("travel", TRAVELS)
def test_time_travel_has_no_such_end_in_older_dialects(dialect: Dialect, travel: str) -> None:
    _of_versions(dialect, WEEK_MS).commit(travel)


def test_the_newest_version_may_be_read_however_old_it_is() -> None:
    db = _of_versions(DELTA_OSS_4_4, WEEK_MS)
    db.commit("INSERT INTO s SELECT * FROM t VERSION AS OF 2")


def test_how_far_time_travel_goes_is_said_by_the_table_as_it_is_now() -> None:
    db = _of_versions(DELTA_OSS_4_4, WEEK_MS)
    db.sql("ALTER TABLE t SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = '8 days')")
    db.commit("RESTORE TABLE t TO VERSION AS OF 1")


def test_time_travel_may_be_let_go_further_by_the_session() -> None:
    db = _of_versions(DELTA_OSS_4_4, WEEK_MS)
    db.settings = Settings(time_travel_within_retention=False)
    db.commit("RESTORE TABLE t TO VERSION AS OF 1")


def test_what_is_restored_by_its_instant_is_refused_too() -> None:
    db = _of_versions(DELTA_OSS_4_4, WEEK_MS)
    commit = db.shared["t"].commits.commit_at(1)
    assert commit is not None
    instant = datetime.fromtimestamp(commit.timestamp_ms / 1000, UTC)
    with pytest.raises(DeltaError) as refused:
        db.sql(f"RESTORE TABLE t TO TIMESTAMP AS OF '{instant:%Y-%m-%d %H:%M:%S.%f}'")
    assert refused.value.error_class == BEYOND
