"""Random numbers by address: a number follows from what it is for, not from who drew before.

A `RandomSource` is named by seed, replication, component (what its numbers are for) and entity
(whose they are). Each of its numbers stands in a row (a job and which run of it) at a place.
Nobody's numbers move when somebody else draws more of them, when a transaction is run once more, or
when a writer or a fault is added: two variants of a scenario share them, and can be compared
pairwise (common random numbers).

The numbers are SplitMix64's (Steele, Lea and Flood, "Fast splittable pseudorandom number
generators", OOPSLA 2014): a counter, mixed. That needs no state, costs a third of a microsecond for
a number by itself, and a few nanoseconds in a matrix.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Uniforms = NDArray[np.float64]
Words = NDArray[np.uint64]
_Numbers = Sequence[int] | NDArray[Any]
"""Of rows or of places, none negative."""

_GAMMA = 0x9E3779B97F4A7C15
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""The constants of SplitMix64: the increment of its counter, and the factors of its mixing."""

WORD_BITS = 64
_WORD = (1 << WORD_BITS) - 1
"""The bits of a word."""

RERUN_BITS = 20
"""Low bits of a row's number that count reruns; the others are the job's."""


class RandomStreams:
    """Makes the sources of one replication of one seed."""

    def __init__(self, seed: int, replication: int = 0) -> None:
        self.seed = seed
        self.replication = replication

    def source(self, component: str, entity: str) -> RandomSource:
        """The numbers for `component` of `entity`."""
        name = f"{self.seed}\0{self.replication}\0{component}\0{entity}"
        digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
        return RandomSource(int.from_bytes(digest, "little"))


class RandomSource(Struct, frozen=True):
    """Numbers by row and place."""

    key: int

    def word(self, row: int, place: int) -> int:
        """64 random bits."""
        return _mixed(_mixed(self.key + row * _GAMMA) + (place + 1) * _GAMMA)

    def two_words(self, row: int, place: int) -> tuple[int, int]:
        """The words at a place and the next one."""
        of_row = _mixed(self.key + row * _GAMMA) + (place + 1) * _GAMMA
        return _mixed(of_row), _mixed(of_row + _GAMMA)

    def uniform(self, row: int, place: int) -> float:
        """A number from (0, 1), both ends excluded."""
        return ((self.word(row, place) >> 12) + 0.5) * 2.0**-52

    def uniforms(self, rows: _Numbers, places: _Numbers) -> Uniforms:
        """The same numbers, a line for each row and a column for each place."""
        words = self.words(rows, places)
        uniforms: Uniforms = (words >> np.uint64(12)).astype(np.float64)
        return (uniforms + 0.5) * 2.0**-52

    def words(self, rows: _Numbers, places: _Numbers) -> Words:
        """Random bits in the same order."""
        of_rows = np.asarray(rows, np.uint64) * np.uint64(_GAMMA) + np.uint64(self.key)
        steps = (np.asarray(places, np.uint64) + np.uint64(1)) * np.uint64(_GAMMA)
        return _all_mixed(_all_mixed(of_rows)[:, None] + steps[None, :])


def row_of(job: int, rerun: int = 0) -> int:
    """The row of a run of a job."""
    return job << RERUN_BITS | rerun


def rows_of(jobs: range, rerun: int = 0) -> range:
    """The rows of that run of each of some jobs."""
    return range(row_of(jobs.start, rerun), row_of(jobs.stop, rerun), jobs.step << RERUN_BITS)


def _all_mixed(words: Words) -> Words:
    """What `_mixed` makes of each, in place."""
    words ^= words >> np.uint64(30)
    words *= np.uint64(_FIRST)
    words ^= words >> np.uint64(27)
    words *= np.uint64(_SECOND)
    words ^= words >> np.uint64(31)
    return words


def _mixed(word: int) -> int:
    word &= _WORD
    word = (word ^ (word >> 30)) * _FIRST & _WORD
    word = (word ^ (word >> 27)) * _SECOND & _WORD
    return word ^ (word >> 31)
