"""Compaction and changes of rows reconcile on tables with deletion vectors, both ways round."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.races_on_rows import FOUR_ROWS, World, ending
from whitecap.engine.dialects import (
    DATABRICKS_13_3,
    DATABRICKS_14_2,
    DATABRICKS_14_3,
    DELTA_OSS_4_4,
    Dialect,
)
from whitecap.engine.outcomes import Committed

FILES = (FOUR_ROWS, ((5, 1, 0), (6, 1, 0)))
OPTIMIZE, ZORDER = "OPTIMIZE t", "OPTIMIZE t ZORDER BY (v)"
UPDATE = "UPDATE t SET v = 1 WHERE id = 1"
DELETE = "DELETE FROM t WHERE id = 5"
MERGE = (
    "MERGE INTO t USING (VALUES (2, 7), (8, 7)) AS s(id, v) ON t.id = s.id"
    " WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
)
DATABRICKS = [DATABRICKS_13_3, DATABRICKS_14_2, DATABRICKS_14_3]


def raced(
    current: str, *winners: str, dialect: Dialect = DATABRICKS_14_3, **options: Any
) -> tuple[str, World]:
    world = World.of(*FILES, dialect=dialect, **options)
    ends = ending(world.race(current, *winners))
    world.check_log()
    return ends, world


def after(*statements: str) -> tuple[tuple[object, ...], ...]:
    world = World.of(*FILES, dialect=DELTA_OSS_4_4)
    for sql in statements:
        world.run(sql)
    return world.rows()


@pytest.mark.parametrize("dialect", DATABRICKS, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("statement", [UPDATE, DELETE, MERGE, "DELETE FROM t", "TRUNCATE TABLE t"])
@pytest.mark.parametrize("partitioned_by", ["", "g"])
def test_optimize_and_dml_never_conflict(
    dialect: Dialect, statement: str, partitioned_by: str
) -> None:
    files = (((1, 1, 0), (2, 1, 0)), ((5, 1, 0), (6, 1, 0)))
    for current, winner in ((statement, OPTIMIZE), (OPTIMIZE, statement)):
        world = World.of(*files, dialect=dialect, partitioned_by=partitioned_by)
        assert ending(world.race(current, winner)) in ("committed", "nothing")
        alone = World.of(*files, dialect=DELTA_OSS_4_4)
        alone.run(statement)
        assert world.rows() == alone.rows()
        world.check_log()


def test_without_deletion_vectors_they_do() -> None:
    plain = {"delta.enableDeletionVectors": "false"}
    assert raced(UPDATE, OPTIMIZE, properties=plain)[0] == "ConcurrentDeleteDelete WITHOUT_HINT"
    assert raced(OPTIMIZE, OPTIMIZE, properties=plain)[0] == "ConcurrentDeleteDelete WITHOUT_HINT"
    assert raced(OPTIMIZE, UPDATE, properties=plain)[0] == "ConcurrentDeleteRead WITHOUT_HINT"


def test_on_open_source_delta_they_do_with_deletion_vectors_too() -> None:
    assert raced(UPDATE, OPTIMIZE, dialect=DELTA_OSS_4_4)[0] == "ConcurrentAppend WITHOUT_HINT"
    end = raced(OPTIMIZE, UPDATE, dialect=DELTA_OSS_4_4)[0]
    assert end == "ConcurrentDeleteRead WITHOUT_HINT"


def test_with_zorder_they_do() -> None:
    assert raced(UPDATE, ZORDER)[0] == "ConcurrentDeleteDelete WITHOUT_HINT"
    assert raced(ZORDER, UPDATE)[0] == "ConcurrentDeleteRead WITHOUT_HINT"


def test_row_tracking_lets_rows_be_found_after_a_zorder() -> None:
    tracked = {"delta.enableRowTracking": "true"}
    ends, world = raced(UPDATE, ZORDER, properties=tracked)
    assert ends == "committed"
    assert world.rows() == after(UPDATE)


def test_a_zorder_of_other_files_does_not_disturb() -> None:
    files = (((1, 0, 0), (2, 0, 0)), ((5, 1, 0), (6, 1, 0)))
    world = World.of(*files, partitioned_by="g")
    only_there = "OPTIMIZE t WHERE g = 1 ZORDER BY (v)"
    assert ending(world.race("DELETE FROM t WHERE g = 0 AND id = 1", only_there)) == "committed"


def test_two_compactions_do_not_conflict_and_the_second_has_nothing_left_to_do() -> None:
    ends, world = raced(OPTIMIZE, OPTIMIZE)
    assert ends == "nothing"
    assert world.num_files() == 1
    assert world.rows() == after()


def test_a_compaction_keeps_the_partitions_that_nobody_else_compacted() -> None:
    files = (((1, 0, 0),), ((2, 0, 0),), ((5, 1, 0),), ((6, 1, 0),))
    world = World.of(*files, partitioned_by="g")
    assert ending(world.race(OPTIMIZE, "OPTIMIZE t WHERE g = 0")) == "committed"
    assert world.num_files() == 2
    world.check_log()


def test_a_compaction_by_another_engine_says_not_where_rows_went() -> None:
    world = World.of(*FILES)
    current = world.begin(UPDATE)
    world.dialect = DELTA_OSS_4_4
    world.run(OPTIMIZE)
    assert ending(current.finish()) == "ConcurrentDeleteDelete WITHOUT_HINT"


def test_zorder_and_compaction_conflict() -> None:
    assert raced(OPTIMIZE, ZORDER)[0] == "ConcurrentDeleteDelete WITHOUT_HINT"
    assert raced(ZORDER, OPTIMIZE)[0] == "ConcurrentDeleteDelete WITHOUT_HINT"


READS_AND_INSERTS = "INSERT INTO t SELECT id + 100 AS id, g, v FROM t WHERE id = 1"


def test_whoever_only_read_moved_rows_is_not_disturbed_but_follows_them() -> None:
    plain = {"delta.enableDeletionVectors": "false"}
    assert raced(READS_AND_INSERTS, OPTIMIZE, properties=plain)[0] == "committed"
    changed = "UPDATE t SET v = 7 WHERE id = 1"
    end = raced(READS_AND_INSERTS, OPTIMIZE, changed, properties=plain)[0]
    assert end == "ConcurrentAppend WITHOUT_HINT"
    end = raced(READS_AND_INSERTS, OPTIMIZE, "DELETE FROM t", properties=plain)[0]
    assert end == "ConcurrentDeleteRead WITHOUT_HINT"


def test_inserts_and_optimize_never_conflict() -> None:
    insert = "INSERT INTO t VALUES (9, 9, 9)"
    for statement in (OPTIMIZE, ZORDER):
        assert raced(insert, statement)[0] == "committed"
        assert raced(statement, insert)[0] == "committed"


@pytest.mark.parametrize(
    "statements",
    [
        (DELETE, OPTIMIZE, UPDATE, OPTIMIZE),
        (UPDATE, OPTIMIZE, DELETE),
        (OPTIMIZE, DELETE, UPDATE),
        (OPTIMIZE, DELETE, OPTIMIZE, UPDATE),
        ("DELETE FROM t WHERE id = 1", OPTIMIZE, "DELETE FROM t WHERE id = 2", OPTIMIZE,
         "DELETE FROM t WHERE id = 6"),
    ],
)  # fmt: skip
def test_rows_are_found_through_several_compactions(statements: tuple[str, ...]) -> None:
    current, *winners = statements
    ends, world = raced(current, *winners)
    assert ends in ("committed", "nothing")
    assert world.rows() == after(*winners, current)


def test_a_loser_follows_rows_of_a_compaction_that_had_to_keep_up_itself() -> None:
    world = World.of(*FILES)
    late = world.begin("DELETE FROM t WHERE id IN (2, 6)")
    compaction = world.begin(OPTIMIZE)
    world.run("DELETE FROM t WHERE id = 1")
    assert isinstance(compaction.finish(), Committed)
    assert ending(late.finish()) == "committed"
    assert world.rows() == after("DELETE FROM t WHERE id IN (1, 2, 6)")
    assert world.num_files() == 1
    world.check_log()


def test_the_same_row_still_conflicts_after_it_moved() -> None:
    end = raced("DELETE FROM t WHERE id = 1", OPTIMIZE, "DELETE FROM t WHERE id = 1")[0]
    assert end == "ConcurrentDeleteRead ROW_LEVEL_CHANGES"


def test_a_compaction_whose_rows_are_all_gone_leaves_no_file() -> None:
    ends, world = raced(OPTIMIZE, "DELETE FROM t WHERE id > 0")
    assert ends in ("committed", "nothing")
    assert world.num_files() == 0


def test_a_partitioned_loser_that_only_read_moved_rows_still_heeds_their_file() -> None:
    files = (((1, 0, 0),), ((2, 0, 0),))
    world = World.of(*files, partitioned_by="g")
    ours = "DELETE FROM t WHERE g = 0 AND id = 1"
    end = ending(world.race(ours, OPTIMIZE, "DELETE FROM t WHERE g = 0 AND id = 2"))
    assert end == "ConcurrentAppend WITH_PARTITION_HINT"
