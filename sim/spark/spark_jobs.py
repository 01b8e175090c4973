"""How long the Spark jobs of a writer take: by what they read, by chance, and by the load."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

from msgspec import Struct

from whitecap.engine.storage.requests import Compute
from whitecap.sim.scenario.clusters import Load
from whitecap.sim.scenario.writers import ComputeSection
from whitecap.sim.time.random_streams import RandomSource, row_of

GIB = 1024.0**3
MILLION = 1e6

FactorAt = Callable[[float], float]
"""The factor by which jobs take longer that begin at an instant."""


class SparkJobs(Struct, frozen=True):
    """How long one writer's Spark jobs take. `takes_ms` is a job's time where a trace has it."""

    options: ComputeSection
    loads: Sequence[FactorAt] = ()
    takes_ms: Callable[[int], float | None] | None = None

    def own_ms(self, number: int, drawn_ms: float) -> float:
        """A transaction's own time, whatever it reads: what the trace says, else what was drawn."""
        takes_ms = None if self.takes_ms is None else self.takes_ms(number)
        return drawn_ms if takes_ms is None else takes_ms

    def time_ms(self, job: Compute, own_ms: float, now_ms: float) -> float:
        """How long a job takes that begins now: `own_ms`, and what it reads and writes."""
        options, size_bytes = self.options, job.bytes_read + job.bytes_written
        spent_ms = options.per_million_rows * job.rows_read / MILLION
        spent_ms += options.per_gib * size_bytes / GIB
        if options.per_file:
            spent_ms += options.per_file * sum(1 for _ in job.scanned)
        spent_ms += own_ms
        for factor_at in self.loads:
            spent_ms *= factor_at(now_ms)
        return spent_ms


STEPS = 8
"""Steps after which a load's deviation is correlated by 1/e; within a step its level is the same.
"""

_standard_normal = NormalDist().inv_cdf


class LoadOverTime:
    """The factor of a load at any instant: a lognormal process of first order, step by step.

    Its draws belong to instants, so that they are the same whoever computes.
    """

    def __init__(self, load: Load, source: RandomSource) -> None:
        self._source = source
        self._step_ms = load.lasts / STEPS
        self._sigma = math.sqrt(math.log1p(load.cv**2))
        self._kept = math.exp(-1 / STEPS)
        self._levels: list[float] = []

    def __call__(self, now_ms: float) -> float:
        """The factor for what begins now."""
        step = int(now_ms / self._step_ms)
        while len(self._levels) <= step:
            self._levels.append(self._next())
        return math.exp(self._sigma * self._levels[step] - self._sigma**2 / 2)

    def _next(self) -> float:
        """The next level, of mean 0 and variance 1."""
        news = _standard_normal(self._source.uniform(row_of(len(self._levels)), 0))
        if not self._levels:
            return news
        return self._kept * self._levels[-1] + math.sqrt(1 - self._kept**2) * news
