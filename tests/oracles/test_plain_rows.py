"""Rows are made plain column by column, as each would be made value by value."""

from __future__ import annotations

from datetime import UTC
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from whitecap.sim.oracles.row_changes import plain_row, plain_rows

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "bigint": st.integers(),
    "date": st.dates(),
    "double": st.floats(),
    "float": st.floats(width=32),
    "string": st.text(),
    "timestamp": st.datetimes(timezones=st.just(UTC)),
    "timestamp_ntz": st.datetimes(),
    "array<int>": st.lists(st.integers()),
    "struct<a:double>": st.fixed_dictionaries({"a": st.floats()}),
}
TABLES = st.lists(st.sampled_from(sorted(VALUES)), max_size=4).flatmap(
    lambda types: st.tuples(
        st.just(types),
        st.lists(st.tuples(*(st.none() | VALUES[kind] for kind in types)), max_size=5),
    )
)


@settings(max_examples=50)
@given(TABLES)
def test_rows_are_plain_whichever_way_they_are_made_so(
    table: tuple[list[str], list[tuple[Any, ...]]],
) -> None:
    types, rows = table
    assert [*map(repr, plain_rows(rows, types))] == [repr(plain_row(row)) for row in rows]
