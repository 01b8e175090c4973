"""Ids that look like random UUIDs and are the same for the same seed."""

from __future__ import annotations

from dataclasses import dataclass

from whitecap.sim.time.random_streams import Source

# RFC 9562: version 4 in the high bits of the third field, variant 10 in those of the fourth.
_VERSION = 0x4000 << 64
_VARIANT = 0x8000 << 48
_FREE_BITS = ~((0xF000 << 64) | (0xC000 << 48)) & ((1 << 128) - 1)


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
        words = self.source.word(self.row, at) << 64 | self.source.word(self.row, at + 1)
        digits = f"{words & _FREE_BITS | _VERSION | _VARIANT:032x}"
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
