"""Exploring a race: nothing is missed by pruning, nothing leaks from one schedule to the next."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest

from whitecap.engine.commands import run_statement
from whitecap.engine.dialects import DELTA_OSS_4_4
from whitecap.engine.errors import DeltaError
from whitecap.engine.outcomes import Aborted, Committed, NothingToCommit
from whitecap.engine.races.interleaving.contender import Contender, Start
from whitecap.engine.races.interleaving.race import Played, StepKind
from whitecap.engine.races.interleaving.schedules import Exploration, schedules, schedules_of
from whitecap.engine.races.interleaving.world import World
from whitecap.engine.races.row_tables import DataFile, TableOf
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.storage.requests import Delete, PutIfAbsent, ReadClock, WriteRows

TWO_FILES = TableOf(
    schema="id INT, day DATE, v INT",
    partition_columns=["day"],
    properties={},
    versions=3,
    files=[
        DataFile({}, [{"id": 1, "day": "2026-01-01", "v": 0}, {"id": 2, "day": "2026-01-01"}]),
        DataFile({}, [{"id": 3, "day": "2026-01-02", "v": 0}]),
    ],
)
UPDATE = "UPDATE t SET v = 1 WHERE id = 1"
DELETE = "DELETE FROM t WHERE id = 2"
STATEMENTS = (
    UPDATE,
    DELETE,
    "INSERT INTO t VALUES (9, DATE'2026-01-01', 9)",
    "INSERT INTO t SELECT id + 10, day, v FROM t",
    "MERGE INTO t USING (VALUES (3, 5)) AS s(id, v) ON t.id = s.id"
    " WHEN MATCHED THEN UPDATE SET v = s.v",
    "OPTIMIZE t ZORDER BY (v)",
    "ALTER TABLE t SET TBLPROPERTIES ('team' = 'sea')",
    "TRUNCATE TABLE t",
)


def world(table: TableOf = TWO_FILES) -> World:
    return World.of_tables({"t": table})


def start(sql: str) -> Start:
    return lambda tables: run_statement(parse_statement(sql), tables)


def ended(played: Played) -> tuple[str, ...]:
    """How each contender ended, in words."""
    return tuple(_word(ending) for ending in played.endings)


def _word(ending: object) -> str:
    match ending:
        case Aborted(verdict):
            return verdict.exception.value
        case Committed(version):
            return f"version {version}"
        case DeltaError() as error:
            return error.exception
    return type(ending).__name__


def results(statements: tuple[str, ...], exploration: Exploration) -> set[tuple[object, ...]]:
    """What can be told apart afterwards: the endings and the rows."""
    race = [start(sql) for sql in statements]
    return {
        (*ended(played), *sorted(str(row) for row in played.rows["t"]))
        for played in schedules(world(), race, exploration)
    }


@pytest.mark.parametrize("pair", list(itertools.combinations_with_replacement(STATEMENTS, 2)))
def test_pruning_loses_no_result_of_any_pair(pair: tuple[str, str]) -> None:
    assert results(pair, Exploration.DISTINCT) == results(pair, Exploration.EVERY)


def test_pruning_loses_no_result_of_three_statements() -> None:
    three = (UPDATE, DELETE, STATEMENTS[2])
    assert results(three, Exploration.DISTINCT) == results(three, Exploration.EVERY)


def test_two_statements_of_one_transaction_each_have_four_distinguishable_schedules() -> None:
    played = list(schedules(world(), [start(UPDATE), start(DELETE)]))
    assert [ended(each) for each in played] == [
        ("version 3", "version 4"),
        ("version 3", "ConcurrentAppendException"),
        ("ConcurrentAppendException", "version 3"),
        ("version 4", "version 3"),
    ]


def test_without_pruning_every_order_of_the_same_steps_is_played() -> None:
    played = list(schedules(world(), [start(UPDATE), start(DELETE)], Exploration.EVERY))
    assert len({each.schedule for each in played}) == len(played) == 6


def course_of(played: Played) -> tuple[object, ...]:
    """Everything that a schedule shows."""
    return played.schedule, played.events, ended(played), played.rows


def test_a_contender_that_raced_others_before_races_as_if_it_were_new() -> None:
    tables = world()
    contenders = [[Contender(tables, who, start(sql)) for sql in STATEMENTS] for who in (0, 1)]
    for (at, first), (to, second) in itertools.product(enumerate(STATEMENTS), repeat=2):
        again = schedules_of(tables, [contenders[0][at], contenders[1][to]])
        anew = schedules(tables, [start(first), start(second)])
        assert [course_of(each) for each in again] == [course_of(each) for each in anew]


ROW_TRACKING = "ALTER TABLE t SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')"


def conflicts(played: Iterable[Played]) -> set[tuple[int, str]]:
    """Who was aborted, and with what."""
    return {
        (who, ending.verdict.message.partition(" ")[0])
        for each in played
        for who, ending in enumerate(each.endings)
        if isinstance(ending, Aborted)
    }


@pytest.mark.parametrize("first", [*STATEMENTS, ROW_TRACKING])
@pytest.mark.parametrize("second", [UPDATE, STATEMENTS[5], ROW_TRACKING])
def test_what_is_not_played_once_a_race_is_settled_has_no_conflict(first: str, second: str) -> None:
    tables = world()
    both = [Contender(tables, who, start(sql)) for who, sql in enumerate((first, second))]
    every = list(schedules_of(tables, both))
    played = list(schedules_of(tables, both, Exploration.CONFLICTING))
    assert conflicts(played) == conflicts(every)
    assert len(played) < len(every)


def test_the_clock_of_a_branch_stands_still_between_commits() -> None:
    branch = world().branch().store
    began = branch.answer(ReadClock())
    assert isinstance(began, int)
    branch.answer(WriteRows("t/one.parquet", [(1,)], ("id",), ("int",), ()))
    assert branch.answer(ReadClock()) == began
    branch.answer(PutIfAbsent("t/_delta_log/00000000000000000009.json", b""))
    assert branch.answer(ReadClock()) == began + 1


def test_a_copy_of_a_branch_has_a_history_of_its_own() -> None:
    branch = world().branch().store
    branch.answer(PutIfAbsent("t/_delta_log/one.json", b"before"))
    copy = branch.copy()
    copy.answer(PutIfAbsent("t/_delta_log/two.json", b"after"))
    copy.answer(Delete(("t/_delta_log/one.json",)))
    assert branch.holds("t/_delta_log/one.json")
    assert not copy.holds("t/_delta_log/one.json")
    assert copy.holds("t/_delta_log/two.json")
    assert not branch.holds("t/_delta_log/two.json")


def test_a_race_with_itself_gives_the_same_schedules_every_time() -> None:
    race = [start(UPDATE), start(STATEMENTS[5])]
    first, second = (
        [(each.schedule, each.events, ended(each), each.rows) for each in schedules(world(), race)]
        for _ in range(2)
    )
    assert first == second


def test_schedules_leave_the_table_as_it_was() -> None:
    tables = world()
    before = list(tables.branch().rows("t"))
    assert len(list(schedules(tables, [start(DELETE), start(STATEMENTS[7])]))) == 4
    assert list(tables.branch().rows("t")) == before


def test_the_steps_of_a_lost_race_are_told_in_order() -> None:
    lost = list(schedules(world(), [start(UPDATE), start(DELETE)]))[1]
    steps = [(event.who, event.kind, event.version, event.won) for event in lost.events]
    assert steps == [
        (0, StepKind.SNAPSHOT, 2, False),
        (0, StepKind.STAGE, -1, False),
        (1, StepKind.SNAPSHOT, 2, False),
        (1, StepKind.STAGE, -1, False),
        (0, StepKind.ATTEMPT, 3, True),
        (1, StepKind.ATTEMPT, 3, False),
        (1, StepKind.CHECK, 3, False),
    ]


def test_a_refusal_of_delta_is_an_ending_like_any_other() -> None:
    add = start("ALTER TABLE t ADD COLUMN w INT")
    endings = [ended(played) for played in schedules(world(), [add, add])]
    assert ("version 3", "ExtendedAnalysisException") in endings
    assert ("version 3", "MetadataChangedException") in endings


def test_a_statement_with_nothing_to_do_ends_without_a_commit() -> None:
    nothing = start("DELETE FROM t WHERE id = 77")
    endings = {type(e) for p in schedules(world(), [nothing, start(UPDATE)]) for e in p.endings}
    assert endings == {NothingToCommit, Committed}


def test_statements_on_different_tables_have_one_schedule() -> None:
    tables = World.of_tables({"t": TWO_FILES, "u": TWO_FILES}, DELTA_OSS_4_4)
    other = start("DELETE FROM u WHERE id = 1")
    assert len(list(schedules(tables, [start(DELETE), other]))) == 1
