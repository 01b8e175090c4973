"""Columns as measures take them are what Arrow itself makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whitecap.reports.measures.columns import coded, codes_in, flags_in, is_given, numbers_in

NUMBERS = st.lists(st.none() | st.integers(0, 2**40), max_size=12)


def columns(values: list[Any], kind: pa.DataType) -> list[Any]:
    """The same values as an array, in chunks, and as a part of more."""
    array = pa.array(values, kind)
    in_chunks = pa.chunked_array([array[:3], array[3:]], kind)
    more = pa.concat_arrays([pa.array(["0", None]).cast(kind), array])
    return [array, in_chunks, more[2:]]


@given(NUMBERS)
def test_where_there_is_no_number_there_is_none(values: list[int | None]) -> None:
    expected = [-1 if value is None else value for value in values]
    for column in columns(values, pa.int64()):
        assert codes_in(column).tolist() == expected
        assert is_given(column).tolist() == [value is not None for value in values]
        numbers = numbers_in(column)
        assert np.isnan(numbers).tolist() == [value is None for value in values]
        assert np.nan_to_num(numbers, nan=-1).tolist() == expected


@given(st.lists(st.booleans(), max_size=20))
def test_flags_are_those_that_were_recorded(values: list[bool]) -> None:
    array = pa.array([True, *values], pa.bool_())
    for column in (array[1:], pa.chunked_array([array[1:3], array[3:]], pa.bool_())):
        assert flags_in(column).tolist() == values


@given(st.lists(st.none() | st.sampled_from(["a", "b", "ü"]), max_size=12))
def test_a_code_is_the_place_of_the_text(values: list[str | None]) -> None:
    array = pa.array(values, pa.string())
    for column in (array, pa.chunked_array([array[:2], array[2:]], pa.string())):
        codes, names = coded(column)
        assert [None if code < 0 else names[code] for code in codes] == values


@pytest.mark.parametrize("kind", [pa.int32(), pa.float64()], ids=str)
def test_a_column_of_no_rows_is_empty(kind: pa.DataType) -> None:
    assert numbers_in(pa.chunked_array([], kind)).tolist() == []
