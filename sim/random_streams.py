"""Random numbers: one stream per seed, replication, component and entity.

A stream's key is made of names, never of the order of creation, so adding a writer or a fault moves
nobody else's draws and two variants of a scenario can be compared pairwise (common random numbers).
Draws are taken in blocks, since one numpy call costs as much as a hundred numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

FIRST_BLOCK = 16
LARGEST_BLOCK = 1024

NextDraw = Callable[[], Any]
"""Hands out the next number of a stream."""


class RandomStreams:
    """Makes the streams of one replication of one seed."""

    def __init__(self, seed: int, replication: int = 0) -> None:
        self.seed = seed
        self.replication = replication

    def generator(self, component: str, entity: str) -> np.random.Generator:
        """The stream of `component` (what the numbers are for) and `entity` (whose they are)."""
        sequence = np.random.SeedSequence(
            entropy=self.seed, spawn_key=(self.replication, *_words(component, entity))
        )
        return np.random.Generator(np.random.PCG64(sequence))

    def uniforms(self, component: str, entity: str) -> Callable[[], float]:
        """Numbers from [0, 1)."""
        return in_blocks(self.generator(component, entity).random)


def in_blocks(draw: Callable[[int], NDArray[Any]]) -> NextDraw:
    """Turn `draw(n)` into a function that hands out one number per call.

    Blocks grow from 16 to 1,024 numbers, so that a thousand writers with few draws stay cheap.
    """
    return _numbers(draw).__next__


def _numbers(draw: Callable[[int], NDArray[Any]]) -> Iterator[Any]:
    size = FIRST_BLOCK
    while True:
        yield from draw(size).tolist()
        size = min(2 * size, LARGEST_BLOCK)


def _words(component: str, entity: str) -> tuple[int, ...]:
    digest = hashlib.blake2b(f"{component}\0{entity}".encode(), digest_size=16).digest()
    return tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))
