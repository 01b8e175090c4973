"""Ids that look like random UUIDs and are the same for the same seed."""

from __future__ import annotations

import numpy as np
from msgspec import Struct, field

from whitecap.sim.time.draws import block_of
from whitecap.sim.time.random_streams import RandomSource, Words, row_of, rows_of

# RFC 9562: version 4 in the high bits of the third field, variant 10 in those of the fourth.
_VERSION = 0x4000 << 64
_VARIANT = 0x8000 << 48
_FREE_BITS = ~((0xF000 << 64) | (0xC000 << 48)) & ((1 << 128) - 1)
_HALF = (1 << 64) - 1


USUAL = 2
"""Ids that are made ahead for a transaction: its own, and that of the job that writes its files."""

DIGITS = 32
"""Hexadecimal digits of an id."""


class DrawnIds(Struct):
    """The ids that are given out one after the other in a row of a source.

    The digits of the first ones may be known already.
    """

    source: RandomSource
    row: int = 0
    _digits: str = ""
    _given: int = 0

    def __call__(self) -> str:
        """The next id."""
        at = self._given
        self._given = at + 2
        begin = at * DIGITS // 2
        if begin < len(self._digits):
            return _dashed(self._digits[begin : begin + DIGITS])
        upper, lower = self.source.two_words(self.row, at)
        words = upper << 64 | lower
        return id_text(words & _FREE_BITS | _VERSION | _VARIANT)

    def numbers(self, count: int) -> Words:
        """The next ids as numbers, a line for each: its upper 64 bits and its lower ones."""
        at = self._given
        self._given = at + 2 * count
        return _as_ids(self.source.words([self.row], np.arange(at, self._given)))


class IdsOfJobs(Struct):
    """The ids of one writer's transactions; the first of each are made for many jobs at once."""

    source: RandomSource
    _blocks: dict[int, tuple[range, str]] = field(default_factory=dict)

    def of(self, job: int, rerun: int) -> DrawnIds:
        """Those of one run of a job."""
        jobs, digits = self._blocks.get(rerun, (range(0), ""))
        if job not in jobs:
            jobs = block_of(job, rerun, 2 * USUAL)
            ids = _as_ids(self.source.words(rows_of(jobs, rerun), range(2 * USUAL)))
            digits = ids.astype(">u8").tobytes().hex()
            self._blocks[rerun] = jobs, digits
        begin = (job - jobs.start) * USUAL * DIGITS
        return DrawnIds(self.source, row_of(job, rerun), digits[begin : begin + USUAL * DIGITS])


def _as_ids(words: Words) -> Words:
    """Random words as ids, a line for each: its upper 64 bits and its lower ones."""
    halves = words.reshape(-1, 2)
    for place, shift in enumerate((64, 0)):
        halves[:, place] &= np.uint64(_FREE_BITS >> shift & _HALF)
        halves[:, place] |= np.uint64((_VERSION | _VARIANT) >> shift & _HALF)
    return halves


def id_text(number: int) -> str:
    """A number of 128 bits as a UUID is written."""
    return _dashed(f"{number:032x}")


def _dashed(digits: str) -> str:
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
