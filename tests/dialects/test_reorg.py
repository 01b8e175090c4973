"""REORG on Databricks: rewriting is compaction, an upgrade conflicts with everything."""

from __future__ import annotations

import pytest

from tests.dialects.races_on_rows import World, ending
from whitecap.engine.dialects import DATABRICKS_13_3, DATABRICKS_14_3, DELTA_OSS_4_4, Dialect

FILES = (((1, 0, 0), (2, 0, 0), (3, 0, 0)), ((4, 1, 0), (5, 1, 0), (6, 1, 0)))
PURGE = "REORG TABLE t APPLY (PURGE)"
UPGRADE = "REORG TABLE t APPLY (UPGRADE UNIFORM (ICEBERG_COMPAT_VERSION = 2))"
DELETED = "DELETE FROM t WHERE id IN (1, 4)"


def world(dialect: Dialect = DATABRICKS_14_3, partitioned_by: str = "") -> World:
    """Two files, each with a deleted row to purge."""
    made = World.of(*FILES, dialect=dialect, partitioned_by=partitioned_by)
    made.run(DELETED)
    return made


CHANGES = [
    "UPDATE t SET v = 1 WHERE id = 2",
    "DELETE FROM t WHERE id = 5",
    "MERGE INTO t USING (VALUES (2, 7)) AS s(id, v) ON t.id = s.id"
    " WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (9, 9)",
]


@pytest.mark.parametrize("statement", CHANGES)
@pytest.mark.parametrize(
    "dialect", [DATABRICKS_13_3, DATABRICKS_14_3], ids=lambda dialect: dialect.name
)
@pytest.mark.parametrize("partitioned_by", ["", "g"])
def test_purging_and_changes_do_not_conflict_whichever_commits_first(
    statement: str, dialect: Dialect, partitioned_by: str
) -> None:
    alone = world(DELTA_OSS_4_4, partitioned_by)
    alone.run(statement)
    for current, winner in ((statement, PURGE), (PURGE, statement)):
        raced = world(dialect, partitioned_by)
        assert ending(raced.race(current, winner)) == "committed"
        assert raced.rows() == alone.rows()
        raced.check_log()


@pytest.mark.parametrize("statement", CHANGES)
def test_on_open_source_delta_they_conflict(statement: str) -> None:
    assert ending(world(DELTA_OSS_4_4).race(statement, PURGE)).startswith("Concurrent")
    assert ending(world(DELTA_OSS_4_4).race(PURGE, statement)).startswith("Concurrent")


def test_purging_and_appending_do_not_conflict_and_two_purges_give_way() -> None:
    insert = "INSERT INTO t VALUES (9, 9, 9)"
    assert ending(world().race(insert, PURGE)) == "committed"
    assert ending(world().race(PURGE, insert)) == "committed"
    assert ending(world().race(PURGE, PURGE)) in ("committed", "nothing")


@pytest.mark.parametrize("statement", [*CHANGES, "INSERT INTO t VALUES (9, 9, 9)", "OPTIMIZE t"])
def test_an_upgrade_aborts_whoever_is_at_work(statement: str) -> None:
    made = World.of(*FILES, properties={"delta.enableDeletionVectors": "false"})
    end = ending(made.race(statement, UPGRADE))
    assert end == "ProtocolChanged DELTA_PROTOCOL_CHANGED"
