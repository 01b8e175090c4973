"""Which rows share a file where ZORDER BY or clustering makes several: by a curve through columns.

Rows become points: the value of each column is replaced by its place among ranges of values, with
NULL in the first. A curve goes through all points, and is cut into files of equally many rows. Real
Delta Lake 4.4 made the same files of the same rows, by both curves and in two to four columns.

Source: MultiDimClustering.scala, RangePartitionId.scala; RangePartitioner.scala of Spark.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, TypeVar

from whitecap.engine.storage.requests import Row

_RANGES = 1000
"""Of values of a column. Source: spark.databricks.io.skipping.mdc.rangeId.max."""

_BITS = _RANGES.bit_length()

Point = Sequence[int]
T = TypeVar("T")


class Curve(Enum):
    """An order of points in which near ones are near in each coordinate."""

    Z = "zorder"
    HILBERT = "hilbert"

    @property
    def place(self) -> Callable[[Point], int]:
        """How far along the curve a point lies."""
        return _along_z if self is Curve.Z else _along_hilbert


def cut(
    rows: Sequence[Row], columns: Sequence[int], curve: Curve, files: int
) -> Iterator[Sequence[Row]]:
    """The rows of each of so many files, or of as many as there are rows.

    Rows of a file stay in the order given. Rows at one point are cut in that order too, where Delta
    draws lots; of more than 100,000 rows it samples what ranges there are, of some hundreds where
    to cut.
    """
    points = zip(*(_ranges([row[column] for row in rows]) for column in columns), strict=True)
    places = [curve.place(point) for point in points]
    along = sorted(range(len(rows)), key=places.__getitem__)
    ends = [position + 1 for position in _bounds(range(len(rows)), files)]
    for start, end in pairwise([0, *ends, len(rows)]):
        yield [rows[at] for at in sorted(along[start:end])]


def _ranges(values: Sequence[Any]) -> list[int]:
    """Of each value in which range it lies."""
    bounds = _bounds(sorted(value for value in values if value is not None), _RANGES)
    return [0 if value is None else bisect_left(bounds, value) for value in values]


def _bounds(ordered: Sequence[T], parts: int) -> list[T]:
    """The last value of each of so many parts of values, or of as many as there are, but the last.

    Parts have equally many values, as far as equal ones are in one. Source: RangePartitioner.scala:
    determineBounds.
    """
    parts = min(parts, len(ordered))
    bounds: list[T] = []
    target = step = len(ordered) / parts if parts else 0.0
    for count, value in enumerate(ordered, 1):
        if len(bounds) + 1 >= parts:
            break
        if count >= target and (not bounds or value != bounds[-1]):
            bounds.append(value)
            target += step
    return bounds


def _along_z(point: Point) -> int:
    """The bits of all coordinates in turn, the highest first."""
    place = 0
    for coordinate in point:
        place = place << 1 | _spread(coordinate, len(point))
    return place


@cache
def _spread(coordinate: int, size: int) -> int:
    """Its bits, with room for those of the other coordinates between them."""
    return sum((coordinate >> bit & 1) << bit * size for bit in range(_BITS))


def _along_hilbert(point: Point) -> int:
    """Source: Hamilton, "Compact Hilbert Indices" (2006), of which HilbertStates.scala is a table.

    In each corner of a cube the curve is that of the cube, turned: it begins at its own corner
    (`entry`) and ends along its own coordinate (`direction`). The corner in which a point lies, in
    which of that one's, and so on, are the bits of its place along the other curve.
    """
    size = len(point)
    corners, last = _along_z(point), (1 << size) - 1
    place, entry, direction = 0, 0, size - 1
    for shift in range((_BITS - 1) * size, -1, -size):
        number, entry, direction = _entered(corners >> shift & last, entry, direction, size)
        place = place << size | number
    return place


@lru_cache(maxsize=1 << 16)  # in up to six columns there are 24,576
def _entered(corner: int, entry: int, direction: int, size: int) -> tuple[int, int, int]:
    """When a corner is visited, and where the curve in it begins and ends."""
    number = _gray_number(_rotated(corner ^ entry, -(direction + 1), size))
    own_entry = entry ^ _rotated(_entry_of(number), direction + 1, size)
    return number, own_entry, (direction + _direction_of(number) + 1) % size


def _rotated(corner: int, by: int, size: int) -> int:
    """Its bits, moved to the left in a circle."""
    by %= size
    return (corner << by | corner >> (size - by)) & ((1 << size) - 1)


def _gray(number: int) -> int:
    """The corner that is visited as number `number`: from each to the next one bit changes."""
    return number ^ number >> 1


def _gray_number(corner: int) -> int:
    """When a corner is visited."""
    number = 0
    while corner:
        number ^= corner
        corner >>= 1
    return number


def _entry_of(number: int) -> int:
    """Where the curve enters the corner that it visits as number `number`."""
    return _gray((number - 1) // 2 * 2) if number else 0


def _direction_of(number: int) -> int:
    """Along which coordinate it goes through that corner: as many as there are ones at the end."""
    if not number:
        return 0
    odd = (number - 1) | 1
    return (odd ^ (odd + 1)).bit_length() - 1
