"""Python values as Arrow arrays, made of their buffers.

`pyarrow.array` would do the same, but imports pandas to find out that a list is none of its
series: that takes longer than many a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_NUMBERS: dict[pa.DataType, type] = {
    pa.int64(): np.int64,
    pa.int32(): np.int32,
    pa.float64(): np.float64,
}


def array_of(values: Sequence[Any], type_: pa.DataType) -> pa.Array:
    """The values of a column, `None` for NULL: numbers, texts or truth values."""
    nulls = values.count(None)
    if nulls == len(values):
        return pa.nulls(nulls, type_)
    present = np.array([value is not None for value in values]) if nulls else None
    buffers: tuple[pa.Buffer, ...]
    if type_ == pa.string():
        buffers = _texts(values)
    elif type_ == pa.bool_():
        buffers = (_bits(np.array([value is True for value in values], np.bool_)),)
    else:
        given = [0 if value is None else value for value in values] if nulls else values
        buffers = (pa.py_buffer(np.array(given, _NUMBERS[type_])),)
    valid = None if present is None else _bits(present)
    return pa.Array.from_buffers(type_, len(values), [valid, *buffers], nulls)


def scalar_of(value: Any, type_: pa.DataType) -> pa.Scalar:
    """A value to compare a column with."""
    return array_of([value], type_)[0]


def _bits(flags: NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(flags, bitorder="little"))


def _texts(values: Sequence[str | None]) -> tuple[pa.Buffer, pa.Buffer]:
    """Where each text begins, and all of them together."""
    texts = ["" if value is None else value for value in values]
    together = "".join(texts)
    sizes = texts if together.isascii() else [text.encode() for text in texts]
    offsets = np.zeros(len(texts) + 1, np.int32)
    np.cumsum(np.fromiter(map(len, sizes), np.int32, len(texts)), out=offsets[1:])
    return pa.py_buffer(offsets), pa.py_buffer(together.encode())
