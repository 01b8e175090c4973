"""Columns of a recording as NumPy arrays, made of Arrow's buffers.

Arrow's own `to_numpy` would do the same, but imports pandas, and so do its comparisons with Python
values: that takes longer than to measure most runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from whitecap.reports.arrays import Flags, FloatArray, IntArray


def numbers_in(column: Any) -> FloatArray:
    """Numbers; not a number where there is none."""
    numbers = _values(_whole(column)).astype(np.float64)
    numbers[~is_given(column)] = np.nan
    return numbers


def codes_in(column: Any) -> IntArray:
    """Whole numbers from zero; -1 where there is none."""
    codes = _values(_whole(column)).astype(np.int64)
    codes[~is_given(column)] = -1
    return codes


def flags_in(column: Any) -> Flags:
    """Truth values, of which none is NULL."""
    return _values(_whole(column).cast(pa.uint8())).astype(np.bool_)


def is_given(column: Any) -> Flags:
    """Where there is a value."""
    return flags_in(_whole(column).is_valid())


def coded(column: Any) -> tuple[IntArray, list[str]]:
    """A column of texts as positions in the list of its values; -1 where there is none."""
    encoded = _whole(column).dictionary_encode()
    return codes_in(encoded.indices), encoded.dictionary.to_pylist()


def _whole(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _values(array: pa.Array) -> NDArray[Any]:
    """What stands in the buffer, whatever it is where there is no value."""
    _, *buffers = array.buffers()
    given = pa.Array.from_buffers(array.type, len(array), [None, *buffers], offset=array.offset)
    return np.from_dlpack(given)
