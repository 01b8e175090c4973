"""Draws of many jobs at once: one numpy call costs as much as a hundred numbers.

A `DrawTable` holds the usual draws of one entity, a row for each run of a job. A row is made with
its neighbours and is the same whichever of them was asked for first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from whitecap.sim.time.random_streams import RandomSource, Uniforms, rows_of

FEW, SOME, MANY, VERY_MANY = 8, 32, 64, 512
"""Jobs of a block, growing with the run: a thousand writers with a few jobs each stay cheap, and
long runs are fast."""

NARROW = 16
"""Draws of a job up to which a block may hold `VERY_MANY` jobs."""

WIDE = 128
"""Draws of a job beyond which a block holds one job: by then a job is worth a call."""


class DrawnColumns(Struct, frozen=True):
    """Some places of a row, and what is drawn with the uniform numbers that stand there."""

    places: Sequence[int]
    drawn: Callable[[Uniforms], NDArray[Any]]


_NONE = (0, np.zeros((0, 0)))


@dataclass(slots=True)
class DrawTable:
    """The draws of each run of each job: a list in the order of `columns`.

    Blocks are kept as arrays, in a quarter of the room, and a row becomes a list when it is its
    turn: in a long run every writer has many tables.
    """

    source: RandomSource
    columns: Sequence[DrawnColumns]
    _places: NDArray[np.uint64] = field(init=False)
    _blocks: dict[int, tuple[int, NDArray[Any]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        places = [place for columns in self.columns for place in columns.places]
        self._places = np.array(places, np.uint64)

    def row(self, job: int, rerun: int = 0) -> list[Any]:
        """The draws of one run of a job; only the last block of a rerun number is kept."""
        first, rows = self._blocks.get(rerun, _NONE)
        if not first <= job < first + len(rows):
            first, rows = self._blocks[rerun] = self._block(job, rerun, first + len(rows))
        row: list[Any] = rows[job - first].tolist()
        return row

    def _block(self, job: int, rerun: int, end: int) -> tuple[int, NDArray[Any]]:
        """The block of a job, after one that ended before the job `end`."""
        jobs = block_of(job, rerun, len(self._places), end)
        uniforms = self.source.uniforms(rows_of(jobs, rerun), self._places)
        drawn, at = [], 0
        for columns in self.columns:
            drawn.append(columns.drawn(uniforms[:, at : at + len(columns.places)]))
            at += len(columns.places)
        return jobs.start, np.concatenate(drawn, axis=1)


def block_of(job: int, rerun: int, draws: int, end: int = 0) -> range:
    """The jobs of the block that one with so many draws is in: the longer a run, the more.

    Reruns are rare, so their blocks are small, unless one has just come to its `end`.
    """
    if draws > WIDE:
        return range(job, job + 1)
    if rerun:
        block = _whole_block(job, FEW)
        return range(end, end + SOME) if end and block.start == end else block
    below = 0
    for end in (FEW, MANY, VERY_MANY) if draws <= NARROW else (FEW, MANY):
        if job < end:
            return range(below, end)
        below = end
    return _whole_block(job, below)


def _whole_block(job: int, size: int) -> range:
    first = job - job % size
    return range(first, first + size)
