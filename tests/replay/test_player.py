"""Hand-made interleavings of several commands on a real Delta Lake."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whitecap.sim.replay.failures import failure_of
from whitecap.sim.replay.phase_locks import Interleaving, StuckInterleaving
from whitecap.sim.replay.player import Observed, play
from whitecap.sim.replay.real_commands import RealCommand, Sql, StreamBatch
from whitecap.sim.replay.script import End, Planned, Result
from whitecap.sim.replay.tables import commit_info, latest_version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
MakeTable = Callable[..., Path]
WAIT_S = 120.0


def _commits(name: str, command: RealCommand, read: int, version: int) -> Planned:
    return Planned(name, command, read, version - 1, Result(End.COMMITTED, version))


def _dies(name: str, command: RealCommand, read: int, decided: int, exception: str) -> Planned:
    return Planned(name, command, read, decided, Result(End.ABORTED, exception=exception))


def _batch(app: str, batch: int, *values: int) -> StreamBatch:
    rows = [{"x": 1, "v": value} for value in values]
    return StreamBatch(app, batch, "x INT, v BIGINT", rows)


def _ends(observed: list[Observed]) -> dict[str, tuple[End, int | None, str | None]]:
    return {
        each.planned.name: (each.real.end, each.real.version, each.real.exception)
        for each in observed
    }


def test_three_overlapping_writers_end_as_their_order_demands(
    spark: SparkSession, make_table: MakeTable
) -> None:
    table = make_table()
    base = latest_version(table)
    update = Sql("UPDATE target SET v = v + 1 WHERE x = 1")
    script = [
        _dies("updater", update, base, base + 2, "ConcurrentAppendException"),
        _commits("loader", Sql("INSERT INTO target VALUES (1, 7)"), base, base + 2),
        _commits("deleter", Sql("DELETE FROM target WHERE x = 2"), base, base + 1),
    ]
    observed = list(play(spark, script, table, WAIT_S))
    assert _ends(observed) == {
        "deleter": (End.COMMITTED, base + 1, None),
        "loader": (End.COMMITTED, base + 2, None),
        "updater": (End.ABORTED, None, "ConcurrentAppendException"),
    }
    assert not any(each.parted for each in observed)


def test_two_runs_of_one_checkpoint_collide_and_its_next_batch_does_not(
    spark: SparkSession, make_table: MakeTable
) -> None:
    table = make_table()
    base = latest_version(table)
    script = [
        _commits("first run", _batch("query", 0, 1), base, base + 1),
        _dies(
            "second run", _batch("query", 0, 1), base, base + 1, "ConcurrentTransactionException"
        ),
        _commits("next batch", _batch("query", 1, 2), base + 1, base + 2),
        _commits("other query", _batch("other", 0, 3), base + 1, base + 3),
        Planned(
            "batch again",
            _batch("query", 1, 2),
            base + 3,
            base + 3,
            Result(End.NOTHING_TO_COMMIT),
        ),
    ]
    observed = list(play(spark, script, table, WAIT_S))
    assert _ends(observed) == {
        each.name: (each.recorded.end, each.recorded.version, each.recorded.exception)
        for each in script
    }
    info = commit_info(table, base + 1)
    assert (info["operation"], info["isBlindAppend"]) == ("STREAMING UPDATE", True)


def test_write_serializable_lets_a_delete_pass_a_blind_append(
    spark: SparkSession, make_table: MakeTable
) -> None:
    table = make_table(**{"delta.isolationLevel": "WriteSerializable"})
    base = latest_version(table)
    script = [
        _commits("deleter", Sql("DELETE FROM target WHERE x = 1 AND v = 3"), base, base + 2),
        _commits("loader", Sql("INSERT INTO target VALUES (1, 7)"), base, base + 1),
    ]
    assert _ends(list(play(spark, script, table, WAIT_S))) == {
        "loader": (End.COMMITTED, base + 1, None),
        "deleter": (End.COMMITTED, base + 2, None),
    }
    assert commit_info(table, base + 2)["isolationLevel"] == "WriteSerializable"


def test_once_the_real_table_leaves_the_recorded_history_the_rest_is_marked(
    spark: SparkSession, make_table: MakeTable
) -> None:
    table = make_table()
    base = latest_version(table)
    wrong = _dies("not so", Sql("INSERT INTO target VALUES (1, 1)"), base, base, "Nonsense")
    after = _commits("after", Sql("INSERT INTO target VALUES (2, 1)"), base, base + 1)
    observed = list(play(spark, [wrong, after], table, WAIT_S))
    assert [(each.planned.name, each.parted) for each in observed] == [
        ("not so", False),
        ("after", True),
    ]


def test_optimize_starts_again_by_itself_and_dies_only_when_its_files_are_gone(
    spark: SparkSession, make_table: MakeTable
) -> None:
    table = make_table()
    with Interleaving(spark, WAIT_S) as interleaving:
        optimize = interleaving.begin(
            "optimize", lambda: spark.sql("OPTIMIZE target").collect(), transactions=2
        )
        assert optimize
        altered = "ALTER TABLE target ADD COLUMN w INT"
        assert interleaving.run("alter", lambda: spark.sql(altered).collect()).error is None
        interleaving.finish_transaction("optimize", 0)
        assert interleaving.begin_transaction("optimize", 1)
        gone = "DELETE FROM target WHERE x = 1"
        assert interleaving.run("delete", lambda: spark.sql(gone).collect()).error is None
        ended = interleaving.finish("optimize")
    assert ended.error is not None
    failure = failure_of(ended.error)
    assert failure.exception == "ConcurrentDeleteReadException"
    assert failure.error_class == "DELTA_CONCURRENT_DELETE_READ.WITH_PARTITION_HINT"
    assert latest_version(table) == 6


def test_optimize_survives_a_schema_change_without_anyone_telling_it_to_retry(
    spark: SparkSession, make_table: MakeTable
) -> None:
    table = make_table()
    base = latest_version(table)
    script = [
        _commits("optimize", Sql("OPTIMIZE target"), base, base + 2),
        _commits("alter", Sql("ALTER TABLE target ADD COLUMN w INT"), base, base + 1),
    ]
    assert _ends(list(play(spark, script, table, WAIT_S)))["optimize"][0] is End.COMMITTED


def test_a_wait_that_is_too_long_says_who_waited_for_whom_and_lets_everybody_go(
    spark: SparkSession, make_table: MakeTable
) -> None:
    table = make_table()
    before = latest_version(table)

    def wait_too_long() -> None:
        with Interleaving(spark, timeout_s=WAIT_S) as interleaving:
            insert = "INSERT INTO target VALUES (1, 9)"
            interleaving.begin("loader", lambda: spark.sql(insert).collect())
            interleaving._timeout_s = 1.0
            interleaving.begin("sleeper", lambda: time.sleep(3))

    with pytest.raises(StuckInterleaving, match="for sleeper to stand before its commit") as raised:
        wait_too_long()
    assert "sleeper is before its transaction" in str(raised.value)
    assert "Parked meanwhile: loader at commitPhase" in str(raised.value)
    assert latest_version(table) == before + 1
