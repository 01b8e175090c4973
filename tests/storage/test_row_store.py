"""Stored rows behave as the list of tuples that they stand for, whatever the values are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.collected_statistics import collect_statistics
from whitecap.engine.log.schema import parse_ddl
from whitecap.engine.log.statistics import statistics_text
from whitecap.engine.row_store import stored_rows
from whitecap.engine.row_store.row_store import RowStore
from whitecap.engine.row_store.rows import (
    assigned,
    count_nulls,
    edited,
    extent,
    grouped,
    holds,
    joined,
    positions_with,
    rows_at,
)
from whitecap.engine.row_store.stored_rows import StoredRows

NAMES = ("n", "x", "t", "d", "b", "m", "i")
TYPES = ("bigint", "double", "string", "date", "boolean", "decimal(9,2)", "timestamp")
DDL = ", ".join(f"{name} {kind.upper()}" for name, kind in zip(NAMES, TYPES, strict=True))

VALUES = (
    st.one_of(st.integers(-3, 3), st.sampled_from([2**63 - 1, -(2**63), 2**70])),
    st.one_of(st.sampled_from([0.0, -0.0, math.inf, math.nan, 1e300]), st.floats(-2, 2)),
    st.sampled_from(["", "a", "b", "ä" * 40]),
    st.dates(date(2026, 1, 1), date(2026, 1, 4)),
    st.booleans(),
    st.sampled_from([Decimal("1.0"), Decimal("1.00"), Decimal("-2.5")]),
    st.datetimes(datetime(2026, 1, 1), datetime(2026, 1, 2), timezones=st.just(UTC)),
)
ROW = st.tuples(*(st.one_of(st.none(), values, values) for values in VALUES))
ROWS = st.lists(ROW, min_size=1, max_size=12)
BOUNDED = (0, 1, 2, 3, 5, 6)
"""Columns whose types have bounds: all but the boolean."""
TEXT_PLACES = [(2,), (3, 2), (0,), (1,), (5, 3)]


def stored(*lists: list[Any]) -> list[StoredRows]:
    store = RowStore((NAMES, TYPES))
    return [store.stored(rows) for rows in lists]


def shown(rows: Any) -> str:
    """Rows to the last bit: equal values of unlike kinds differ here, and NaN is like itself."""
    return repr([tuple(row) for row in rows])


@given(ROWS, ROWS)
def test_what_comes_out_is_what_went_in(first: list[Any], second: list[Any]) -> None:
    of_first, of_second = stored(first, second)
    assert shown(of_first) == shown(first)
    assert shown(of_second) == shown(second)
    assert repr(of_first[-1]) == repr(first[-1])
    assert shown(of_first[1:]) == shown(first[1:])
    assert [repr(of_first.column(at)) for at in range(7)] == [
        repr([row[at] for row in first]) for at in range(7)
    ]


@given(ROWS, st.data())
def test_verbs_do_to_stored_rows_what_they_do_to_lists(
    rows: list[Any], data: st.DataObject
) -> None:
    (kept,) = stored(rows)
    positions = data.draw(st.lists(st.sampled_from(range(len(rows))), unique=True))
    changes = {at: data.draw(st.one_of(st.none(), ROW)) for at in positions}
    assert shown(edited(kept, changes)) == shown(edited(rows, changes))
    assert shown(rows_at(kept, positions)) == shown(rows_at(rows, positions))
    more = data.draw(ROWS)
    assert shown(joined([kept, more, kept])) == shown([*rows, *more, *rows])
    assert shown(kept) == shown(rows)


@given(ROWS, st.sampled_from([(2, ""), (2, "ß"), (0, 3), (1, 0.0), (5, Decimal("1.00"))]))
def test_a_value_is_held_if_some_row_has_it(rows: list[Any], asked: tuple[int, Any]) -> None:
    (kept,) = stored(rows)
    assert holds(kept, *asked) == holds(rows, *asked)


@given(ROWS, st.sampled_from(TEXT_PLACES))
def test_rows_are_grouped_in_the_order_in_which_groups_first_appear(
    rows: list[Any], places: tuple[int, ...]
) -> None:
    (kept,) = stored(rows)
    assert [shown(g) for g in grouped(kept, places)] == [shown(g) for g in grouped(rows, places)]


@given(ROWS, st.data(), st.booleans())
def test_positions_are_those_that_a_look_at_every_row_gives(
    rows: list[Any], data: st.DataObject, or_null: bool
) -> None:
    (kept,) = stored(rows)
    wanted = [
        (at, data.draw(st.lists(VALUES[at], max_size=3)))
        for at in data.draw(st.lists(st.sampled_from([0, 2, 3, 4]), max_size=2, unique=True))
    ]
    ends = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    slices = [slice(*each) for each in pairwise([0, *ends, len(rows)])]
    others = [rows] if data.draw(st.booleans()) else []
    positions = positions_with([*(kept[each] for each in slices), *others], wanted, or_null=or_null)
    expected = [
        [
            at
            for at, row in enumerate(part)
            if all(row[c] in v or (or_null and row[c] is None) for c, v in wanted)
        ]
        for part in (*(rows[each] for each in slices), *others)
    ]
    assert all(each in (None, there) for each, there in zip(positions, expected, strict=True))


@given(ROWS)
def test_statistics_of_stored_rows_are_those_of_the_list(rows: list[Any]) -> None:
    (kept,) = stored(rows)
    schema = parse_ddl(DDL)
    texts = [statistics_text(collect_statistics(each, schema)) for each in (kept, rows)]
    assert texts[0] == texts[1]
    assert count_nulls(kept, 4) == count_nulls(rows, 4)
    assert repr(extent(kept, 3)) == repr(extent(rows, 3))


@given(ROWS, st.data())
def test_bounds_that_are_inherited_are_those_of_all_rows(
    rows: list[Any], data: st.DataObject
) -> None:
    """Chains of edits and joins, each of which takes its bounds from what it was made from."""
    with patch.object(stored_rows, "MANY", 1):
        (first,) = stored(rows)
        expected: Any = rows
        now: Any = first
        for _ in range(data.draw(st.integers(1, 4))):
            if data.draw(st.booleans()):
                positions = data.draw(st.lists(st.integers(0, len(expected) - 1), unique=True))
                changes = {at: data.draw(st.one_of(st.none(), ROW)) for at in positions}
                now, expected = edited(now, changes), edited(expected, changes)
            else:
                more = data.draw(ROWS)
                now, expected = joined([now, more, first]), [*expected, *more, *rows]
            if not expected:
                return
            _check_bounds(now, expected, BOUNDED)


def _check_bounds(rows: Any, expected: Any, places: Sequence[int]) -> None:
    assert [repr(extent(rows, at)) for at in places] == [
        repr(extent(expected, at)) for at in places
    ]
    if isinstance(rows, StoredRows):
        rows.settle()
    (positions,) = positions_with([rows], [(places[0], [0, 3])])
    assert positions is None or positions == [
        at for at, row in enumerate(expected) if row[places[0]] in (0, 3)
    ]


PAIRS = st.lists(
    st.tuples(st.integers(-9, 9), st.sampled_from([-1.5, -0.0, 0.0, 2.0, math.nan, math.inf])),
    min_size=1,
    max_size=9,
)


@given(PAIRS, st.data())
def test_bounds_follow_through_changes_of_one_column(rows: list[Any], data: st.DataObject) -> None:
    store = RowStore((("k", "x"), ("bigint", "double")))
    with patch.object(stored_rows, "MANY", 1):
        now: Any = store.stored(rows)
        for _ in range(data.draw(st.integers(1, 5))):
            positions = data.draw(st.lists(st.sampled_from(range(len(rows))), unique=True))
            if data.draw(st.booleans()):
                versions = assigned([(now, positions)], {1: lambda of: of(1) + 1.0})
                assert versions is not None
                (now,) = versions
                rows = [
                    (k, x + 1.0) if at in positions else (k, x) for at, (k, x) in enumerate(rows)
                ]
            else:
                changes = {at: data.draw(PAIRS)[0] for at in positions}
                now, rows = edited(now, changes), list(edited(rows, changes))
            _check_bounds(now, rows, (0, 1))


def test_of_zeros_that_become_a_bound_the_first_in_the_file_counts() -> None:
    store = RowStore((("x",), ("double",)))
    rows = [(1.0,), (5.0,), (2.0,), (3.0,)]
    changes: dict[int, Any] = {3: (-0.0,), 2: (0.0,)}
    with patch.object(stored_rows, "MANY", 1):
        now, expected = edited(store.stored(rows), changes), edited(rows, changes)
        assert repr(extent(now, 0)) == repr(extent(expected, 0))


@given(st.lists(st.floats(allow_nan=True), min_size=1, max_size=9), st.data())
def test_many_rows_are_changed_at_once_as_one_by_one(xs: list[float], data: st.DataObject) -> None:
    store = RowStore((("k", "x"), ("bigint", "double")))
    rows = list(enumerate(xs))
    kept = store.stored(rows)
    parts = data.draw(
        st.lists(st.lists(st.sampled_from(range(len(rows))), unique=True), min_size=1, max_size=3)
    )
    changes = {1: lambda fractions: fractions(1) * 1.5 + 1e300}
    changed = assigned([(kept, positions) for positions in parts], changes)
    assert changed is not None
    for after, positions in zip(changed, parts, strict=True):
        one_by_one = {at: (at, xs[at] * 1.5 + 1e300) for at in positions}
        assert shown(after) == shown(edited(rows, one_by_one))


def test_a_column_that_is_no_array_is_changed_row_by_row() -> None:
    store = RowStore((("k", "x"), ("bigint", "double")))
    kept = store.stored([(1, None), (2, 1.0)])
    assert assigned([(kept, [1])], {1: lambda fractions: fractions(1)}) is None
    assert assigned([([(1, 1.0)], [0])], {1: lambda fractions: fractions(1)}) is None


@pytest.mark.parametrize("value", [2**64, "text", Decimal("1.5"), True])
def test_a_value_that_is_not_of_the_columns_type_is_kept_all_the_same(value: Any) -> None:
    store = RowStore((("k",), ("bigint",)))
    before = store.stored([(1,), (None,)])
    after = store.stored([(value,), (3,)])
    assert repr(list(before)) == repr([(1,), (None,)])
    assert repr(list(after)) == repr([(value,), (3,)])
    assert positions_with([after], [(0, [3])]) == [None]
