"""Hand-made interleavings of several commands on a real Delta Lake."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from whitecap.sim.replay.playing.player import PlayedTransaction, play
from whitecap.sim.replay.playing.script import CommandPart, End, Planned, TransactionResult
from whitecap.sim.replay.playing.stage import Stage
from whitecap.sim.replay.real.commands import RealCommand, Sql, StreamBatch
from whitecap.sim.replay.real.failures import failure_of
from whitecap.sim.replay.real.jvm import Jvm
from whitecap.sim.replay.real.phase_locks import Interleaving, StuckInterleaving
from whitecap.sim.replay.real.tables import commit_info, latest_version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
MakeTable = Callable[..., Path]
WAIT_S = 120.0


def _commits(name: str, command: RealCommand, read: int, version: int) -> Planned:
    part = CommandPart(read, version - 1, version)
    return Planned(name, command, (part,), TransactionResult(End.COMMITTED, version))


def _dies(name: str, command: RealCommand, read: int, decided: int, exception: str) -> Planned:
    part = CommandPart(read, decided)
    return Planned(name, command, (part,), TransactionResult(End.ABORTED, exception=exception))


class _Recorded:
    """A history to play on: `target` as it is, and commits that it got while nobody watched.

    Each statement makes one commit; the history begins with the version before them.
    """

    def __init__(self, spark: SparkSession, table: Path, *statements: str) -> None:
        self.first = latest_version(table)
        for statement in statements:
            spark.sql(statement).collect()
        self.last = latest_version(table)
        Jvm(spark).forget_tables()
        work = table.parent / "work"
        work.mkdir()
        self._stage = Stage(spark, table, work, "target")
        self.laid_out: list[int] = []

    def lay_out(self, version: int) -> Path:
        self.laid_out.append(version)
        return self._stage.lay_out(version)

    def put(self, version: int) -> None:
        self._stage.put(version)

    def commit_info(self, version: int) -> dict[str, Any]:
        return commit_info(self._stage.table, version)


def _played(
    spark: SparkSession, layouts: _Recorded, script: list[Planned]
) -> list[PlayedTransaction]:
    """Play a script whole."""
    last = max(part.complete_at for each in script for part in each.parts)
    return list(play(spark, script, layouts, last, WAIT_S))


def _batch(app: str, batch: int, *values: int) -> StreamBatch:
    rows = [{"x": 1, "v": value} for value in values]
    return StreamBatch(app, batch, "x INT, v BIGINT", rows)


def _ends(observed: list[PlayedTransaction]) -> dict[str, tuple[End, int | None, str | None]]:
    return {each.planned.name: _end(each.real) for each in observed}


def _end(real: TransactionResult | None) -> tuple[End, int | None, str | None]:
    assert real is not None
    return real.end, real.version, real.exception


def test_three_overlapping_writers_end_as_their_order_demands(
    spark: SparkSession, make_table: MakeTable
) -> None:
    layouts = _Recorded(spark, make_table())
    base = layouts.first
    update = Sql("UPDATE target SET v = v + 1 WHERE x = 1")
    script = [
        _dies("updater", update, base, base + 2, "ConcurrentAppendException"),
        _commits("loader", Sql("INSERT INTO target VALUES (1, 7)"), base, base + 2),
        _commits("deleter", Sql("DELETE FROM target WHERE x = 2"), base, base + 1),
    ]
    observed = _played(spark, layouts, script)
    assert _ends(observed) == {
        "deleter": (End.COMMITTED, base + 1, None),
        "loader": (End.COMMITTED, base + 2, None),
        "updater": (End.ABORTED, None, "ConcurrentAppendException"),
    }


def test_two_runs_of_one_checkpoint_collide_and_its_next_batch_does_not(
    spark: SparkSession, make_table: MakeTable
) -> None:
    layouts = _Recorded(spark, make_table())
    base = layouts.first
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
            (CommandPart(base + 3, base + 3),),
            TransactionResult(End.NOTHING_TO_COMMIT),
        ),
    ]
    observed = _played(spark, layouts, script)
    assert _ends(observed) == {
        each.name: (each.recorded.end, each.recorded.version, each.recorded.exception)
        for each in script
    }
    info = layouts.commit_info(base + 1)
    assert (info["operation"], info["isBlindAppend"]) == ("STREAMING UPDATE", True)


def test_write_serializable_lets_a_delete_pass_a_blind_append(
    spark: SparkSession, make_table: MakeTable
) -> None:
    layouts = _Recorded(spark, make_table(**{"delta.isolationLevel": "WriteSerializable"}))
    base = layouts.first
    script = [
        _commits("deleter", Sql("DELETE FROM target WHERE x = 1 AND v = 3"), base, base + 2),
        _commits("loader", Sql("INSERT INTO target VALUES (1, 7)"), base, base + 1),
    ]
    assert _ends(_played(spark, layouts, script)) == {
        "loader": (End.COMMITTED, base + 1, None),
        "deleter": (End.COMMITTED, base + 2, None),
    }
    assert layouts.commit_info(base + 2)["isolationLevel"] == "WriteSerializable"


INSERT = "INSERT INTO target VALUES (1, 7)"
UPDATE = "UPDATE target SET v = v + 1 WHERE x = 1"


def test_what_follows_a_commit_that_really_fails_is_compared_on_the_recorded_table(
    spark: SparkSession, make_table: MakeTable
) -> None:
    """The history says that a commit was made which is none in reality: the others saw it."""
    layouts = _Recorded(spark, make_table(), INSERT, INSERT)
    base = layouts.first
    script = [
        _commits("real", Sql(INSERT), base, base + 1),
        _commits("not so", Sql("DELETE FROM nowhere"), base + 1, base + 2),
        _dies("early", Sql(UPDATE), base + 1, base + 2, "ConcurrentAppendException"),
        _commits("late", Sql("DELETE FROM target WHERE x = 2"), base + 2, base + 3),
    ]
    observed = _ends(_played(spark, layouts, script))
    assert observed["not so"][0] is End.ABORTED
    assert observed["early"] == (End.ABORTED, None, "ConcurrentAppendException")
    assert observed["late"] == (End.COMMITTED, base + 3, None)
    # On the second layout, `early` began before the commit that was put, and was held meanwhile.
    assert layouts.laid_out == [base, base + 1]


def test_what_follows_a_refusal_that_really_commits_is_compared_too(
    spark: SparkSession, make_table: MakeTable
) -> None:
    layouts = _Recorded(spark, make_table(), INSERT)
    base = layouts.first
    script = [
        _dies("not so", Sql("DELETE FROM target WHERE x = 2"), base, base, "Nonsense"),
        _commits("after", Sql(INSERT), base, base + 1),
    ]
    observed = _ends(_played(spark, layouts, script))
    assert observed["not so"] == (End.COMMITTED, base + 1, None)
    assert observed["after"] == (End.COMMITTED, base + 1, None)


def test_a_commit_that_nobody_plays_is_put_and_refuses_whom_it_refused(
    spark: SparkSession, make_table: MakeTable
) -> None:
    layouts = _Recorded(spark, make_table(), INSERT, INSERT)
    base = layouts.first
    script = [
        _dies("refused", Sql(UPDATE), base, base + 1, "ConcurrentAppendException"),
        _commits("goes on", Sql("DELETE FROM target WHERE x = 2"), base, base + 3),
    ]
    observed = _ends(_played(spark, layouts, script))
    assert observed == {
        "refused": (End.ABORTED, None, "ConcurrentAppendException"),
        "goes on": (End.COMMITTED, base + 3, None),
    }
    assert layouts.laid_out == [base]


def test_a_command_of_two_commits_is_held_before_each(
    spark: SparkSession, make_table: MakeTable
) -> None:
    layouts = _Recorded(spark, make_table())
    base = layouts.first
    vacuum = Planned(
        "vacuum",
        Sql("VACUUM target"),
        (CommandPart(base, base, base + 1), CommandPart(base + 1, base + 2, base + 3)),
        TransactionResult(End.COMMITTED, base + 3),
    )
    script = [vacuum, _commits("between", Sql(INSERT), base + 1, base + 2)]
    observed = _ends(_played(spark, layouts, script))
    assert observed == {
        "between": (End.COMMITTED, base + 2, None),
        "vacuum": (End.COMMITTED, base + 3, None),
    }


def test_a_command_whose_first_commit_is_put_is_not_begun_again(
    spark: SparkSession, make_table: MakeTable
) -> None:
    layouts = _Recorded(spark, make_table(), INSERT, INSERT)
    base = layouts.first
    vacuum = Planned(
        "vacuum",
        Sql("VACUUM target"),
        (CommandPart(base, base, base + 1), CommandPart(base + 1, base + 2, base + 3)),
        TransactionResult(End.COMMITTED, base + 3),
    )
    wrong = _commits("wrong", Sql("DELETE FROM nowhere"), base + 1, base + 2)
    observed = _played(spark, layouts, [vacuum, wrong])
    (cut_off,) = [each for each in observed if each.real is None]
    assert cut_off.planned.name == "vacuum"
    assert "between two of its commits" in cut_off.message


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
    layouts = _Recorded(spark, make_table())
    base = layouts.first
    script = [
        _commits("optimize", Sql("OPTIMIZE target"), base, base + 2),
        _commits("alter", Sql("ALTER TABLE target ADD COLUMN w INT"), base, base + 1),
    ]
    assert _ends(_played(spark, layouts, script))["optimize"][0] is End.COMMITTED


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
