"""Ids that look like random UUIDs and are the same for the same seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whitecap.sim.time.random_streams import Source, Words

# RFC 9562: version 4 in the high bits of the third field, variant 10 in those of the fourth.
_VERSION = 0x4000 << 64
_VARIANT = 0x8000 << 48
_FREE_BITS = ~((0xF000 << 64) | (0xC000 << 48)) & ((1 << 128) - 1)
_HALF = (1 << 64) - 1


@dataclass(slots=True)
class Ids:
    """The ids that are given out one after the other in a row of a source."""

    source: Source
    row: int = 0
    _given: int = 0

    def __call__(self) -> str:
        """The next id."""
        at = self._given
        self._given = at + 2
        upper, lower = self.source.two_words(self.row, at)
        words = upper << 64 | lower
        return id_text(words & _FREE_BITS | _VERSION | _VARIANT)

    def numbers(self, count: int) -> Words:
        """The next ids as numbers, a line for each: its upper 64 bits and its lower ones."""
        at = self._given
        self._given = at + 2 * count
        halves = self.source.words([self.row], np.arange(at, self._given)).reshape(count, 2)
        for place, shift in enumerate((64, 0)):
            halves[:, place] &= np.uint64(_FREE_BITS >> shift & _HALF)
            halves[:, place] |= np.uint64((_VERSION | _VARIANT) >> shift & _HALF)
        return halves


def id_text(number: int) -> str:
    """A number of 128 bits as a UUID is written."""
    digits = f"{number:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
