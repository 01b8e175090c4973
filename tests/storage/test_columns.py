"""Rows seen under other columns than those they were written with."""

from __future__ import annotations

import pytest

from whitecap.engine.storage.columns import in_columns
from whitecap.engine.storage.memory import MemoryStore
from whitecap.engine.storage.requests import ReadRows, RowsOf, WriteRows

ROWS = [(1, "a"), (2, "b")]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (("x", "y", "z"), [(1, "a", None), (2, "b", None)]),
        (("y", "x"), [("a", 1), ("b", 2)]),
        (("y",), [("a",), ("b",)]),
        (("w",), [(None,), (None,)]),
        (("w", "x"), [(None, 1), (None, 2)]),
    ],
)
def test_added_columns_are_null_and_dropped_ones_are_gone(
    wanted: tuple[str, ...], expected: list[tuple[object, ...]]
) -> None:
    assert list(in_columns(ROWS, ("x", "y"), wanted)) == expected


@pytest.mark.parametrize("wanted", [(), ("x", "y")])
def test_rows_in_their_own_columns_are_not_copied(wanted: tuple[str, ...]) -> None:
    assert in_columns(ROWS, ("x", "y"), wanted) is ROWS


def test_a_memory_store_answers_in_the_columns_that_a_reader_asks_for() -> None:
    store = MemoryStore()
    store.answer(WriteRows("f", ROWS, ("x", "y"), ("int", "string"), ()))
    assert store.answer(ReadRows(("f",), ("y", "new"))) == RowsOf(([("a", None), ("b", None)],))
