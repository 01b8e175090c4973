"""How long the Spark jobs of a writer take: by what they read, by chance, and by the load."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from whitecap.engine.storage.requests import Compute as Job
from whitecap.sim.scenario.writers import Compute

GIB = 1024.0**3
MILLION = 1e6

FactorAt = Callable[[float], float]
"""By how much jobs take longer that begin at an instant."""


@dataclass(frozen=True, slots=True)
class SparkJobs:
    """Those of one writer. `takes_ms` is the time of a job where a trace says it."""

    options: Compute
    loads: Sequence[FactorAt] = ()
    takes_ms: Callable[[int], float | None] | None = None

    def own_ms(self, number: int, drawn_ms: float) -> float:
        """What a transaction of that job takes whatever it reads, if so much was drawn for it."""
        takes_ms = None if self.takes_ms is None else self.takes_ms(number)
        return drawn_ms if takes_ms is None else takes_ms

    def time_ms(self, job: Job, own_ms: float, now_ms: float) -> float:
        """What a job takes that begins now, and `own_ms` in any case."""
        options, size_bytes = self.options, job.bytes_read + job.bytes_written
        spent_ms = options.per_million_rows * job.rows_read / MILLION
        spent_ms += options.per_gib * size_bytes / GIB
        spent_ms += options.per_file * job.files_read
        spent_ms += own_ms
        for factor_at in self.loads:
            spent_ms *= factor_at(now_ms)
        return spent_ms
