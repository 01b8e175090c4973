"""Draws of many jobs at once: one numpy call costs as much as a hundred numbers.

A `DrawTable` holds the usual draws of one entity, a row for each run of a job. A row is made with
its neighbours and is the same whichever of them was asked for first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whitecap.sim.time.random_streams import Source, Uniforms, row_of

FEW, MANY = 8, 64
"""Jobs of a block: a thousand writers with a few jobs each stay cheap, and long runs are quick."""

WIDE = 128
"""Draws of a job beyond which a block holds one job: by then a job is worth a call."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Some places of a row, and what is drawn with the uniform numbers that stand there."""

    places: Sequence[int]
    drawn: Callable[[Uniforms], NDArray[Any]]


@dataclass(slots=True)
class DrawTable:
    """The draws of each run of each job: a list in the order of `columns`."""

    source: Source
    columns: Sequence[Columns]
    _blocks: dict[int, tuple[int, list[list[Any]]]] = field(default_factory=dict)

    def row(self, job: int, rerun: int = 0) -> list[Any]:
        """The draws of one run of a job; only the last block of a rerun number is kept."""
        first, rows = self._blocks.get(rerun, (0, ()))
        if not first <= job < first + len(rows):
            first, rows = self._blocks[rerun] = self._block(job, rerun)
        return rows[job - first]

    def _block(self, job: int, rerun: int) -> tuple[int, list[list[Any]]]:
        places = [place for columns in self.columns for place in columns.places]
        jobs = range(job, job + 1) if len(places) > WIDE else block_of(job, rerun)
        numbers = [row_of(one, rerun) for one in jobs]
        uniforms = self.source.uniforms(numbers, places)
        drawn, at = [], 0
        for columns in self.columns:
            drawn.append(columns.drawn(uniforms[:, at : at + len(columns.places)]))
            at += len(columns.places)
        return jobs.start, np.concatenate(drawn, axis=1).tolist()


def block_of(job: int, rerun: int) -> range:
    """The jobs of a block; reruns are rare, so their blocks are small."""
    if not rerun and job < MANY:
        return range(FEW) if job < FEW else range(FEW, MANY)
    size = FEW if rerun else MANY
    first = job - job % size
    return range(first, first + size)
