"""ALTER TABLE DROP FEATURE of Delta 3.3, which waits for history instead of protecting it."""

from __future__ import annotations

import pytest

from tests.commands.sql_database import Database
from whitecap.engine.commands.features.removals import REMOVALS
from whitecap.engine.dialects import DELTA_OSS_3_3
from whitecap.engine.errors import DeltaError, UnsupportedFeature
from whitecap.engine.log.features.table_features import FEATURES

FAST = "spark.databricks.delta.tableFeatures.fastDropFeature.enabled"


def _table(**properties: str) -> Database:
    db = Database()
    db.dialect = DELTA_OSS_3_3
    db.create("t", "x INT, v INT", **properties)
    db.sql("INSERT INTO t VALUES (1, 1), (2, 2)")
    return db


def _refused(db: Database, statement: str) -> str | None:
    with pytest.raises(DeltaError) as refused:
        db.sql(statement)
    return refused.value.error_class


def _operations(db: Database, after: int) -> list[str | None]:
    """What the commits after a version say that they did."""
    newest = db.snapshot("t").version
    commits = (
        db.shared["t"].commits.commit_at(version) for version in range(after + 1, newest + 1)
    )
    return [commit.commit_info.operation for commit in commits if commit and commit.commit_info]


@pytest.mark.parametrize("how", ["", " TRUNCATE HISTORY"])
def test_what_readers_must_know_is_cleaned_up_and_stays_until_history_expires(how: str) -> None:
    db = _table(enableDeletionVectors="true")
    db.sql("DELETE FROM t WHERE x = 1")
    before = db.snapshot("t").version
    drop = f"ALTER TABLE t DROP FEATURE deletionVectors{how}"
    assert _refused(db, drop) == "DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD"
    assert _operations(db, before) == ["UNSET TBLPROPERTIES", "REORG", "Empty Commit"]
    assert _refused(db, drop) == "DELTA_FEATURE_DROP_HISTORICAL_VERSIONS_EXIST"


def test_what_no_version_used_is_dropped_without_a_protection_of_history() -> None:
    db = _table(**{"feature.v2Checkpoint": "supported"})
    before = db.snapshot("t").version
    db.sql("ALTER TABLE t DROP FEATURE v2Checkpoint")
    assert _operations(db, before) == ["Empty Commit", "DROP FEATURE"]
    protocol = db.snapshot("t").protocol
    assert protocol is not None
    assert not protocol.writer_features


def test_what_only_writers_must_know_is_dropped_at_once() -> None:
    db = _table(**{"feature.checkConstraints": "supported"})
    before = db.snapshot("t").version
    db.sql("ALTER TABLE t DROP FEATURE checkConstraints")
    assert _operations(db, before) == ["DROP FEATURE"]


@pytest.mark.parametrize("feature", ["rowTracking", "domainMetadata"])
def test_what_became_droppable_after_3_3_cannot_be_dropped_there(feature: str) -> None:
    db = _table(**{f"feature.{feature}": "supported"})
    drop = f"ALTER TABLE t DROP FEATURE {feature}"
    assert _refused(db, drop) == "DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE"


def test_dropping_at_once_cannot_be_switched_on_in_3_3() -> None:
    with pytest.raises(UnsupportedFeature, match="pull/4212"):
        DELTA_OSS_3_3.settings_of({FAST: "true"})


@pytest.mark.parametrize("name", REMOVALS)
def test_a_removable_feature_that_readers_must_know_says_which_commits_use_it(name: str) -> None:
    assert (REMOVALS[name].used_by is not None) == FEATURES[name].reader_writer
