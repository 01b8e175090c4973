"""All interleavings of a few statements end as some serial order of those that committed."""

from __future__ import annotations

from itertools import permutations

import pytest

from tests.dialects.races_on_rows import (
    FOUR_ROWS,
    SERIALIZABLE,
    Played,
    Rows,
    ending,
    interleavings,
    serial,
)

FILES = (FOUR_ROWS, ((5, 2, 0), (6, 2, 0)))
OPTIMIZE = "OPTIMIZE t"


def upsert(key: int, value: int) -> str:
    return (
        f"MERGE INTO t USING (VALUES ({key}, 9, {value})) AS s(id, g, v) ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET v = t.v * 10 + s.v WHEN NOT MATCHED THEN INSERT *"
    )


def of_history(played: Played, statements: tuple[str, ...]) -> Rows:
    """The rows if those that committed had run one after another, in the order of the log."""
    return serial(FILES, [statements[at] for at in played.committed])


APART = [
    ("DELETE FROM t WHERE id = 1", "UPDATE t SET v = 7 WHERE id = 2"),
    ("UPDATE t SET v = v + 1 WHERE id = 1", "UPDATE t SET v = v + 1 WHERE id = 2"),
    (upsert(1, 1), upsert(2, 2)),
    (upsert(1, 1), upsert(8, 2)),
    (upsert(7, 1), upsert(8, 2)),
    ("DELETE FROM t WHERE g = 0", "DELETE FROM t WHERE g = 1"),
]
TOGETHER = [
    ("DELETE FROM t WHERE id = 1", "UPDATE t SET v = 7 WHERE id = 1"),
    ("UPDATE t SET v = v * 2 + 1 WHERE id = 1", "UPDATE t SET v = v * 3 + 2 WHERE id = 1"),
    (upsert(1, 1), upsert(1, 2)),
    (upsert(8, 1), upsert(8, 2)),
    ("UPDATE t SET g = 1 WHERE id = 1", "UPDATE t SET v = v + 1 WHERE g = 1"),
]


@pytest.mark.parametrize("statements", APART)
def test_statements_on_different_rows_always_both_commit(statements: tuple[str, str]) -> None:
    for options in ({}, {"properties": SERIALIZABLE}):
        for played in interleavings(FILES, statements, **options):
            ends = [ending(outcome) for outcome in played.outcomes]
            assert ends == ["committed"] * 2, played.schedule
            assert played.rows == of_history(played, statements)


@pytest.mark.parametrize("statements", TOGETHER)
def test_statements_on_one_row_run_one_after_the_other_or_one_aborts(
    statements: tuple[str, str],
) -> None:
    aborted = 0
    for played in interleavings(FILES, statements):
        assert played.rows == of_history(played, statements), played.schedule
        aborted += len(played.committed) < 2
    assert aborted


@pytest.mark.parametrize("statements", APART)
def test_compaction_between_changes_nothing_of_that(statements: tuple[str, str]) -> None:
    three = (*statements, OPTIMIZE)
    for played in interleavings(FILES, three):
        ends = [ending(outcome) for outcome in played.outcomes]
        assert ends[:2] == ["committed"] * 2, (played.schedule, ends)
        assert ends[2] in ("committed", "nothing")
        assert played.rows == of_history(played, three)


@pytest.mark.parametrize("statements", TOGETHER[:3])
def test_compaction_between_does_not_hide_a_clash(statements: tuple[str, str]) -> None:
    three = (*statements, OPTIMIZE)
    for played in interleavings(FILES, three):
        assert played.rows == of_history(played, three), played.schedule


def test_three_winners_on_rows_of_one_file_all_commit() -> None:
    three = tuple(f"UPDATE t SET v = v + {key} WHERE id = {key}" for key in (1, 2, 3))
    for played in interleavings(FILES, three):
        assert len(played.committed) == 3, played.schedule
        assert played.rows == of_history(played, three)


def test_a_blind_insert_may_count_as_later_than_history_says() -> None:
    statements = ("DELETE FROM t WHERE g = 0", "INSERT INTO t VALUES (7, 0, 0)")
    orders = {serial(FILES, order) for order in permutations(statements)}
    reordered = 0
    for played in interleavings(FILES, statements):
        assert len(played.committed) == 2
        assert played.rows in orders
        reordered += played.rows != of_history(played, statements)
    assert reordered
    for played in interleavings(FILES, statements, properties=SERIALIZABLE):
        assert played.rows == of_history(played, statements)
