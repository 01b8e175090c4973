"""How long removed files are kept, and what VACUUM makes of it in which dialect."""

from __future__ import annotations

import pytest

from tests.commands.sql_database import Database
from whitecap.engine.dialects import DELTA_OSS_4_4, DIALECTS, Dialect, Vendor
from whitecap.engine.errors import DeltaError, UnsupportedFeature
from whitecap.engine.settings import Settings
from whitecap.engine.storage.requests import Listing, ListTree

HOUR_MS = 3_600_000
IGNORING = "spark.databricks.delta.vacuum.retentionWindowIgnore.enabled"
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
