"""Ids that look like random UUIDs and are the same for the same seed."""

from __future__ import annotations

from collections.abc import Callable

from whitecap.sim.random_streams import RandomStreams, in_blocks

# RFC 9562: version 4 in the high bits of the third field, variant 10 in those of the fourth.
_VERSION = 0x4000 << 64
_VARIANT = 0x8000 << 48
_FREE_BITS = ~((0xF000 << 64) | (0xC000 << 48)) & ((1 << 128) - 1)


def ids_of(streams: RandomStreams, entity: str) -> Callable[[], str]:
    """The ids that `entity` gives to its transactions and files."""
    generator = streams.generator("ids", entity)
    words = in_blocks(lambda count: generator.integers(0, 1 << 63, count))

    def next_id() -> str:
        bits = (words() << 65 | words() << 2) & _FREE_BITS
        digits = f"{bits | _VERSION | _VARIANT:032x}"
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

    return next_id
