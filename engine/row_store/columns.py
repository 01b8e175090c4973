"""Columns of a row store: values kept once, in arrays where their type allows it.

Whatever comes out is what went in, the Python type included. A column that is given a value which
its array cannot hold goes on as a column of Python objects.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date
from math import isnan, nan
from typing import Any, Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from whitecap.engine.row_store.summaries import Counts, Extent, bounded, counted, extent_of
from whitecap.engine.values.types import FRACTIONAL, INTEGRAL_BITS

Ids = NDArray[np.intp]
"""Numbers of row versions in their store: in 32 bits NumPy would widen them at every look-up."""

Mask = NDArray[np.bool_]

_FIRST_CAPACITY = 1024
"""Values that a new array has room for; it doubles when it is full (`appended`)."""

_FEW = 16
"""Up to so many values are compared one after the other: half as long as NumPy's search takes."""

_ROWS_A_VALUE = 8
"""Where values are in fewer rows than this, on average, they are not counted one by one."""


class Cells(Struct, frozen=True):
    """What some rows have in one column, in their order; `nulls` is where NULLs are, if any."""

    values: NDArray[Any]
    nulls: Mask | None = None

    def missing(self) -> Mask:
        """Where NULLs are."""
        return np.zeros(len(self.values), np.bool_) if self.nulls is None else self.nulls

    def present(self) -> NDArray[Any]:
        """The values that are no NULLs."""
        return self.values if self.nulls is None else self.values[~self.nulls]


class Column(Protocol):
    """The values of one column, by row number."""

    def take(self, values: Sequence[Any]) -> bool:
        """Append values; `False`, with nothing appended, if they do not fit in here."""
        ...

    def repeat(self, ids: Ids) -> None:
        """Append the values that some rows have."""
        ...

    def fractions(self, ids: Ids) -> NDArray[np.float64] | None:
        """The values of some rows as an array to compute with; `None`: only one by one."""
        ...

    def values(self, ids: Ids) -> list[Any]:
        """The values of some rows."""
        ...

    def cells(self, ids: Ids) -> Cells:
        """What some rows have, gathered in their order; other questions are asked of the answer."""
        ...

    def among(self, cells: Cells, wanted: Collection[Any]) -> Mask | None:
        """Which rows have one of the wanted values, none of them NULL; `None`: cannot tell."""
        ...

    def nulls(self, cells: Cells) -> Mask:
        """Which rows have NULL."""
        ...

    def extent(self, cells: Cells) -> Extent:
        """NULLs and bounds."""
        ...

    def kinds(self, cells: Cells) -> NDArray[Any] | None:
        """A number for each row, the same for the same value; `None` if the column cannot tell."""
        ...


class _Numbers:
    """Numbers of one Python type in an array, with a mask from the first NULL on."""

    def __init__(self, python_type: type, dtype: Any) -> None:
        self._allowed = ({python_type}, {python_type, type(None)}, {type(None)}, set[type]())
        self._data: NDArray[Any] = np.zeros(_FIRST_CAPACITY, dtype)
        self._nulls: Mask | None = None
        self._count = 0

    def take(self, values: Sequence[Any]) -> bool:
        types = set(map(type, values))
        if types not in self._allowed:
            return False
        has_nulls = type(None) in types
        given = [0 if value is None else value for value in values] if has_nulls else values
        try:
            array = np.array(given, self._data.dtype)
        except OverflowError:
            return False
        if has_nulls and self._nulls is None:
            self._nulls = np.zeros(len(self._data), np.bool_)
        if self._nulls is not None:
            missing = [value is None for value in values]
            self._nulls, _ = appended(self._nulls, self._count, missing)
        self._data, self._count = appended(self._data, self._count, array)
        return True

    def repeat(self, ids: Ids) -> None:
        self._data, self._count = appended(self._data, self._count, self._data[ids])
        if self._nulls is not None:
            self._nulls, _ = appended(self._nulls, self._count - len(ids), self._nulls[ids])

    def fractions(self, ids: Ids) -> NDArray[np.float64] | None:
        return None

    def values(self, ids: Ids) -> list[Any]:
        values = self._data[ids].tolist()
        if self._nulls is None:
            return values  # type: ignore[no-any-return]
        nulls = self._nulls[ids].tolist()
        return [None if null else value for value, null in zip(values, nulls, strict=True)]

    def cells(self, ids: Ids) -> Cells:
        return Cells(self._data[ids], None if self._nulls is None else self._nulls[ids])

    def nulls(self, cells: Cells) -> Mask:
        return cells.missing()


class Integers(_Numbers):
    """Whole numbers of up to 64 bits."""

    def __init__(self) -> None:
        super().__init__(int, np.int64)

    def among(self, cells: Cells, wanted: Collection[Any]) -> Mask | None:
        """Which rows have one of the wanted values."""
        if not _fit_64_bits(wanted):
            return None
        mask = _is_among(cells.values, list(wanted))
        return mask if cells.nulls is None else mask & ~cells.nulls

    def extent(self, cells: Cells) -> Extent:
        """NULLs and bounds."""
        present = cells.present()
        if not len(present):
            return Extent(len(cells.values), None, None)
        nulls = len(cells.values) - len(present)
        return Extent(nulls, int(np.minimum.reduce(present)), int(np.maximum.reduce(present)))

    def zeros_are_alike(self) -> bool:
        """Yes: whole numbers have one zero."""
        return True

    def kinds(self, cells: Cells) -> NDArray[Any] | None:
        """The values themselves; `None` if NULLs are among them."""
        return cells.values if cells.nulls is None else None


class Fractions(_Numbers):
    """Floating-point numbers. NaN equals itself in SQL but in no array: nothing is compared."""

    def __init__(self) -> None:
        super().__init__(float, np.float64)
        self._zeros_are_alike = True
        self._zeros_sought = 0

    def fractions(self, ids: Ids) -> NDArray[np.float64] | None:
        """The values; `None` if NULLs are among them."""
        return self._data[ids] if self._nulls is None else None

    def put(self, values: NDArray[np.float64]) -> None:
        """Append an array's values."""
        self._data, end = appended(self._data, self._count, values)
        if self._nulls is not None:
            none = np.zeros(len(values), np.bool_)
            self._nulls, _ = appended(self._nulls, self._count, none)
        self._count = end

    def among(self, cells: Cells, wanted: Collection[Any]) -> Mask | None:
        """`None`: fractions are not compared."""
        return None

    def extent(self, cells: Cells) -> Extent:
        """NULLs and bounds. Of zeros of both signs the first one counts, as `min` has it."""
        present = cells.present()
        if not len(present):
            return Extent(len(cells.values), None, None)
        least, most = float(np.minimum.reduce(present)), float(np.maximum.reduce(present))
        nulls = len(cells.values) - len(present)
        if isnan(most):
            numbers = present[~np.isnan(present)]
            least, most = float(np.minimum.reduce(numbers)) if len(numbers) else nan, nan
        if least == 0 or most == 0:
            zero = float(present[np.argmax(present == 0)])
            least, most = (zero if bound == 0 else bound for bound in (least, most))
        return Extent(nulls, least, most)

    def zeros_are_alike(self) -> bool:
        """Whether no value of the whole column is a negative zero. Looks at new ones only."""
        if self._zeros_are_alike:
            new = self._data[self._zeros_sought : self._count]
            self._zeros_are_alike = not bool(np.signbit(new[new == 0]).any())
            self._zeros_sought = self._count
        return self._zeros_are_alike

    def kinds(self, cells: Cells) -> NDArray[Any] | None:
        """`None`: fractions are not compared."""
        return None


class Coded:
    """Values of a type with an order, each kept once, by a code: texts, dates, booleans."""

    def __init__(self, python_type: type) -> None:
        self._type = python_type
        self._codes: NDArray[Any] = np.zeros(_FIRST_CAPACITY, np.int32)
        self._values: list[Any] = [None]
        self._code_of: dict[Any, int] = {None: 0}
        self._count = 0

    def take(self, values: Sequence[Any]) -> bool:
        """Append values."""
        if not set(map(type, values)) <= {self._type, type(None)}:
            return False
        code_of = self._code_of
        for value in values:
            if value not in code_of:
                code_of[value] = len(self._values)
                self._values.append(value)
        codes = [code_of[value] for value in values]
        self._codes, self._count = appended(self._codes, self._count, codes)
        return True

    def repeat(self, ids: Ids) -> None:
        """Append the values that some rows have."""
        self._codes, self._count = appended(self._codes, self._count, self._codes[ids])

    def fractions(self, ids: Ids) -> NDArray[np.float64] | None:
        """`None`: these are no fractions."""
        return None

    def values(self, ids: Ids) -> list[Any]:
        """The values of some rows."""
        values = self._values
        return [values[code] for code in self._codes[ids].tolist()]

    def cells(self, ids: Ids) -> Cells:
        """The codes of some rows: 0 is that of NULL."""
        return Cells(self._codes[ids])

    def among(self, cells: Cells, wanted: Collection[Any]) -> Mask | None:
        """Which rows have one of the wanted values."""
        if not set(map(type, wanted)) <= {self._type}:
            return None
        codes = [self._code_of[value] for value in wanted if value in self._code_of]
        return _is_among(cells.values, codes)

    def nulls(self, cells: Cells) -> Mask:
        """Which rows have NULL."""
        return cells.values == 0  # type: ignore[no-any-return]

    def extent(self, cells: Cells) -> Extent:
        """NULLs and bounds."""
        return bounded(*self.present(cells))

    def are_few(self, rows: int) -> bool:
        """Whether values are few, so that each may well be in many of so many rows."""
        return len(self._values) * _ROWS_A_VALUE <= rows

    def counts(self, cells: Cells) -> Counts:
        """How many rows have each value."""
        return counted(cells.values, self._values)

    def present(self, cells: Cells) -> tuple[int, list[Any]]:
        """How many rows have NULL, and which values the others have."""
        codes = cells.values
        if len(self._values) > 4 * len(codes):
            nulls, distinct = int(np.count_nonzero(codes == 0)), np.unique(codes)
        else:
            counts = np.bincount(codes, minlength=1)
            nulls, distinct = int(counts[0]), np.flatnonzero(counts)
        return nulls, [self._values[code] for code in distinct.tolist() if code]

    def kinds(self, cells: Cells) -> NDArray[Any] | None:
        """The codes."""
        return cells.values


class Objects:
    """Values of any kind."""

    def __init__(self) -> None:
        self._data = np.empty(_FIRST_CAPACITY, np.object_)
        self._count = 0

    def take(self, values: Sequence[Any]) -> bool:
        """Append values."""
        objects = np.empty(len(values), np.object_)
        for at, value in enumerate(values):
            objects[at] = value
        self._data, self._count = appended(self._data, self._count, objects)
        return True

    def repeat(self, ids: Ids) -> None:
        """Append the values that some rows have."""
        self._data, self._count = appended(self._data, self._count, self._data[ids])

    def fractions(self, ids: Ids) -> NDArray[np.float64] | None:
        """`None`: these are no fractions."""
        return None

    def values(self, ids: Ids) -> list[Any]:
        """The values of some rows."""
        return self._data[ids].tolist()  # type: ignore[no-any-return]

    def cells(self, ids: Ids) -> Cells:
        """The values of some rows."""
        return Cells(self._data[ids])

    def among(self, cells: Cells, wanted: Collection[Any]) -> Mask | None:
        """`None`: equal objects are not the same, as 1.0 and 1.00 are not."""
        return None

    def nulls(self, cells: Cells) -> Mask:
        """Which rows have NULL."""
        return np.array([value is None for value in cells.values.tolist()], np.bool_)

    def extent(self, cells: Cells) -> Extent:
        """NULLs and bounds."""
        return extent_of(cells.values.tolist())

    def kinds(self, cells: Cells) -> NDArray[Any] | None:
        """`None`, for the same reason as `among`."""
        return None


def appended(data: NDArray[Any], count: int, values: Any) -> tuple[NDArray[Any], int]:
    """An array with values behind its first `count` ones, and how many there are now.

    The array itself, or a copy of at least twice the size if they do not fit in.
    """
    end = count + len(values)
    if end > len(data):
        larger = np.zeros(max(end, 2 * len(data)), data.dtype)
        larger[:count] = data[:count]
        data = larger
    data[count:end] = values
    return data, end


def _fit_64_bits(values: Collection[Any]) -> bool:
    """Whether values, none of them NULL, are whole numbers that such an array can hold."""
    if not set(map(type, values)) <= {int}:
        return False
    return min(values, default=0) >= -(2**63) and max(values, default=0) < 2**63


def _is_among(values: NDArray[Any], wanted: Sequence[int]) -> Mask:
    if not wanted:
        return np.zeros(len(values), np.bool_)
    if len(wanted) > _FEW:
        return np.isin(values, wanted)
    mask: Mask = values == wanted[0]
    for value in wanted[1:]:
        mask |= values == value
    return mask


def column_for(type_name: str) -> Column:
    """An empty column for values of a type."""
    if type_name in INTEGRAL_BITS:
        return Integers()
    if type_name in FRACTIONAL:
        return Fractions()
    python_type = _CODED.get(type_name)
    return Objects() if python_type is None else Coded(python_type)


# Of other types some values are equal and yet not the same, as 1.0 and 1.00 are as decimals.
_CODED = {"string": str, "date": date, "boolean": bool}
