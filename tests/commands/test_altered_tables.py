"""What ALTER TABLE refuses beyond the observed cases: columns of the change feed, features."""

from __future__ import annotations

import pytest

from tests.commands.sql_database import Database
from whitecap.engine.errors import DeltaError, InvalidInput, UnsupportedFeature

FEED = {"enableChangeDataFeed": "true"}
MAPPED = {"columnMapping.mode": "name"}


def made(ddl: str = "k INT, v BIGINT", **properties: str) -> Database:
    db = Database()
    db.create("t", ddl, **properties)
    return db


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
