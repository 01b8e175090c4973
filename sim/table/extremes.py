"""The smallest and largest of the numbers that the keys of each file give.

Keys of a file are every n-th of a range in most layouts. Then what they give follows a rule, and a
look at a few of them does for all: that is what a table of a billion rows needs to begin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from whitecap.sim.table.fillers import SCATTER, scattered
from whitecap.sim.table.rows import RowKeys

Numbers = NDArray[np.int64]
Extremes = tuple[Numbers, Numbers]
"""The smallest and the largest number of each file."""

NumberOf = Callable[[Numbers], Numbers]

MANY = 1 << 20
"""Keys from which on rules are used: a look at so many takes some 20 ms for each column."""


class Ordered(Struct, frozen=True):
    """Numbers that never fall with the key: those of a file's ends are its extremes."""


class Cyclic(Struct, frozen=True):
    """Numbers that come again after `period` keys, but where a block ends: `block_of` a key."""

    period: int
    block_of: NumberOf

    def extremes(
        self, number_of: NumberOf, first: Numbers, step: int, size: int
    ) -> Extremes | None:
        """Those of files by their first keys: a whole cycle at each end of a file shows all.

        `None` where a file has fewer than two cycles, or lies in more than two blocks.
        """
        last = first + step * (size - 1)
        if size <= 2 * self.period or (self.block_of(last) - self.block_of(first) > 1).any():
            return None
        places = np.concatenate([np.arange(self.period), np.arange(size - self.period, size)])
        numbers = number_of((first[:, None] + step * places).ravel()).reshape(len(first), -1)
        return numbers.min(axis=1), numbers.max(axis=1)


class Scattered(Struct, frozen=True):
    """Numbers by what a key is scattered to: `number_of` each of `size` places."""

    size: int
    number_of: NumberOf
    _windows: dict[tuple[int, int], Extremes] = field(default_factory=dict)

    def windows(self, stride: int, size: int) -> Extremes:
        """The extremes of `size` numbers, each `stride` after the one before, from each one on.

        Windows are doubled: one of twice the length is made of two that follow each other. They are
        kept, since all partitions ask for the same ones.
        """
        bounds = self._windows.get((stride, size))
        if bounds is None:
            least = most = self.number_of(np.arange(self.size))
            length = 1
            while 2 * length <= size:
                least = np.minimum(least, rolled(least, length * stride))
                most = np.maximum(most, rolled(most, length * stride))
                length *= 2
            beyond = (size - length) * stride
            bounds = (
                np.minimum(least, rolled(least, beyond)),
                np.maximum(most, rolled(most, beyond)),
            )
            self._windows[stride, size] = bounds
        return bounds


class Unruly(Struct, frozen=True):
    """Numbers of which each has to be looked at."""


_Rule = Ordered | Cyclic | Scattered | Unruly


class Numbering(Struct, frozen=True):
    """What keys give: numbers whose order is that of the `value`s they stand for."""

    of: NumberOf
    value: Callable[[int], Any]
    rule: _Rule


def extremes(numbering: Numbering, keys: RowKeys, size: int, many: int = MANY) -> Extremes:
    """The extremes of each file of `size` keys; the last one may have fewer."""
    if isinstance(keys, range) and len(keys) >= max(many, size):
        whole = len(keys) // size * size
        short = _by_rule(numbering, keys[:whole], size)
        if short is not None:
            rest = _by_looking(numbering.of, keys[whole:], size)
            return np.append(short[0], rest[0]), np.append(short[1], rest[1])
    return _by_looking(numbering.of, keys, size)


def _by_looking(number_of: NumberOf, keys: RowKeys, size: int) -> Extremes:
    least, most = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    step = max(1, MANY // size) * size
    for begin in range(0, len(keys), step):
        numbers = number_of(np.asarray(keys[begin : begin + step], np.int64))
        starts = np.arange(0, len(numbers), size)
        least.append(np.minimum.reduceat(numbers, starts))
        most.append(np.maximum.reduceat(numbers, starts))
    return np.concatenate(least), np.concatenate(most)


def _by_rule(numbering: Numbering, keys: range, size: int) -> Extremes | None:
    first = np.arange(keys.start, keys.stop, keys.step * size)
    match numbering.rule:
        case Ordered():
            return numbering.of(first), numbering.of(first + keys.step * (size - 1))
        case Cyclic() as cyclic:
            return cyclic.extremes(numbering.of, first, keys.step, size)
        case Scattered(places):
            least, most = numbering.rule.windows(keys.step * SCATTER % places, size)
            start = scattered(first, places)
            return least[start], most[start]
        case Unruly():
            return None


def rolled(numbers: Numbers, shift: int) -> Numbers:
    """The numbers from one on, around."""
    return np.roll(numbers, -(shift % len(numbers)))
